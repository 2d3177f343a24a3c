import { createHash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { appendAudit } from '../../changes/audit-chain.store.ts';
import type { AuditEntry } from '../../changes/audit-entry.ts';
import { PLATFORM } from '../../changes/write.ts';
import type { Db, Query, Script } from '../../db/db.ts';
import { applyRest, createSchema } from '../../db/migrate.ts';
import { findDifference, lastNumber, type MigrationFile, readMigrations, readView } from '../../db/migration-files.ts';
import { LATER_COLUMNS } from '../../db/migration-table.ts';
import { finishErasures } from '../../users/erasure/erasure.store.ts';
import { damaged, readArchive } from './archive-reader.ts';
import type { Progress } from './backup.ts';
import { type ErasedAgain, eraseAgain, writeWithin } from './erased-again.store.ts';
import { readObjects, rejectForeign } from './foreign.store.ts';
import { type Manifest, schemaOf, tableOf } from './format.ts';
import { rowsIn } from './inspection.ts';
import * as target from './restore-target.store.ts';
import { readSequences, readTables, type Table } from './tables.store.ts';

export interface RestoreOptions {
  readonly db: Db;
  readonly file: string;
  readonly manifest: Manifest;
  readonly migrationsFolder: string;
  /** The present content may be replaced. */
  readonly replace: boolean;
  readonly say: (line: string) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** The numbers of people who are erased, also if they were not when the backup was made. */
  readonly erased?: readonly bigint[];
  /** Called as the very last step before the commit. */
  readonly beforeCommit?: () => void;
}

const LOCK_TIMEOUT_MS = 10_000;
/** A database that does not write checkpoints by itself would let its log grow with everything that is loaded. */
const BYTES_PER_CHECKPOINT = 64 * 1024 * 1024;

/** The migrations of the backup must be the first of ours, or those that the baseline replaces, with identical content. */
export function rejectOtherSchema({ migrations, version }: Manifest, files: readonly MigrationFile[]): void {
  const newest = files.at(-1);
  const difference = findDifference(migrations, files);
  if (difference?.kind === 'too old') {
    const { name, baseline } = difference;
    throw new AppError(
      'conflict',
      `the backup is too old for this release: its schema is ${name}, and this release can restore from ` +
        `${baseline.name} on; restore it with commit ${baseline.commit}, then upgrade`,
    );
  }
  if (lastNumber(migrations) > lastNumber(files)) {
    throw new AppError(
      'conflict',
      `the backup is newer than this release: its schema is ${schemaOf({ migrations })}, ` +
        `this release ends at ${newest?.name}; restore it with ${version} or newer`,
    );
  }
  if (difference) {
    throw new AppError(
      'conflict',
      `migration ${difference.name} of the backup differs from that of this release; ` +
        `restore it with the release that wrote it (${version})`,
    );
  }
}

/**
 * Replaces the content of the database with a backup, in one transaction: the schema of the backup, its rows, and all
 * migrations that were added since. Until the commit, everyone sees what was there before; so does a restart after a
 * crash.
 */
export async function restore(options: RestoreOptions): Promise<ErasedAgain | undefined> {
  const { db, manifest, replace, erased = [], beforeCommit } = options;
  let outcome: ErasedAgain | undefined;
  const files = readMigrations(options.migrationsFolder);
  const view = readView(options.migrationsFolder);
  rejectOtherSchema(manifest, files);
  await db.migration(async (query, script) => {
    await rejectServers(query);
    const former = await target.readRestoreTarget(query);
    if (former.hasContent && !replace) {
      throw new AppError(
        'conflict',
        'the database is not empty, so nothing was changed; add --replace to overwrite it with the backup',
      );
    }
    const before = await readObjects(query);
    const sequences = await readSequences(query);
    await script(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await target.dropEverything(query, script);
    await script('set local lock_timeout = 0');
    const last = lastNumber(manifest.migrations);
    await createSchema(
      files.filter(({ number }) => number <= last),
      script,
    );
    await loadAll(options, query, script);
    // Set before the remaining migrations, because one of them may add rows, and again after them, for what they
    // created.
    await target.setSequences(query, manifest.sequences, sequences);
    await applyRest({ files, view }, query, script, options.say);
    rejectForeign(before, await readObjects(query));
    await target.setSequences(query, sequences, await readSequences(query));
    await target.leapAhead(query, former.revision, new Date());
    await appendAudit(query, [entryOf(manifest)]);
    if (erased.length > 0) {
      outcome = await eraseAgain(query, erased);
      await finishErasures({ query }, writeWithin(query));
    }
    beforeCommit?.();
  }, LOCK_TIMEOUT_MS);
  return outcome;
}

/** The actor is the operator of the server's own machine, as for other server commands. */
function entryOf({ createdAt, version, migrations }: Manifest): AuditEntry {
  return {
    actor: { id: 0n, name: 'operator', requestId: 'command' },
    organizationId: PLATFORM,
    action: 'deployment.restore',
    objectType: 'deployment',
    objectId: 0n,
    after: { madeAt: createdAt, by: version, schema: schemaOf({ migrations }) },
  };
}

/** A server remembers keys by their number and would continue to seal with those of the previous database. */
async function rejectServers(query: Query): Promise<void> {
  const { count, hosts } = await target.connectedServers(query);
  if (count === 0) return;
  throw new AppError(
    'conflict',
    `servers are connected to the database (${count} connections, from ${hosts}), so nothing was changed; ` +
      'stop every server, then restore',
  );
}

async function loadAll(options: RestoreOptions, query: Query, script: Script): Promise<void> {
  const { db, file, manifest, onProgress } = options;
  const tables = new Map((await readTables(query)).map((table) => [table.name, table]));
  for (const { name, columns } of manifest.tables) rejectOtherColumns(name, columns, tables.get(name));
  const putBack = await target.shelve(query, script, [...tables.values()]);
  // Migrations insert rows into some tables; the backup contains these rows as well.
  await target.clear(script, [...tables.values()]);
  const summaries = new Map(manifest.tables.map((one) => [one.name, { ...one, hash: createHash('sha256') }]));
  let rows = 0;
  let unsaved = 0;
  for await (const { name: entry, content } of readArchive(file)) {
    const summary = summaries.get(tableOf(entry) ?? '');
    const table = summary && tables.get(summary.name);
    if (!summary || !table) continue;
    summary.hash.update(content);
    const batch = rowsIn(file, content);
    await target.load(query, table, summary.columns, batch);
    rows += batch.length;
    unsaved += content.length;
    onProgress?.({ table: table.name, rows });
    if (!db.capabilities.writesCheckpoints && unsaved > BYTES_PER_CHECKPOINT) {
      await script('checkpoint');
      unsaved = 0;
    }
  }
  // The file was inspected before, but by now it might be another file with the same name.
  for (const { name, hash, sha256 } of summaries.values()) {
    if (hash.digest('hex') !== sha256) throw damaged(file, `${name} changed while it was read`);
  }
  await putBack();
}

function rejectOtherColumns(name: string, columns: readonly string[], table: Table | undefined): void {
  // The table of the migrations is not itself subject to them.
  const isLater = (column: string) => name === 'migration' && LATER_COLUMNS.has(column) && !columns.includes(column);
  const known = table?.columns.map((column) => column.name).filter((column) => !isLater(column));
  if (known?.sort().join(', ') === [...columns].sort().join(', ')) return;
  throw new AppError(
    'conflict',
    `table ${name} of the backup has other columns than in this release at that schema, so nothing was changed; ` +
      'restore it with the release that wrote it',
  );
}
