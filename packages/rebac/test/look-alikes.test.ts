import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/checks/properties.ts';
import { createRandom, type Random, SEED } from '../../../test/support/checks/random.ts';
import { allowed, allowedMany } from '../src/engine.ts';
import { createGraph, type Graph } from '../src/graph.ts';
import { readModel, readModelJson } from '../src/model.ts';
import { choiceOf, validObject, walkOf } from '../src/query.ts';
import { OBJECT } from '../src/tables/classes.ts';
import { type Reference, readReference, type Tuple } from '../src/tuple.ts';
import { type World, worlds } from './world.ts';

const model = await readModel(`model
  schema 1.1
type user
type team
  relations
    define member: [user]
type organization
  relations
    define admin: [user]
    define member: [user, team#member]
    define guest: [user with small]
    define can_view: member or admin or guest
    define can_edit: admin
type cluster
  relations
    define organization: [organization, organization with small]
    define owner: [user, team#member]
    define can_view: owner or can_view from organization
    define can_edit: owner or can_edit from organization
condition small(x: int) {
  x < 10
}`);

const VIEW = ['can_view'];
const BOTH = ['can_view', 'can_edit'];

/** Users 1 to 9 are members of an organization, user 10 is its admin, and it has the clusters 1 to 9. */
const TUPLES: readonly Tuple[] = [
  ...Array.from({ length: 9 }, (_, at) => ({
    user: `user:${at + 1}`,
    relation: 'member',
    object: 'organization:1',
    source: `user:${at + 1}`,
  })),
  { user: 'user:10', relation: 'admin', object: 'organization:1', source: 'user:10' },
  ...Array.from({ length: 9 }, (_, at) => ({
    user: 'organization:1',
    relation: 'organization',
    object: `cluster:${at + 1}`,
    source: `cluster:${at + 1}`,
  })),
];

function classified(tuples: readonly Tuple[] = TUPLES): Graph {
  const graph = createGraph(model, tuples);
  graph.classify();
  return graph;
}

const ask = (graph: Graph, user: string, object: string) => allowed(graph, user, object, { prefix: 'can_' });

/** What the graph answers without a walk, if it can. */
function recalled(graph: Graph, user: string, object: string, prefix = 'can_'): readonly string[] | undefined {
  const read = validObject(graph.model, object);
  const choice = choiceOf(graph.model, read.type, prefix);
  const caller = readReference(graph.model, user) as Reference;
  return walkOf(graph).lookAlikes.recall(caller, read, choice.plan)?.namesOf(choice);
}

/** Asks about users and clusters that were never asked about together. */
function acquaint(graph: Graph): void {
  assert.deepEqual(ask(graph, 'user:1', 'cluster:1'), VIEW);
  assert.deepEqual(ask(graph, 'user:2', 'cluster:2'), VIEW);
}

test('What is known of a caller and an object answers for others that look alike', () => {
  const graph = classified();
  assert.equal(recalled(graph, 'user:1', 'cluster:1'), undefined);
  acquaint(graph);
  assert.deepEqual(recalled(graph, 'user:1', 'cluster:2'), VIEW);
  assert.deepEqual(recalled(graph, 'user:2', 'cluster:1'), VIEW);
  assert.equal(recalled(graph, 'user:3', 'cluster:1'), undefined, 'nobody asked about user:3');
  assert.equal(recalled(graph, 'user:1', 'cluster:3'), undefined, 'nobody asked about cluster:3');
  assert.equal(recalled(graph, 'user:1', 'cluster:1', ''), undefined, 'nobody asked about all relations');
  assert.deepEqual(ask(graph, 'user:10', 'cluster:1'), BOTH);
  assert.deepEqual(recalled(graph, 'user:10', 'cluster:2'), BOTH);
});

test('An object that the caller has an edge to is an exception', () => {
  const own = { user: 'user:3', relation: 'owner', object: 'cluster:3', source: 'own' };
  const graph = classified([...TUPLES, own]);
  for (const object of ['cluster:1', 'cluster:2', 'cluster:3']) ask(graph, 'user:1', object);
  assert.deepEqual(ask(graph, 'user:3', 'cluster:3'), BOTH);
  assert.deepEqual(ask(graph, 'user:3', 'cluster:1'), VIEW);
  assert.deepEqual(recalled(graph, 'user:3', 'cluster:2'), VIEW);
  assert.equal(recalled(graph, 'user:3', 'cluster:3'), undefined);
  assert.deepEqual(ask(graph, 'user:3', 'cluster:3'), BOTH);
  assert.deepEqual(recalled(graph, 'user:1', 'cluster:3'), VIEW);
});

test('Objects that the teams of a caller own are exceptions too', () => {
  const graph = classified([
    ...TUPLES,
    { user: 'user:1', relation: 'member', object: 'team:1', source: 'team' },
    { user: 'team:1#member', relation: 'owner', object: 'cluster:1', source: 'team' },
  ]);
  for (const object of ['cluster:1', 'cluster:9', 'cluster:8']) ask(graph, 'user:2', object);
  assert.deepEqual(ask(graph, 'user:1', 'cluster:9'), VIEW);
  assert.deepEqual(recalled(graph, 'user:1', 'cluster:8'), VIEW);
  assert.equal(recalled(graph, 'user:1', 'cluster:1'), undefined);
  assert.deepEqual(ask(graph, 'user:1', 'cluster:1'), BOTH);
});

test('A node with more than three edges is in no class', () => {
  const inTeams = (count: number): readonly string[] | undefined => {
    const teams = Array.from({ length: count }, (_, at) => `team:${at + 1}`);
    const graph = classified([
      ...TUPLES,
      ...teams.map((object) => ({ user: 'user:1', relation: 'member', object, source: 'teams' })),
    ]);
    assert.deepEqual(ask(graph, 'user:1', 'cluster:9'), VIEW);
    return recalled(graph, 'user:1', 'cluster:9');
  };
  // One more is to the organization.
  assert.deepEqual(inTeams(2), VIEW);
  assert.equal(inTeams(3), undefined);
});

test('Beyond four exceptions, nothing is remembered', () => {
  const withClusters = (count: number): readonly string[] | undefined => {
    const owned = Array.from({ length: count }, (_, at) => at + 1);
    const graph = classified([
      ...TUPLES,
      { user: 'user:1', relation: 'member', object: 'team:1', source: 'team' },
      { user: 'user:1', relation: 'member', object: 'team:2', source: 'team' },
      ...owned.map((at) => ({
        user: `team:${1 + (at % 2)}#member`,
        relation: 'owner',
        object: `cluster:${at}`,
        source: 'team',
      })),
    ]);
    ask(graph, 'user:1', 'cluster:9');
    for (const at of owned) assert.deepEqual(ask(graph, 'user:1', `cluster:${at}`), BOTH);
    return recalled(graph, 'user:1', 'cluster:9');
  };
  assert.deepEqual(withClusters(4), VIEW);
  assert.equal(withClusters(5), undefined);
});

test('A change of an edge counts at once, on either side and anywhere between', () => {
  const graph = classified();
  acquaint(graph);
  graph.replaceSource('user:2', []);
  assert.equal(recalled(graph, 'user:2', 'cluster:1'), undefined);
  assert.deepEqual(ask(graph, 'user:2', 'cluster:1'), []);
  assert.deepEqual(ask(graph, 'user:1', 'cluster:1'), VIEW);
  graph.replaceSource('user:2', [{ user: 'user:2', relation: 'admin', object: 'organization:1' }]);
  assert.deepEqual(ask(graph, 'user:2', 'cluster:1'), BOTH);
  assert.deepEqual(ask(graph, 'user:1', 'cluster:1'), VIEW);
  graph.replaceSource('cluster:1', []);
  assert.deepEqual(ask(graph, 'user:2', 'cluster:1'), []);
  assert.deepEqual(ask(graph, 'user:2', 'cluster:2'), BOTH);
  graph.replaceSource('team', [
    { user: 'team:1#member', relation: 'member', object: 'organization:1' },
    { user: 'user:11', relation: 'member', object: 'team:1' },
  ]);
  for (let time = 0; time < 2; time++) assert.deepEqual(ask(graph, 'user:11', 'cluster:2'), VIEW);
  graph.replaceSource('team', [{ user: 'user:11', relation: 'member', object: 'team:1' }]);
  assert.deepEqual(ask(graph, 'user:11', 'cluster:2'), []);
});

test('Whoever has a condition on an edge looks like nobody', () => {
  const small = { name: 'small' };
  const graph = classified([
    ...TUPLES,
    { user: 'user:2', relation: 'guest', object: 'organization:2', source: 'guest', condition: small },
    { user: 'organization:1', relation: 'organization', object: 'cluster:11', source: 'c', condition: small },
  ]);
  for (const user of ['user:1', 'user:2']) {
    for (const object of ['cluster:1', 'cluster:11']) ask(graph, user, object);
  }
  assert.deepEqual(recalled(graph, 'user:1', 'cluster:1'), VIEW);
  assert.equal(recalled(graph, 'user:2', 'cluster:1'), undefined);
  assert.equal(recalled(graph, 'user:1', 'cluster:11'), undefined);
  assert.deepEqual(allowed(graph, 'user:1', 'cluster:11', { prefix: 'can_', context: { x: 1 } }), VIEW);
  assert.deepEqual(allowed(graph, 'user:1', 'cluster:11', { prefix: 'can_', context: { x: 99 } }), []);
});

test('A name that is not a number, a userset and a stranger are in no class', () => {
  const graph = classified([
    ...TUPLES,
    { user: 'user:ann', relation: 'member', object: 'organization:1', source: 'ann' },
    { user: 'team:1#member', relation: 'member', object: 'organization:1', source: 'team' },
    { user: 'organization:1', relation: 'organization', object: 'cluster:blue', source: 'blue' },
  ]);
  for (const user of ['user:1', 'user:ann', 'team:1#member', 'user:77']) {
    for (const object of ['cluster:1', 'cluster:blue', 'cluster:77']) {
      const due = user === 'user:77' || object === 'cluster:77' ? [] : VIEW;
      assert.deepEqual(ask(graph, user, object), due);
      const isKnown = user === 'user:1' && object === 'cluster:1';
      assert.deepEqual(recalled(graph, user, object), isKnown ? VIEW : undefined, `${user} ${object}`);
    }
  }
});

test('Contextual tuples count for their query only', () => {
  const graph = classified();
  acquaint(graph);
  const contextualTuples = [{ user: 'user:1', relation: 'admin', object: 'organization:1' }];
  assert.deepEqual(allowed(graph, 'user:1', 'cluster:2', { prefix: 'can_', contextualTuples }), BOTH);
  assert.deepEqual(allowed(graph, 'user:2', 'cluster:2', { prefix: 'can_', contextualTuples }), VIEW);
  for (let time = 0; time < 2; time++) assert.deepEqual(ask(graph, 'user:1', 'cluster:2'), VIEW);
});

test('A graph that outgrows the cache of a processor classifies its nodes, and counts what that takes', () => {
  const organization = (id: number, clusters: number): Tuple[] =>
    Array.from({ length: clusters }, (_, at) => ({
      user: `organization:${id}`,
      relation: 'organization',
      object: `cluster:${id * 100_000 + at}`,
      source: `organization:${id}`,
    }));
  const small = createGraph(model, organization(1, 30_000));
  assert.equal(small.classes, undefined);
  const large = createGraph(model, organization(1, 40_000));
  assert.ok(large.classes !== undefined);
  const { bytes } = large;
  assert.ok(bytes > large.classes.bytes + 40_000 * 64);
  assert.ok(large.classes.bytes / 40_000 < 20, `${large.classes.bytes} bytes`);
  // When most edges are empty, the graph is rebuilt, and nodes get other numbers.
  large.replaceSource('members', [{ user: 'user:1', relation: 'member', object: 'organization:2' }]);
  large.replaceSource('organization:2', organization(2, 9));
  assert.deepEqual(ask(large, 'user:1', 'cluster:200001'), VIEW);
  assert.deepEqual(recalled(large, 'user:1', 'cluster:200001'), VIEW);
  large.replaceSource('organization:1', []);
  assert.equal(large.classes, undefined, 'it is small now');
  assert.deepEqual(ask(large, 'user:1', 'cluster:200001'), VIEW);
});

test('A graph with thousands of different callers answers correctly after it forgot some verdicts', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `r${at}`);
  const many = await readModel(`model
  schema 1.1
type user
type organization
  relations
${names.map((name) => `    define ${name}: [user]`).join('\n')}
type cluster
  relations
    define organization: [organization]
${names.map((name) => `    define ${name}: ${name} from organization`).join('\n')}`);
  const held = Array.from({ length: 2000 }, (_, at) => names.filter((_name, bit) => ((at * 2 + 1) >> bit) & 1));
  const graph = createGraph(many, [
    ...held.flatMap((some, at) => some.map((relation) => ({ user: `user:${at}`, relation, object: 'organization:1' }))),
    // So many that no class needs to be forgotten.
    ...Array.from({ length: 24_000 }, (_, at) => ({
      user: 'organization:1',
      relation: 'organization',
      object: `cluster:${at}`,
    })),
  ]);
  graph.classify();
  let recalls = 0;
  for (let round = 0; round < 3; round++) {
    for (const [at, some] of held.entries()) {
      assert.deepEqual(allowed(graph, `user:${at}`, 'cluster:1'), some);
      if (recalled(graph, `user:${at}`, 'cluster:1', '') !== undefined) recalls++;
    }
  }
  assert.ok(recalls > 5000, `${recalls} answers were recalled`);
});

test('Classes are not forgotten between the two sides of a question', () => {
  const graph = classified();
  const { classes } = graph;
  // Room for one more.
  for (let at = 1; at < 64; at++) classes?.enter(99, OBJECT, -at, [at, 0]);
  assert.deepEqual(ask(graph, 'user:1', 'cluster:1'), VIEW);
  assert.deepEqual(recalled(graph, 'user:1', 'cluster:1'), VIEW);
  assert.deepEqual(ask(graph, 'user:10', 'cluster:1'), BOTH);
  assert.equal(recalled(graph, 'user:1', 'cluster:1'), undefined, 'now they are');
});

function named([source, tuples]: readonly [string, readonly Tuple[]]): Tuple[] {
  return tuples.map((tuple) => ({ ...tuple, source }));
}

/** Ten people, two organizations, three teams and ten clusters, a source each. */
function randomSource(random: Random, source: string): Tuple[] {
  const [type = '', id = ''] = source.split(':');
  const some = <T>(list: readonly T[]): T[] => list.filter(() => random.chance(0.3));
  const organizations = ['organization:1', 'organization:2'];
  if (type === 'cluster') {
    const owners = some([`user:${random.below(10)}`, `team:${random.below(3)}#member`]);
    return [
      ...some(organizations).map((user) => ({ user, relation: 'organization', object: source })),
      ...owners.map((user) => ({ user, relation: 'owner', object: source })),
    ];
  }
  if (type === 'team')
    return some(organizations).map((object) => ({ user: `team:${id}#member`, relation: 'member', object }));
  return [
    ...some(organizations).map((object) => ({
      user: source,
      relation: random.chance(0.2) ? 'admin' : 'member',
      object,
    })),
    ...some(['team:0', 'team:1', 'team:2']).map((object) => ({ user: source, relation: 'member', object })),
  ];
}

test(`A classified graph answers like any other while people, teams and clusters change, with seed ${SEED}`, () => {
  const random = createRandom();
  const ids = Array.from({ length: 10 }, (_, at) => at);
  const sources = [...ids.map((id) => `user:${id}`), ...ids.map((id) => `cluster:${id}`), 'team:0', 'team:1', 'team:2'];
  const stated = new Map<string, Tuple[]>();
  let graph = classified([]);
  let recalls = 0;
  for (let turn = 0; turn < 400; turn++) {
    // Edges without tuples stay in a graph, and with too many of them walks are not quick.
    if (turn % 10 === 0) graph = classified([...stated].flatMap(named));
    const source = sources[turn < sources.length ? turn : random.below(sources.length)] as string;
    const tuples = randomSource(random, source);
    stated.set(source, tuples);
    graph.replaceSource(source, tuples);
    const fresh = createGraph(model, [...stated].flatMap(named));
    for (let question = 0; question < 150; question++) {
      const [user, object] = [`user:${random.below(10)}`, `cluster:${random.below(10)}`];
      if (recalled(graph, user, object) !== undefined) recalls++;
      assert.deepEqual(ask(graph, user, object), ask(fresh, user, object), `${user} ${object} in turn ${turn}`);
    }
  }
  assert.ok(recalls > 5000, `${recalls} answers were recalled`);
});

function everything(graph: Graph, world: World) {
  return world.users.map((user) => allowedMany(graph, user, world.objects));
}

test('A classified graph answers like any other, in random worlds that change', async () => {
  let recalls = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const its = await readModelJson(world.model);
      const tuples = world.tuples.map((tuple, at) => ({ ...tuple, source: `s${at % 5}` }));
      const graph = createGraph(its, tuples);
      graph.classify();
      const stated = new Map(Map.groupBy(tuples, ({ source }) => source));
      for (const [turn, source] of ['s9', 's1', 's3', 's0', 's3', 's1', 's2'].entries()) {
        const next = turn % 3 === 2 ? [] : world.tuples.slice(turn * 3, turn * 3 + 6);
        graph.replaceSource(source, next);
        stated.set(
          source,
          next.map((tuple) => ({ ...tuple, source })),
        );
        const due = everything(createGraph(its, [...stated.values()].flat()), world);
        // First nothing is known, then the nodes, then all that can be.
        for (let time = 0; time < 3; time++) assert.deepEqual(everything(graph, world), due);
        for (const user of world.users)
          recalls += world.objects.filter((object) => recalled(graph, user, object, '') !== undefined).length;
      }
    }),
    { numRuns: 60 },
  );
  assert.ok(recalls > 800, `${recalls} answers were recalled`);
});
