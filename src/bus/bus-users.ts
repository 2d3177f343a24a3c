import { AppError } from '../base/errors.ts';
import { exceeds, type Grant, isSame } from './grants.ts';
import type { Realm, Safe } from './keyring.ts';
import { createKeyPair, encodeSeed } from './nkeys.ts';

export interface StoredUser {
  readonly publicKey: string;
  readonly seed: Buffer;
  /** The most that credentials with this key allow. */
  readonly rights: readonly bigint[];
}

export interface BusUserStore {
  find(personId: bigint, realm: Realm): Promise<StoredUser | undefined>;
  /** Adds the key unless the person has one, or may not have one at this very moment. */
  add(personId: bigint, realm: Realm, user: Omit<StoredUser, 'rights'>, grant: Grant): Promise<void>;
  /** False when it is not any more as it was found. */
  setGrant(user: StoredUser, grant: Grant): Promise<boolean>;
  /** Ends the key: from now on the bus refuses it. */
  remove(publicKey: string): Promise<void>;
}

/** A key to be handed out; we never sign with it, so it stays the text that it is. */
export interface UserKey {
  readonly publicKey: string;
  readonly seed: string;
}

export type BusUsers = ReturnType<typeof createBusUsers>;

const MAX_TRIES = 10;

/** The keys of people. One that was revoked never comes back: who returns, or keeps less than they had, gets a new one. */
export function createBusUsers(store: BusUserStore, safe: Safe) {
  return { keyOf };

  /** A key to issue this grant with, and noted that it was. */
  async function keyOf(personId: bigint, realm: Realm, grant: Grant): Promise<UserKey> {
    // Others may issue, and an administrator may revoke, between any two steps: then we begin again.
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const user = (await store.find(personId, realm)) ?? (await make(personId, realm, grant));
      const { publicKey } = user;
      if (exceeds(user.rights, grant.rights)) await store.remove(publicKey);
      else if (isSame(user.rights, grant.rights) || (await store.setGrant(user, grant))) {
        const raw = await safe.open(personId, identityOf(realm, publicKey), user.seed);
        return { publicKey, seed: encodeSeed('user', raw) };
      }
    }
    throw new AppError('unavailable', 'the rights of this user keep changing');
  }

  async function make(personId: bigint, realm: Realm, grant: Grant): Promise<StoredUser> {
    const made = createKeyPair('user');
    const seed = await safe.seal(personId, identityOf(realm, made.publicKey), made.raw());
    await store.add(personId, realm, { publicKey: made.publicKey, seed }, grant);
    // Read again: another request may have been quicker, and the account may have been closed meanwhile.
    const stored = await store.find(personId, realm);
    if (!stored) throw new AppError('forbidden', 'this account may not use the message bus');
    return stored;
  }
}

/** With the public key in it, the vault vouches for both halves of the pair: neither can be exchanged alone. */
function identityOf(realm: Realm, publicKey: string): string {
  return `bus user ${realm} ${publicKey}`;
}
