import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COUNTS } from '../../../test/counts.ts';
import { progress } from '../../../test/support/checks/progress.ts';
import { fc } from '../../../test/support/checks/properties.ts';
import { SEED } from '../../../test/support/checks/random.ts';
import type { QueryContext } from '../src/contextual.ts';
import { allowed, allowedMany, check } from '../src/engine.ts';
import { type ExplainQuery, explain, explainAll } from '../src/explanation.ts';
import { createGraph, type Graph } from '../src/graph.ts';
import { listObjects } from '../src/list-objects.ts';
import { listUsers } from '../src/list-users.ts';
import { type Model, readModelJson } from '../src/model.ts';
import { RebacError } from '../src/rebac-error.ts';
import { admit, type Tuple } from '../src/tuple.ts';
import { Coverage } from './coverage.ts';
import { Oracle } from './oracle.ts';
import { type World, weigh, worlds } from './world.ts';

/** For more worlds: FUZZ_WORLDS=20000 TEST_SEED=7 npm test -- packages/rebac/test/fuzz.test.ts */
const WORLDS = Number(process.env.FUZZ_WORLDS ?? COUNTS.engineWorlds);

const MAX_WORLDS_WITH_WAYS = 60;

test(`The engine agrees with the reference evaluator on ${WORLDS} random worlds with seed ${SEED}`, async () => {
  const coverage = new Coverage();
  let tried = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const model = await readModelJson(world.model);
      const graph = createGraph(model, world.tuples);
      // As if it were large.
      if (tried % 2 === 1) graph.classify();
      sameAsOracle(world, graph, coverage);
      allowedIsTheSetOfChecks(world, graph);
      contextualAgrees(world, model, graph);
      patchedIsRebuilt(world, model, graph);
      listsAreBruteForce(world, graph);
      explanationsAgree(world, model, graph);
      // It builds hundreds of graphs for a world.
      if (tried < MAX_WORLDS_WITH_WAYS) waysAreAllAndMinimal(world, model, graph);
      tried += 1;
      if (tried % 500 === 0) progress(`${tried} of ${WORLDS} random worlds`);
    }),
    { numRuns: WORLDS, endOnFailure: process.env.FUZZ_SHRINK === '0' },
  );
  coverage.report();
});

type Outcome = boolean | 'error';

function ask(graph: Graph, world: World, user: string, relation: string, object: string, extra = {}): Outcome {
  try {
    return check(graph, { user, relation, object, context: world.context, ...extra });
  } catch (error) {
    assert.ok(error instanceof RebacError && error.fault === 'validation', String(error));
    return 'error';
  }
}

function* questions(world: World): IterableIterator<readonly [user: string, relation: string, object: string]> {
  for (const user of world.users) {
    for (const object of world.objects)
      for (const relation of relationsOf(world, object)) yield [user, relation, object];
  }
}

function relationsOf(world: World, object: string): string[] {
  const type = world.model.type_definitions.find((one) => object.startsWith(`${one.type}:`));
  return Object.keys(type?.relations ?? {});
}

function sameAsOracle(world: World, graph: Graph, coverage: Coverage): void {
  for (const user of world.users) {
    const oracle = new Oracle(world.model, world.tuples, user, world.objects, weigh(world.context));
    for (const object of world.objects) {
      for (const relation of relationsOf(world, object)) {
        const came = ask(graph, world, user, relation, object);
        const due = oracle.answer(object, relation);
        const told = `${user} ${relation} ${object}: oracle ${due}, engine ${came}`;
        assert.equal(came, due === 'fault' ? 'error' : due === 'yes', told);
        coverage.count(due, came);
      }
    }
  }
  coverage.sample(world);
}

function allowedIsTheSetOfChecks(world: World, graph: Graph): void {
  const { context } = world;
  for (const user of world.users) {
    const singles = world.objects.map((object) => allowed(graph, user, object, { context }));
    assert.deepEqual(allowedMany(graph, user, world.objects, { context }), singles);
    for (const [index, object] of world.objects.entries()) {
      const checked = relationsOf(world, object).filter(
        (relation) => ask(graph, world, user, relation, object) === true,
      );
      assert.deepEqual(singles[index], checked);
      const can = allowed(graph, user, object, { context, prefix: 'can_' });
      assert.deepEqual(
        can,
        checked.filter((relation) => relation.startsWith('can_')),
      );
    }
  }
}

/** Half of the tuples are contextual, and some of them say something else about a stored one. */
function contextualAgrees(world: World, model: Model, graph: Graph): void {
  const admitted = [...graph.sources].flatMap((source) => [...graph.tuplesOf(source)]);
  const stored = admitted.filter((_, index) => index % 2 === 0);
  const altered = stored.filter((_, index) => index % 3 === 0).flatMap((tuple) => otherwise(model, tuple));
  const contextualTuples = [...admitted.filter((_, index) => index % 2 === 1), ...altered];
  const half = createGraph(model, stored);
  const extra = { context: world.context, contextualTuples };
  let turn = 0;
  for (const user of world.users) {
    const oracle = new Oracle(world.model, stored, user, world.objects, weigh(world.context), contextualTuples);
    const due = (object: string) =>
      relationsOf(world, object).filter((relation) => oracle.answer(object, relation) === 'yes');
    assert.deepEqual(allowedMany(half, user, world.objects, extra), world.objects.map(due));
    for (const object of world.objects) {
      for (const relation of relationsOf(world, object)) {
        if (turn++ % 7 !== 0) continue;
        const value = oracle.answer(object, relation);
        const came = ask(half, world, user, relation, object, extra);
        assert.equal(came, value === 'fault' ? 'error' : value === 'yes', `${user} ${relation} ${object}`);
        assert.equal(explained(half, { user, relation, object, ...extra }), came);
      }
    }
  }
  listsAreBruteForce(world, half, extra);
  assert.equal(half.size, stored.length);
}

/** The same tuple with the opposite condition, if the model admits it. */
function otherwise(model: Model, { user, relation, object, condition }: Tuple): Tuple[] {
  const x = condition?.context?.x === undefined ? 50 : 1;
  const others = [
    { user, relation, object },
    { user, relation, object, condition: { name: 'small', context: { x } } },
  ];
  return others.filter((tuple) => typeof admit(model, tuple) !== 'string').slice(condition === undefined ? -1 : 0, 1);
}

function explained(graph: Graph, question: ExplainQuery): Outcome {
  try {
    return explain(graph, question).allowed;
  } catch (error) {
    assert.ok(error instanceof RebacError && error.fault === 'validation', String(error));
    return 'error';
  }
}

function patchedIsRebuilt(world: World, model: Model, graph: Graph): void {
  const moved = world.tuples.map((tuple, index) => ({ ...tuple, source: `s${index % 3}` }));
  const patched = createGraph(model, moved);
  for (const source of ['s2', 's0', 's3', 's1']) {
    patched.replaceSource(source, moved.slice(0, 5));
    patched.replaceSource(
      source,
      world.tuples.filter((tuple) => tuple.source === source),
    );
  }
  assert.equal(patched.size, graph.size);
  for (const user of world.users) {
    const { context } = world;
    assert.deepEqual(
      allowedMany(patched, user, world.objects, { context }),
      allowedMany(graph, user, world.objects, { context }),
    );
  }
}

function listsAreBruteForce(world: World, graph: Graph, extra: QueryContext = { context: world.context }): void {
  const { context } = world;
  for (const [index, user] of world.users.entries()) {
    const object = world.objects[index] as string;
    const type = object.slice(0, object.indexOf(':'));
    for (const relation of relationsOf(world, object)) {
      const each = world.objects
        .filter((one) => one.startsWith(`${type}:`))
        .map((one) => [one, ask(graph, world, user, relation, one, extra)]);
      const listed = attempt(() => listObjects(graph, { user, relation, type, ...extra }));
      if (listed !== 'error')
        assert.deepEqual(
          listed,
          each
            .filter(([, came]) => came === true)
            .map(([one]) => one)
            .sort(),
        );
      else assert.ok(world.tuples.some((tuple) => weigh(context)(tuple) === 'error'));

      const users = attempt(() => listUsers(graph, { object, relation, filter: 'user', ...extra }));
      if (users === 'error') continue;
      for (const one of ['user:*', 'user:1', 'user:2', 'user:3']) {
        const came = ask(graph, world, one, relation, object, extra);
        if (users.includes(one)) assert.equal(came, true, `listed ${one} ${relation} ${object}`);
        // A user who is not listed by name is covered by the wildcard.
        else if (came === true)
          assert.ok(users.includes('user:*') || isExcludedEverybody(world), `not listed: ${one} ${relation} ${object}`);
      }
    }
  }
}

/** With `but not`, a user may hold a relation through the wildcard although the wildcard itself does not. */
function isExcludedEverybody(world: World): boolean {
  return JSON.stringify(world.model).includes('difference') && world.tuples.some(({ user }) => user === 'user:*');
}

function attempt(list: () => string[]): string[] | 'error' {
  try {
    return list();
  } catch (error) {
    assert.ok(error instanceof RebacError && error.fault === 'validation', String(error));
    return 'error';
  }
}

function explanationsAgree(world: World, model: Model, graph: Graph): void {
  const monotone = !JSON.stringify(world.model).includes('difference');
  const { context } = world;
  const all = [...graph.sources].flatMap((source) => [...graph.tuplesOf(source)]);
  const oracles = new Map<string, Oracle>();
  let turn = 0;
  for (const [user, relation, object] of questions(world)) {
    if (turn++ % 11 !== 0) continue;
    const question = { user, relation, object, context };
    const came = ask(graph, world, user, relation, object);
    assert.equal(explained(graph, question), came);
    if (came === 'error') continue;
    const { steps, missing } = explain(graph, question);
    const told = `${user} ${relation} ${object}`;
    if (came) {
      assert.ok(steps.length > 0);
      const used = new Set(steps.flatMap(({ tuple }) => (tuple === undefined ? [] : [key(tuple)])));
      const kept = createGraph(
        model,
        all.filter((one) => used.has(key(one))),
      );
      if (monotone) assert.equal(ask(kept, world, user, relation, object), true, `${told}: the proof alone grants`);
    } else if (missing !== undefined && missing.excludedBy.length === 0) {
      assert.notEqual(missing.add.length, 0, `${told}: something is missing`);
      const added = missing.add.map((tuple) => withHoldingCondition(tuple));
      for (const tuple of added)
        assert.equal(typeof admit(model, tuple), 'object', `${told}: ${key(tuple)} is admitted`);
      const mended = createGraph(model, [...all, ...added]);
      assert.equal(ask(mended, world, user, relation, object), true, `${told}: the missing link grants`);
    }
    for (const one of missing?.excludedBy ?? []) {
      if (excludesDirect(world, one.object, one.relation)) continue;
      const oracle = oracles.get(user) ?? new Oracle(world.model, world.tuples, user, world.objects, weigh(context));
      oracles.set(user, oracle);
      const value = oracle.answer(one.object, one.relation);
      assert.notEqual(value, 'no', `${told}: ${one.object}#${one.relation} excludes although it does not hold`);
    }
  }
}

/**
 * Each way alone grants, and without one of its tuples it does not; without one tuple of each way nothing does. If the
 * model excludes a user, a tuple that is gone can also let a user in, so such worlds say only that each way exists.
 */
function waysAreAllAndMinimal(world: World, model: Model, graph: Graph): void {
  const monotone = !JSON.stringify(world.model).includes('difference');
  const all = [...graph.sources].flatMap((source) => [...graph.tuplesOf(source)]);
  const known = new Set(all.map(key));
  let turn = 0;
  for (const [user, relation, object] of questions(world)) {
    if (turn++ % 7 !== 0) continue;
    const came = ask(graph, world, user, relation, object);
    if (came === 'error') continue;
    const { ways, hasMore } = explainAll(graph, { user, relation, object, context: world.context }, 1000);
    const told = `${user} ${relation} ${object}`;
    assert.ok(ways.length === 0 || came === true, told);
    if (!hasMore) assert.equal(ways.length > 0, came, told);
    const used = ways.map((steps) => [
      ...new Set(steps.flatMap(({ tuple }) => (tuple === undefined ? [] : [key(tuple)]))),
    ]);
    for (const one of used) assert.ok(new Set(one).isSubsetOf(known), `${told}: every tuple exists`);
    if (!monotone) continue;
    const without = (isGone: (one: string) => boolean): Outcome =>
      ask(
        createGraph(
          model,
          all.filter((one) => !isGone(key(one))),
        ),
        world,
        user,
        relation,
        object,
      );
    for (const way of used) {
      assert.equal(
        without((one) => !way.includes(one)),
        true,
        `${told}: a way alone grants`,
      );
      for (const spared of way)
        assert.notEqual(
          without((one) => one === spared || !way.includes(one)),
          true,
          `${told}: ${spared} can be spared`,
        );
    }
    if (hasMore || used.some((way) => way.length === 0)) continue;
    for (const place of [0, 1]) {
      const gone = new Set(used.map((way) => way[place % way.length] ?? ''));
      assert.notEqual(
        without((one) => gone.has(one)),
        true,
        `${told}: a way was left out`,
      );
    }
  }
}

/**
 * The relation excludes users who are assigned to it directly, so an exclusion may name it although it does not hold.
 */
function excludesDirect(world: World, object: string, relation: string): boolean {
  const type = world.model.type_definitions.find((one) => object.startsWith(`${one.type}:`));
  return /"subtract":.*"this"/.test(JSON.stringify(type?.relations?.[relation]));
}

/** A suggestion names the condition. Here it holds. */
function withHoldingCondition(tuple: Tuple): Tuple {
  return tuple.condition === undefined
    ? tuple
    : { ...tuple, condition: { name: tuple.condition.name, context: { x: 1 } } };
}

function key(tuple: { readonly user: string; readonly relation: string; readonly object: string }): string {
  return `${tuple.user} ${tuple.relation} ${tuple.object}`;
}
