import pg from 'pg';
import { isLost } from './postgres-errors.ts';
import type { Statement } from './statement.ts';

interface Line {
  readonly client: pg.Client;
  readonly ready: Promise<void>;
}

/**
 * A connection of its own for one small question that is asked all the time. It never waits for others, as it would in a
 * pool whose connections are all busy, and the way through a pool costs as much again as the question. Opened when first
 * asked, and anew when it was lost.
 */
export function createAsker(config: pg.ClientConfig, report: (error: Error) => void) {
  let line: Line | undefined;
  let isClosed = false;
  return { ask, close };

  async function ask<Row extends object>(statement: Statement): Promise<Row[]> {
    const before = line;
    try {
      return await askOnce<Row>(statement);
    } catch (error) {
      // A connection that died while nobody looked says nothing about the server: only a new one does.
      if (before === undefined || !isLost(error) || isClosed) throw error;
      return await askOnce<Row>(statement);
    }
  }

  async function askOnce<Row extends object>({ name, text }: Statement): Promise<Row[]> {
    // Else a late question would open what nobody closes any more.
    if (isClosed) throw new Error('the database was closed');
    line ??= open();
    const mine = line;
    try {
      await mine.ready;
      return (await mine.client.query<Row>({ name, text })).rows;
    } catch (error) {
      if (isLost(error)) forget(mine);
      throw error;
    }
  }

  function open(): Line {
    const client = new pg.Client(config);
    const mine = { client, ready: client.connect().then(() => undefined) };
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
