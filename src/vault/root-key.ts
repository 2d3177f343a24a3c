import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import { acceptProposal, createKeys, findRoot, type Keys, keyPath, proposedRoot, proposeRoot } from '../base/keys.ts';
import { opensSlots, type RingStore } from './ring.ts';

/** What the database says about a root key, before any migration has run. */
export interface RootKeyStore extends Pick<RingStore, 'slots'> {
  /** Whether there are keys that only a root key can open. */
  hasRing(): Promise<boolean>;
  /** Whether there is neither a ring nor an account. */
  isEmpty(): Promise<boolean>;
}

export interface RootKey {
  readonly keys: Keys;
  /** Called once the ring is in the database: from then on, a new root key must not get lost. */
  keep(): void;
}

/**
 * The root key of this deployment: ATRIUM_KEY, or the key file, or for a new deployment a proposal. Rejects a key file
 * without its database and a database without its key, and writes nothing in these cases.
 */
export async function findRootKey(
  store: RootKeyStore,
  configured: Buffer | undefined,
  dataDir: string,
): Promise<RootKey> {
  const known = findRoot(configured, dataDir);
  if (known !== undefined) {
    if (configured === undefined) await rejectEmptyDatabase(store, dataDir);
    return { keys: createKeys(known), keep: () => undefined };
  }
  const proposed = (await store.hasRing()) ? await rightProposal(store, dataDir) : proposeRoot(dataDir);
  return { keys: createKeys(proposed), keep: () => acceptProposal(proposed, dataDir) };
}

/** For PostgreSQL, what `rejectLostDatabase` is for the built-in database. */
export async function rejectEmptyDatabase(store: RootKeyStore, dataDir: string): Promise<void> {
  const path = resolve(keyPath(dataDir));
  if (!existsSync(path) || !(await store.isEmpty())) return;
  throw new AppError(
    'conflict',
    `${path} is the key of a deployment, but the database is empty (nothing was changed). To recover, correct ` +
      'DATABASE_URL or restore a backup. To start a new deployment, move the key away',
  );
}

/** A first start that ended after the ring was committed, but before the key file had its name. */
async function rightProposal(store: RootKeyStore, dataDir: string): Promise<Buffer> {
  const root = proposedRoot(dataDir);
  if (root !== undefined) {
    const keys = createKeys(root);
    const slots = await store.slots(keys.fingerprint);
    const own = slots.map((slot) => ({ ...slot, root: keys.fingerprint }));
    if (opensSlots(keys, own)) return root;
  }
  throw new AppError(
    'conflict',
    'the root key of this database is missing (nothing was changed): set ATRIUM_KEY, or put it back at ' +
      `${resolve(keyPath(dataDir))}`,
  );
}
