import { AppError } from '../base/errors.ts';
import type { DbOptions } from './db-options.ts';
import { sql } from './statement.ts';
import type { Db } from './types.ts';

export type { DbOptions } from './db-options.ts';
export { databaseFolder, hasDatabase, rejectLostDatabase } from './pglite/pglite-folder.ts';
export { oneOff, type Statement, sql } from './statement.ts';
export type { Capabilities, Db, Later, Query, Script, TransactionQuery } from './types.ts';

/** Opens PostgreSQL if a DATABASE_URL is given, otherwise PGlite. */
export async function openDb(options: DbOptions): Promise<Db> {
  const { open } = await loadDriver(options);
  return await open();
}

interface Driver {
  /** Begins immediately. */
  open(): Promise<Db>;
  /** Whether the database works in a thread of its own, also while this one is busy. */
  readonly hasThread: boolean;
}

/** A driver that is not used is not even loaded: PGlite is 15 MB. */
export async function loadDriver(options: DbOptions): Promise<Driver> {
  const { databaseUrl = '' } = options;
  if (databaseUrl !== '') {
    const { openPostgres } = await import('./postgres.ts');
    return { open: async () => openPostgres(options, databaseUrl), hasThread: false };
  }
  const { openPglite } = await import('./pglite/pglite.ts');
  return { open: () => openPglite(options), hasThread: true };
}

/** Whether this error is a unique violation. With a name: whether it is of exactly that constraint or index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== '23505') return false;
  return constraint === undefined || ('constraint' in error && error.constraint === constraint);
}

/** Whether this unique violation was raised about the rows of that table, by a trigger of another one. */
export function isViolationAbout(error: unknown, table: string): boolean {
  return isUniqueViolation(error) && error instanceof Error && 'table' in error && error.table === table;
}

/** Whether this error says that a referenced row does not exist. */
export function isMissingReference(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503';
}

/** Whether this error says that a row has no value in a column of that table, which must have one. */
export function isMissingValue(error: unknown, table: string, column: string): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== '23502') return false;
  return 'table' in error && error.table === table && 'column' in error && error.column === column;
}

/** The only row of a statement that always returns exactly one. */
export function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new Error(`expected exactly one row, got ${rows.length}`);
  return row;
}

/** What a statement returned for something that it always returns a row for. */
export function known<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a row is missing in what a statement returned');
  return value;
}

const PING = sql('db.ping', 'select pg_is_in_recovery() as is_standby');

/** Resolves if the database answers, and is not a standby: that can neither write nor show the present. */
export async function ping(db: Pick<Db, 'query' | 'renew'>): Promise<void> {
  if (!only(await db.query<{ is_standby: boolean }>(PING)).is_standby) return;
  db.renew?.();
  throw new AppError('unavailable', 'the database is a read-only standby', { retryAfter: 1 });
}
