import { AppError } from '../base/errors.ts';
import { createKeys, type Keys } from '../base/keys.ts';
import { newSecret, openWith, type Sealed, type Secret, sealWith, secretOf } from './sealing.ts';

/** What a key of the ring is for: the secrets of the deployment itself (its stored name), or sealing. */
export type RingPurpose = 'house' | 'vault';

/** A key of the ring, wrapped for one root key. */
export interface Slot {
  readonly ringKeyId: bigint;
  readonly purpose: RingPurpose;
  readonly isCurrent: boolean;
  readonly wrapped: Sealed;
}

export interface NewSlot {
  readonly root: string;
  readonly wrapped: Sealed;
}

/** Creates the slots of a ring key once its ID is known: the ID is part of what is wrapped. */
export type Wrap = (ringKeyId: bigint) => readonly NewSlot[];

export interface RingStore {
  /** Every key of the ring that this root key can open. */
  slots(root: string): Promise<Slot[]>;
  /** The root keys that have slots. */
  roots(): Promise<string[]>;
  /** Creates the first keys of the ring, unless there is a ring already. */
  begin(keys: readonly { readonly purpose: RingPurpose; readonly wrap: Wrap }[]): Promise<void>;
  /** Replaces the current key, which is retired, with a new one, and adds the slots that are missing. */
  renew(purpose: RingPurpose, wrap: Wrap, further: readonly (NewSlot & { ringKeyId: bigint })[]): Promise<void>;
  /** Removes the slots of every other root key. */
  keepOnly(root: string): Promise<void>;
}

export interface Ring {
  /** What every purpose derives its key from. It stays the same if the root key is replaced. */
  readonly keys: Keys;
  /** The key that wraps new data keys. */
  current(): Promise<RingKey>;
  byId(id: bigint): Promise<RingKey>;
}

export interface RingKey {
  readonly id: bigint;
  readonly secret: Secret;
}

/**
 * Opens the ring with the root key, and creates it on first start. Rejects a root key that the database does not know.
 */
export async function openRing(store: RingStore, root: Keys): Promise<Ring> {
  if ((await store.roots()).length === 0) {
    const wrap = () => wrapFor([root], newSecret());
    await store.begin([
      { purpose: 'house', wrap: wrap() },
      { purpose: 'vault', wrap: wrap() },
    ]);
  }
  /** With the texts that they were read from: after a failover that lost a rotation, an ID may mean another key. */
  const known = new Map<bigint, RingKey & { readonly wrapped: Sealed }>();
  const own = (await read()).find((slot) => slot.purpose === 'house');
  const secret = own && known.get(own.ringKeyId)?.secret;
  if (!secret) {
    throw new AppError(
      'internal',
      'this database was created with another root key: set ATRIUM_KEY, or put the right atrium.key into DATA_DIR',
    );
  }
  return { keys: createKeys(secret.export()), current, byId };

  async function read(): Promise<Slot[]> {
    const slots = await store.slots(root.fingerprint);
    for (const { ringKeyId, wrapped } of slots) {
      if (known.get(ringKeyId)?.wrapped.equals(wrapped)) continue;
      known.set(ringKeyId, { id: ringKeyId, wrapped, secret: unwrap(root, ringKeyId, wrapped) });
    }
    return slots;
  }

  async function current(): Promise<RingKey> {
    const slot = (await read()).find((one) => one.purpose === 'vault' && one.isCurrent);
    const key = slot && known.get(slot.ringKeyId);
    if (!key) throw new AppError('internal', 'the root key does not open the current vault key');
    return key;
  }

  /** A rotation may have added a key to the ring that this process has not read yet. */
  async function byId(id: bigint): Promise<RingKey> {
    if (!known.has(id)) await read();
    const key = known.get(id);
    if (!key) throw new Error(`the root key does not open key ${id} of the ring`);
    return key;
  }
}

/** Whether a root key opens its own slots among these. The slots of other root keys do not count. */
export function opensSlots(
  root: Keys,
  slots: readonly (Pick<Slot, 'ringKeyId' | 'wrapped'> & { root: string })[],
): boolean {
  const own = slots.filter((slot) => slot.root === root.fingerprint);
  try {
    for (const { ringKeyId, wrapped } of own) unwrap(root, ringKeyId, wrapped);
  } catch {
    return false;
  }
  return own.length > 0;
}

/** Adds a new vault key to the ring. With a next root key, every key also gets a slot that this root key can open. */
export async function renewRing(store: RingStore, root: Keys, next?: Keys): Promise<void> {
  const accepted = next ? [root, next] : [root];
  const strangers = (await store.roots()).filter((one) => !accepted.some((keys) => keys.fingerprint === one));
  if (strangers.length > 0) {
    const advice = 'set ATRIUM_NEXT_KEY to the new key, or finish with --retire-old-root once every server uses it';
    throw new AppError('invalid', `the root key is being replaced: ${advice}`);
  }
  const further = next
    ? (await store.slots(root.fingerprint)).map(({ ringKeyId, wrapped }) => ({
        ringKeyId,
        ...slotFor(next, ringKeyId, unwrap(root, ringKeyId, wrapped)),
      }))
    : [];
  await store.renew('vault', wrapFor(accepted, newSecret()), further);
}

function wrapFor(roots: readonly Keys[], secret: Secret): Wrap {
  return (ringKeyId) => roots.map((root) => slotFor(root, ringKeyId, secret));
}

function slotFor(root: Keys, ringKeyId: bigint, secret: Secret): NewSlot {
  return {
    root: root.fingerprint,
    wrapped: sealWith(secretOf(root.derive('ring')), ringKeyId, 'ring key', secret.export()),
  };
}

function unwrap(root: Keys, ringKeyId: bigint, wrapped: Sealed): Secret {
  try {
    return secretOf(openWith(secretOf(root.derive('ring')), 'ring key', wrapped));
  } catch (cause) {
    throw new AppError('internal', `key ${ringKeyId} of the ring is damaged: restore it from a backup`, { cause });
  }
}
