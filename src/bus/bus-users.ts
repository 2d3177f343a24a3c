import { AppError } from '../base/errors.ts';
import { wrongCredential } from '../identity/callers.ts';
import { exceeds, type Grant, isSame } from './grants.ts';
import type { Realm, Safe } from './keyring.ts';
import { createNkeyPair, encodeSeed } from './nkeys.ts';

export interface StoredUser {
  readonly publicKey: string;
  readonly seed: Buffer;
  /** The maximum that credentials with this key allow. */
  readonly rights: readonly bigint[];
  /** The tokens with which credentials for it were obtained. */
  readonly issuedWith: readonly bigint[];
}

export interface BusUserStore {
  find(personId: bigint, realm: Realm): Promise<StoredUser | undefined>;
  /** Adds the key unless the user already has one, or may not have one at this moment. */
  add(personId: bigint, realm: Realm, user: Pick<StoredUser, 'publicKey' | 'seed'>, grant: Grant): Promise<void>;
  /** Returns false if the grant has changed since it was read. */
  setGrant(user: StoredUser, grant: Grant): Promise<boolean>;
  /** Notes that credentials were obtained with a token, unless the token or the key is gone by then. */
  noteToken(publicKey: string, tokenId: bigint): Promise<'noted' | 'token gone' | 'key changed'>;
  /** Removes the key: from now on the bus rejects it. */
  remove(publicKey: string): Promise<void>;
}

/** A key to hand out. The server never signs with it, so it stays text. */
export interface UserKey {
  readonly publicKey: string;
  readonly seed: string;
}

export type BusUsers = ReturnType<typeof createBusUsers>;

const MAX_TRIES = 10;

/**
 * The keys of users. A revoked key never becomes valid again: a user who returns, or who has fewer rights than before,
 * gets a new one.
 */
export function createBusUsers(store: BusUserStore, safe: Safe) {
  return { keyOf };

  /** Returns a key to issue this grant with, and records the grant and the token, if the caller has one. */
  async function keyOf(personId: bigint, realm: Realm, grant: Grant, tokenId?: bigint): Promise<UserKey> {
    // Between any two steps, another request may issue credentials, or an administrator may revoke: then we start
    // again.
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const user = (await store.find(personId, realm)) ?? (await make(personId, realm, grant));
      const { publicKey } = user;
      if (exceeds(user.rights, grant.rights)) await store.remove(publicKey);
      else if (
        (isSame(user.rights, grant.rights) || (await store.setGrant(user, grant))) &&
        (await isNoted(user, tokenId))
      ) {
        const raw = await safe.open(personId, identityOf(realm, publicKey), user.seed);
        return { publicKey, seed: encodeSeed('user', raw) };
      }
    }
    throw new AppError('unavailable', 'the rights of this user keep changing');
  }

  /**
   * Before the key is handed out: revoking the token from then on revokes the key too. Returns false if the key has
   * changed or has been revoked in the meantime.
   */
  async function isNoted({ publicKey, issuedWith }: StoredUser, tokenId: bigint | undefined): Promise<boolean> {
    if (tokenId === undefined || issuedWith.includes(tokenId)) return true;
    const outcome = await store.noteToken(publicKey, tokenId);
    if (outcome === 'token gone') throw wrongCredential();
    return outcome === 'noted';
  }

  async function make(personId: bigint, realm: Realm, grant: Grant): Promise<StoredUser> {
    const made = createNkeyPair('user');
    const seed = await safe.seal(personId, identityOf(realm, made.publicKey), made.raw());
    await store.add(personId, realm, { publicKey: made.publicKey, seed }, grant);
    // Read again: another request may have been faster, and the account may have been closed in the meantime.
    const stored = await store.find(personId, realm);
    if (!stored) throw new AppError('forbidden', 'this account may not use the message bus');
    return stored;
  }
}

/**
 * The identity contains the public key, so the vault authenticates both halves of the pair: neither can be swapped
 * alone.
 */
function identityOf(realm: Realm, publicKey: string): string {
  return `bus user ${realm} ${publicKey}`;
}
