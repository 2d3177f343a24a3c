import type { DbOptions } from './db-options.ts';

import { sql } from './statement.ts';

import type { Db } from './types.ts';

export type { DbOptions } from './db-options.ts';
export { type Statement, sql } from './statement.ts';
export type { Db, Query, Script } from './types.ts';

/** PostgreSQL when a DATABASE_URL is given, else PGlite. A driver that is not used is not even loaded: PGlite is 15 MB. */
export async function openDb(options: DbOptions): Promise<Db> {
  if (options.databaseUrl !== undefined && options.databaseUrl !== '') {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(options, options.databaseUrl);
  }
  const { openPglite } = await import('./pglite.ts');
  return openPglite(options);
}

/** Does this error say that a unique index refused? With a name: that very constraint or index. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== '23505') return false;
  return constraint === undefined || ('constraint' in error && error.constraint === constraint);
}

/** Does this error say that a row which is referred to is not there? */
export function isMissingReference(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503';
}

/** The one row of a statement that always answers with exactly one. */
export function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new Error(`a statement that answers with one row had ${rows.length}`);
  return row;
}

const PING = sql('db.ping', 'select 1 as answer');

/** Resolves if the database answers. */
export async function ping(db: Pick<Db, 'query'>): Promise<void> {
  await db.query(PING);
}
