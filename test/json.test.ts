import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../src/errors.ts';
import { MOST_DEPTH, readJson, writeJson } from '../src/json.ts';

const read = (text: string) => readJson(Buffer.from(text));
const refused = (text: string | Buffer) => {
  try {
    readJson(Buffer.from(text as string));
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.kind, 'malformed');
    return error.message;
  }
  return undefined;
};

/** What fast-check can think of, without the two keys that nobody may send, and without half surrogate pairs and NUL. */
const word = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''));
const key = word.filter((text) => text !== '__proto__' && text !== 'constructor');
const ordinary = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(null, true, false, -0, 0, 1e21, 1e-300, 2 ** 53 - 1),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
    word,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
})).value;

describe('JSON that comes in', () => {
  it('is what JSON.parse makes of it, whatever ordinary JSON it is', () => {
    fc.assert(
      fc.property(ordinary, fc.constantFrom(0, 1, '\t', '\r\n '), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const [ours, theirs] = [read(text), JSON.parse(text)];
        // Beyond 2^53 a double written out is an integer, which we keep exact.
        assert.deepEqual(JSON.parse(writeJson(ours)), theirs);
        if (!/\d{16}/.test(text)) assert.deepEqual(ours, theirs);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused or read, but never anything else, whatever bytes come', () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    );
    const fragments = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', '\\u0000', '\\ud800', '1e999', 'a'),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          noise,
          fragments.map((list) => Buffer.from(list.join(''))),
        ),
        (bytes) => {
          refused(Buffer.from(bytes));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('keeps every int64 exact, in and out', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        const value = (read(`{"id":${id}}`) as { id: number | bigint }).id;
        assert.equal(BigInt(value), id);
        assert.equal(writeJson({ id }), `{"id":${id}}`);
        assert.equal(writeJson({ id: value }), `{"id":${id}}`);
      }),
    );
  });

  for (const digits of ['9007199254740993', '9223372036854775807', '-9223372036854775808', '18446744073709551616']) {
    it(`keeps ${digits} as it is`, () => {
      assert.deepEqual(read(`[${digits}]`), [BigInt(digits)]);
      assert.equal(writeJson(read(`[${digits}]`)), `[${digits}]`);
      assert.equal(read(digits), BigInt(digits));
    });
  }

  it('leaves long digits in a string alone', () => {
    assert.deepEqual(read('{"a":"9007199254740993","b":1}'), { a: '9007199254740993', b: 1 });
  });

  it('counts nothing, and nothing but blanks, as {}', () => {
    for (const text of ['', ' ', '\r\n\t']) assert.deepEqual(read(text), {});
  });

  it('may begin with a byte order mark', () => {
    assert.deepEqual(read('\ufeff{"a":1}'), { a: 1 });
  });

  it('may be 64 levels deep, and no more', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    assert.equal(refused(nested(MOST_DEPTH)), undefined);
    assert.match(refused(nested(MOST_DEPTH + 1)) ?? '', /^body is nested more than 64 levels deep$/);
  });

  it('may give the same key in two objects, and names of built-in properties as keys', () => {
    const text = '{"a":{"k":1},"b":{"k":1},"c":[{"k":1},{"k":1}],"toString":1,"hasOwnProperty":2}';
    assert.deepEqual(read(text), JSON.parse(text));
  });
});

describe('JSON that is refused', () => {
  const table: readonly [string, string | Buffer, string][] = [
    ['no JSON', 'x', 'body is not valid JSON'],
    ['a blank that JSON does not know', '\u00a0', 'body is not valid JSON'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'body is not valid UTF-8'],
    ['a NUL in a lone string', '"\\u0000"', 'body holds a NUL character'],
    ['half a pair in a lone string', '"\\ud83e"', 'body holds half of a surrogate pair'],
    ['a key twice', '{"a":1,"a":1}', 'key is given twice: a'],
    ['a key twice, with blanks before the colon', '{"a" :1,"a"\n\t:1}', 'key is given twice: a'],
    ['a key twice, in escapes', '{"\\u0061":1,"a":1}', 'key is given twice: a'],
    ['an empty key twice', '{"":1,"":1}', 'key is given twice: '],
    ['__proto__', '[{"__proto__":1}]', 'key is not allowed: __proto__'],
    ['constructor', '{"a":{"constructor":1}}', 'key is not allowed: constructor'],
    ['a number out of range', '[1e309]', 'number is out of range: 1e309'],
    ['an integer out of range', `[-${'1'.repeat(310)}]`, `number is out of range: -${'1'.repeat(39)}`],
  ];
  for (const [name, text, message] of table) it(name, () => assert.equal(refused(text), message));
});

describe('1 MiB of hostile text', () => {
  const SIZE = 1024 * 1024;
  const fill = (piece: string) => piece.repeat(Math.floor(SIZE / piece.length));
  const table: readonly [string, string][] = [
    ['open brackets', fill('[')],
    ['brackets that close', fill('[').slice(SIZE / 2) + fill(']').slice(SIZE / 2)],
    ['blanks', fill(' ')],
    ['blanks before each colon', `{${Array.from({ length: 500 }, (_, at) => `"${at}"${' '.repeat(2000)}:1`).join()}}`],
    ['escapes', `"${fill('\\u0041')}"`],
    ['backslashes', `"${fill('\\\\')}"`],
    ['keys', `{${Array.from({ length: 80_000 }, (_, at) => `"k${at}":1`).join()}}`],
    ['keys in escapes', `{${Array.from({ length: 50_000 }, (_, at) => `"\\u006b${at}":1`).join()}}`],
    ['digits', fill('7')],
    ['runs of 15 digits', `[${fill('777777777777777,')}1]`],
    ['runs of 16 digits', `[${fill('7777777777777777,')}1]`],
    ['exponents', `[${fill('1e99,')}1]`],
    ['strings that never end', fill('"')],
    ['quotes after backslashes', fill('\\"')],
  ];
  for (const [name, text] of table) {
    it(`takes no longer than an honest one: ${name}`, () => {
      refused(text);
      const start = performance.now();
      refused(text);
      // Linear work takes tens of milliseconds, quadratic work minutes; the bound leaves room for a busy machine.
      assert.ok(performance.now() - start < 1500);
    });
  }
});
