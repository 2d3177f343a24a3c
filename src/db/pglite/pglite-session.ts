import { protocol } from '@electric-sql/pglite';
import type { AppError } from '../../base/errors.ts';
import { outcomeUnknown, translate } from '../database-errors.ts';
import type { Statement } from '../statement.ts';
import type { Session } from '../transaction.ts';
import type { Query } from '../types.ts';
import { readerOf, writeValues } from '../values.ts';
import { type Fields, readAnswer } from './pglite-answer.ts';
import type { Backend } from './pglite-backend.ts';
import { joined } from './pglite-messages.ts';

const { serialize, messages } = protocol;
const SYNC = serialize.sync();
const EXECUTE = serialize.execute({});
const UNNAMED = '';
const ignore = () => undefined;

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
 * Uses PostgreSQL's own protocol with PGlite, because PGlite.query parses and plans again in six steps each time:
 * binding, executing and syncing a named statement in one step is about five times faster.
 */
export function createSession(backend: Backend, health: Health): Session {
  /** The columns that each statement returns. PostgreSQL rejects a prepared statement whose columns have changed. */
  const prepared = new Map<string, readonly Column[]>();
  /** A transaction begins together with its first statement, which saves a trip to the thread. */
  let begin: readonly Uint8Array[] = [];

  async function exchange(parts: readonly Uint8Array[], onRow: (fields: Fields) => void = ignore) {
    if (health.stopped !== undefined) throw health.stopped;
    const call = joined([...begin, ...parts]);
    begin = [];
    const bytes = await backend.exchange(call).catch((error: unknown) => {
      // What the server says is in the answer. An exception means that WebAssembly itself gave up.
      throw health.panic(error);
    });
    const answer = await readAnswer(bytes, onRow);
    // A database that panicked would never return from the next call.
    if (!answer.isReady) throw health.panic();
    if (health.stopped !== undefined) throw health.stopped;
    return answer.messages;
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
    const rows: Row[] = [];
    const answer = await exchange([bind, EXECUTE, SYNC], (fields) => rows.push(readRow(columns, fields) as Row));
    throwRefusal(answer);
    return rows;
  };

  const command = async (text: string): Promise<string> => {
    if (text.startsWith('BEGIN')) {
      begin = [serialize.query(text)];
      return 'BEGIN';
    }
    const wasRunning = health.stopped === undefined;
    const answer = await exchange([serialize.query(text)]).catch((error: unknown) => {
      throw text === 'COMMIT' && wasRunning ? outcomeUnknown(error) : error;
    });
    throwRefusal(answer);
    return answer.findLast((message) => message instanceof messages.CommandCompleteMessage)?.text ?? '';
  };

  return { query, command };
}

function readRow(columns: readonly Column[], fields: Fields): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [index, column] of columns.entries()) {
    const text = fields[index] ?? null;
    row[column.name] = text === null ? null : column.read(text);
  }
  return row;
}
