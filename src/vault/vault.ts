import { AppError } from '../base/errors.ts';
import { bind, type DataKey, type NewDataKey, newDataKey, openDataKey } from './data-key.ts';
import type { Ring } from './ring.ts';
import { keyIdOf, openWith, type Sealed, type Secret, sealWith } from './sealing.ts';

export type { Sealed } from './sealing.ts';

export interface VaultStore {
  currentKey(ownerId: bigint): Promise<DataKey | undefined>;
  key(id: bigint): Promise<DataKey | undefined>;
  /** Returns the owner's current key: this one, unless another was created at the same moment. */
  addKey(key: NewDataKey): Promise<DataKey>;
}

export type Vault = ReturnType<typeof createVault>;

/** Seals a value of one owner. */
export type Seal = (identity: string, plaintext: Buffer | string) => Sealed;

interface OpenKey {
  readonly ownerId: bigint;
  readonly secret: Secret;
}

/**
 * The meaning of a key ID never changes, so these are valid forever. The maximum only bounds the memory (about 3 MB).
 */
const MAX_KEYS = 10_000;

/**
 * Secrets at rest. A value is sealed with its owner's data key, and bound to the owner and to the identity that the
 * caller gives (kind and name). All functions query the database, so none may be called inside a transaction: on PGlite
 * that would wait for itself.
 */
export function createVault(
  store: VaultStore,
  ring: Pick<Ring, 'current' | 'byId'>,
  onFault: () => void = () => {},
  maxKeys = MAX_KEYS,
) {
  const keys = new Map<bigint, OpenKey>();
  return { seal, sealer, open };

  async function seal(ownerId: bigint, identity: string, plaintext: Buffer | string): Promise<Sealed> {
    return (await sealer(ownerId))(identity, plaintext);
  }

  /** Queries the database now, and seals later without it: for what becomes known only inside a transaction. */
  async function sealer(ownerId: bigint): Promise<Seal> {
    // Read each time: after a rotation, nothing more is sealed with a retired key.
    const key = (await store.currentKey(ownerId)) ?? (await store.addKey(newDataKey(await ring.current(), ownerId)));
    const { secret } = keys.get(key.id) ?? (await unwrap(key));
    return (identity, plaintext) => sealWith(secret, key.id, bind(ownerId, identity), Buffer.from(plaintext));
  }

  async function open(ownerId: bigint, identity: string, sealed: Sealed): Promise<Buffer> {
    try {
      const id = keyIdOf(sealed);
      const key = keys.get(id) ?? (await load(id));
      if (key?.ownerId !== ownerId) throw new Error(`this owner has no data key ${id}`);
      return openWith(key.secret, bind(ownerId, identity), sealed);
    } catch (cause) {
      // An unavailable database says nothing about the value.
      if (cause instanceof AppError && cause.kind === 'unavailable') throw cause;
      onFault();
      throw new AppError('internal', `the sealed ${identity} of account ${ownerId} cannot be opened`, { cause });
    }
  }

  async function load(id: bigint): Promise<OpenKey | undefined> {
    const key = await store.key(id);
    return key && (await unwrap(key));
  }

  async function unwrap(key: DataKey): Promise<OpenKey> {
    const opened = { ownerId: key.ownerId, secret: openDataKey(await ring.byId(key.ringKeyId), key) };
    if (keys.size >= maxKeys) keys.delete(keys.keys().next().value ?? key.id);
    keys.set(key.id, opened);
    return opened;
  }
}
