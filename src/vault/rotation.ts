import { AppError } from '../base/errors.ts';
import type { Keys } from '../base/keys.ts';
import { bind, type DataKey, type NewDataKey, newDataKey, openDataKey } from './data-key.ts';
import { type Ring, type RingStore, renewRing } from './ring.ts';
import { headOf, openWith, type Sealed, sealWith } from './sealing.ts';

/** A column that holds sealed values. The names are our own SQL, never a caller's. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly ownerId: string;
  /** An SQL expression for the identity that the value was sealed with. */
  readonly identity: string;
}

/** A value under a retired key, and both keys that are needed to put it under the current one. */
export interface StaleValue {
  readonly id: bigint;
  readonly ownerId: bigint;
  readonly identity: string;
  readonly sealed: Sealed;
  readonly retired: DataKey;
  readonly present: DataKey;
}

export interface Resealed {
  readonly id: bigint;
  /** The head of the value that is replaced, which identifies that value. */
  readonly before: Buffer;
  readonly after: Sealed;
}

export interface RotationStore {
  /** Owners whose current data key is wrapped by a ring key other than this one. */
  ownersBehind(ringKeyId: bigint, most: number): Promise<bigint[]>;
  /** Retires the owners' current keys and replaces them with these. */
  replaceKeys(keys: readonly NewDataKey[]): Promise<void>;
  stale(column: SealedColumn, afterId: bigint, most: number): Promise<StaleValue[]>;
  /** Skips values that have changed in the meantime. Returns the number of the others. */
  reseal(column: SealedColumn, values: readonly Resealed[]): Promise<number>;
  /** Deletes keys that have been retired for that long, by the clock that retired them, and that nothing uses. */
  sweep(columns: readonly SealedColumn[], retiredMs: number): Promise<void>;
}

export interface RotationOptions {
  /** The next root key: from now on both open the ring. */
  readonly next?: Keys | undefined;
  /** Every server runs with the current root key: no other opens the ring any more. */
  readonly retireOldRoot?: boolean | undefined;
  /** As if it were that time. */
  readonly now?: Date;
}

export interface Rotated {
  readonly owners: number;
  readonly values: number;
  /** Values that could not be opened and were left as they are. */
  readonly damaged: readonly string[];
}

const BATCH = 1000;
/** A server may have read a key just before it was retired, and store a value that it seals with it a little later. */
const GRACE_MS = 3_600_000;

interface RotationParts {
  readonly store: RotationStore;
  readonly ringStore: RingStore;
  readonly ring: Ring;
  readonly root: Keys;
  readonly columns: readonly SealedColumn[];
  /** False if a newer release has migrated the database: it may seal values that this one does not know of. */
  readonly knowsAllColumns: boolean;
}

/**
 * Renews all keys while servers read and write. Nothing is ever unreadable: a value names its key, retired keys still
 * open what they sealed, and a value changes together with the key that it names.
 */
export function createRotation({ store, ringStore, ring, root, columns, knowsAllColumns }: RotationParts) {
  return async function rotate(options: RotationOptions = {}): Promise<Rotated> {
    const { next, retireOldRoot, now } = options;
    if (!knowsAllColumns) {
      throw new AppError('conflict', 'the database is newer than this release: rotate the keys with the newer release');
    }
    if (next && retireOldRoot)
      throw new AppError('invalid', 'use ATRIUM_NEXT_KEY to begin or --retire-old-root to finish, not both');
    if (retireOldRoot) await ringStore.keepOnly(root.fingerprint);
    await renewRing(ringStore, root, next);
    const owners = await renewDataKeys();
    const damaged: string[] = [];
    let values = 0;
    for (const column of columns) values += await resealAll(column, damaged);
    const laterMs = now === undefined ? 0 : now.getTime() - Date.now();
    await store.sweep(columns, GRACE_MS - laterMs);
    return { owners, values, damaged };
  };

  async function renewDataKeys(): Promise<number> {
    const wrapping = await ring.current();
    let renewed = 0;
    for (;;) {
      const owners = await store.ownersBehind(wrapping.id, BATCH);
      if (owners.length === 0) return renewed;
      await store.replaceKeys(owners.map((owner) => newDataKey(wrapping, owner)));
      renewed += owners.length;
    }
  }

  async function resealAll(column: SealedColumn, damaged: string[]): Promise<number> {
    let resealed = 0;
    let afterId = 0n;
    // One batch is written while the next one is read and sealed.
    let writing = Promise.resolve(0);
    for (;;) {
      const stale = await store.stale(column, afterId, BATCH);
      if (stale.length === 0) return resealed + (await writing);
      const done: Resealed[] = [];
      for (const value of stale) {
        try {
          done.push({ id: value.id, before: headOf(value.sealed), after: await reseal(value) });
        } catch {
          damaged.push(`${column.table} ${value.id}`);
        }
      }
      resealed += await writing;
      writing = store.reseal(column, done);
      // It is awaited above; until then, a failure would count as unhandled.
      writing.catch(() => undefined);
      afterId = stale.at(-1)?.id ?? afterId;
    }
  }

  async function reseal({ ownerId, identity, sealed, retired, present }: StaleValue): Promise<Sealed> {
    const bound = bind(ownerId, identity);
    const plaintext = openWith(openDataKey(await ring.byId(retired.ringKeyId), retired), bound, sealed);
    return sealWith(openDataKey(await ring.byId(present.ringKeyId), present), present.id, bound, plaintext);
  }
}
