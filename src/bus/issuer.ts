import type { BusUsers } from './bus-users.ts';
import { credentialsFile } from './credentials-file.ts';
import { type Grant, NO_GRANT } from './grants.ts';
import { userJwt } from './jwt-claims.ts';
import type { Keyrings, Realm } from './keyring.ts';
import type { Allowed } from './subjects.ts';

/** Who gets credentials, and for what. */
export interface Bearer extends Allowed {
  readonly id: bigint;
  readonly name: string;
  /** The part of these rights that other users can take away. */
  readonly grant?: Grant;
}

/** What the caller who asks for credentials proved their identity with. */
export interface Proof {
  /** The token, if it was one. The credentials are revoked together with it. */
  readonly tokenId?: bigint | undefined;
  /** When that token expires, if it does. The credentials do not outlive it. */
  readonly until: Date | null;
}

/** Everything that a client needs to be this user; `seed` and `file` are secret. */
export interface Issued {
  /** Public key of the account that the user is in. */
  readonly account: string;
  readonly user: string;
  readonly jwt: string;
  readonly seed: string;
  readonly file: string;
}

export type Issuer = ReturnType<typeof createIssuer>;

/**
 * Credentials are always issued fresh: what a user may do on the bus is decided at the request, and ends when the
 * credentials expire at the latest.
 */
export function createIssuer(keyrings: Pick<Keyrings, 'get'>, users: BusUsers, lifeSeconds: number) {
  return { issue };

  async function issue(realm: Realm, bearer: Bearer, { tokenId, until }: Proof, now: Date): Promise<Issued> {
    const { [realm]: account } = await keyrings.get();
    const { publicKey: user, seed } = await users.keyOf(bearer.id, realm, bearer.grant ?? NO_GRANT, tokenId);
    const issuedAt = Math.floor(now.getTime() / 1000);
    const untilSeconds = until === null ? Number.POSITIVE_INFINITY : Math.floor(until.getTime() / 1000);
    const jwt = userJwt(account, {
      name: bearer.name,
      user,
      issuedAt,
      expiresAt: Math.min(issuedAt + lifeSeconds, untilSeconds),
      publish: bearer.publish,
      subscribe: bearer.subscribe,
    });
    return { account: account.publicKey, user, jwt, seed, file: credentialsFile(jwt, seed) };
  }
}
