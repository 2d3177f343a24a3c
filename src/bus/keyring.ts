import { AppError } from '../base/errors.ts';
import { PLATFORM } from '../changes/write.ts';
import { createNkeyPair, type NkeyKind, type NkeyPair, restoreNkeyPair } from './nkeys.ts';

/** Seals secrets at rest, bound to their owner (0 is the deployment itself) and to what they are. */
export interface Safe {
  seal(ownerId: bigint, identity: string, plaintext: Buffer): Promise<Buffer>;
  open(ownerId: bigint, identity: string, sealed: Buffer): Promise<Buffer>;
}

/** The part of the bus that a user is in: where all users work, or where site administrators watch. */
export type Realm = 'application' | 'administration';
export type KeyName = 'operator' | 'system' | Realm;

export interface StoredKey {
  readonly name: KeyName;
  readonly publicKey: string;
  readonly seed: Buffer;
}

export interface KeyringStore {
  load(): Promise<(StoredKey & { readonly createdAt: Date })[]>;
  /** Adds the keys that do not exist yet. */
  add(keys: readonly StoredKey[]): Promise<void>;
}

export type Keyring = Readonly<Record<KeyName, NkeyPair>> & { readonly createdAt: Date };

export type Keyrings = ReturnType<typeof createKeyrings>;

const KINDS: Readonly<Record<KeyName, NkeyKind>> = {
  operator: 'operator',
  system: 'account',
  application: 'account',
  administration: 'account',
};
const NAMES = Object.keys(KINDS) as KeyName[];

/** The keys that everything on the bus depends on. They never change, so each process reads them once. */
export function createKeyrings(store: KeyringStore, safe: Safe) {
  let known: Promise<Keyring> | undefined;
  return { get, find };

  /** Creates the keys if there are none. */
  function get(): Promise<Keyring> {
    known ??= made().catch((error) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  /** Undefined if no caller has needed the bus yet. */
  async function find(): Promise<Keyring | undefined> {
    return known !== undefined || (await store.load()).length === NAMES.length ? await get() : undefined;
  }

  async function made(): Promise<Keyring> {
    const present = await store.load();
    if (present.length < NAMES.length) await store.add(await Promise.all(NAMES.map(create)));
    // Read again: if two processes create keys at the same time, the faster one wins, separately for each key.
    const stored = present.length < NAMES.length ? await store.load() : present;
    const pairs = await Promise.all(stored.map(async (key) => [key.name, await restore(key)] as const));
    const createdAt = new Date(Math.max(...stored.map((key) => key.createdAt.getTime())));
    return { ...(Object.fromEntries(pairs) as Record<KeyName, NkeyPair>), createdAt };
  }

  async function create(name: KeyName): Promise<StoredKey> {
    const pair = createNkeyPair(KINDS[name]);
    return { name, publicKey: pair.publicKey, seed: await safe.seal(PLATFORM, identityOf(name), pair.raw()) };
  }

  async function restore({ name, publicKey, seed }: StoredKey): Promise<NkeyPair> {
    const pair = restoreNkeyPair(KINDS[name], await safe.open(PLATFORM, identityOf(name), seed));
    if (pair.publicKey !== publicKey) throw new AppError('internal', `the bus key ${name} does not match its seed`);
    return pair;
  }
}

function identityOf(name: KeyName): string {
  return `bus key ${name}`;
}
