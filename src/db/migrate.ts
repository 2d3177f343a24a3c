import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import { stateOf } from './database-errors.ts';
import { type MigrationFile, readMigrations } from './migration-files.ts';
import { type Applied, addCompatibility, appliedMigrations, CREATE, recordMigration } from './migration-table.ts';
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
  readonly applied: string[];
  /** The number of the last migration of the database. */
  readonly version: number;
  /** Whether the database has migrations that this release does not know, but can run with. */
  readonly isAhead: boolean;
}

/**
 * Migrates the database to the newest of the numbered files in the folder. Each file and its row in `migration` are one
 * transaction under one lock, and the pending files are determined under that lock, so any number of replicas may start
 * at once.
 */
export async function migrate(
  db: Db,
  folder: string,
  say: (line: string) => void,
  { lockTimeoutMs = LOCK_TIMEOUT_MS }: MigrateOptions = {},
): Promise<Migrated> {
  const files = readMigrations(folder);
  const applied: string[] = [];
  for (;;) {
    const step = await withRetries(lockTimeoutMs, say, (onTurn) =>
      db.migration((query, script) => {
        onTurn();
        return applyNext(files, query, script, say, TABLE_LOCK_TIMEOUT_MS);
      }, lockTimeoutMs),
    );
    if (step.name === undefined) {
      return { applied, version: step.newest?.number ?? 0, isAhead: (step.newest?.number ?? 0) > files.length };
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
  const isBreaking = ({ compatibleFrom }: MigrationFile) => compatibleFrom > applied.length;
  const times = there?.there ? await query<{ number: number; applied_at: Date }>(APPLIED_AT) : [];
  return {
    applied: applied.map(({ name }, index) => ({ name, appliedAt: times[index]?.applied_at ?? new Date(0) })),
    pending: files.slice(applied.length).map(({ name }) => name),
    /** The first pending migration that servers of the present schema cannot run after. */
    endsOlder: applied.length === 0 ? undefined : files.slice(applied.length).find(isBreaking)?.name,
    isAhead: applied.length > files.length,
  };
}

/** For a restore, inside its one transaction: the schema as it was after these migrations, without their rows. */
export async function createSchema(files: readonly MigrationFile[], script: Script): Promise<void> {
  await script(CREATE);
  for (const file of files) await runScript(file, script);
}

/** For a restore: applies all later migrations, in the transaction that is open. */
export async function applyRest(
  files: readonly MigrationFile[],
  query: Query,
  script: Script,
  say: (line: string) => void,
): Promise<void> {
  while ((await applyNext(files, query, script, say, 0)).name !== undefined);
}

async function runScript(file: MigrationFile, script: Script): Promise<void> {
  try {
    await script(file.text);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('internal', `the migration ${file.name} failed${place(error, file.text)}`, { cause: error });
  }
}

interface Step {
  /** The migration that was applied. */
  readonly name?: string;
  /** The last migration of the database, if none was left to apply. */
  readonly newest?: Applied | undefined;
}

async function applyNext(
  files: readonly MigrationFile[],
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
  const next = files[done.length];
  if (next === undefined) return { newest: done.at(-1) };

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

/** The applied migrations must be exactly the first of the files. Later ones must declare that this release can stay. */
export function rejectUnknownMigrations(done: readonly Applied[], files: readonly MigrationFile[]): void {
  for (const row of done) {
    if (row.number <= files.length || (row.compatibleFrom ?? row.number) <= files.length) continue;
    const found = `it has migration ${row.name}, but this release ends at number ${files.length}`;
    const advice = 'start the newer release or restore a backup';
    throw new AppError('unavailable', `the database is newer than this release: ${found}; ${advice}`);
  }
  for (const [index, row] of done.entries()) {
    const isSame = index >= files.length || files[index]?.checksum === row.checksum;
    if (row.number === index + 1 && isSame) continue;
    const advice = 'restore the file, and make the change in a new migration';
    throw new AppError('unavailable', `the migration ${row.name} was changed after it was applied: ${advice}`);
  }
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
