import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Fields, readAnswer } from '../../src/db/pglite/pglite-answer.ts';

function message(kind: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function int(value: number, bytes: 2 | 4): Buffer {
  const written = Buffer.alloc(bytes);
  written.writeIntBE(value, 0, bytes);
  return written;
}

function row(...fields: Fields): Buffer {
  const parts = fields.flatMap((field) =>
    field === null ? [int(-1, 4)] : [int(Buffer.byteLength(field), 4), Buffer.from(field)],
  );
  return message('D', int(fields.length, 2), ...parts);
}

const READY = message('Z', Buffer.from('I'));
const DONE = message('C', Buffer.from('SELECT 2\0'));
const FAILED = message('E', Buffer.from('SERROR\0C23505\0Mdouble\0\0'));

async function read(...parts: readonly Buffer[]) {
  const rows: Fields[] = [];
  const names: string[] = [];
  const isReady = await readAnswer(new Uint8Array(Buffer.concat(parts)), {
    row: (fields) => rows.push(fields),
    message: (told) => names.push((told as { name: string }).name),
  });
  return { isReady, rows, names };
}

describe('Answers of the built-in database', () => {
  it('Rows are read with nulls, empty texts and letters of any length', async () => {
    const { rows, isReady } = await read(row('1', null, ''), row('ä€𝄞', 'b', null), row(), DONE, READY);
    assert.deepEqual(rows, [['1', null, ''], ['ä€𝄞', 'b', null], []]);
    assert.equal(isReady, true);
  });

  it('Errors and the results of commands are returned, and other messages are not', async () => {
    const { names } = await read(message('2'), FAILED, DONE, message('N', Buffer.from('\0')), READY);
    assert.deepEqual(names, ['error', 'commandComplete']);
  });

  it('Only an answer that ends with the readiness for the next command counts as one', async () => {
    assert.equal((await read()).isReady, false);
    assert.equal((await read(DONE)).isReady, false);
    // The transaction began, and then PostgreSQL panicked.
    assert.equal((await read(DONE, READY, row('1'))).isReady, false);
    assert.equal((await read(DONE, READY, FAILED)).isReady, false);
  });

  it('An answer that is cut off anywhere is not one, and does not throw', async () => {
    const whole = Buffer.concat([row('1', 'two'), DONE, READY]);
    for (let length = 0; length < whole.length; length++) {
      const { isReady } = await read(whole.subarray(0, length));
      assert.equal(isReady, false, `${length} bytes`);
    }
    assert.equal((await read(whole)).isReady, true);
  });
});
