import pg from 'pg';
import { AppError } from '../base/errors.ts';
import { isLost, isTimeout, outcomeUnknown, translate } from './database-errors.ts';
import { type DbOptions, DEFAULT_POOL_SIZE } from './db-options.ts';
import { addressOf, configOf, tryServer } from './postgres-config.ts';
import { createPulse, type Pulse } from './pulse.ts';
import { createAsker } from './revision-connection.ts';
import { inSnapshot, inTransaction, type Session } from './transaction.ts';
import type { Db, Query } from './types.ts';
import { writeValues } from './values.ts';

const HOUR_MS = 3_600_000;
const OPEN_TIMEOUT_MS = 2_500;
const MIGRATION_IDLE_MS = 60_000;
const WRITES = /^\s*(?:insert|update|delete|merge|with\b[\s\S]*\b(?:insert|update|delete|merge))\b/i;
/** Any number works, but it must never change: replicas of two releases must use the same lock. */
const MIGRATION_LOCK = 'select pg_advisory_xact_lock(4702111234474983745)';

/** node-postgres accepts a timeout per query, but its types do not declare it. */
interface TimedQuery extends pg.QueryConfig {
  readonly query_timeout?: number;
}

/** Sends on one connection, borrowed for a while. Its errors are already translated. */
type Send = (query: TimedQuery) => Promise<pg.QueryResult | pg.QueryResult[]>;

export async function openPostgres(options: DbOptions, databaseUrl: string): Promise<Db> {
  const database = `the database at ${addressOf(databaseUrl)}`;
  const report = reporter(options);
  const config = await tryServer(configOf(options, databaseUrl), database);
  const pulse = createPulse(config, database);
  const pool = createPool(options, config, report);
  const asker = createAsker(config, pulse, report);
  const live = new Set<pg.PoolClient>();
  /** Connections in the middle of work that a pause of the server must not end. */
  const patient = new Set<pg.PoolClient>();
  pool.on('connect', (client) => {
    live.add(client);
    client.on('end', () => live.delete(client));
  });
  // Statements under way fail with their connections. An idle connection may have been cut off, too.
  pulse.listen(() => destroy([...live].filter((client) => !patient.has(client))));

  /**
   * @param endsWork whether this query makes changes permanent, so that nobody knows what happened if its answer is lost
   * @param watch undefined for work that may take hours, and that a pause of the server must not end
   */
  async function onClient<T>(
    work: (send: Send) => Promise<T>,
    endsWork: (text: string) => boolean,
    watch?: Pulse,
  ): Promise<T> {
    if (watch?.silence) throw watch.silence;
    watch?.begin();
    try {
      const client = await checkOut(pool, watch).catch((error: unknown) => {
        if (!isTimeout(error) && !watch?.silence) watch?.heard();
        throw translate(error, database);
      });
      if (!watch) patient.add(client);
      let lost = false;
      const send: Send = async (query) => {
        if (lost || !live.has(client)) throw new AppError('unavailable', 'the connection to the database was lost');
        try {
          const result = await client.query(query);
          watch?.heard();
          return result;
        } catch (error) {
          if (!isTimeout(error) && !watch?.silence) watch?.heard();
          if (!isLost(error)) throw translate(error, database);
          lost = true;
          throw endsWork(query.text) ? outcomeUnknown(error) : (watch?.silence ?? translate(error, database));
        }
      };
      try {
        return await work(send);
      } finally {
        patient.delete(client);
        // A connection that failed, or that still owes an answer, must not serve the next caller. Any other goes back
        // to the pool: pool.query would discard it on every error, including a violated unique index.
        client.release(lost);
        // A backend that hangs never closes its end, and the socket would keep this process alive.
        if (lost) destroy([client]);
      }
    } finally {
      watch?.end();
    }
  }

  let closing: Promise<void> | undefined;
  return {
    driver: 'postgres',
    async ask(statement) {
      try {
        return await asker.ask(statement);
      } catch (error) {
        throw translate(error, database);
      }
    },
    query: (statement, values) => onClient((send) => sessionOn(send).query(statement, values), isWrite, pulse),
    transaction: (work) => onClient((send) => inTransaction(sessionOn(send), work), isCommit, pulse),
    migration: (work, lockTimeoutMs) =>
      onClient((send) => {
        const session = sessionOn(send, HOUR_MS);
        return inTransaction(session, async (query) => {
          const patience = `set local idle_in_transaction_session_timeout = ${MIGRATION_IDLE_MS}`;
          await session.command(`set local statement_timeout = 0; ${patience}`);
          await session.command(`set local lock_timeout = ${Math.ceil(lockTimeoutMs)}; ${MIGRATION_LOCK}`);
          await session.command('set local lock_timeout = 0');
          return work(query, async (text) => void (await session.command(text)));
        });
      }, isCommit),
    snapshot: (work) => onClient((send) => inSnapshot(sessionOn(send, HOUR_MS), work), isCommit),
    close() {
      closing ??= Promise.all([pool.end(), asker.close()]).then(() => undefined);
      pulse.stop();
      // The pool waits for the server to close its end.
      if (pulse.silence) destroy(live);
      return closing;
    },
  };
}

function destroy(clients: Iterable<pg.PoolClient>): void {
  for (const client of clients) client.connection.stream.destroy();
}

/** Waits for a connection of the pool, but not for one of a server that does not answer. */
function checkOut(pool: pg.Pool, watch: Pulse | undefined): Promise<pg.PoolClient> {
  if (watch === undefined || pool.idleCount > pool.waitingCount) return pool.connect();
  return new Promise((resolve, reject) => {
    let isOver = false;
    const unlisten = watch.listen((error) => {
      isOver = true;
      reject(error);
    });
    pool
      .connect()
      .then((client) => (isOver ? client.release() : resolve(client)), reject)
      .finally(unlisten);
  });
}

const isCommit = (text: string) => text === 'COMMIT';
const isWrite = (text: string) => WRITES.test(text);

/** The pool has one timeout for two things. Waiting for a busy connection may take longer than opening one. */
class PoolClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    super({ ...config, connectionTimeoutMillis: Math.min(OPEN_TIMEOUT_MS, config.connectionTimeoutMillis ?? 0) });
  }
}

function createPool(options: DbOptions, config: pg.PoolConfig, report: (error: Error) => void): pg.Pool {
  const max = options.poolSize ?? DEFAULT_POOL_SIZE;
  const pool = new pg.Pool({ ...config, max, Client: PoolClient });
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

function sessionOn(send: Send, timeoutMs?: number): Session {
  const timeout = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
  const last = (result: pg.QueryResult | pg.QueryResult[]) => (Array.isArray(result) ? result.at(-1) : result);
  const query: Query = async ({ name, text }, values = []) =>
    last(await send({ name, text, values: writeValues(values), ...timeout }))?.rows ?? [];
  const command = async (text: string) => last(await send({ text, ...timeout }))?.command ?? '';
  return { query, command };
}
