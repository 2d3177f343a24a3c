import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import { stateOf } from './database-errors.ts';
import {
  findDifference,
  lastNumber,
  type MigrationFile,
  readMigrations,
  readView,
  type ViewFile,
} from './migration-files.ts';
import {
  type Applied,
  addCompatibility,
  appliedMigrations,
  CREATE,
  isViewApplied,
  recordMigration,
  recordView,
} from './migration-table.ts';
import { sql } from './statement.ts';
import type { Db, Query, Script } from './types.ts';

/**
 * Long enough for a replica to wait until another has migrated, short enough to say so before a supervisor gives up.
 */
const LOCK_TIMEOUT_MS = 120_000;
/**
 * While a migration waits for a lock on a table, every statement of the servers on that table waits behind it. So it
 * waits only briefly, lets them through, and tries again.
 */
const TABLE_LOCK_TIMEOUT_MS = 500;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;

const TURN_NOT_OVER =
  'another process has been migrating this database for too long: let it finish (or end it), then start again';
const TABLES_IN_USE =
  'transactions on the tables of the next migration have been open for too long: wait for a running backup, or end ' +
  'the sessions that pg_stat_activity shows as idle in transaction, then start again';

const IS_THERE = sql('migration.isThere', `select to_regclass('migration') is not null as there`);
const APPLIED_AT = sql('migration.times', 'select number, applied_at from migration order by number');
const TRANSACTION_ID = sql('migration.transaction', 'select pg_current_xact_id()::text as id');

export type { Applied } from './migration-table.ts';

export interface MigrateOptions {
  readonly lockTimeoutMs?: number;
}

export interface Migrated {
  /** The names of the files that were applied: the migrations, and the view if it has changed. */
  readonly applied: string[];
  /** The number of the last migration of the database. */
  readonly version: number;
  /** Whether the database has migrations that this release does not know, but can run with. */
  readonly isAhead: boolean;
}

/** The files of a release. */
export interface Migrations {
  readonly files: readonly MigrationFile[];
  readonly view: ViewFile | undefined;
}

/**
 * Migrates the database to the newest of the numbered files in the folder, then applies the view if it has changed. Each
 * file and its row in `migration` are one transaction under one lock, and the pending files are determined under that
 * lock, so any number of replicas may start at the same time.
 */
export async function migrate(
  db: Db,
  folder: string,
  say: (line: string) => void,
  { lockTimeoutMs = LOCK_TIMEOUT_MS }: MigrateOptions = {},
): Promise<Migrated> {
  const migrations = { files: readMigrations(folder), view: readView(folder) };
  const applied: string[] = [];
  for (;;) {
    const step = await withRetries(lockTimeoutMs, say, (onTurn) =>
      db.migration((query, script) => {
        onTurn();
        return applyNext(migrations, query, script, say, TABLE_LOCK_TIMEOUT_MS);
      }, lockTimeoutMs),
    );
    if (step.name === undefined) {
      const version = step.newest?.number ?? 0;
      return { applied, version, isAhead: version > lastNumber(migrations.files) };
    }
    applied.push(step.name);
  }
}

/** Which migrations a database has had and which are pending. Only reads, and rejects what `migrate` would reject. */
export async function migrationStatus(query: Query, folder: string) {
  const files = readMigrations(folder);
  const [there] = await query<{ there: boolean }>(IS_THERE);
  const applied = there?.there ? await appliedMigrations(query) : [];
  rejectUnknownMigrations(applied, files);
  const last = lastNumber(applied);
  const isAhead = last > lastNumber(files);
  const later = files.filter(({ number }) => number > last);
  const view = isAhead ? undefined : readView(folder);
  const isViewDue = view !== undefined && !(await isViewApplied(query, view));
  const times = there?.there ? await query<{ number: number; applied_at: Date }>(APPLIED_AT) : [];
  return {
    applied: applied.map(({ name }, index) => ({ name, appliedAt: times[index]?.applied_at ?? new Date(0) })),
    pending: [...later, ...(isViewDue ? [view] : [])].map(({ name }) => name),
    /** The first pending migration that servers of the present schema cannot run after. */
    endsOlder: last === 0 ? undefined : later.find(({ compatibleFrom }) => compatibleFrom > last)?.name,
    isAhead,
  };
}

/** For a restore, inside its one transaction: the schema as it was after these migrations, without their rows. */
export async function createSchema(files: readonly MigrationFile[], script: Script): Promise<void> {
  await script(CREATE);
  for (const file of files) await runScript(file, script);
}

/** For a restore: applies all later migrations and the view, in the transaction that is open. */
export async function applyRest(
  migrations: Migrations,
  query: Query,
  script: Script,
  say: (line: string) => void,
): Promise<void> {
  while ((await applyNext(migrations, query, script, say, 0)).name !== undefined);
}

async function runScript(file: Pick<MigrationFile, 'name' | 'text'>, script: Script): Promise<void> {
  try {
    await script(file.text);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('internal', `the migration ${file.name} failed${place(error, file.text)}`, { cause: error });
  }
}

interface Step {
  /** The file that was applied. */
  readonly name?: string;
  /** The last migration of the database, if none was left to apply. */
  readonly newest?: Applied | undefined;
}

async function applyNext(
  { files, view }: Migrations,
  query: Query,
  script: Script,
  say: (line: string) => void,
  tableLockTimeoutMs: number,
): Promise<Step> {
  await script(`set local lock_timeout = ${tableLockTimeoutMs}`);
  await script(CREATE);
  await addCompatibility(query, script);
  const done = await appliedMigrations(query);
  rejectUnknownMigrations(done, files);
  const last = done.at(-1);
  const next = last ? files.find(({ number }) => number === last.number + 1) : files[0];
  if (next === undefined) {
    // A newer release has the newer view.
    const isAhead = lastNumber(done) > lastNumber(files);
    if (view === undefined || isAhead || (await isViewApplied(query, view))) return { newest: last };
    say(`migrating the database: ${view.name}`);
    await runScript(view, script);
    await recordView(script, view);
    return { name: view.name };
  }

  say(`migrating the database: ${next.name}`);
  const [before] = await query<{ id: string }>(TRANSACTION_ID);
  await runScript(next, script);
  const [after] = await query<{ id: string }>(TRANSACTION_ID);
  if (before?.id !== after?.id) {
    throw new AppError(
      'internal',
      `the migration ${next.name} ended its own transaction: it must not COMMIT or ROLLBACK`,
    );
  }
  await recordMigration(query, next);
  return { name: next.name };
}

/** Later migrations than those of this release must declare that this release can stay. */
export function rejectUnknownMigrations(done: readonly Applied[], files: readonly MigrationFile[]): void {
  const end = lastNumber(files);
  for (const row of done) {
    if (row.number <= end || (row.compatibleFrom ?? row.number) <= end) continue;
    const found = `it has migration ${row.name}, but this release ends at number ${end}`;
    const advice = 'start the newer release or restore a backup';
    throw new AppError('unavailable', `the database is newer than this release: ${found}; ${advice}`);
  }
  const difference = findDifference(done, files);
  if (difference === undefined) return;
  if (difference.kind === 'too old') {
    const { name, baseline } = difference;
    const found = `its last migration is ${name}, and this release can upgrade from ${baseline.name} on`;
    const advice = `start the server of commit ${baseline.commit} on it first, then this release`;
    throw new AppError('unavailable', `the database is too old for this release: ${found}; ${advice}`);
  }
  const advice = 'restore the file, and make the change in a new migration';
  throw new AppError('unavailable', `the migration ${difference.name} was changed after it was applied: ${advice}`);
}

/** PostgreSQL counts characters from the start of the text; people look for a line. */
function place(error: unknown, text: string): string {
  const message = error instanceof Error ? `: ${error.message}` : '';
  const position = error instanceof Error && 'position' in error ? Number(error.position) : Number.NaN;
  if (!(position > 0)) return message;
  return ` in line ${text.slice(0, position).split('\n').length}${message}`;
}

/** A migration that got no lock, or that a server's transaction blocked, has changed nothing and is tried again. */
async function withRetries<T>(
  patienceMs: number,
  say: (line: string) => void,
  work: (onTurn: () => void) => Promise<T>,
): Promise<T> {
  const began = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    let hadTurn = false;
    try {
      return await work(() => {
        hadTurn = true;
      });
    } catch (error) {
      const cause = error instanceof AppError ? error.detail.cause : undefined;
      if (!/^(55P03|40P01|40001)$/.test(stateOf(cause) ?? '')) throw error;
      if (performance.now() - began + pauseMs > patienceMs) {
        throw new AppError('unavailable', hadTurn ? TABLES_IN_USE : TURN_NOT_OVER, { cause });
      }
      if (pauseMs === FIRST_PAUSE_MS) say('waiting for open transactions on these tables to end');
      await pause(pauseMs);
    }
  }
}
