import type pg from 'pg';
import { isLost, isTimeout } from './database-errors.ts';
import { PostgresClient, type PostgresConfig } from './postgres-client.ts';
import type { Pulse } from './pulse.ts';
import { queryMessage, RevisionQuery, unpreparedQueryMessage } from './revision-query.ts';
import type { Statement } from './statement.ts';

interface Connection {
  readonly client: pg.Client;
  readonly ready: Promise<void>;
  /** The messages of the statements prepared on it, by name. */
  readonly prepared: Map<string, Buffer>;
}

/** After this time, a second connection is tried next to the one that does not answer. */
const SECOND_CONNECTION_AFTER_MS = 1000;

/**
 * A separate connection for one small query that runs all the time. It never waits for other queries, as it would in a
 * pool whose connections are all busy, and going through a pool costs as much again as the query. The connection is
 * opened for the first query, and again after it was lost.
 *
 * @param onMove called when a later connection takes the place of the first, before any query uses it: the
 *   address may lead to another server by now
 */
export function createRevisionConnection(
  config: PostgresConfig,
  pulse: Pulse,
  report: (error: Error) => void,
  onMove: () => void,
) {
  const isPooled = config.atBegin !== undefined;
  let current: Connection | undefined;
  /** The connection that the last query used. */
  let lastUsed: Connection | undefined;
  let isClosed = false;
  // Queries under way fail with their connection.
  pulse.listen(() => current && drop(current));
  return { query, renew: () => current && drop(current), close };

  async function query(statement: Statement): Promise<string | null> {
    if (pulse.silence) throw pulse.silence;
    const before = current;
    pulse.begin();
    try {
      // A connection that died unnoticed says nothing about the server. Only a new connection does, to each host.
      for (let tries = before === undefined ? 1 : 0; ; tries++) {
        try {
          return await queryWithFallback(statement);
        } catch (error) {
          if (tries >= config.hosts.count || isClosed || pulse.silence || !isLost(error) || isTimeout(error))
            throw error;
        }
      }
    } catch (error) {
      if (!isTimeout(error) && !isClosed && !pulse.silence) pulse.heard();
      throw pulse.silence ?? error;
    } finally {
      pulse.end();
    }
  }

  /** The first answer counts: that of the connection, or that of a second one if the first is silent for a while. */
  function queryWithFallback(statement: Statement): Promise<string | null> {
    // Otherwise a late query would open a connection that nothing closes.
    if (isClosed) return Promise.reject(new Error('the database was closed'));
    current ??= open();
    const first = current;
    return new Promise((resolve, reject) => {
      let isOver = false;
      let awaited = first;
      const settle = (work: () => void) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        work();
      };
      const send = (connection: Connection) =>
        queryOn(connection, statement).then(
          (value) => settle(() => resolve(value)),
          // A connection that was replaced fails because it was dropped.
          (error: unknown) => void (connection === awaited && settle(() => reject(error))),
        );
      const timer = setTimeout(() => {
        const second = open();
        second.ready.then(
          () => {
            if (isOver || isClosed || current !== first) return drop(second);
            awaited = second;
            current = second;
            drop(first);
            void send(second);
          },
          // The first connection may still answer.
          () => drop(second),
        );
      }, SECOND_CONNECTION_AFTER_MS).unref();
      void send(first);
    });
  }

  async function queryOn(connection: Connection, statement: Statement): Promise<string | null> {
    try {
      await connection.ready;
      if (lastUsed !== undefined && lastUsed !== connection) onMove();
      lastUsed = connection;
      const message = connection.prepared.get(statement.name) ?? (await prepare(connection, statement));
      const answer = await new Promise<string | null>((resolve, reject) => {
        connection.client.query(
          new RevisionQuery(message, (error, value = null) => (error ? reject(error) : resolve(value))),
        );
      });
      pulse.heard();
      return answer;
    } catch (error) {
      if (isLost(error)) drop(connection);
      throw error;
    }
  }

  async function prepare({ client, prepared }: Connection, statement: Statement): Promise<Buffer> {
    if (!isPooled) await client.query({ name: statement.name, text: statement.text });
    const message = isPooled ? unpreparedQueryMessage(statement) : queryMessage(statement);
    prepared.set(statement.name, message);
    return message;
  }

  function open(): Connection {
    const client = new PostgresClient(config);
    const connection = { client, ready: client.connect().then(() => undefined), prepared: new Map<string, Buffer>() };
    // A waiting query hears of a failure; a second connection may have no query waiting for it.
    connection.ready.catch(() => undefined);
    client.on('end', () => drop(connection));
    client.on('error', (error) => {
      report(error);
      drop(connection);
    });
    return connection;
  }

  function drop(gone: Connection): void {
    if (gone === current) current = undefined;
    // A backend that hangs never closes its end, and the socket would keep this process alive.
    gone.client.connection.stream.destroy();
  }

  async function close(): Promise<void> {
    isClosed = true;
    const last = current;
    current = undefined;
    if (pulse.silence) last?.client.connection.stream.destroy();
    else await last?.client.end().catch(() => undefined);
  }
}
