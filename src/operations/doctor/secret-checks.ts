import type { Config } from '../../base/config/config.ts';
import { createKeys, findRoot } from '../../base/keys.ts';
import type { Db } from '../../db/db.ts';
import { SEALED_COLUMNS } from '../../sealed-columns.ts';
import { createRingStore } from '../../vault/ring.store.ts';
import { openRing } from '../../vault/ring.ts';
import { createVaultStore } from '../../vault/vault.store.ts';
import { createVault, type Vault } from '../../vault/vault.ts';
import { examineBus } from './bus-checks.ts';
import type { createDatabaseStore } from './database.store.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

type Store = ReturnType<typeof createDatabaseStore>;

const SAMPLE = 200;

/**
 * Checks that the root key opens the key ring, that the key ring opens the sealed values, and that the bus accepts the
 * keys among them.
 */
export async function examineSecrets(db: Db, store: Store, config: Config): Promise<Finding[]> {
  const check = 'keys';
  const roots = await store.roots();
  if (roots === 0) return [ok(check, 'there are none yet; the first start creates them')];
  const advice = 'Set ATRIUM_KEY, or put the right atrium.key into DATA_DIR: without it no token or secret works.';
  const root = findRoot(config.ATRIUM_KEY, config.DATA_DIR);
  if (!root) return [fault(check, 'the root key is missing', advice)];
  const ring = await openRing(createRingStore(db), createKeys(root)).catch((error: Error) => error);
  if (ring instanceof Error) return [fault(check, 'the root key does not open the keys of this database', advice)];
  const findings = [ok(check, 'the root key opens the key ring')];
  if (roots > 1) {
    const end = 'Once every server runs with the new root key, run "atrium rotate-keys --retire-old-root".';
    findings.push(warning(check, `${roots} root keys open the database: a change of the root key is under way`, end));
  }
  const vault = createVault(createVaultStore(db), ring);
  findings.push(await examineSealed(store, vault));
  findings.push(...(await examineBus(db, vault, config)));
  return findings;
}

async function examineSealed(store: Store, vault: Vault): Promise<Finding> {
  let count = 0;
  const damaged: string[] = [];
  for (const column of SEALED_COLUMNS) {
    for (const { id, ownerId, identity, sealed } of await store.sealed(column, SAMPLE)) {
      count++;
      await vault.open(ownerId, identity, sealed).catch(() => damaged.push(`${column.table} ${id}`));
    }
  }
  if (damaged.length === 0) return ok('secrets', `all of a sample of ${count} can be opened`);
  const text = `${damaged.length} of a sample of ${count} cannot be opened (${damaged.slice(0, 5).join(', ')})`;
  return fault('secrets', text, 'Ask their owners to enter them again, or restore a backup from before the damage.');
}
