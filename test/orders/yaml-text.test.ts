import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { toYaml } from '../../src/orders/yaml-text.ts';
import { COUNTS } from '../counts.ts';
import { fc } from '../support/checks/properties.ts';

const free = () => undefined;
/** Texts that some version of YAML reads as something else, or that some reader changes. */
const ODD = [
  ...['', '~', 'null', 'Yes', 'n', 'off', 'TRUE', '1', '007', '0x1f', '1_000', '1e3', 'e5', '.inf', '.NaN', '12:30'],
  ...[
    '2020-01-01',
    '=',
    '<<',
    '&a',
    '*a',
    '!x',
    '%x',
    '@x',
    '`',
    '?',
    '? a',
    '|',
    '>',
    '{}',
    '[',
    '- a',
    'a: b',
    'a #b',
  ],
  ...[
    '---',
    '--- a',
    '...',
    '"',
    "'",
    '\\',
    'a  b',
    ' a',
    'a ',
    '\t',
    '\u2028',
    '\ufeff',
    '\x7f',
    '\x85',
    '\x9b',
    '🦊',
  ],
  ...['a\nb', 'a\n', 'a\n\n', 'a\n\n\nb', ' a\nb', '\na', 'a \nb', 'a\n ', 'a\n  b\n', 'a\n\tb', 'a\r\nb', 'a\n---\nb'],
  ...['a\n#b', 'a\nb: c', 'k'.repeat(1500), '"'.repeat(1100), 'a\n'.repeat(600)],
];
const pieces = fc
  .array(fc.constantFrom('a', '\n', ' ', '\t', '#', '-', ':', '\r', '"', '\u2029'))
  .map((some) => some.join(''));
const word = fc.oneof(fc.constantFrom(...ODD), pieces, fc.string(), fc.string({ unit: 'binary' }));
const tree = fc.letrec<{ value: unknown; fields: object; items: unknown[] }>((tie) => ({
  fields: fc.dictionary(
    word.filter((key) => key !== '__proto__'),
    tie('value'),
    { maxKeys: 5 },
  ),
  items: fc.array(tie('value'), { maxLength: 5 }),
  value: fc.oneof(
    { maxDepth: 6 },
    word,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.constantFrom(null, true, false, 1e21, -1e-7),
    tie('items'),
    tie('fields'),
  ),
}));

describe('YAML of deploy orders', () => {
  it('Every JSON value is read back unchanged by readers of YAML 1.1 and 1.2', () => {
    fc.assert(
      fc.property(fc.oneof(tree.fields, tree.items), (value) => {
        const expected = JSON.parse(JSON.stringify(value));
        const text = toYaml(expected, free);
        for (const version of ['1.1', '1.2'] as const) {
          assert.deepEqual(JSON.parse(JSON.stringify(parse(text, { version, merge: false }))), expected, text);
        }
        assert.equal(parseAllDocuments(`${text}---\n${text}`).length, 2, text);
      }),
      { numRuns: COUNTS.yamlTexts },
    );
  });

  it('YAML of deploy orders is written in blocks, with quotes only where they are needed', () => {
    const value = {
      image: 'redis',
      on: 'yes',
      list: [1, [2, { a: null, b: [] }]],
      script: 'set -e\nrun\n',
      big: 2n ** 64n,
    };
    const lines = [
      'image: redis',
      '"on": "yes"',
      'list:',
      '  - 1',
      '  - - 2',
      '    - a: null',
      '      b: []',
      'script: |',
      '  set -e',
      '  run',
      'big: 18446744073709551616',
      '',
    ];
    assert.equal(toYaml(value, free), lines.join('\n'));
  });

  it('Every character of the text is reported before the text grows', () => {
    const value = { a: ['x'.repeat(10), 'one\ntwo\n'], b: { c: {} } };
    let reported = 0;
    const text = toYaml(value, (characters) => {
      reported += characters;
    });
    assert.equal(reported, text.length);
  });
});
