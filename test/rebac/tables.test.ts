import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGraph } from '../../src/rebac/graph.ts';
import { readModel } from '../../src/rebac/model.ts';
import { REACHES } from '../../src/rebac/tables/nodes.ts';
import { Rows } from '../../src/rebac/tables/rows.ts';
import { createRandom, SEED } from '../support/random.ts';

const model = await readModel(`model
  schema 1.1
type user
type team
  relations
    define member: [user]
    define guest: [user]
type cluster
  relations
    define owner: [user]
`);

test('An object that is new with its first edge is in one cache line with it, whatever was added before', () => {
  const tuples = ['team:1', 'team:2', 'team:3', 'cluster:1'].flatMap((object) => [
    // One object and one edge; then an edge alone, and both ends of another.
    { user: 'user:1', relation: object.startsWith('team') ? 'member' : 'owner', object },
    { user: 'user:1', relation: 'guest', object: 'team:1' },
    { user: `user:9${object.at(-1)}`, relation: 'guest', object: `team:8${object.at(-1)}` },
  ]);
  const graph = createGraph(model, tuples);
  const user = model.typeIndex.get('user')?.index ?? -1;
  for (let member = 0; member < 500; member++) {
    graph.replaceSource(`added ${member}`, [{ user: `user:${1000 + member}`, relation: 'owner', object: 'cluster:1' }]);
    const node = graph.nodes.find(user, String(1000 + member), 0, 4);
    assert.equal(node % 2, 0);
    assert.equal(graph.nodes.first(node, REACHES), node + 1);
    if (member % 3 === 0) {
      graph.replaceSource(`alone ${member}`, [{ user: `user:${1000 + member}`, relation: 'guest', object: 'team:1' }]);
    }
  }
});

test(`Gaps between pairs of rows are filled, with seed ${SEED}`, () => {
  const random = createRandom();
  const rows = new Rows(8);
  const seen = new Set<number>();
  const take = (isFirst: boolean) => {
    const row = isFirst ? rows.pushFirst() : rows.pushSecond();
    assert.ok(!isFirst || row % 2 === 0);
    assert.ok(!seen.has(row), 'no row is used twice');
    seen.add(row);
  };
  for (let turn = 0; turn < 10_000; turn++) take(random.chance(0.4));
  assert.ok(rows.length < seen.size * 1.01, `${rows.length - seen.size} rows are empty`);
  for (let turn = 0; turn < 200; turn++) take(false);
  assert.equal(rows.length, seen.size);
});
