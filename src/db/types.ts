import type { Connections } from '../base/metrics.ts';
import type { Statement } from './statement.ts';

export type Query = <Row extends object = Record<string, unknown>>(
  statement: Statement,
  values?: readonly unknown[],
) => Promise<Row[]>;

/** The statements of a transaction. Those of the same turn of the event loop travel to the server together. */
export interface TransactionQuery extends Query {
  /**
   * For a statement whose rows are not needed yet, or not at all: it travels with the next one, or with the COMMIT. If it
   * fails, so does what it travels with.
   */
  later<Row extends object = Record<string, unknown>>(statement: Statement, values?: readonly unknown[]): Later<Row>;
}

/** The rows of a statement that was to run later. Throws if it has not run. */
export type Later<Row> = () => readonly Row[];

/** Runs a text with several statements, without values and without rows. */
export type Script = (text: string) => Promise<void>;

/** What distinguishes databases for their users, who never ask which driver it is. */
export interface Capabilities {
  /** It runs in this process, on files in the data folder: nothing between them can fail and recover by itself. */
  readonly isBuiltIn: boolean;
  /** No other process can open it, so what this process wrote last is the latest. */
  readonly isOnlyWriter: boolean;
  /** Every statement waits for the one before it, and for the end of an open transaction. */
  readonly hasOneConnection: boolean;
  /** It writes checkpoints by itself. Otherwise its log grows until one is requested. */
  readonly writesCheckpoints: boolean;
}

export interface Db {
  /** Its name, for people. Code asks for a capability instead. */
  readonly driver: 'pglite' | 'postgres';
  readonly capabilities: Capabilities;
  /** One statement, autocommitted. A write is on disk when this resolves. */
  readonly query: Query;
  /**
   * Runs a small query without values that is needed all the time. On PostgreSQL, it does not wait for other queries.
   * The result is one value, as PostgreSQL writes it.
   */
  queryRevision(statement: Statement): Promise<string | null>;
  /**
   * Passes `work` the only query function of the transaction. Commits if `work` resolves, rolls back if it throws. A
   * write is on disk when this resolves.
   */
  transaction<T>(work: (query: TransactionQuery) => Promise<T>): Promise<T>;
  /**
   * For migrations and restores only: a transaction that holds the migration lock, has no query timeout and may run a
   * whole file.
   */
  migration<T>(work: (query: TransactionQuery, script: Script) => Promise<T>, lockTimeoutMs: number): Promise<T>;
  /** For backups: reads one moment, however long it takes and whatever is written meanwhile. It cannot write. */
  snapshot<T>(work: (query: Query, script: Script) => Promise<T>): Promise<T>;
  /**
   * Built-in database only: copies its files, as they are between two transactions, into a folder that must not exist.
   * Opening the copy shows what a crash at that moment would have left. Statements wait meanwhile. Returns the duration
   * in milliseconds.
   */
  readonly copyTo?: (folder: string) => Promise<number>;
  /**
   * PostgreSQL only: no connection that is open now serves another query. For when its address may lead to another
   * server by now.
   */
  readonly renew?: () => void;
  /** The connections at this moment. PGlite has one. */
  connections(): Connections;
  close(): Promise<void>;
}
