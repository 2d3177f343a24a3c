import type { Statement } from './statement.ts';

export type Query = <Row extends object = Record<string, unknown>>(
  statement: Statement,
  values?: readonly unknown[],
) => Promise<Row[]>;

/** Runs a text of several statements, without values and without rows. */
export type Script = (text: string) => Promise<void>;

export interface Db {
  readonly driver: 'pglite' | 'postgres';
  /** One statement of its own, autocommitted. A write is on disk when this resolves. */
  readonly query: Query;
  /**
   * A small question without values that is asked all the time; it waits for nobody else's. The answer is one value, as
   * PostgreSQL writes it.
   */
  ask(statement: Statement): Promise<string | null>;
  /**
   * The transaction hands over the only query function in sight; commits when work resolves, rolls back when it throws.
   * A write is on disk when this resolves.
   */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** For migrate.ts alone: a transaction that holds the migration lock, knows no query timeout and may run a whole file. */
  migration<T>(work: (query: Query, script: Script) => Promise<T>, lockTimeoutMs: number): Promise<T>;
  /** For backups: reads one moment, however long it takes and whatever others write meanwhile. Nothing can be written in it. */
  snapshot<T>(work: (query: Query, script: Script) => Promise<T>): Promise<T>;
  /**
   * The built-in database alone: its files as they are between two transactions, copied into a folder that must not exist. Who
   * opens the copy finds what a crash at that moment would have left. Statements wait meanwhile; answers how many milliseconds.
   */
  readonly copyTo?: (folder: string) => Promise<number>;
  close(): Promise<void>;
}
