import { createPrivateKey, createPublicKey, hash, randomUUID } from 'node:crypto';
import type { Person } from '../identity/callers.ts';

export type HostedTokens = ReturnType<typeof createHostedTokens>;

const LIFE_SECONDS = 300;
/** The PKCS #8 prefix of the 32 bytes of an Ed25519 key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** How far the caller's own credential goes: the scopes that it has, and when it expires. */
interface Bearer {
  readonly scopes: readonly string[];
  readonly until: Date | null;
}

/**
 * Short-lived proofs of who the caller is, for other services of a hosted deployment. Checking them needs no secret,
 * only the public key; every replica derives the same one from the root key. The library is loaded only when it is
 * needed, because most deployments do not need it.
 */
export function createHostedTokens(seed: Buffer, issuer: () => string) {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key);
  const kid = hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'base64url').slice(0, 16);
  return { issue, keySet };

  async function issue(person: Person, { scopes, until }: Bearer, now: Date): Promise<string> {
    const { SignJWT } = await import('jose');
    const seconds = Math.floor(now.getTime() / 1000);
    const { login, fullName, email, isAdmin } = person;
    const untilSeconds = until === null ? Number.POSITIVE_INFINITY : Math.floor(until.getTime() / 1000);
    const scope = scopes.join(' ');
    return await new SignJWT({ preferred_username: login, name: fullName, email, is_admin: isAdmin, scope })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' })
      .setIssuer(issuer())
      // For the services of this deployment, and not for those of another one.
      .setAudience(issuer())
      .setSubject(String(person.id))
      .setJti(randomUUID())
      .setIssuedAt(seconds)
      .setExpirationTime(Math.min(seconds + LIFE_SECONDS, untilSeconds))
      .sign(key);
  }

  async function keySet(): Promise<{ keys: object[] }> {
    const { exportJWK } = await import('jose');
    return { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA', use: 'sig' }] };
  }
}
