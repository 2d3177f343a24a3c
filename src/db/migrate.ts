import { AppError } from '../base/errors.ts';
import { type MigrationFile, readMigrations } from './migration-files.ts';
import { sql } from './statement.ts';
import type { Db, Query, Script } from './types.ts';

/**
 * Long enough for a replica to wait until another has migrated, short enough to say so before a supervisor gives up.
 */
const LOCK_TIMEOUT_MS = 120_000;

const CREATE = `create table if not exists migration (
  number int primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
)`;
const APPLIED = sql('migration.list', 'select number, name, checksum from migration order by number');
const IS_THERE = sql('migration.isThere', `select to_regclass('migration') is not null as there`);
const APPLIED_AT = sql('migration.status', 'select number, name, checksum, applied_at from migration order by number');
const RECORD = sql('migration.add', 'insert into migration (number, name, checksum) values ($1, $2, $3)');
const TRANSACTION_ID = sql('migration.transaction', 'select pg_current_xact_id()::text as id');

export type Applied = Pick<MigrationFile, 'number' | 'name' | 'checksum'>;

export interface MigrateOptions {
  readonly lockTimeoutMs?: number;
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
): Promise<{ applied: string[]; version: number }> {
  const files = readMigrations(folder);
  const applied: string[] = [];
  for (;;) {
    const name = await db
      .migration((query, script) => applyNext(files, query, script, say), lockTimeoutMs)
      .catch(explain);
    if (name === undefined) return { applied, version: files.length };
    applied.push(name);
  }
}

/** Which migrations a database has had and which are pending. Only reads, and rejects what `migrate` would reject. */
export async function migrationStatus(query: Query, folder: string) {
  const files = readMigrations(folder);
  const [there] = await query<{ there: boolean }>(IS_THERE);
  const applied = there?.there ? await query<Applied & { applied_at: Date }>(APPLIED_AT) : [];
  refuseStrangers(applied, files);
  return {
    applied: applied.map(({ name, applied_at: appliedAt }) => ({ name, appliedAt })),
    pending: files.slice(applied.length).map(({ name }) => name),
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
  while ((await applyNext(files, query, script, say)) !== undefined);
}

async function runScript(file: MigrationFile, script: Script): Promise<void> {
  try {
    await script(file.text);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('internal', `the migration ${file.name} failed${place(error, file.text)}`, { cause: error });
  }
}

async function applyNext(
  files: readonly MigrationFile[],
  query: Query,
  script: Script,
  say: (line: string) => void,
): Promise<string | undefined> {
  await script(CREATE);
  const done = await query<Applied>(APPLIED);
  refuseStrangers(done, files);
  const next = files[done.length];
  if (next === undefined) return undefined;

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
  await query(RECORD, [next.number, next.name, next.checksum]);
  return next.name;
}

/** Migrations only go forward: the applied ones must be exactly the first of the files. */
export function refuseStrangers(done: readonly Applied[], files: readonly MigrationFile[]): void {
  const newest = done.at(-1);
  if (newest !== undefined && newest.number > files.length) {
    const found = `it has migration ${newest.name}, but this release ends at number ${files.length}`;
    const advice = 'start the newer release or restore a backup';
    throw new AppError('unavailable', `the database is newer than this release: ${found}; ${advice}`);
  }
  for (const [index, row] of done.entries()) {
    const file = files[index];
    if (file?.number === row.number && file.checksum === row.checksum) continue;
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

function explain(error: unknown): never {
  const cause = error instanceof AppError ? error.detail.cause : undefined;
  if (cause instanceof Error && 'code' in cause && cause.code === '55P03') {
    throw new AppError(
      'unavailable',
      'another process has been migrating this database for too long: let it finish (or end it), then start again',
      { cause },
    );
  }
  throw error;
}
