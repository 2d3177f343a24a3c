import { protocol } from '@electric-sql/pglite';
import { breath } from '../../base/slices.ts';

/** A long answer is read in parts, and other requests are served in between. */
const BYTES_AT_ONCE = 256 * 1024;
const DATA_ROW = 'D'.charCodeAt(0);
const READY = 'Z'.charCodeAt(0);
/** Errors, the columns of rows, and what a command has done. */
const TELLING = ['E', 'T', 'C'].map((kind) => kind.charCodeAt(0));
/** Before each message: its kind, and its length, which does not count the kind. */
const HEAD = 5;

/** It gets whole messages, so it keeps nothing between two of them. */
const parser = new protocol.Parser();

export type Fields = readonly (string | null)[];

export interface Answer {
  /** Whether PostgreSQL expects the next command. If not, it has panicked. */
  readonly isReady: boolean;
  /** The messages that say something, apart from rows. */
  readonly messages: readonly unknown[];
}

/**
 * Reads what PostgreSQL answered, a whole number of messages. Rows are read here and handed over one by one, because
 * PGlite's parser takes several times as long for them.
 */
export async function readAnswer(bytes: Uint8Array<ArrayBuffer>, onRow: (fields: Fields) => void): Promise<Answer> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const messages: unknown[] = [];
  let isReady = false;
  let at = 0;
  let pause = BYTES_AT_ONCE;
  while (at + HEAD <= all.length) {
    if (at > pause) {
      await breath();
      pause = at + BYTES_AT_ONCE;
    }
    const end = at + 1 + all.readInt32BE(at + 1);
    if (end > all.length) break;
    const kind = all[at] as number;
    isReady = kind === READY;
    if (kind === DATA_ROW) onRow(readFields(all, at + HEAD));
    else if (TELLING.includes(kind)) parser.parse(all.subarray(at, end), (message) => messages.push(message));
    at = end;
  }
  // What is cut off in the middle is not an answer.
  return { isReady: isReady && at === all.length, messages };
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
