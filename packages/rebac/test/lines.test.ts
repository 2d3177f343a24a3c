import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, SEED } from '../../../test/support/checks/random.ts';
import { allowed } from '../src/engine.ts';
import { createGraph, type Graph } from '../src/graph.ts';
import { readModel } from '../src/model.ts';

const model = await readModel(`model
  schema 1.1
type user
type team
  relations
    define member: [user, user:*, team#member]
    define steward: [user, team#member, team#steward]
type organization
  relations
    define member: [user, team#member]
    define can_view: [team#member] or member
type cluster
  relations
    define organization: [organization]
    define owner: [user, team#member]
    define can_view: owner or can_view from organization
`);

const TYPES = ['user', 'team', 'organization', 'cluster', 'clusters', 'absent'];
const RELATIONS = ['member', 'steward', 'organization', 'owner', 'can_view', 'absent'];
/** Plain numbers, and whatever looks almost like one. */
const IDS = ['1', '2', '3', '0', '10', '999999999', '1000000000', '12345678901', '007', '00', '1a', 'a1', 'café', '*'];
const SOURCES = ['team:1', 'team:12', 'team:1a', 'role:1', 'wütend:1', ''];
/** What the model admits, except for the numbers. */
const ADMITTED = [
  ['team', 'member', 'user', ''],
  ['team', 'member', 'team', '#member'],
  ['team', 'steward', 'team', '#steward'],
  ['organization', 'member', 'user', ''],
  ['organization', 'can_view', 'team', '#member'],
  ['cluster', 'organization', 'organization', ''],
  ['cluster', 'owner', 'team', '#member'],
] as const;
const LINES = 20_000;
const LISTS = 5_000;
const NUMBERS = ['1', '2', '3', '4', '5', '17', '123456789'];

interface Line {
  readonly object: string;
  readonly relation: string;
  readonly user: string;
  readonly source: string;
}

test(`A graph of ${LINES} random lines is the graph of the same tuples, with seed ${SEED}`, () => {
  const random = createRandom();
  let last: readonly string[] = ADMITTED[0];
  let source = 'team:1';
  const lines = Array.from({ length: LINES }, () => {
    // Like the line before in most of its parts, as lines from a database are.
    if (random.chance(0.3)) last = random.pick(ADMITTED);
    if (random.chance(0.4)) source = random.pick(SOURCES);
    const isOdd = random.chance(0.2);
    const [type, relation, subject, suffix] = isOdd
      ? [random.pick(TYPES), random.pick(RELATIONS), random.pick(TYPES), random.pick(['', '#member', '#absent', '#'])]
      : last;
    return { object: `${type}:${random.pick(IDS)}`, relation, user: `${subject}:${random.pick(IDS)}${suffix}`, source };
  }) as Line[];
  const graph = graphOf(lines);
  const expected = createGraph(model, lines, LINES);
  assert.ok(expected.size > LINES / 2, `the model admits only ${expected.size} of them`);
  assert.deepEqual([...graph.tuples()], [...expected.tuples()]);
  assert.deepEqual([graph.edges.count, graph.bytes], [expected.edges.count, expected.bytes]);
  for (const user of IDS.slice(0, 6)) {
    for (const cluster of IDS.slice(0, 6)) {
      const ask = (one: Graph) => allowed(one, `user:${user}`, `cluster:${cluster}`);
      assert.deepEqual(ask(graph), ask(expected));
    }
  }
});

test('Lines that follow the example of another are admitted only if they say the same of other numbers', () => {
  const lines = [
    'team:1 member user:1 a',
    'team:2 member user:2 a',
    'team:2 member users:2 a',
    'team:2 members user:2 a',
    'team:2 member user:2#member a',
    'team:3 member team:2#member b',
    'team:3 member team:3#member b',
    'team:4 member team:4#members b',
    'team:12345678901 member user:3 b',
    'cluster:1 organization organization:1 c',
    'cluster:2 organization organization:01 c',
  ];
  const graph = createGraph(model);
  for (const _ of graph.loadLines(lines.join('\n'), lines.length, 2));
  const found = [...graph.tuples()].map(({ object, relation, user, source }) =>
    [object, relation, user, source].join(' '),
  );
  assert.deepEqual(found.sort(), [0, 1, 5, 8, 9, 10].map((place) => lines[place]).sort());
});

test('A graph without lines is empty', () => {
  assert.equal(graphOf([]).size, 0);
});

test(`Lines that list several users state what as many lines do, with seed ${SEED}`, () => {
  const random = createRandom();
  let [type, relation, subject, suffix]: readonly string[] = ADMITTED[0];
  const listed = Array.from({ length: LISTS }, (_, at) => {
    if (random.chance(0.3)) [type, relation, subject, suffix] = random.pick(ADMITTED);
    const ids = Array.from({ length: 1 + random.below(5) }, () => random.pick(random.chance(0.9) ? NUMBERS : IDS));
    return {
      object: `${type}:${random.pick(IDS)}`,
      relation,
      subject,
      ids,
      suffix,
      source: `team:${at >> 1}`,
    } as const;
  });
  const text = listed.map(
    ({ object, relation: of, subject: user, ids, suffix: end, source }) =>
      `${object} ${of} ${user}:${ids.join()}${end} ${source}`,
  );
  const tuples = listed.flatMap(({ object, relation: of, subject: user, ids, suffix: end, source }) =>
    ids.map((id) => ({ object, relation: of ?? '', user: `${user}:${id}${end}`, source })),
  );
  const graph = createGraph(model);
  for (const _ of graph.loadLines(text.join('\n'), tuples.length, 1000));
  const expected = createGraph(model, tuples, tuples.length);
  assert.ok(expected.size > tuples.length / 2, `the model admits only ${expected.size} of them`);
  assert.deepEqual([...graph.tuples()], [...expected.tuples()]);
});

test('Lists with anything but plain numbers are read all the same, and what is in itself is left out', () => {
  const lines = [
    'team:1 member user:1,2 a',
    'team:2 member user:3,12345678901,4 a',
    'team:2 member user:*,5 a',
    'team:3 member team:4,3,5#member b',
    'team:3 member team:6,7#members b',
    'team:9 member user:8 c',
  ];
  const graph = createGraph(model);
  for (const _ of graph.loadLines(lines.join('\n'), 12, 2));
  const found = [...graph.tuples()].map(({ object, user, source }) => `${object} ${user} ${source}`);
  assert.deepEqual(found.sort(), [
    'team:1 user:1 a',
    'team:1 user:2 a',
    'team:2 user:* a',
    'team:2 user:12345678901 a',
    'team:2 user:3 a',
    'team:2 user:4 a',
    'team:2 user:5 a',
    'team:3 team:4#member b',
    'team:3 team:5#member b',
    'team:9 user:8 c',
  ]);
});

function graphOf(lines: readonly Line[]): Graph {
  const graph = createGraph(model);
  const text = lines.map(({ object, relation, user, source }) => `${object} ${relation} ${user} ${source}`).join('\n');
  for (const _ of graph.loadLines(text, lines.length, 1000));
  return graph;
}
