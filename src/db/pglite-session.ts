import { type PGlite, protocol } from '@electric-sql/pglite';
import type { AppError } from '../base/errors.ts';
import { breath } from '../base/slices.ts';
import { outcomeUnknown, translate } from './database-errors.ts';
import type { Statement } from './statement.ts';
import type { Session } from './transaction.ts';
import type { Query } from './types.ts';
import { readerOf, writeValues } from './values.ts';

const { serialize, messages } = protocol;
const SYNC = serialize.sync();
const EXECUTE = serialize.execute({});
const UNNAMED = '';
/**
 * A statement runs in this thread, and nothing else would come between it and the next one. So after statements that
 * took longer than this together, other requests get a turn. Not after a COMMIT: whoever commits learns of it at once.
 */
const SLICE_MS = 5;

/** Whether the database can still be used. */
export interface Health {
  /** Names the database in messages. */
  readonly database: string;
  /** Why the database no longer answers, once that is the case. */
  readonly stopped: AppError | undefined;
  /** The database panicked. */
  panic(cause?: unknown): AppError;
}

interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

/**
 * Uses PostgreSQL's own protocol with the PGlite in this process, because PGlite.query parses and plans again in six
 * steps each time: binding, executing and syncing a named statement in one step is about five times faster.
 */
export function createSession(pglite: PGlite, health: Health): Session {
  /** The columns that each statement returns. PostgreSQL rejects a prepared statement whose columns have changed. */
  const prepared = new Map<string, readonly Column[]>();
  let busyMs = 0;

  async function exchange(parts: readonly Uint8Array[]) {
    if (health.stopped !== undefined) throw health.stopped;
    const answer = await pglite
      .execProtocolStream(Buffer.concat(parts), { syncToFs: false, throwOnError: false })
      .catch((error: unknown) => {
        // What the server says is in the answer. An exception means that WebAssembly itself gave up.
        throw health.panic(error);
      });
    // A database that panicked does not report that it is ready, and would never return from the next call.
    if (!answer.some((message) => message.name === 'readyForQuery')) throw health.panic();
    if (health.stopped !== undefined) throw health.stopped;
    return answer;
  }

  function throwRefusal(answer: readonly unknown[]): void {
    for (const message of answer) {
      if (!(message instanceof messages.DatabaseError)) continue;
      // The parser created this error without a stack that leads to the caller.
      Error.captureStackTrace(message, throwRefusal);
      throw translate(message, health.database);
    }
  }

  async function prepare({ text, isOneOff, ...statement }: Statement): Promise<readonly Column[]> {
    const name = isOneOff ? UNNAMED : statement.name;
    const answer = await exchange([serialize.parse({ name, text }), serialize.describe({ type: 'S', name }), SYNC]);
    throwRefusal(answer);
    const description = answer.find((message) => message instanceof messages.RowDescriptionMessage);
    const columns = (description?.fields ?? []).map((field) => ({
      name: field.name,
      read: readerOf(field.dataTypeID),
    }));
    if (!isOneOff) prepared.set(name, columns);
    return columns;
  }

  const query: Query = async <Row extends object>(statement: Statement, values: readonly unknown[] = []) => {
    const written = writeValues(values);
    const { name, isOneOff } = statement;
    const columns = (isOneOff ? undefined : prepared.get(name)) ?? (await prepare(statement));
    const bind = serialize.bind({ statement: isOneOff ? UNNAMED : name, values: written });
    const began = performance.now();
    const answer = await exchange([bind, EXECUTE, SYNC]);
    busyMs += performance.now() - began;
    if (busyMs > SLICE_MS) {
      busyMs = 0;
      // If the statement began while a request was read, one breath ends before the event loop reads anything else.
      await breath();
      await breath();
    }
    throwRefusal(answer);
    const rows: Row[] = [];
    for (const message of answer) {
      if (message instanceof messages.DataRowMessage) rows.push(readRow(columns, message.fields) as Row);
    }
    return rows;
  };

  const command = async (text: string): Promise<string> => {
    const wasRunning = health.stopped === undefined;
    const answer = await exchange([serialize.query(text)]).catch((error: unknown) => {
      throw text === 'COMMIT' && wasRunning ? outcomeUnknown(error) : error;
    });
    throwRefusal(answer);
    return answer.findLast((message) => message instanceof messages.CommandCompleteMessage)?.text ?? '';
  };

  return { query, command };
}

function readRow(columns: readonly Column[], fields: readonly (string | null)[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [index, column] of columns.entries()) {
    const text = fields[index] ?? null;
    row[column.name] = text === null ? null : column.read(text);
  }
  return row;
}
