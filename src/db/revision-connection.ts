import pg from 'pg';
import { isLost } from './postgres-errors.ts';
import { messageOf, Question } from './revision-query.ts';
import type { Statement } from './statement.ts';

interface Line {
  readonly client: pg.Client;
  readonly ready: Promise<void>;
  /** The messages of the statements prepared on it, by name. */
  readonly prepared: Map<string, Buffer>;
}

/**
 * A separate connection for one small query that runs all the time. It never waits for other queries, as it would in a
 * pool whose connections are all busy, and going through a pool costs as much again as the query. The connection is
 * opened for the first query, and again after it was lost.
 */
export function createAsker(config: pg.ClientConfig, report: (error: Error) => void) {
  let line: Line | undefined;
  let isClosed = false;
  return { ask, close };

  async function ask(statement: Statement): Promise<string | null> {
    const before = line;
    try {
      return await askOnce(statement);
    } catch (error) {
      // A connection that died unnoticed says nothing about the server. Only a new connection does.
      if (before === undefined || !isLost(error) || isClosed) throw error;
      return await askOnce(statement);
    }
  }

  async function askOnce(statement: Statement): Promise<string | null> {
    // Otherwise a late query would open a connection that nothing closes.
    if (isClosed) throw new Error('the database was closed');
    line ??= open();
    const mine = line;
    try {
      await mine.ready;
      const message = mine.prepared.get(statement.name) ?? (await prepare(mine, statement));
      return await new Promise((resolve, reject) => {
        mine.client.query(new Question(message, (error, value = null) => (error ? reject(error) : resolve(value))));
      });
    } catch (error) {
      if (isLost(error)) forget(mine);
      throw error;
    }
  }

  async function prepare({ client, prepared }: Line, statement: Statement): Promise<Buffer> {
    await client.query({ name: statement.name, text: statement.text });
    const message = messageOf(statement);
    prepared.set(statement.name, message);
    return message;
  }

  function open(): Line {
    const client = new pg.Client(config);
    const mine = { client, ready: client.connect().then(() => undefined), prepared: new Map<string, Buffer>() };
    client.on('end', () => forget(mine));
    client.on('error', (error) => {
      report(error);
      forget(mine);
    });
    return mine;
  }

  function forget(gone: Line): void {
    if (gone !== line) return;
    line = undefined;
    // A backend that hangs never closes its end, and the socket would keep this process alive.
    gone.client.connection.stream.destroy();
  }

  async function close(): Promise<void> {
    isClosed = true;
    const last = line;
    line = undefined;
    await last?.client.end().catch(() => undefined);
  }
}
