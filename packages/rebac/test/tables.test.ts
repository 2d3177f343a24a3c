import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, SEED } from '../../../test/support/checks/random.ts';
import { createGraph } from '../src/graph.ts';
import { readModel } from '../src/model.ts';
import { CALLER, Classes, OBJECT } from '../src/tables/classes.ts';
import { REACHES } from '../src/tables/nodes.ts';
import { Pairs } from '../src/tables/pairs.ts';
import { Rows } from '../src/tables/rows.ts';

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

test('Nodes of one kind with the same edges are of one class, on each side of a question', () => {
  const classes = new Classes(10);
  const find = (kind: number, side: typeof CALLER, number: number) =>
    classes.find(classes.lineOf(kind, number), kind, side, number);
  const first = classes.enter(1, CALLER, -5, [7, 1]);
  assert.equal(classes.enter(1, CALLER, -6, [7, 1]), first);
  const others = [
    classes.enter(1, CALLER, -7, []),
    classes.enter(1, CALLER, -8, [7, 2]),
    classes.enter(1, CALLER, -9, [8, 1]),
    classes.enter(1, CALLER, -10, [7, 1, 7, 1]),
    classes.enter(1, CALLER, -11, [7, 1, 7, 1, 7, 1]),
    classes.enter(1, OBJECT, -5, [7, 1]),
    classes.enter(2, CALLER, -5, [7, 1]),
  ];
  assert.equal(new Set([first, ...others]).size, 8);
  assert.deepEqual([find(1, CALLER, -5), find(1, CALLER, -6), find(1, CALLER, -9)], [first, first, others[2]]);
  assert.deepEqual([find(1, OBJECT, -5), find(2, CALLER, -5)], [others[5], others[6]]);
  assert.deepEqual([find(2, OBJECT, -5), find(1, OBJECT, -6), find(1, CALLER, -99)], [-1, -1, -1]);
  classes.forget(1, -5);
  assert.deepEqual([find(1, CALLER, -5), find(1, OBJECT, -5)], [-1, -1]);
  assert.deepEqual([find(2, CALLER, -5), find(1, CALLER, -6)], [others[6], first]);
});

test('Seventeen nodes do not fit into a line of sixteen, so one of them gives way', () => {
  const classes = new Classes(10);
  const line = classes.lineOf(1, -1);
  const alike = Array.from({ length: 20_000 }, (_, at) => -1 - at).filter((one) => classes.lineOf(1, one) === line);
  // Each has another class, so that one cannot be taken for another.
  const classOf = new Map<number, number>();
  for (const [at, number] of alike.slice(0, 40).entries()) {
    classOf.set(number, classes.enter(1, CALLER, number, [at, 0]));
    const found = alike.filter((one) => classes.find(line, 1, CALLER, one) !== -1);
    assert.equal(found.length, Math.min(at + 1, 16));
    assert.ok(found.includes(number));
    for (const one of found) assert.equal(classes.find(line, 1, CALLER, one), classOf.get(one));
  }
});

test('Classes are bounded: all are forgotten at once, with what was found for them', () => {
  const classes = new Classes(1200);
  const enter = (at: number) => {
    classes.limit();
    return classes.enter(1, CALLER, -1 - at, [at, 0]);
  };
  for (let at = 0; at < 99; at++) enter(at);
  const room = classes.bytes;
  classes.pairs.enter(0, 1, 5, 9, []);
  assert.equal(enter(99), 99);
  assert.equal(classes.pairs.find(0, 1, 5, -1), 9);
  assert.equal(enter(100), 0);
  assert.equal(classes.pairs.find(0, 1, 5, -1), -1);
  const found = Array.from({ length: 101 }, (_, at) => classes.find(classes.lineOf(1, -1 - at), 1, CALLER, -1 - at));
  assert.deepEqual(
    found.filter((one) => one !== -1),
    [0],
  );
  for (let at = 0; at < 5000; at++) enter(at);
  assert.ok(classes.bytes < room * 1.5, `${classes.bytes} bytes`);
});

test('What was found for a pair of classes holds for one revision and not for exceptions', () => {
  const pairs = new Pairs(32);
  assert.equal(pairs.find(0, 0, 0, -1), -1);
  pairs.enter(3, 4, 7, 0, [-10, -11]);
  assert.deepEqual([pairs.find(3, 4, 7, -1), pairs.find(3, 4, 7, -12)], [0, 0]);
  assert.deepEqual([pairs.find(3, 4, 7, -10), pairs.find(3, 4, 7, -11)], [-1, -1]);
  assert.deepEqual([pairs.find(4, 3, 7, -1), pairs.find(3, 5, 7, -1), pairs.find(3, 4, 8, -1)], [-1, -1, -1]);
  pairs.enter(3, 4, 8, 2, [-20]);
  assert.deepEqual([pairs.find(3, 4, 8, -10), pairs.find(3, 4, 8, -20), pairs.find(3, 4, 7, -1)], [2, -1, -1]);
  pairs.enter(3, 4, 8, 5, [-1, -2, -3, -4]);
  assert.deepEqual(
    [-1, -2, -3, -4, -5].map((number) => pairs.find(3, 4, 8, number)),
    [-1, -1, -1, -1, 5],
  );
  pairs.clear();
  assert.equal(pairs.find(3, 4, 8, -5), -1);
});

test('Of the pairs that share a line, the latest two are known', () => {
  const pairs = new Pairs(32);
  for (let caller = 0; caller < 30; caller++) {
    for (let object = 0; object < 30; object++) {
      pairs.enter(caller, object, 1, caller * 30 + object, []);
      // What is entered again stays in its place.
      if (object % 2 === 0) pairs.enter(caller, object, 1, caller * 30 + object, []);
      assert.equal(pairs.find(caller, object, 1, -1), caller * 30 + object);
    }
  }
  let known = 0;
  for (let caller = 0; caller < 30; caller++) {
    for (let object = 0; object < 30; object++) {
      const found = pairs.find(caller, object, 1, -1);
      assert.ok(found === -1 || found === caller * 30 + object);
      if (found !== -1) known++;
    }
  }
  assert.ok(known > 50 && known <= 64, `${known} are known`);
});
