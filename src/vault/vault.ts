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
  /** As it is stored. After a failover that lost a new key, its ID comes again and means another one. */
  readonly wrapped: Sealed;
  readonly secret: Secret;
}

/** Only bounds the memory (about 3 MB). */
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
    const known = keys.get(key.id);
    const { secret } = known?.wrapped.equals(key.wrapped) ? known : await unwrap(key);
    return (identity, plaintext) => sealWith(secret, key.id, bind(ownerId, identity), Buffer.from(plaintext));
  }

  async function open(ownerId: bigint, identity: string, sealed: Sealed): Promise<Buffer> {
    try {
      const id = keyIdOf(sealed);
      const known = keys.get(id);
      const opened = known && openOrUndefined(known);
      if (opened) return opened;
      const key = await load(id);
      if (key?.ownerId !== ownerId) throw new Error(`this owner has no data key ${id}`);
      return openWith(key.secret, bind(ownerId, identity), sealed);
    } catch (cause) {
      // An unavailable database says nothing about the value.
      if (cause instanceof AppError && cause.kind === 'unavailable') throw cause;
      onFault();
      throw new AppError('internal', `the sealed ${identity} of account ${ownerId} cannot be opened`, { cause });
    }

    /** The remembered key may not be the one that the database has by now. */
    function openOrUndefined(key: OpenKey): Buffer | undefined {
      try {
        return key.ownerId === ownerId ? openWith(key.secret, bind(ownerId, identity), sealed) : undefined;
      } catch {
        return undefined;
      }
    }
  }

  async function load(id: bigint): Promise<OpenKey | undefined> {
    const key = await store.key(id);
    return key && (await unwrap(key));
  }

  async function unwrap(key: DataKey): Promise<OpenKey> {
    const { ownerId, wrapped } = key;
    const opened = { ownerId, wrapped, secret: await secretOf(key) };
    if (keys.size >= maxKeys) keys.delete(keys.keys().next().value ?? key.id);
    keys.set(key.id, opened);
    return opened;
  }

  async function secretOf(key: DataKey): Promise<Secret> {
    try {
      return openDataKey(await ring.byId(key.ringKeyId), key);
    } catch {
      // The ring may have come to mean another key by this ID, too.
      await ring.current();
      return openDataKey(await ring.byId(key.ringKeyId), key);
    }
  }
}
