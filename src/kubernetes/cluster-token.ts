import { randomUUID } from 'node:crypto';
import { subjectOfPrincipal } from '../changes/principal.ts';
import type { Person } from '../identity/callers.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface ClusterTokenClaims {
  /** `user:5` or `robot_ac:3`. */
  readonly subject: string;
  /** The credential that the token was made with. */
  readonly reference: string;
}

/** Who gets the token, and the credential that it is made with. */
export interface ClusterTokenBearer {
  readonly person: Pick<Person, 'id' | 'login'>;
  readonly reference: string;
  /** When that credential expires, if it does: nothing that it makes outlives it. */
  readonly until: Date | null;
}

export type ClusterTokens = ReturnType<typeof createClusterTokens>;

const LIFE_SECONDS = 600;
const ALGORITHM = 'ES256';
const TYPE = 'JWT';

/**
 * Tokens for one cluster, which open nothing of Atrium. An API server asks whose they are, or finds out alone with the
 * published keys. They name no groups: those would be as old as the token.
 */
export function createClusterTokens(keys: SigningKeys, issuer: () => string) {
  return { issue, verify, audienceOf, keySet };

  function audienceOf(uid: string): string {
    return `${issuer()}/clusters/${uid}`;
  }

  async function issue(
    { person, reference, until }: ClusterTokenBearer,
    uid: string,
    now: Date,
  ): Promise<{ readonly token: string; readonly expiresAt: Date }> {
    const { SignJWT } = await import('jose');
    const { kid, privateKey } = await keys.current(now);
    const seconds = Math.floor(now.getTime() / 1000);
    const untilSeconds = until === null ? Number.POSITIVE_INFINITY : Math.floor(until.getTime() / 1000);
    const end = Math.min(seconds + LIFE_SECONDS, untilSeconds);
    const token = await new SignJWT({ preferred_username: person.login, token_id: reference })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: TYPE })
      .setIssuer(issuer())
      .setSubject(subjectOfPrincipal(person.id))
      .setAudience(audienceOf(uid))
      .setJti(randomUUID())
      .setIssuedAt(seconds)
      .setExpirationTime(end)
      .sign(privateKey);
    return { token, expiresAt: new Date(end * 1000) };
  }

  /** Undefined unless it is one of these tokens, for this cluster, and has not expired. */
  async function verify(text: string, uid: string, now: Date): Promise<ClusterTokenClaims | undefined> {
    const { decodeProtectedHeader, jwtVerify, errors } = await import('jose');
    try {
      const { alg, kid } = decodeProtectedHeader(text);
      const key = alg === ALGORITHM && kid !== undefined ? await keys.find(kid, now) : undefined;
      if (key === undefined) return undefined;
      const options = { algorithms: [ALGORITHM], issuer: issuer(), audience: audienceOf(uid), currentDate: now };
      const { payload } = await jwtVerify(text, key.publicKey, { ...options, requiredClaims: ['exp', 'sub'] });
      const { sub, token_id: reference, aud } = payload;
      const isWhole = typeof aud === 'string' && sub !== undefined && typeof reference === 'string';
      return isWhole ? { subject: sub, reference } : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  /** The public keys, as a JSON Web Key Set has them. */
  async function keySet(now: Date): Promise<object[]> {
    const all = await keys.published(now);
    return all.map(({ kid, jwk }) => ({ ...jwk, kid, alg: ALGORITHM, use: 'sig' }));
  }
}
