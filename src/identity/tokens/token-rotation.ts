import { AppError, invalidField } from '../../base/errors.ts';
import { scopesCover } from '../scopes.ts';
import { limitsCover, type MaybeLimits } from './token-limits.ts';
import type { TokenDetails } from './token-request.ts';

/** What the caller asks for. */
export interface RotationRequest {
  /** How long the old token goes on working. */
  readonly overlapMs: number;
  /** When the new one expires. Undefined: it gets the lifetime of the old one. */
  readonly expiresAt: Date | null | undefined;
}

/** The credential that rotates a token. A token that rotates itself gets what it has, and no more. */
export interface Rotator {
  readonly scopes: readonly string[];
  readonly limits: MaybeLimits;
  readonly until: Date | null;
  readonly isOwn: boolean;
}

export const DEFAULT_OVERLAP_HOURS = 24;
export const MAX_OVERLAP_HOURS = 7 * 24;

/** The lifetime that the token was given, counted from now. */
function renewedEnd({ createdAt, expiresAt }: TokenDetails, now: Date): Date | null {
  return expiresAt && new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime());
}

/**
 * When the successor of a token expires.
 *
 * 1. A token is replaced once. A client that holds the old one cannot get a second successor.
 * 2. A token that was given to an agent is not replaced: it was given for an hour.
 * 3. An expired token is not revived.
 * 4. A token rotates itself only if it was created for that, and then it gets its own lifetime again.
 * 5. Any other caller must have a credential that could have created the token, and that the successor does not
 *    outlive.
 */
export function successorEnd(current: TokenDetails, asked: RotationRequest['expiresAt'], by: Rotator, now: Date) {
  if (current.isDelegated) {
    const message = 'a delegated token is not replaced; create another one';
    throw new AppError('conflict', message, { reason: 'token_not_renewable' });
  }
  if (current.supersededBy !== null) {
    const message = `access token has been rotated already; rotate its successor, token ${current.supersededBy}`;
    throw new AppError('conflict', message, { reason: 'token_superseded' });
  }
  if (current.expiresAt && current.expiresAt <= now) {
    const message = 'access token has expired; create a new one instead';
    throw new AppError('conflict', message, { reason: 'token_expired' });
  }
  if (by.isOwn) {
    if (!current.canRotate) throw new AppError('forbidden', 'this access token may not rotate itself');
    return renewedEnd(current, now);
  }
  if (!scopesCover(by.scopes, current.scopes) || !limitsCover(by.limits, current.limits)) {
    throw new AppError('forbidden', 'cannot rotate an access token that may do more than the authenticating token');
  }
  if (by.until && current.canRotate) {
    const why = 'it could outlive the authenticating token';
    throw new AppError('forbidden', `cannot rotate an access token that may rotate itself, because ${why}`);
  }
  if (asked && asked <= now) throw invalidField('expires_at', 'expires_at must be in the future');
  if (asked && by.until && asked > by.until) {
    throw new AppError('forbidden', 'cannot create an access token that outlives the authenticating token');
  }
  const end = asked === undefined ? renewedEnd(current, now) : asked;
  return by.until && (end === null || end > by.until) ? by.until : end;
}
