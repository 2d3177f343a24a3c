import type { StartBackend } from './pglite/pglite-backend.ts';

export interface DbOptions {
  readonly databaseUrl?: string | undefined;
  readonly dataDir: string;
  /** A restore may create the built-in database next to a key file. Otherwise, that means that the database is lost. */
  readonly isRestore?: boolean;
  /** The number of connections to PostgreSQL. PGlite has one. */
  readonly poolSize?: number;
  /** A pooler such as PgBouncer gives each transaction another connection to PostgreSQL. */
  readonly isPooled?: boolean;
  /** How long a statement, or the wait for a turn, may take before it fails as unavailable. */
  readonly queryTimeoutMs?: number;
  /**
   * How many times longer than usual to wait for a server that shows no sign of life. More than 1 on machines that pause
   * now and then, such as shared ones that run tests.
   */
  readonly patience?: number | undefined;
  /** Reports progress as a line of text. */
  readonly say: (line: string) => void;
  /** Background errors of the pool, of a connection or of the disk, for the log. */
  readonly onError?: (error: Error) => void;
  /** The built-in database stopped, after a panic or because the disk failed. Only another process can open it again. */
  readonly onStopped?: (error: Error) => void;
  /** Starts the built-in database. By default, in a thread of its own; tests also run it in theirs. */
  readonly startPglite?: StartBackend | undefined;
}

export const DEFAULT_QUERY_TIMEOUT_MS = 10_000;
export const DEFAULT_POOL_SIZE = 10;
