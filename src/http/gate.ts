import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { RouteDurations } from '../base/metrics.ts';
import { type Access, type Caller, callerOf } from './access.ts';
import type { Admit } from './admission.ts';
import type { createRouteBook } from './route-book.ts';
import type { Scope } from './server.ts';

type Count = (request: FastifyRequest, reply: FastifyReply) => void;
type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

/**
 * The entry to a route: its caller is identified or rejected, and counted either way. Uses no promise if none is
 * needed.
 */
export function createGate(access: Access, admit: Admit, count: Count, durations: RouteDurations): Hook {
  // A marketplace takes a 429 as final, so its deliveries are never put off.
  const isCounted = access.who !== 'webhook';
  const isLasting = 'lasts' in access && access.lasts === true;
  return function gate(request, reply, done) {
    request.durations = durations;
    if (isLasting) request.readmit = () => readmit(request);
    admit(request, (rejection) => {
      try {
        if (isCounted) count(request, reply);
      } catch (limited) {
        done(limited as Error);
        return;
      }
      const csrf = request.caller?.csrf;
      if (csrf !== undefined) reply.header('X-Csrf-Token', csrf);
      done(rejection as Error | undefined);
    });
  };

  function readmit(request: FastifyRequest): Promise<Caller> {
    return new Promise((resolve, reject) =>
      admit(request, (rejection) => (rejection === undefined ? resolve(callerOf(request)) : reject(rejection))),
    );
  }
}

/** Rejects unknown paths before the body is read. */
export function refuseUnknown(app: Scope, book: ReturnType<typeof createRouteBook>, count: Count): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    try {
      count(request, reply);
      done(book.refuseUnknown(request.method, request.url));
    } catch (limited) {
      done(limited as Error);
    }
  });
}
