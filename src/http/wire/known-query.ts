import type { preValidationHookHandler } from 'fastify';
import { AppError } from '../../base/errors.ts';

/** What admission reads, whatever the route. */
const ADMISSION = ['sudo'];

/** Rejects what the route does not know: a client of a later release must not believe that it was honored. */
export function knownQuery(...names: readonly string[]): preValidationHookHandler {
  const known = new Set([...names, ...ADMISSION]);
  return (request, _reply, done) => {
    const unknown = Object.keys(request.query as object).find((name) => !known.has(name));
    if (unknown === undefined) done();
    else done(new AppError('invalid', `unknown query parameter: ${JSON.stringify(unknown.slice(0, 60))}`));
  };
}
