import { AppError, invalidField } from '../../base/errors.ts';
import { requireLineField } from '../../base/fields.ts';
import { PUBLIC_ONLY, SCIM, SCOPES, scopesCover } from '../scopes.ts';
import { limitsCover, type MaybeLimits } from './token-limits.ts';

export interface TokenDetails {
  readonly id: bigint;
  readonly name: string;
  readonly lastEight: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  /** Whether it may be used to rotate itself. */
  readonly canRotate: boolean;
  /** Whether its user gave it to an agent. */
  readonly isDelegated: boolean;
  readonly limits: MaybeLimits;
  /** The token that it replaced, which may be gone. */
  readonly supersedes: bigint | null;
  /** The token that replaces it. Until `expiresAt`, both work. */
  readonly supersededBy: bigint | null;
}

export interface TokenRequest {
  readonly name: string;
  readonly scopes: readonly string[] | undefined;
  readonly expiresAt: Date | null;
  readonly canRotate?: boolean | undefined;
  readonly limits?: MaybeLimits;
}

interface Terms {
  /** The scopes of the caller's own credential: no token can create one that may do more than itself. */
  readonly held: readonly string[];
  /** When the caller's own token expires, if it has one that does: no token can create one that outlives it. */
  readonly heldUntil: Date | null;
  /** What the caller's own token is limited to. */
  readonly heldLimits?: MaybeLimits;
  /** The default if no scopes are given. */
  readonly unsaid: readonly string[];
  readonly now: Date;
  /** Only tokens of robots can have the scope `scim`. */
  readonly isForRobot?: boolean;
}

const MAX_NAME = 255;

/** The rules for a new token of a user or a robot. */
export function readTokenRequest(wanted: TokenRequest, terms: Terms) {
  const { held, heldUntil, heldLimits, unsaid, now, isForRobot = false } = terms;
  const name = wanted.name.trim();
  if (name === '' || [...name].length > MAX_NAME)
    throw invalidField('name', `name must have 1 to ${MAX_NAME} characters`);
  requireLineField('name', name);
  const scopes = readScopes(wanted.scopes ?? unsaid);
  if (scopes.includes(SCIM) && !isForRobot) {
    throw invalidField('scopes', 'only the token of a robot can have the scope scim');
  }
  if (!scopesCover(held, scopes)) {
    throw new AppError('forbidden', 'cannot create an access token with a broader scope than the authenticating token');
  }
  if (wanted.expiresAt && wanted.expiresAt <= now) throw invalidField('expires_at', 'expires_at must be in the future');
  if (wanted.expiresAt && heldUntil && wanted.expiresAt > heldUntil) {
    throw new AppError('forbidden', 'cannot create an access token that outlives the authenticating token');
  }
  const limits = wanted.limits ?? heldLimits;
  if (!limitsCover(heldLimits, limits)) {
    throw new AppError('forbidden', 'cannot create an access token that reaches further than the authenticating token');
  }
  if (scopes.includes(SCIM) && limits !== undefined) {
    throw invalidField('limits', 'a token with the scope scim is for its whole organization, and cannot have limits');
  }
  const canRotate = wanted.canRotate ?? false;
  if (canRotate && heldUntil) {
    const why = 'it could outlive the authenticating token';
    throw new AppError('forbidden', `cannot create an access token that may rotate itself, because ${why}`);
  }
  return { name, scopes, expiresAt: wanted.expiresAt ?? heldUntil, canRotate, limits };
}

/** Known scopes, each once, without those that another one includes. */
function readScopes(scopes: readonly string[]): string[] {
  if (scopes.length === 0) throw invalidField('scopes', 'access token must have a scope');
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope));
  if (unknown.length > 0) {
    throw new AppError('invalid', `invalid access token scope provided: ${unknown.join(', ').slice(0, 200)}`);
  }
  if (scopes.includes(SCIM) && scopes.some((scope) => scope !== SCIM)) {
    throw invalidField('scopes', 'the scope scim cannot be combined with others: create another token for those');
  }
  if (scopes.includes('all')) return scopes.includes(PUBLIC_ONLY) ? ['all', PUBLIC_ONLY] : ['all'];
  return SCOPES.filter(
    (one) => scopes.includes(one) && !(one.startsWith('read:') && scopes.includes(one.replace('read:', 'write:'))),
  );
}

/** By ID, otherwise by name. A token that was rotated has the name of its successor, which is meant then. */
export function findToken(tokens: readonly TokenDetails[], idOrName: string): TokenDetails {
  const found =
    tokens.find(({ id }) => String(id) === idOrName) ??
    tokens.find(({ name, supersededBy }) => name === idOrName && supersededBy === null);
  if (!found) throw new AppError('notFound', 'access token does not exist', { reason: 'token_not_found' });
  return found;
}
