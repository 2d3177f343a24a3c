import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closureHeight } from '../src/closure-height.ts';
import { createGraph } from '../src/graph.ts';
import { readModel } from '../src/model.ts';
import { CERTAIN, DENYING, FAULT, LIKELY, type Logic, NO, OPEN, YES } from '../src/steps.ts';
import { RelationSets } from '../src/tables/relation-sets.ts';

const LETTERS = new Map([
  [NO, 'n'],
  [FAULT, 'f'],
  [OPEN, 'o'],
  [YES, 'y'],
]);

/** One row for each left operand, one letter for each right one, both in the order no, fault, open, yes. */
function letters(logic: Logic, op: keyof Logic): string {
  const row = (left: number) => [NO, FAULT, OPEN, YES].map((right) => LETTERS.get(logic[op][left * 4 + right] ?? -1));
  return [NO, FAULT, OPEN, YES].map((left) => row(left).join('')).join(' ');
}

test('In the certain logic, an open operand decides everything but a union with one that holds', () => {
  assert.equal(letters(CERTAIN, 'or'), 'nfoy ffoy oooy yyyy');
  assert.equal(letters(CERTAIN, 'and'), 'nnon nfof oooo nfoy');
  assert.equal(letters(CERTAIN, 'not'), 'nnon ffon oooo yfon');
});

test('In the likely logic, an operand that decides does so although another is open', () => {
  assert.equal(letters(LIKELY, 'or'), 'nfoy ffoy oooy yyyy');
  assert.equal(letters(LIKELY, 'and'), 'nnnn nfof nooo nfoy');
  assert.equal(letters(LIKELY, 'not'), 'nnnn ffon ooon yfon');
});

test('In the denying logic, a union hears a fault although another operand is open', () => {
  assert.equal(letters(DENYING, 'or'), 'nfoy fffy ofoy yyyy');
  assert.equal(letters(DENYING, 'and'), letters(LIKELY, 'and'));
  assert.equal(letters(DENYING, 'not'), letters(LIKELY, 'not'));
});

test('A relation set is shared while an edge uses it, and its number is used again after the last one', () => {
  const sets = new RelationSets();
  const empty = sets.bytes;
  const [one, same, other] = [sets.acquire([1, 2]), sets.acquire([1, 2]), sets.acquire([12])];
  assert.equal(one, same);
  assert.notEqual(one, other);
  assert.deepEqual([sets.count, sets.members[one], sets.members[other]], [3, [1, 2], [12]]);
  sets.release(one);
  assert.deepEqual([sets.count, sets.members[one]], [3, [1, 2]]);
  sets.release(one);
  assert.equal(sets.count, 2);
  assert.equal(sets.acquire([3]), one);
  assert.deepEqual(sets.members[one], [3]);
  for (const set of [one, other]) sets.release(set);
  assert.deepEqual([sets.count, sets.bytes], [1, empty]);
  assert.equal(sets.acquire([]), 0);
  sets.release(0);
  assert.deepEqual([sets.count, sets.members[0]], [1, []]);
});

test('The height of a closure is its longest chain of usersets, and infinite in a circle', async () => {
  const model = await readModel(
    'model\n  schema 1.1\ntype user\ntype team\n  relations\n    define lead: [user, team#member]\n    define member: [user, team#member, team#lead] or lead\n',
  );
  const height = (...lines: readonly string[]): number => {
    const tuples = lines.map((line) => line.split(' ') as [string, string, string]);
    return closureHeight(
      createGraph(
        model,
        tuples.map(([user, relation, object]) => ({ user, relation, object })),
      ),
    );
  };
  assert.equal(height('user:a member team:1'), 0);
  assert.equal(height('team:1#member member team:2'), 1);
  assert.equal(height('team:1#member member team:2', 'team:2#member member team:3', 'team:1#member member team:3'), 2);
  assert.equal(height('team:1#member member team:2', 'team:2#lead lead team:3'), 1);
  assert.equal(height('team:1#member lead team:2', 'team:2#member member team:1'), Number.POSITIVE_INFINITY);
  assert.equal(height('team:1#member lead team:1'), Number.POSITIVE_INFINITY);
  const graph = createGraph(model, [{ user: 'team:1#member', relation: 'member', object: 'team:2' }]);
  assert.equal(closureHeight(graph), 1);
  graph.replaceSource('s', [{ user: 'team:2#member', relation: 'member', object: 'team:1' }]);
  assert.equal(closureHeight(graph), Number.POSITIVE_INFINITY);
  graph.replaceSource('s', []);
  assert.ok(closureHeight(graph) < 3);
});
