import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Db, oneOff, sql } from '../../src/db/db.ts';
import { DRIVERS, openTestDb } from '../support/server/db.ts';

/** One table for both drivers: the type of a parameter, the value that goes in, and the value that comes out. */
const CASES: readonly (readonly [type: string, given: unknown, expected?: unknown])[] = [
  ['int8', 9007199254740993n],
  ['int8', -9223372036854775808n],
  ['int8', 7, 7n],
  ['int8', '12', 12n],
  ['int4', -2147483648],
  ['int2', 7],
  ['float8', 1.5],
  ['float8', Number.POSITIVE_INFINITY],
  ['bool', true],
  ['bool', false],
  ['text', 'grüße, "you" \\ {} \n 🙂'],
  ['text', ''],
  ['varchar', 'NULL'],
  ['uuid', '0197a3f4-0000-7000-8000-000000000001'],
  ['numeric', '12345678901234567890.123456789'],
  ['date', '2026-02-28'],
  ['timestamptz', new Date('2026-02-28T12:34:56.789Z')],
  ['timestamptz', new Date('1969-12-31T23:59:59.999Z')],
  ['timestamptz', '2026-02-28 12:34:56.123456+05:30', new Date('2026-02-28T07:04:56.123Z')],
  ['jsonb', { a: [1, null, { b: 'ü' }], 'c"': true }],
  ['jsonb', '[1,"two",null]', [1, 'two', null]],
  ['jsonb', { id: 12n }, { id: 12 }],
  ['json', { a: 1 }],
  ['bytea', Buffer.from([0, 1, 92, 255])],
  ['bytea', Buffer.alloc(0)],
  ['bytea', new Uint8Array([1, 2, 3]), Buffer.from([1, 2, 3])],
  ['text[]', ['a', '', 'NULL', 'x,y', '"q"', '\\', '{}', null]],
  ['text[]', []],
  [
    'text[]',
    [
      ['a', 'b'],
      ['c', null],
    ],
  ],
  ['int8[]', [1n, 9007199254740993n]],
  ['int4[]', [1, 2, null]],
  ['bool[]', [true, false]],
  ['uuid[]', ['0197a3f4-0000-7000-8000-000000000001']],
  ['bytea[]', [Buffer.from([0, 255])]],
  ['timestamptz[]', [new Date('2026-02-28T12:34:56.789Z')]],
  ['jsonb[]', [{ a: 'x,"y"' }]],
  ['text', null],
  ['int8', undefined, null],
];

for (const driver of DRIVERS) {
  describe(`Values on ${driver}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDb(driver);
    });
    after(() => db.close());

    for (const [index, [type, given, expected = given]] of CASES.entries()) {
      test(`Parameter ${index} of type ${type} is read back with the expected value on ${driver}`, async () => {
        const rows = await db.query(sql(`types.${index}`, `select $1::${type} as value`), [given]);
        assert.deepStrictEqual(rows, [{ value: expected }]);
      });
    }

    test(`Stored rows are found by their key and read back in full on ${driver}`, async () => {
      await db.query(
        sql('types.create', 'create table thing (id int8 primary key, body bytea, at timestamptz, tags text[])'),
      );
      const row = { id: 2n ** 60n, body: Buffer.from('ü'), at: new Date(1e12), tags: ['a', 'b'] };
      const inserted = await db.query(
        sql(
          'types.insert',
          'insert into thing (id, body, at, tags) values ($1, $2, $3, $4) returning id, body, at, tags',
        ),
        Object.values(row),
      );
      assert.deepStrictEqual(inserted, [row]);
      const byIds = sql('types.byIds', 'select id, body, at, tags from thing where id = any($1)');
      assert.deepStrictEqual(await db.query(byIds, [[1n, row.id]]), [row]);
      assert.deepStrictEqual(await db.query(byIds, [[]]), []);
    });

    test(`A one-off statement is parsed each time on ${driver}, so its name can mean another text`, async () => {
      for (const [text, value, expected] of [
        ['select $1::text as a', 'x', { a: 'x' }],
        ['select $1::int8 + 1 as b, true as c', 7n, { b: 8n, c: true }],
        ['select $1::text as a', 'y', { a: 'y' }],
      ] as const) {
        assert.deepStrictEqual(await db.query(oneOff('types.oneOff', text), [value]), [expected]);
      }
      const kept = sql(
        'types.prepared',
        'select count(*)::integer as count from pg_prepared_statements where name = $1',
      );
      assert.deepStrictEqual(await db.query(kept, ['types.oneOff']), [{ count: 0 }]);
    });

    test(`A function is rejected as a parameter on ${driver}`, async () => {
      await assert.rejects(db.query(sql('types.function', 'select $1::text'), [() => 1]), TypeError);
    });

    test(`A result of 50,000 rows arrives complete on ${driver}`, async () => {
      const rows = await db.query<{ n: number; t: string }>(
        sql('types.big', `select n, repeat('x', 100) as t from generate_series(1, 50000) n`),
      );
      assert.equal(rows.length, 50_000);
      assert.deepStrictEqual(rows.at(-1), { n: 50_000, t: 'x'.repeat(100) });
    });
  });
}
