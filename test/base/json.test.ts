import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import {
  MAX_DEPTH,
  MAX_KEYS,
  readJson,
  readJsonInSteps,
  writeJson,
  writeLongItemsInPieces,
  writeLongListInPieces,
} from '../../src/base/json.ts';
import { fc } from '../support/checks/properties.ts';

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

/** Everything that fast-check can generate, except the two forbidden keys, halves of surrogate pairs, and NUL. */
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

describe('JSON input', () => {
  it('Ordinary JSON is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(ordinary, fc.constantFrom(0, 1, '\t', '\r\n '), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const [ours, theirs] = [read(text), JSON.parse(text)];
        // Beyond 2^53, a double is written as an integer, which we keep exact.
        assert.deepEqual(JSON.parse(writeJson(ours)), theirs);
        if (!/\d{16}/.test(text)) assert.deepEqual(ours, theirs);
      }),
      { numRuns: 500 },
    );
  });

  it('Arbitrary bytes are either read or rejected as malformed', () => {
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

  it('Long numbers are exact wherever they stand, and nothing else changes', () => {
    const long = '12345678901234567890';
    const exact = 12345678901234567890n;
    assert.equal(read(long), exact);
    assert.deepEqual(read(`\ufeff[-${long},"${long}",{"a":${long},"é":[ ${long} ]}]`), [
      -exact,
      long,
      { a: exact, é: [exact] },
    ]);
    const inexact = '[1e2,0.12345678901234567,1234567890123456,-1e-400]';
    assert.deepEqual(read(inexact), JSON.parse(inexact));
    for (const text of [
      `{${long}:1}`,
      `{${long} :1}`,
      `["a"${long}]`,
      `[${long}"a"]`,
      `[.${long}]`,
      `[0${long}]`,
      `[--${long}]`,
      `[${long}-]`,
      `[true${long}]`,
      `["${long}`,
    ]) {
      assert.equal(refused(text), 'body is not valid JSON', text);
    }
    assert.match(refused(`[${long},"\\u00001"]`) ?? '', /NUL/);
    assert.match(refused(`[1${'0'.repeat(400)}]`) ?? '', /out of range/);
  });

  it('Every int64 is read and written exactly', () => {
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
    it(`The integer ${digits} is read and written exactly`, () => {
      assert.deepEqual(read(`[${digits}]`), [BigInt(digits)]);
      assert.equal(writeJson(read(`[${digits}]`)), `[${digits}]`);
      assert.equal(read(digits), BigInt(digits));
    });
  }

  it('Long digit sequences inside a string stay unchanged', () => {
    assert.deepEqual(read('{"a":"9007199254740993","b":1}'), { a: '9007199254740993', b: 1 });
  });

  it('Empty or blank input is read as an empty object', () => {
    for (const text of ['', ' ', '\r\n\t']) assert.deepEqual(read(text), {});
  });

  it('A leading byte order mark is ignored', () => {
    assert.deepEqual(read('\ufeff{"a":1}'), { a: 1 });
  });

  it('JSON nested 64 levels deep is accepted and deeper JSON is rejected', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    assert.equal(refused(nested(MAX_DEPTH)), undefined);
    assert.match(refused(nested(MAX_DEPTH + 1)) ?? '', /^body is nested more than 64 levels deep$/);
  });

  it('A body of 25,000 keys is accepted and one with more is rejected, wherever the keys are', () => {
    const keys = (from: number, count: number) => Array.from({ length: count }, (_, at) => `"k${from + at}":1`).join();
    const bodies = (count: number) => [`{${keys(0, count)}}`, `[{${keys(0, count - 2)}},{"a":{"b":"c:"}}]`];
    assert.deepEqual(bodies(MAX_KEYS).map(refused), [undefined, undefined]);
    for (const body of bodies(MAX_KEYS + 1)) assert.equal(refused(body), 'body has more than 25000 keys');
  });

  it('A key may occur in several objects and be the name of a built-in property', () => {
    const text = '{"a":{"k":1},"b":{"k":1},"c":[{"k":1},{"k":1}],"toString":1,"hasOwnProperty":2}';
    assert.deepEqual(read(text), JSON.parse(text));
  });
});

describe('Long JSON', () => {
  const long = (middle: string) => Buffer.from(`{"a":"${'x'.repeat(100_000)}",${middle}}`);

  /** Also returns how many turns the event loop took. */
  async function inSteps(body: Buffer) {
    let turns = 0;
    const turn = () => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    try {
      return { value: await readJsonInSteps(body), turns };
    } finally {
      clearImmediate(next);
    }
  }

  it('It is read in steps, with others served in between, and as in one go', async () => {
    const body = long('"b":12345678901234567890,"c":"\\u0041"');
    const { value, turns } = await inSteps(body);
    assert.deepEqual(value, readJson(body));
    assert.ok(turns >= 2, `${turns} turns`);
  });

  it('It is rejected in every step with the same message as in one go', async () => {
    for (const middle of ['"b":', '"b":1,"b":2', '"b":"\\u0000"', '"b":1e999', '"__proto__":1']) {
      const message = refused(long(middle)) ?? assert.fail(middle);
      await assert.rejects(readJsonInSteps(long(middle)), { kind: 'malformed', message });
    }
  });

  it('Nothing waits for a short body', async () => {
    assert.equal((await inSteps(Buffer.from('{"b":1}'))).turns, 0);
  });
});

describe('Rejected JSON', () => {
  const table: readonly [string, string | Buffer, string][] = [
    ['invalid syntax', 'x', 'body is not valid JSON'],
    ['a no-break space', '\u00a0', 'body is not valid JSON'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'body is not valid UTF-8'],
    ['a NUL character in a top-level string', '"\\u0000"', 'body contains a NUL character'],
    ['half a surrogate pair in a top-level string', '"\\ud83e"', 'body contains an unpaired surrogate'],
    ['a duplicate key', '{"a":1,"a":1}', 'key is given twice: a'],
    ['a duplicate key with blanks before the colon', '{"a" :1,"a"\n\t:1}', 'key is given twice: a'],
    ['a duplicate key written with escapes', '{"\\u0061":1,"a":1}', 'key is given twice: a'],
    ['a duplicate empty key', '{"":1,"":1}', 'key is given twice: '],
    ['the key __proto__', '[{"__proto__":1}]', 'key is not allowed: __proto__'],
    ['the key constructor', '{"a":{"constructor":1}}', 'key is not allowed: constructor'],
    ['a number out of range', '[1e309]', 'number is out of range: 1e309'],
    ['an integer out of range', `[-${'1'.repeat(310)}]`, `number is out of range: -${'1'.repeat(39)}`],
  ];
  for (const [name, text, message] of table)
    it(`JSON input with ${name} is rejected`, () => assert.equal(refused(text), message));
});

describe('Hostile JSON of 1 MiB', () => {
  const SIZE = 1024 * 1024;
  const fill = (piece: string) => piece.repeat(Math.floor(SIZE / piece.length));
  const table: readonly [string, string][] = [
    ['open brackets', fill('[')],
    ['balanced brackets', fill('[').slice(SIZE / 2) + fill(']').slice(SIZE / 2)],
    ['blanks', fill(' ')],
    ['blanks before colons', `{${Array.from({ length: 500 }, (_, at) => `"${at}"${' '.repeat(2000)}:1`).join()}}`],
    ['escape sequences', `"${fill('\\u0041')}"`],
    ['backslashes', `"${fill('\\\\')}"`],
    ['object keys', `{${Array.from({ length: 80_000 }, (_, at) => `"k${at}":1`).join()}}`],
    ['escaped object keys', `{${Array.from({ length: 50_000 }, (_, at) => `"\\u006b${at}":1`).join()}}`],
    ['digits', fill('7')],
    ['runs of 15 digits', `[${fill('777777777777777,')}1]`],
    ['runs of 16 digits', `[${fill('7777777777777777,')}1]`],
    ['numbers with exponents', `[${fill('1e99,')}1]`],
    ['quotation marks', fill('"')],
    ['escaped quotation marks', fill('\\"')],
  ];
  for (const [name, text] of table) {
    it(`Reading 1 MiB of ${name} takes less than 1.5 seconds`, () => {
      refused(text);
      const start = performance.now();
      refused(text);
      // Linear work takes tens of milliseconds, quadratic work minutes. The limit leaves room for a busy machine.
      assert.ok(performance.now() - start < 1500);
    });
  }
});

describe('Long lists as JSON', () => {
  it('The pieces of a list are its text, and a short list is one piece', async () => {
    for (const [length, pieces] of [[0, 1] as const, [1, 1] as const, [1000, 1] as const, [2001, 3] as const]) {
      const numbers = Array.from({ length }, (_, place) => place);
      const present = (number: number) => ({ number, big: BigInt(number) });
      const written = await writeLongListInPieces(numbers, present);
      assert.equal(written.length, pieces);
      assert.equal(written.join(''), writeJson(numbers.map(present)));
      const asItems = await writeLongItemsInPieces(numbers, present);
      assert.equal(asItems.length, pieces);
      assert.equal(asItems.join(''), writeJson({ items: numbers.map(present) }));
    }
  });
});
