import type { FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { includesScope, scopesAllow } from '../../identity/scopes.ts';
import { type Caller, neededScope, type SignedAccess } from './access.ts';

/** Whether a token is limited to less than a route is about. */
export function rejectLimitedToken({ limits }: Caller, { who, about, limited }: SignedAccess): void {
  if (limits === undefined || (who !== 'siteAdmin' && (about || limited === 'filtered'))) return;
  const message =
    who === 'siteAdmin'
      ? 'tokens that are limited to organizations or objects cannot administer the site'
      : 'this route is not available to tokens that are limited to organizations or objects';
  throw new AppError('forbidden', message, { reason: 'token_limited' });
}

/** Whether the scopes of a token are enough for a route. */
export function rejectNarrowToken(caller: Pick<Caller, 'scopes'>, access: SignedAccess, request: FastifyRequest): void {
  const needed = neededScope(access, request);
  if (needed === undefined) return;
  if (!includesScope(caller.scopes, needed)) {
    throw new AppError(
      'forbidden',
      `token does not have at least one of required scope(s), required=[${needed}], token scope=${caller.scopes.join(',')}`,
    );
  }
  if (!scopesAllow(caller.scopes, needed, access.isPublic)) {
    throw new AppError('forbidden', 'this endpoint is not available for public-only tokens');
  }
}
