import type { FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { includesScope, scopesAllow } from '../../identity/scopes.ts';
import { type Caller, levelOf, neededScope, type SignedAccess } from './access.ts';

/** Applications behind a proxy would take an agent for its user. */
export function isOpenToDelegates(access: SignedAccess, request: FastifyRequest): boolean {
  return access.delegates ?? (levelOf(access, request) === 'read' && !access.isForProxies);
}

/** Whether an agent calls what only its user may. */
export function rejectDelegate({ delegate }: Caller, access: SignedAccess, request: FastifyRequest): void {
  if (delegate === undefined || isOpenToDelegates(access, request)) return;
  const message = 'a delegated token only reads and asks for access; its user has to do this';
  throw new AppError('forbidden', message, { reason: 'not_for_delegates' });
}

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
