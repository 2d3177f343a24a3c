import pg from 'pg';
import { AppError } from '../base/errors.ts';
import { isLost, translate } from './database-errors.ts';
import { type DbOptions, DEFAULT_QUERY_TIMEOUT_MS } from './db-options.ts';
import { readerOf } from './values.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Our transactions take milliseconds. One that waits for its next statement for this long belongs to a replica that was
 * cut off, and holds the row of the revision that every write of every other replica needs.
 */
const IDLE_IN_TRANSACTION_MS = 4_000;
/** How the server notices that a client is gone. It ignores what its platform does not support. */
const LOST_CLIENTS =
  '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3 -c tcp_user_timeout=10000';
/** The same in the middle of a statement. Some platforms reject this one. */
const CHECK_CLIENT = 'client_connection_check_interval=2000';

export function configOf(options: DbOptions, databaseUrl: string): pg.ClientConfig {
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
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    // Compiling a plan takes longer than any of our statements, and loading a large organization's graph looks
    // expensive enough to trigger it.
    options: `-c TimeZone=UTC -c DateStyle=ISO -c jit=off ${LOST_CLIENTS}`,
    types: { getTypeParser: readerOf as typeof pg.types.getTypeParser },
  };
}

/** Connects once, so that a wrong address is reported, and finds out what this server can do. */
export async function tryServer(config: pg.ClientConfig, database: string): Promise<pg.ClientConfig> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    const isKnown = await client.query(`set ${CHECK_CLIENT}`).then(
      () => true,
      (error: unknown) => {
        if (isLost(error)) throw error;
        return false;
      },
    );
    await client.end();
    return isKnown ? { ...config, options: `${config.options} -c ${CHECK_CLIENT}` } : config;
  } catch (error) {
    client.connection.stream.destroy();
    throw translate(error, database);
  }
}

/** Host, port and database for messages, but never the user or the password. */
export function addressOf(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    // The message does not repeat the URL, because it may contain a password.
    throw new AppError('unavailable', 'DATABASE_URL is not a postgres:// URL');
  }
  return `${url.searchParams.get('host') ?? (url.hostname || 'localhost')}:${url.port || '5432'}${url.pathname}`;
}
