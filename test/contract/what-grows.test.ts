import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

const chapter = (page: string, name: string) => page.split(/^## /m).find((one) => one.startsWith(`${name}\n`)) ?? '';

it('The page about operating says of every table of the schema what removes its rows, or what it belongs to', () => {
  const tables = [...readFileSync('migrations/schema.sql', 'utf8').matchAll(/^create table (\w+) \(/gm)].map(
    ([, name = '']) => name,
  );
  assert.ok(tables.length > 80, 'the tables of the schema were found');
  const rows = chapter(readFileSync('docs/operating.md', 'utf8'), 'What grows')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  // Of the first table, the column with the name; of the second, the one with all names.
  const named = rows.flatMap((row) => {
    const [, first = '', second = ''] = row.split('|');
    return [...(first.includes('`') ? first : second).matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  });
  assert.deepEqual(tables.filter((name) => !named.includes(name)).sort(), [], 'tables that the page does not name');
  assert.deepEqual(named.filter((name) => !tables.includes(name)).sort(), [], 'names that are no table');
  assert.deepEqual(
    named.filter((name, place) => named.indexOf(name) !== place),
    [],
    'names that are there twice',
  );
});
