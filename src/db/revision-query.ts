import type pg from 'pg';
import type { Statement } from './statement.ts';

type Answer = (error: Error | null, value?: string | null) => void;

/** What node-postgres passes to a query object; its types declare none of it. */
interface Row {
  readonly fields: readonly (string | null)[];
}

/**
 * A prepared query whose bytes are all known beforehand, so that sending it is one write, and whose answer is one
 * value. The library's general path builds four messages, and a description of the answer's columns, each time.
 */
export class RevisionQuery implements pg.Submittable {
  readonly #message: Buffer;
  #value: string | null = null;
  callback: Answer;

  /** @param message created by `messageOf`, for a statement that this connection has prepared, or with its text */
  constructor(message: Buffer, callback: Answer) {
    this.#message = message;
    this.callback = callback;
  }

  submit(connection: pg.Connection): void {
    connection.stream.write(this.#message);
  }

  handleDataRow({ fields }: Row): void {
    this.#value = fields[0] ?? null;
  }

  handleParseComplete(): void {}

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null, this.#value);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}

/** Bind without values, Execute to the end, Sync: see the chapter on PostgreSQL's extended query protocol. */
export function queryMessage({ name }: Pick<Statement, 'name'>): Buffer {
  const nothing = Buffer.alloc(6);
  const bind = message('B', Buffer.from('\0'), Buffer.from(`${name}\0`), nothing);
  const execute = message('E', Buffer.from('\0'), Buffer.alloc(4));
  return Buffer.concat([bind, execute, message('S')]);
}

/** The same for a pooler, behind which the next message may reach another server process: Parse comes with it. */
export function unpreparedQueryMessage({ text }: Pick<Statement, 'text'>): Buffer {
  return Buffer.concat([message('P', Buffer.from(`\0${text}\0`), Buffer.alloc(2)), queryMessage({ name: '' })]);
}

function message(kind: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(kind, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
