import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/checks/properties.ts';
import { allowed } from '../src/engine.ts';
import { createGraph, type Graph } from '../src/graph.ts';
import { readModel, readModelJson } from '../src/model.ts';
import { queryTargetOf, validObject, walkOf } from '../src/query.ts';
import { YES } from '../src/steps.ts';
import { worlds } from './world.ts';

const MODEL = `model
  schema 1.1
type user
type folder
  relations
    define parent: [folder]
    define owner: [user]
    define reader: [user]
    define blocked: [user]
    define can_read: (owner or reader or can_read from parent) but not blocked
    define can_write: owner or can_write from parent`;

/** The answer of both kinds of walk about one relation. Undefined if the quick one leaves it to the other. */
function bothWays(graph: Graph, user: string, relation: number, object: string) {
  const { plan, node, slot } = queryTargetOf(graph, object, validObject(graph.model, object), relation);
  const walk = walkOf(graph);
  const quick = walk.quick(user, node, plan);
  if (quick === undefined) return undefined;
  walk.run(user, object, node, plan, undefined);
  return { quick: quick.cells[slot] === YES, full: walk.answer(slot) };
}

test('A walk that follows verdicts answers like one that reads every tuple, in random worlds', async () => {
  let compared = 0;
  let left = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const model = await readModelJson(world.model);
      const graph = createGraph(model, world.tuples);
      for (const user of world.users) {
        for (const object of world.objects) {
          for (const { index, name } of validObject(model, object).type.relations) {
            const found = bothWays(graph, user, index, object);
            if (found === undefined) left++;
            else compared++;
            assert.equal(found?.quick, found?.full, `${user} ${name} ${object}`);
          }
        }
      }
    }),
    { numRuns: 40 },
  );
  assert.ok(compared > 1000 && left > 100, `${compared} compared, ${left} left to the full walk`);
});

test('A relation set that takes the number of a former one is not mistaken for it', async () => {
  const graph = createGraph(await readModel(MODEL));
  const grant = (relation: string) =>
    graph.replaceSource('s', [{ user: 'user:ann', relation, object: 'folder:1', source: 's' }]);
  const may = () => allowed(graph, 'user:ann', 'folder:1', { prefix: 'can_' });
  for (let round = 0; round < 3; round++) {
    grant('owner');
    assert.deepEqual(may(), ['can_read', 'can_write']);
    graph.replaceSource('s', []);
    assert.deepEqual(may(), []);
    grant('reader');
    assert.deepEqual(may(), ['can_read']);
    graph.replaceSource('s', []);
    grant('blocked');
    assert.deepEqual(may(), []);
    graph.replaceSource('s', []);
  }
});

test('Parents in a circle, and parents that share parents, are left to the walk that remembers objects', async () => {
  const model = await readModel(MODEL);
  const parent = (child: string, of: string) => ({
    user: `folder:${of}`,
    relation: 'parent',
    object: `folder:${child}`,
  });
  const circle = createGraph(model, [parent('1', '2'), parent('2', '1')]);
  const relation = model.typeIndex.get('folder')?.relationIndex.get('can_write') as number;
  assert.equal(bothWays(circle, 'user:ann', relation, 'folder:1'), undefined);
  assert.deepEqual(allowed(circle, 'user:ann', 'folder:1'), []);
  // Each folder of a level is in all three of the next: 3 to the power of 12 ways to the top.
  const levels = Array.from({ length: 12 }, (_, level) => level);
  const lattice = levels.flatMap((level) =>
    [0, 1, 2].flatMap((at) => [0, 1, 2].map((above) => parent(`${level}${at}`, `${level + 1}${above}`))),
  );
  const shared = createGraph(model, [...lattice, { user: 'user:ann', relation: 'owner', object: 'folder:122' }]);
  assert.equal(bothWays(shared, 'user:ann', relation, 'folder:10'), undefined);
  assert.deepEqual(allowed(shared, 'user:ann', 'folder:10', { prefix: 'can_' }), ['can_read', 'can_write']);
});

test('A graph with thousands of different combinations of relations answers correctly after it forgot some', async () => {
  const names = Array.from({ length: 13 }, (_, at) => `r${at}`);
  const model = await readModel(
    `model\n  schema 1.1\ntype user\ntype thing\n  relations\n${names.map((name) => `    define ${name}: [user]`).join('\n')}`,
  );
  const combinations = Array.from({ length: 5000 }, (_, at) => names.filter((_name, bit) => ((at * 3 + 1) >> bit) & 1));
  const graph = createGraph(
    model,
    combinations.flatMap((some, at) => some.map((relation) => ({ user: `user:${at}`, relation, object: 'thing:1' }))),
  );
  for (let round = 0; round < 2; round++) {
    for (const [at, some] of combinations.entries()) assert.deepEqual(allowed(graph, `user:${at}`, 'thing:1'), some);
  }
});
