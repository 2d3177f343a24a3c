import { AppError, invalidField } from '../../base/errors.ts';
import type { TokenRequest } from './token-request.ts';

/** Agents read, and ask for access. What else a scope would allow is not open to them. */
export const DELEGATED_SCOPES: readonly string[] = ['read:authz', 'write:authz', 'read:organization'];
/** What the tools need that only read. */
const USUAL_SCOPES: readonly string[] = ['read:authz', 'read:organization'];

const LIFE_MS = 3_600_000;
/** A caller who asks for an hour by another clock means an hour. */
const CLOCK_MS = 5 * 60_000;

/**
 * What a user may give to an agent: less than they have, for at most an hour, and never the whole account. `heldUntil` is
 * the end of the session or the token that it is created with.
 */
export function readDelegation(wanted: TokenRequest, heldUntil: Date | null, now: Date): TokenRequest {
  const { scopes = USUAL_SCOPES, canRotate = false, limits } = wanted;
  const beyond = scopes.filter((scope) => !DELEGATED_SCOPES.includes(scope));
  if (beyond.length > 0) {
    const message = `a delegated token can have the scopes ${DELEGATED_SCOPES.join(', ')} only`;
    throw invalidField('scopes', `${message}, not ${beyond.join(', ').slice(0, 200)}`);
  }
  if (canRotate) throw invalidField('can_rotate', 'a delegated token cannot rotate itself; create another one instead');
  if (limits === undefined) {
    throw invalidField('limits', 'a delegated token must be limited to organizations or objects: name them in limits');
  }
  const latest = now.getTime() + LIFE_MS;
  const asked = wanted.expiresAt?.getTime() ?? latest;
  if (asked > latest + CLOCK_MS) throw invalidField('expires_at', 'a delegated token ends within an hour');
  const held = heldUntil?.getTime() ?? latest;
  if (wanted.expiresAt !== null && asked > held) {
    throw new AppError(
      'forbidden',
      'cannot create a delegated token that outlives the session or token it is made with',
    );
  }
  return { ...wanted, scopes, canRotate: false, expiresAt: new Date(Math.min(asked, latest, held)) };
}
