import { protocol } from '@electric-sql/pglite';
import { yieldToEventLoop } from '../../base/scheduling/slices.ts';

/** A long answer is read in parts, and other requests are served in between. */
const BYTES_AT_ONCE = 256 * 1024;
const DATA_ROW = 'D'.charCodeAt(0);
const READY = 'Z'.charCodeAt(0);
/** Errors, what was prepared, the columns of rows, and what a command has done. */
const TELLING = ['E', '1', 'T', 'C'].map((kind) => kind.charCodeAt(0));
/** Before each message: its kind, and its length, which does not count the kind. */
const HEAD = 5;

/** It gets whole messages, so it keeps nothing between two of them. */
const parser = new protocol.Parser();

export type Fields = readonly (string | null)[];

export interface Reader {
  row(fields: Fields): void;
  /** Any other message that says something. */
  message(message: unknown): void;
}

/**
 * Reads what PostgreSQL answered, a whole number of messages, in their order. Rows are read here, because PGlite's parser
 * takes several times as long for them.
 *
 * @returns whether PostgreSQL expects the next command. If not, it has panicked.
 */
export async function readAnswer(bytes: Uint8Array<ArrayBuffer>, reader: Reader): Promise<boolean> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let isReady = false;
  let at = 0;
  let pause = BYTES_AT_ONCE;
  while (at + HEAD <= all.length) {
    if (at > pause) {
      await yieldToEventLoop();
      pause = at + BYTES_AT_ONCE;
    }
    const end = at + 1 + all.readInt32BE(at + 1);
    if (end > all.length) break;
    const kind = all[at] as number;
    isReady = kind === READY;
    if (kind === DATA_ROW) reader.row(readFields(all, at + HEAD));
    else if (TELLING.includes(kind)) parser.parse(all.subarray(at, end), reader.message);
    at = end;
  }
  // What is cut off in the middle is not an answer.
  return isReady && at === all.length;
}

/** The number of fields, then each field after its length, or -1 for null. */
function readFields(all: Buffer, start: number): Fields {
  const fields: (string | null)[] = [];
  let at = start + 2;
  for (let left = all.readInt16BE(start); left > 0; left--) {
    const length = all.readInt32BE(at);
    at += 4;
    if (length === -1) fields.push(null);
    else {
      fields.push(all.toString('utf8', at, at + length));
      at += length;
    }
  }
  return fields;
}
