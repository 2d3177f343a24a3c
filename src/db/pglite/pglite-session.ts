import { protocol } from '@electric-sql/pglite';
import type { AppError } from '../../base/errors.ts';
import { outcomeUnknown, translate } from '../database-errors.ts';
import type { Statement } from '../statement.ts';
import { type Done, isBegin, isCommit, type Session, type Step } from '../transaction.ts';
import { readerOf } from '../values.ts';
import { type Fields, type Reader, readAnswer } from './pglite-answer.ts';
import type { Backend } from './pglite-backend.ts';
import { joinBytes } from './pglite-messages.ts';

const { serialize, messages } = protocol;
const SYNC = serialize.sync();
const EXECUTE = serialize.execute({});
const DESCRIBE = serialize.describe({ type: 'P' });
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
  const prepared = new Set<string>();
  /** The columns that each statement returns. PostgreSQL rejects a prepared statement whose columns have changed. */
  const described = new Map<string, readonly Column[]>();

  async function exchange(parts: readonly Uint8Array[], reader: Reader) {
    if (health.stopped !== undefined) throw health.stopped;
    const bytes = await backend.exchange(joinBytes(parts)).catch((error: unknown) => {
      // What the server says is in the answer. An exception means that WebAssembly itself gave up.
      throw health.panic(error);
    });
    // A database that panicked would never return from the next call.
    if (!(await readAnswer(bytes, reader))) throw health.panic();
    if (health.stopped !== undefined) throw health.stopped;
  }

  function throwRejection(rejection: Error | undefined): void {
    if (rejection === undefined) return;
    // The parser created this error without a stack that leads to the caller.
    Error.captureStackTrace(rejection, throwRejection);
    throw translate(rejection, health.database);
  }

  function messagesFor(step: Step): Uint8Array[] {
    const { statement, values = [] } = step;
    if (isCommit(step) || isBegin(step)) return [serialize.query(statement.text)];
    const name = nameOf(statement);
    return [
      ...(name !== UNNAMED && prepared.has(name) ? [] : [serialize.parse({ name, text: statement.text })]),
      serialize.bind({ statement: name, values }),
      ...(described.has(name) ? [] : [DESCRIBE]),
      EXECUTE,
      SYNC,
    ];
  }

  /** One trip for each statement: after a panic, PGlite would not return from what follows. BEGIN cannot cause one. */
  async function run(steps: readonly Step[]): Promise<readonly Done[]> {
    const done: Done[] = [];
    let rejection: Error | undefined;
    let name = nameOf(steps[0]?.statement);
    let columns = described.get(name) ?? [];
    let rows: object[] = [];
    let parts: Uint8Array[] = [];
    for (const [place, step] of steps.entries()) {
      parts.push(...messagesFor(step));
      if (isBegin(step) && place + 1 < steps.length) continue;
      const wasRunning = health.stopped === undefined;
      await exchange(parts, { row, message }).catch((error: unknown) => {
        throw wasRunning && isCommit(step) ? outcomeUnknown(error) : error;
      });
      throwRejection(rejection);
      parts = [];
    }
    return done;

    function row(fields: Fields): void {
      rows.push(readRow(columns, fields));
    }

    function message(received: unknown): void {
      if (received instanceof messages.DatabaseError) rejection ??= received;
      else if (received instanceof messages.RowDescriptionMessage) columns = received.fields.map(columnOf);
      else if (received instanceof messages.CommandCompleteMessage) complete(received.text);
      else if (name !== UNNAMED) prepared.add(name);
    }

    function complete(command: string): void {
      if (name !== UNNAMED) described.set(name, columns);
      done.push({ rows, command });
      name = nameOf(steps[done.length]?.statement);
      columns = described.get(name) ?? [];
      rows = [];
    }
  }

  const command = async (text: string): Promise<void> => {
    let rejection: Error | undefined;
    const message = (received: unknown) => {
      if (received instanceof messages.DatabaseError) rejection ??= received;
    };
    await exchange([serialize.query(text)], { row: ignore, message });
    throwRejection(rejection);
  };

  return { run, command };
}

function nameOf(statement: Statement | undefined): string {
  return statement === undefined || statement.isOneOff ? UNNAMED : statement.name;
}

function columnOf({ name, dataTypeID }: { readonly name: string; readonly dataTypeID: number }): Column {
  return { name, read: readerOf(dataTypeID) };
}

function readRow(columns: readonly Column[], fields: Fields): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [index, column] of columns.entries()) {
    const text = fields[index] ?? null;
    row[column.name] = text === null ? null : column.read(text);
  }
  return row;
}
