import pg from 'pg';
import { AppError } from '../base/errors.ts';
import {
  isLost,
  isOfServer,
  isReadOnly,
  isTimeout,
  lostDatabase,
  outcomeUnknown,
  translate,
} from './database-errors.ts';
import { type DbOptions, DEFAULT_POOL_SIZE } from './db-options.ts';
import { PostgresClient, type PostgresConfig } from './postgres-client.ts';
import { addressOf, configOf, tryServer } from './postgres-config.ts';
import { PostgresTrip } from './postgres-trip.ts';
import { createPulse, type Pulse } from './pulse.ts';
import { createRevisionConnection } from './revision-connection.ts';
import { createStallWatch } from './stall-watch.ts';
import { type Done, inSnapshot, inTransaction, isCommit, queryOn, type Session, type Step } from './transaction.ts';
import type { Db } from './types.ts';

const HOUR_MS = 3_600_000;
const OPEN_TIMEOUT_MS = 2_500;
const MIGRATION_IDLE_MS = 60_000;
/** The class of the SQLSTATE of warnings. */
const WARNING = /^01/;
const WRITES = /^\s*(?:insert|update|delete|merge|with\b[\s\S]*\b(?:insert|update|delete|merge))\b/i;
/** Any number works, but it must never change: replicas of two releases must use the same lock. */
const MIGRATION_LOCK = 'select pg_advisory_xact_lock(4702111234474983745)';

/** What the server says besides the answer. */
interface NoticeMessage {
  readonly code?: string | undefined;
}

interface Borrowing {
  /** Whether a statement makes changes permanent, so that a lost answer leaves the outcome unknown. */
  readonly endsWork: (step: Step) => boolean;
  /** Undefined for work that may take hours, and that a pause of the server must not end. */
  readonly watch?: Pulse;
}

export async function openPostgres(options: DbOptions, databaseUrl: string): Promise<Db> {
  const database = `the database at ${addressOf(databaseUrl)}`;
  const report = reporter(options);
  const config = await tryServer(configOf(options, databaseUrl), database);
  const { atBegin } = config;
  const isPooled = atBegin !== undefined;
  const pulse = createPulse(config, database);
  const stalls = createStallWatch(config, report);
  const pool = createPool(options, config, report);
  const live = new Set<pg.PoolClient>();
  /** Connections that were opened before the address may have come to lead to another server. */
  const outdated = new WeakSet<pg.PoolClient>();
  const renew = () => {
    for (const client of live) outdated.add(client);
  };
  const revisionConnection = createRevisionConnection(config, pulse, report, renew);
  /** Connections in the middle of work that a pause of the server must not end. */
  const patient = new Set<pg.PoolClient>();
  pool.on('connect', (client) => {
    live.add(client);
    client.on('end', () => live.delete(client));
  });
  // Statements under way fail with their connections. An idle connection may have been cut off, too.
  pulse.listen(() => destroy([...live].filter((client) => !patient.has(client))));

  /** Borrows a connection for a while. Its errors are already translated. */
  async function onClient<T>(work: (session: Session) => Promise<T>, { endsWork, watch }: Borrowing): Promise<T> {
    const timeoutMs = watch ? undefined : HOUR_MS;
    if (watch?.silence) throw watch.silence;
    watch?.begin();
    const endCall = watch && stalls.begin();
    try {
      const client = await checkOut(pool, watch, outdated, config.hosts.count).catch((error: unknown) => {
        if (!isTimeout(error) && !watch?.silence) watch?.heard();
        throw translate(error, database);
      });
      if (!watch) patient.add(client);
      let lost = false;
      let isWarned = false;
      const warn = ({ code = '' }: NoticeMessage) => {
        isWarned ||= WARNING.test(code);
      };
      client.on('notice', warn);
      const send = async <Sent>(start: () => Promise<Sent>, mayHaveEnded: (error?: unknown) => boolean) => {
        if (lost || !live.has(client)) throw lostDatabase('the connection to the database was lost');
        try {
          isWarned = false;
          const result = await start();
          watch?.heard();
          // The only warning about a commit: an administrator ended its wait for the standby, which may not have it.
          if (isWarned && mayHaveEnded()) throw outcomeUnknown(new Error('the standby did not confirm a commit'));
          return result;
        } catch (error) {
          if (error instanceof AppError) throw error;
          if (!isTimeout(error) && !watch?.silence) watch?.heard();
          if (!isLost(error)) throw translate(error, database);
          lost = true;
          if (mayHaveEnded(error) && !isReadOnly(error)) throw outcomeUnknown(error);
          throw watch?.silence ?? translate(error, database);
        }
      };
      const session: Session = {
        async run(steps) {
          let trip: PostgresTrip | undefined;
          const travel = () =>
            new Promise<readonly Done[]>((resolve, reject) => {
              trip = new PostgresTrip(steps, { isPooled, timeoutMs }, (error, results) =>
                error ? reject(error) : resolve(Array.isArray(results) ? results : [results]),
              );
              client.query(trip);
            });
          const mayHaveEnded = (error?: unknown) => {
            // The server names its error before it reaches what follows.
            const reached = isOfServer(error) ? (trip?.completed ?? 0) + 1 : steps.length;
            return steps.slice(0, reached).some(endsWork);
          };
          return await send(travel, mayHaveEnded);
        },
        async command(text) {
          const query = { text, ...(timeoutMs !== undefined && { query_timeout: timeoutMs }) };
          await send(
            () => client.query(query),
            () => false,
          );
        },
      };
      try {
        return await work(session);
      } finally {
        patient.delete(client);
        client.off('notice', warn);
        // A connection that failed, or that still owes an answer, must not serve the next caller. Any other goes back
        // to the pool: pool.query would discard it on every error, including a violated unique index.
        client.release(lost || outdated.has(client));
        // A backend that hangs never closes its end, and the socket would keep this process alive.
        if (lost) destroy([client]);
      }
    } finally {
      watch?.end();
      endCall?.();
    }
  }

  let closing: Promise<void> | undefined;
  return {
    driver: 'postgres',
    capabilities: { isBuiltIn: false, isOnlyWriter: false, hasOneConnection: false, writesCheckpoints: true },
    async queryRevision(statement) {
      try {
        return await revisionConnection.query(statement);
      } catch (error) {
        throw translate(error, database);
      }
    },
    query: (statement, values) =>
      onClient((session) => queryOn(session)(statement, values), { endsWork: isWrite, watch: pulse }),
    transaction: (work) =>
      onClient((session) => inTransaction(session, work, atBegin), { endsWork: isCommit, watch: pulse }),
    migration: (work, lockTimeoutMs) =>
      onClient(
        (session) =>
          inTransaction(session, async (query, script) => {
            const patience = `set local idle_in_transaction_session_timeout = ${MIGRATION_IDLE_MS}`;
            await script(`set local statement_timeout = 0; ${patience}`);
            await script(`set local lock_timeout = ${Math.ceil(lockTimeoutMs)}; ${MIGRATION_LOCK}`);
            await script('set local lock_timeout = 0');
            return work(query, script);
          }),
        { endsWork: isCommit },
      ),
    connections: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      max: pool.options.max,
      waiting: pool.waitingCount,
    }),
    renew() {
      renew();
      revisionConnection.renew();
    },
    snapshot: (work) => onClient((session) => inSnapshot(session, work), { endsWork: isCommit }),
    close() {
      closing ??= Promise.all([pool.end(), revisionConnection.close()]).then(() => undefined);
      pulse.stop();
      stalls.stop();
      // The pool waits for the server to close its end.
      if (pulse.silence) destroy(live);
      return closing;
    },
  };
}

function destroy(clients: Iterable<pg.PoolClient>): void {
  for (const client of clients) client.connection.stream.destroy();
}

async function checkOut(
  pool: pg.Pool,
  watch: Pulse | undefined,
  outdated: WeakSet<pg.PoolClient>,
  hosts: number,
): Promise<pg.PoolClient> {
  for (let failures = 0; ; ) {
    try {
      const client = await anyClient(pool, watch);
      if (!outdated.has(client)) return client;
      client.release(true);
    } catch (error) {
      failures += 1;
      if (failures >= hosts || isTimeout(error) || watch?.silence) throw error;
    }
  }
}

/** Waits for a connection of the pool, but not for one of a server that does not answer. */
function anyClient(pool: pg.Pool, watch: Pulse | undefined): Promise<pg.PoolClient> {
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

const isWrite = ({ statement }: Step) => WRITES.test(statement.text);

/** The pool has one timeout for two things. Waiting for a busy connection may take longer than opening one. */
class PoolClient extends PostgresClient {
  constructor(config: PostgresConfig) {
    super({ ...config, connectionTimeoutMillis: Math.min(OPEN_TIMEOUT_MS, config.connectionTimeoutMillis ?? 0) });
  }
}

function createPool(options: DbOptions, config: PostgresConfig, report: (error: Error) => void): pg.Pool {
  const max = options.poolSize ?? DEFAULT_POOL_SIZE;
  // The pool passes its own options on to the class.
  const pool = new pg.Pool({ ...config, max, Client: PoolClient as unknown as new () => pg.ClientBase });
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
