import type pg from 'pg';
import { databaseUrlsOf } from '../base/config/database-url.ts';
import { AppError } from '../base/errors.ts';
import { isLost, translate } from './database-errors.ts';
import { type DbOptions, DEFAULT_QUERY_TIMEOUT_MS } from './db-options.ts';
import { createHosts, PostgresClient, type PostgresConfig } from './postgres-client.ts';
import { beginWith } from './transaction.ts';
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

export function configOf(options: DbOptions, databaseUrl: string): PostgresConfig {
  const timeoutMs = options.queryTimeoutMs ?? DEFAULT_QUERY_TIMEOUT_MS;
  const patience = options.patience ?? 1;
  const timeouts = {
    statement_timeout: timeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS * patience,
  };
  return {
    hosts: createHosts(urlsOf(databaseUrl)),
    patience,
    application_name: 'atrium',
    // Also the maximum wait for a free connection of the pool.
    connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS * patience, timeoutMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server's timeout comes first, which keeps the connection. Ours is for a server that no longer responds.
    query_timeout: timeoutMs + Math.min(1_000, timeoutMs / 4),
    types: { getTypeParser: readerOf as typeof pg.types.getTypeParser },
    ...(options.isPooled
      ? { atBegin: beginWith(timeouts) }
      : // Compiling a plan takes longer than any of our statements, and loading a large organization's graph looks
        // expensive enough to trigger it.
        { ...timeouts, options: `-c TimeZone=UTC -c DateStyle=ISO -c jit=off ${LOST_CLIENTS}` }),
  };
}

/** Connects once, so that a wrong address is reported, and finds out what this server can do. */
export async function tryServer(config: PostgresConfig, database: string): Promise<PostgresConfig> {
  for (let tries = 1; ; tries++) {
    let client: pg.Client | undefined;
    try {
      client = new PostgresClient(config);
      client.on('error', () => undefined);
      await client.connect();
      const isKnown = config.options !== undefined && (await knows(client, CHECK_CLIENT));
      await client.end();
      return isKnown ? { ...config, options: `${config.options} -c ${CHECK_CLIENT}` } : config;
    } catch (error) {
      client?.connection.stream.destroy();
      if (tries >= config.hosts.count) throw translate(error, database);
    }
  }
}

async function knows(client: pg.Client, setting: string): Promise<boolean> {
  try {
    await client.query(`set ${setting}`);
    return true;
  } catch (error) {
    if (isLost(error)) throw error;
    return false;
  }
}

/** Host, port and database for messages, but never the user or the password. */
export function addressOf(databaseUrl: string): string {
  const urls = urlsOf(databaseUrl).map((url) => new URL(url));
  const hosts = urls.map(
    (url) => `${url.searchParams.get('host') ?? (url.hostname || 'localhost')}:${url.port || '5432'}`,
  );
  return `${hosts.join(',')}${urls[0]?.pathname}`;
}

function urlsOf(databaseUrl: string): string[] {
  try {
    return databaseUrlsOf(databaseUrl);
  } catch (cause) {
    throw new AppError('unavailable', `DATABASE_URL ${cause instanceof Error ? cause.message : ''}`, { cause });
  }
}
