import pg from 'pg';
import { AppError } from '../base/errors.ts';
import { type DbOptions, DEFAULT_POOL_SIZE, DEFAULT_QUERY_TIMEOUT_MS } from './db-options.ts';
import { isLost, translate } from './postgres-errors.ts';
import { createAsker } from './revision-connection.ts';
import { inSnapshot, inTransaction, type Session } from './transaction.ts';
import type { Db, Query } from './types.ts';
import { readerOf, writeValues } from './values.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const HOUR_MS = 3_600_000;
/** Any number works, but it must never change: replicas of two releases must use the same lock. */
const MIGRATION_LOCK = 'select pg_advisory_xact_lock(4702111234474983745)';

/** node-postgres accepts a timeout per query, but its types do not declare it. */
interface TimedQuery extends pg.QueryConfig {
  readonly query_timeout?: number;
}

/** Sends on one connection, borrowed for a while. Its errors are already translated. */
type Send = (query: TimedQuery) => Promise<pg.QueryResult | pg.QueryResult[]>;

export async function openPostgres(options: DbOptions, databaseUrl: string): Promise<Db> {
  const where = addressOf(databaseUrl);
  const report = reporter(options);
  const config = configOf(options, databaseUrl);
  const pool = createPool(options, config, report);
  const asker = createAsker(config, report);

  async function onClient<T>(work: (send: Send) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error: unknown) => {
      throw translate(error, where);
    });
    let lost = false;
    const send: Send = async (query) => {
      if (lost) throw new AppError('unavailable', 'the connection to the database was lost');
      try {
        return await client.query(query);
      } catch (error) {
        lost ||= isLost(error);
        throw translate(error, where);
      }
    };
    try {
      return await work(send);
    } finally {
      // A connection that failed, or that still owes an answer, must not serve the next caller. Any other goes back to
      // the pool: pool.query would discard it on every error, including a violated unique index.
      client.release(lost);
      // A backend that hangs never closes its end, and the socket would keep this process alive.
      if (lost) client.connection.stream.destroy();
    }
  }

  let closing: Promise<void> | undefined;
  const db: Db = {
    driver: 'postgres',
    async ask(statement) {
      try {
        return await asker.ask(statement);
      } catch (error) {
        throw translate(error, where);
      }
    },
    query: (statement, values) => onClient((send) => sessionOn(send).query(statement, values)),
    transaction: (work) => onClient((send) => inTransaction(sessionOn(send), work)),
    migration: (work, lockTimeoutMs) =>
      onClient((send) => {
        const session = sessionOn(send, HOUR_MS);
        return inTransaction(session, async (query) => {
          await session.command('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0');
          await session.command(`set local lock_timeout = ${Math.ceil(lockTimeoutMs)}; ${MIGRATION_LOCK}`);
          await session.command('set local lock_timeout = 0');
          return work(query, async (text) => void (await session.command(text)));
        });
      }),
    snapshot: (work) => onClient((send) => inSnapshot(sessionOn(send, HOUR_MS), work)),
    close() {
      closing ??= Promise.all([pool.end(), asker.close()]).then(() => undefined);
      return closing;
    },
  };

  try {
    await onClient((send) => send({ text: 'select 1' }));
  } catch (error) {
    await pool.end();
    throw error;
  }
  return db;
}

function createPool(options: DbOptions, config: pg.PoolConfig, report: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({ ...config, max: options.poolSize ?? DEFAULT_POOL_SIZE });
  // Without a listener on the pool (idle connections) and on every client (checked-out ones), a backend that is
  // terminated would end this process.
  pool.on('error', report);
  pool.on('connect', (client) => client.on('error', report));
  return pool;
}

/** The library attaches the whole client to the errors of idle connections: pages of log, including its cancel key. */
function reporter({ onError = () => {} }: DbOptions) {
  return (error: Error & { client?: unknown }): void => {
    delete error.client;
    onError(error);
  };
}

function configOf(options: DbOptions, databaseUrl: string): pg.ClientConfig {
  const timeoutMs = options.queryTimeoutMs ?? DEFAULT_QUERY_TIMEOUT_MS;
  return {
    connectionString: databaseUrl,
    application_name: 'atrium',
    // Also the maximum wait for a free connection of the pool.
    connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server's timeout comes first, which keeps the connection. Ours is for a server that no longer responds.
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + Math.min(1_000, timeoutMs / 4),
    idle_in_transaction_session_timeout: 60_000,
    // Compiling a plan takes longer than any of our statements, and loading a large organization's graph looks
    // expensive enough to trigger it.
    options: '-c TimeZone=UTC -c DateStyle=ISO -c jit=off',
    types: { getTypeParser: readerOf as typeof pg.types.getTypeParser },
  };
}

function sessionOn(send: Send, timeoutMs?: number): Session {
  const timeout = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
  const last = (result: pg.QueryResult | pg.QueryResult[]) => (Array.isArray(result) ? result.at(-1) : result);
  const query: Query = async ({ name, text }, values = []) =>
    last(await send({ name, text, values: writeValues(values), ...timeout }))?.rows ?? [];
  const command = async (text: string) => last(await send({ text, ...timeout }))?.command ?? '';
  return { query, command };
}

/** Host, port and database for messages, but never the user or the password. */
function addressOf(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    // The message does not repeat the URL, because it may contain a password.
    throw new AppError('unavailable', 'DATABASE_URL is not a postgres:// URL');
  }
  return `${url.searchParams.get('host') ?? (url.hostname || 'localhost')}:${url.port || '5432'}${url.pathname}`;
}
