import { AppError } from '../errors.ts';
import type { Db, Query, Script } from './db.ts';
import { type MigrationFile, readMigrations } from './migration-files.ts';
import { sql } from './statement.ts';

/** Long enough for a replica to wait until another has migrated, short enough to say so before a supervisor gives up. */
const LOCK_TIMEOUT_MS = 120_000;

const CREATE = `create table if not exists migration (
  number int primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
)`;
const APPLIED = sql('migration.list', 'select number, name, checksum from migration order by number');
const RECORD = sql('migration.add', 'insert into migration (number, name, checksum) values ($1, $2, $3)');
const TRANSACTION_ID = sql('migration.transaction', 'select pg_current_xact_id()::text as id');

type Applied = Pick<MigrationFile, 'number' | 'name' | 'checksum'>;

export interface MigrateOptions {
  readonly lockTimeoutMs?: number;
}

/**
 * Brings the database to the newest of the numbered files in the folder. Each file and its row in `migration` are one
 * transaction under one lock, and what is still to do is read under that lock, so any number of replicas may start at once.
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
  try {
    await script(next.text);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('internal', `the migration ${next.name} failed${place(error, next.text)}`, { cause: error });
  }
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

/** Forward only: what was applied must be exactly the first of the files. */
function refuseStrangers(done: readonly Applied[], files: readonly MigrationFile[]): void {
  const newest = done.at(-1);
  if (newest !== undefined && newest.number > files.length) {
    throw new AppError(
      'unavailable',
      `the database is newer than this release: it has had migration ${newest.name}, this release ends at number ${files.length}. Start the newer release, or restore a backup`,
    );
  }
  for (const [index, row] of done.entries()) {
    const file = files[index];
    if (file?.number === row.number && file.checksum === row.checksum) continue;
    throw new AppError(
      'unavailable',
      `the migration ${row.name} was changed after it had been applied to this database: put the file back as it was, and make the change in a new one`,
    );
  }
}

/** PostgreSQL counts characters from the start of the text; a person looks for a line. */
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
