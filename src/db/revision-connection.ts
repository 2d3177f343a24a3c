import type pg from 'pg';
import { isLost, isTimeout } from './database-errors.ts';
import { PostgresClient, type PostgresConfig } from './postgres-client.ts';
import type { Pulse } from './pulse.ts';
import { queryMessage, RevisionQuery, unpreparedQueryMessage } from './revision-query.ts';
import type { Statement } from './statement.ts';

interface Line {
  readonly client: pg.Client;
  readonly ready: Promise<void>;
  /** The messages of the statements prepared on it, by name. */
  readonly prepared: Map<string, Buffer>;
}

/** After this time, a second connection is tried next to the one that does not answer. */
const SECOND_LINE_AFTER_MS = 1000;

/**
 * A separate connection for one small query that runs all the time. It never waits for other queries, as it would in a
 * pool whose connections are all busy, and going through a pool costs as much again as the query. The connection is
 * opened for the first query, and again after it was lost.
 *
 * @param onMove called when a later connection takes the place of the first, before anything is asked over it: the
 *   address may lead to another server by now
 */
export function createRevisionConnection(
  config: PostgresConfig,
  pulse: Pulse,
  report: (error: Error) => void,
  onMove: () => void,
) {
  const isPooled = config.atBegin !== undefined;
  let line: Line | undefined;
  /** The line that was asked last. */
  let asked: Line | undefined;
  let isClosed = false;
  // Queries under way fail with their connection.
  pulse.listen(() => line && drop(line));
  return { ask, renew: () => line && drop(line), close };

  async function ask(statement: Statement): Promise<string | null> {
    if (pulse.silence) throw pulse.silence;
    const before = line;
    pulse.begin();
    try {
      // A connection that died unnoticed says nothing about the server. Only a new connection does, to each host.
      for (let tries = before === undefined ? 1 : 0; ; tries++) {
        try {
          return await askOnLine(statement);
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

  /** The first answer counts: that of the line, or that of a second one if the line does not answer for a while. */
  function askOnLine(statement: Statement): Promise<string | null> {
    // Otherwise a late query would open a connection that nothing closes.
    if (isClosed) return Promise.reject(new Error('the database was closed'));
    line ??= open();
    const first = line;
    return new Promise((resolve, reject) => {
      let isOver = false;
      let awaited = first;
      const settle = (work: () => void) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        work();
      };
      const put = (mine: Line) =>
        askOn(mine, statement).then(
          (value) => settle(() => resolve(value)),
          // A line that was replaced fails because it was dropped.
          (error: unknown) => void (mine === awaited && settle(() => reject(error))),
        );
      const timer = setTimeout(() => {
        const second = open();
        second.ready.then(
          () => {
            if (isOver || isClosed || line !== first) return drop(second);
            awaited = second;
            line = second;
            drop(first);
            void put(second);
          },
          // The first one may still answer.
          () => drop(second),
        );
      }, SECOND_LINE_AFTER_MS).unref();
      void put(first);
    });
  }

  async function askOn(mine: Line, statement: Statement): Promise<string | null> {
    try {
      await mine.ready;
      if (asked !== undefined && asked !== mine) onMove();
      asked = mine;
      const message = mine.prepared.get(statement.name) ?? (await prepare(mine, statement));
      const answer = await new Promise<string | null>((resolve, reject) => {
        mine.client.query(
          new RevisionQuery(message, (error, value = null) => (error ? reject(error) : resolve(value))),
        );
      });
      pulse.heard();
      return answer;
    } catch (error) {
      if (isLost(error)) drop(mine);
      throw error;
    }
  }

  async function prepare({ client, prepared }: Line, statement: Statement): Promise<Buffer> {
    if (!isPooled) await client.query({ name: statement.name, text: statement.text });
    const message = isPooled ? unpreparedQueryMessage(statement) : queryMessage(statement);
    prepared.set(statement.name, message);
    return message;
  }

  function open(): Line {
    const client = new PostgresClient(config);
    const mine = { client, ready: client.connect().then(() => undefined), prepared: new Map<string, Buffer>() };
    // Whoever waits for it hears of a failure; a second line may have nobody who waits.
    mine.ready.catch(() => undefined);
    client.on('end', () => drop(mine));
    client.on('error', (error) => {
      report(error);
      drop(mine);
    });
    return mine;
  }

  function drop(gone: Line): void {
    if (gone === line) line = undefined;
    // A backend that hangs never closes its end, and the socket would keep this process alive.
    gone.client.connection.stream.destroy();
  }

  async function close(): Promise<void> {
    isClosed = true;
    const last = line;
    line = undefined;
    if (pulse.silence) last?.client.connection.stream.destroy();
    else await last?.client.end().catch(() => undefined);
  }
}
