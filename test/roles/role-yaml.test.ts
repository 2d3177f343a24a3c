import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { documentOf, readDocument } from '../../src/roles/role-document.ts';
import { writeJsonDocument, writeYaml } from '../../src/roles/role-document-writer.ts';
import { readYaml } from '../../src/roles/role-yaml.ts';
import { COUNTS } from '../counts.ts';

const ROLES = COUNTS.yamlRoles;
/** A role of several lines has six of them, and the list begins in line 5. */
const END = 4 + 6 * ROLES;
const HEAD = 'apiVersion: atrium/v1\nkind: Roles\norganization: acme\n';
const read = (text: string) => readYaml(Buffer.from(text));
const block = Array.from(
  { length: ROLES },
  (_, n) =>
    `  # about ${n}\n  - name: role ${n}\n    description: >-\n      folded\n      text ${n}\n    teams: [a, "b ${n}", 'c']\n`,
);
const flow = Array.from({ length: ROLES }, (_, n) => `{name: "role ${n}", teams: [a, "b, ${n}"]}`);

/** Long enough that the list of roles is read in several parts. */
const SHAPES: readonly [name: string, text: string][] = [
  ['indented items', `${HEAD}roles:\n${block.join('')}`],
  ['items at the margin', `${HEAD}roles:\n${block.join('').replaceAll(/^ {2}/gm, '')}`],
  ['roles before other keys', `roles:\n${block.join('')}${HEAD}`],
  ['a quoted key', `${HEAD}"roles":\n${block.join('')}`],
  ['a list in brackets', `${HEAD}roles: [${flow.join(', ')}]\n`],
  ['a list in brackets with a comma at the end', `${HEAD}roles: [${flow.join(',\n  ')},\n  ]\n`],
  ['a document in braces', `{apiVersion: atrium/v1, roles: [${flow.join(',')}], kind: Roles}`],
  [
    'JSON',
    JSON.stringify({ roles: Array.from({ length: ROLES }, (_, n) => ({ name: `${n}`, teams: ['a'] })) }, null, 2),
  ],
  ['plain tags', `${HEAD}roles:\n${block.join('').replaceAll('- name: role', '- !!map\n    name: !!str role')}`],
  ['numbers and other scalars', `${HEAD}roles:\n${'  - 1\n  - 0x10\n  - null\n  -\n  - true\n'.repeat(ROLES)}`],
  ['no roles at all', `${HEAD}roles: []\n`],
  ['another document', 'a: 1\nb: [1, 2]\n'],
];

/** What is wrong is far from the beginning, in a part of its own. */
const FAULTS: readonly [name: string, text: string, message: RegExp][] = [
  ['a wrong indentation', `${HEAD}roles:\n${block.join('')} - name: x\n`, /line \d+/],
  [
    'an empty item in the middle',
    `${HEAD}roles: [${flow.join(', ')}, , ${flow.join(', ')}]\n`,
    /empty item|Unexpected ,/,
  ],
  [
    'many empty items',
    `${HEAD}roles: [${flow.join(', ')}${', '.repeat(40_000)} a]\n`,
    /empty item|Unexpected ,|too many tokens/,
  ],
  ['a missing comma', `${HEAD}roles: [${flow.join(', ')} ${flow.join(', ')}]\n`, /line 4/],
  ['a missing bracket', `${HEAD}roles: [${flow.join(', ')}\n`, /end with a \]/],
  [
    'a repeated key',
    `${HEAD}roles:\n${block.join('')}  - name: x\n    name: y\n`,
    new RegExp(`line ${END + 2}.*given twice: name`),
  ],
  [
    'the list given twice',
    `${HEAD}roles:\n${block.join('')}roles: []\n`,
    new RegExp(`line ${END + 1}.*given twice: roles`),
  ],
  ['an anchor', `${HEAD}roles:\n${block.join('')}  - &x {name: x}\n`, /anchors and aliases/],
  ['an alias', `${HEAD}roles:\n${block.join('')}  - *x\n`, /alias|anchor/i],
  ['a second document', `${HEAD}roles:\n${block.join('')}---\na: 1\n`, /more than one document/],
  [
    'one huge role',
    `${HEAD}roles:\n  - teams: [${'a,'.repeat(20_000)}a]\n  - name: x\n`,
    /line 5, column \d+: one part has too many/,
  ],
  ['many other keys', `${HEAD}${Array.from({ length: 9000 }, (_, n) => `k${n}: 1\n`).join('')}roles: []\n`, /too many/],
  ['a long list inside of a section', `${HEAD}others: {deep: [${'a, '.repeat(9000)}]}\n`, /too many tokens/],
];

describe('Role files in YAML', () => {
  for (const [name, text] of SHAPES) {
    it(`A file with ${name} is read as the YAML library reads it`, async () => {
      assert.deepEqual(await read(text), parse(text));
    });
  }

  for (const [name, text, message] of FAULTS) {
    it(`A file with ${name} is rejected with the place of the fault`, async () => {
      await assert.rejects(read(text), ({ kind, message: found }: { kind: string; message: string }) => {
        assert.equal(kind, 'malformed');
        assert.match(found, /^body is not valid YAML: line \d+, column \d+: /);
        assert.match(found, message);
        return true;
      });
    });
  }

  it('Exported roles are the same document in YAML and in JSON, however many there are', async () => {
    for (const count of [0, 1, 24, 25, 26, 80]) {
      const roles = Array.from({ length: count }, (_, n) => ({
        name: `role ${n}`,
        description: n % 2 === 0 ? '' : 'two\nlines, "quoted"',
        permissions: [],
        teamNames: ['b', 'A', `t${n}`],
      }));
      const document = documentOf('acme', roles);
      const [yaml, json] = [await writeYaml(document), await writeJsonDocument(document)];
      const entries = document.roles.map((role) => ({ ...role, permissions: Object.fromEntries(role.permissions) }));
      const whole = { apiVersion: 'atrium/v1', kind: 'Roles', organization: 'acme', roles: entries };
      assert.equal(json, `${JSON.stringify(whole, null, 2)}\n`);
      assert.deepEqual(await read(yaml), JSON.parse(json));
      assert.deepEqual(await readDocument(await read(yaml)), document);
    }
  });
});
