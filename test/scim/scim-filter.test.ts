import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { USER_SCHEMA } from '../../src/scim/scim-attributes.ts';
import { type Columns, filterCondition } from '../../src/scim/scim-filter.store.ts';
import {
  MAX_COMPARISONS,
  MAX_FILTER_DEPTH,
  MAX_FILTER_LENGTH,
  readFilter,
  readTarget,
} from '../../src/scim/scim-filter.ts';
import { readOperations } from '../../src/scim/scim-operations.ts';
import { patched } from '../../src/scim/scim-patch.ts';

const COLUMNS: Columns = {
  username: { sql: 'u', type: 'text' },
  id: { sql: 'i', type: 'id' },
  active: { sql: 'a', type: 'boolean' },
  'meta.created': { sql: 'c', type: 'time' },
  members: { exists: 'exists (select 1 from m where', columns: { value: { sql: 'm.id', type: 'id' } } },
};

function compiled(text: string): { readonly sql: string; readonly values: readonly unknown[] } {
  const values: unknown[] = [];
  const sql = filterCondition(readFilter(text), COLUMNS, (value) => `$${values.push(value)}`);
  return { sql, values };
}

function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof AppError);
    return error.detail.scimType ?? '';
  }
  return 'accepted';
}

describe('Filters of SCIM', () => {
  it('And binds more tightly than or, and brackets more tightly than both', () => {
    const { sql, values } = compiled('userName eq "a" or userName eq "b" and not (userName eq "c" or id eq "7")');
    assert.equal(
      sql.replaceAll(' collate "C"', ''),
      '(coalesce(lower(u) = lower($1::text), false) or (coalesce(lower(u) = lower($2::text), false) and ' +
        '(not (coalesce(lower(u) = lower($3::text), false) or (i = $4::bigint)))))',
    );
    assert.deepEqual(values, ['a', 'b', 'c', 7n]);
  });

  it('No text of a filter becomes text of a statement, whatever it contains', () => {
    for (const evil of [
      `'; drop table account; --`,
      `" or 1=1 --`,
      `\\'; select pg_sleep(10)`,
      '$1',
      '%_\\',
      'x'.repeat(1500),
      '\u2028\ud83d\ude00',
    ]) {
      for (const op of ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le']) {
        const plain = compiled(`userName ${op} "x"`);
        const { sql, values } = compiled(`userName ${op} ${JSON.stringify(evil)}`);
        assert.deepEqual([sql, values], [plain.sql, [evil]]);
      }
      assert.match(
        refusal(() => compiled(`${evil} eq "x"`)),
        /^invalidFilter$/,
      );
    }
  });

  it('What cannot be read, is unknown or does not fit its attribute is an invalid filter', () => {
    for (const text of [
      '',
      'userName',
      'userName eq',
      'userName like "x"',
      'userName eq x',
      'userName eq constructor',
      'userName eq "x',
      'userName eq "\\u0000"',
      'userName eq "\\ud800"',
      'userName eq 1e999',
      'userName eq "x" and',
      'userName eq "x" userName eq "y"',
      '(userName eq "x"',
      'userName eq "x")',
      'not userName eq "x"',
      'userName[value eq "x"]',
      'members[value eq "x"',
      'members.x eq "1"',
      'constructor eq "x"',
      '__proto__ pr',
      'toString pr',
      'active gt true',
      'active eq 7',
      'meta.created eq "yesterday"',
      'meta.created co "2026"',
      'meta.created gt "0000-01-01T00:00:00Z"',
      'userName gt null',
      'userName eq "x"\n',
    ]) {
      assert.equal(
        refusal(() => compiled(text)),
        'invalidFilter',
        text,
      );
    }
  });

  it('Length, depth and number of comparisons are limited', () => {
    const nested = (depth: number) => `${'('.repeat(depth)}userName pr${')'.repeat(depth)}`;
    const many = (count: number) => Array.from({ length: count }, () => 'id pr').join(' or ');
    assert.equal(
      refusal(() => compiled(nested(MAX_FILTER_DEPTH))),
      'accepted',
    );
    assert.equal(
      refusal(() => compiled(nested(MAX_FILTER_DEPTH + 1))),
      'invalidFilter',
    );
    assert.equal(
      refusal(() => compiled(nested(900))),
      'invalidFilter',
    );
    assert.equal(
      refusal(() => compiled(`${'not ('.repeat(300)}id pr${')'.repeat(300)}`)),
      'invalidFilter',
    );
    assert.equal(
      refusal(() => compiled(many(MAX_COMPARISONS))),
      'accepted',
    );
    assert.equal(
      refusal(() => compiled(many(MAX_COMPARISONS + 1))),
      'invalidFilter',
    );
    assert.equal(
      refusal(() => compiled(`userName eq "${'x'.repeat(MAX_FILTER_LENGTH)}"`)),
      'invalidFilter',
    );
  });

  it('Texts that make a careless pattern try again and again are read once', () => {
    const length = MAX_FILTER_LENGTH - 20;
    for (const text of [
      `userName eq "${'\\'.repeat(length)}`,
      `userName eq "${'\\"'.repeat(length / 2)}`,
      `userName eq ${'1'.repeat(length)}x`,
      `${'a.'.repeat(length / 2)} pr`,
      `${'urn:'.repeat(length / 4)}x pr`,
      `${' '.repeat(length)}=`,
      `${'['.repeat(length)}`,
      `${'id pr and '.repeat(length / 10)}`,
    ]) {
      assert.equal(
        refusal(() => compiled(text)),
        'invalidFilter',
      );
      assert.equal(
        refusal(() => readTarget(text)),
        'invalidPath',
      );
    }
  });
});

describe('PATCH of SCIM', () => {
  const document = { userName: 'a', emails: [{ value: 'a@x.example', type: 'work', primary: true }], active: true };
  const after = (...Operations: readonly object[]) => patched(document, readOperations(USER_SCHEMA, { Operations }));

  it('Operations act one after the other, and the document they begin with stays as it is', () => {
    const before = structuredClone(document);
    const home = { value: 'b@x.example', type: 'home', primary: true };
    for (const [operations, expected] of [
      [[{ op: 'add', path: 'emails', value: [home] }], [{ ...document.emails[0], primary: false }, home]],
      [[{ op: 'add', path: 'emails', value: document.emails }], document.emails],
      [
        [{ op: 'replace', path: 'emails[type eq "work"].value', value: 'c@x.example' }],
        [{ ...document.emails[0], value: 'c@x.example' }],
      ],
      [
        [{ op: 'replace', path: 'emails[type eq "home"].value', value: 'c@x.example' }],
        [document.emails[0], { type: 'home', value: 'c@x.example' }],
      ],
      [[{ op: 'remove', path: 'emails[value ew "x.example" and not (type eq "home")]' }], []],
      [[{ op: 'remove', path: 'emails[primary eq true].type' }], [{ value: 'a@x.example', primary: true }]],
      [[{ op: 'remove', path: 'emails', value: [{ value: 'A@x.example' }] }], []],
      [
        [
          { op: 'remove', path: 'emails' },
          { op: 'add', path: 'emails', value: home },
        ],
        [home],
      ],
    ] as const) {
      assert.deepEqual(after(...operations).emails, expected, JSON.stringify(operations));
    }
    assert.deepEqual(document, before);
    assert.deepEqual(
      after({ op: 'add', path: 'name', value: { givenName: 'A' } }, { op: 'add', value: { name: { familyName: 'B' } } })
        .name,
      {
        givenName: 'A',
        familyName: 'B',
      },
    );
    assert.equal(after({ op: 'REPLACE', path: 'ACTIVE', value: 'fAlSe' }).active, false);
  });

  it('Too many operations or values are refused before anything is done', () => {
    const many = (count: number) => Array.from({ length: count }, () => ({ op: 'remove', path: 'name' }));
    assert.equal(
      refusal(() => after(...many(201))),
      'tooMany',
    );
    const keys = Object.fromEntries(
      Array.from({ length: 201 }, (_, index) => [`displayName${' '.repeat(index)}`, 'x']),
    );
    assert.notEqual(
      refusal(() => after({ op: 'add', value: keys })),
      'accepted',
    );
    const values = Array.from({ length: 15 }, (_, index) => ({ value: `${index}@x.example` }));
    const others = values.map(({ value }) => ({ value: `o${value}` }));
    assert.equal(
      refusal(() => after({ op: 'add', path: 'emails', value: values }, { op: 'add', path: 'emails', value: others })),
      'tooMany',
    );
  });
});
