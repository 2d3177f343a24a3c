import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain, explainAll } from '../src/explanation.ts';
import { createGraph } from '../src/graph.ts';
import { readModel } from '../src/model.ts';

const MODEL = `model
  schema 1.1
type user
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define banned: [user]
    define guest: [user, user:*]
    define reader: [group#member]
    define checked: [group#member]
    define can_read: (guest but not banned) or reader
    define can_sign: reader and checked
`;

type Row = readonly [object: string, relation: string, user: string];

async function ways(rows: readonly Row[], relation: string, max = 10, model = MODEL) {
  const graph = createGraph(
    await readModel(model),
    rows.map(([object, name, user]) => ({ object, relation: name, user })),
  );
  const question = { user: 'user:1', relation, object: 'doc:1' };
  const found = explainAll(graph, question, max);
  const used = found.ways.map((steps) =>
    steps.flatMap(({ tuple }) => (tuple ? [`${tuple.object} ${tuple.user}`] : [])),
  );
  return { used, found: found.ways, hasMore: found.hasMore, steps: explain(graph, question).steps };
}

describe('All ways in which a relation holds', () => {
  it('Lists every way, the shortest first', async () => {
    const { used, hasMore } = await ways(
      [
        ['doc:1', 'reader', 'group:outer#member'],
        ['group:outer', 'member', 'group:inner#member'],
        ['group:outer', 'member', 'user:1'],
        ['group:inner', 'member', 'user:1'],
        ['doc:1', 'guest', 'user:*'],
        ['doc:1', 'guest', 'user:1'],
      ],
      'can_read',
    );
    assert.deepEqual(used, [
      ['doc:1 user:1'],
      ['doc:1 user:*'],
      ['doc:1 group:outer#member', 'group:outer user:1'],
      ['doc:1 group:outer#member', 'group:outer group:inner#member', 'group:inner user:1'],
    ]);
    assert.equal(hasMore, false);
  });

  it('Never goes in circles', async () => {
    const { used } = await ways(
      [
        ['doc:1', 'reader', 'group:a#member'],
        ['group:a', 'member', 'group:b#member'],
        ['group:b', 'member', 'group:a#member'],
        ['group:b', 'member', 'user:1'],
      ],
      'can_read',
    );
    assert.deepEqual(used, [['doc:1 group:a#member', 'group:a group:b#member', 'group:b user:1']]);
  });

  it('A way names each tuple of an intersection, and no tuple that can be spared', async () => {
    const { used } = await ways(
      [
        ['doc:1', 'reader', 'group:a#member'],
        ['doc:1', 'checked', 'group:a#member'],
        ['doc:1', 'checked', 'group:b#member'],
        ['group:a', 'member', 'user:1'],
        ['group:b', 'member', 'user:1'],
      ],
      'can_sign',
    );
    assert.deepEqual(
      used.map((way) => new Set(way)),
      [
        new Set(['doc:1 group:a#member', 'group:a user:1']),
        new Set(['doc:1 group:a#member', 'group:a user:1', 'doc:1 group:b#member', 'group:b user:1']),
      ],
      'the second takes the check from the other group',
    );
  });

  it('No way, and no proof, uses a grant from which the user is excluded', async () => {
    const { used, steps } = await ways(
      [
        ['doc:1', 'guest', 'user:1'],
        ['doc:1', 'banned', 'user:1'],
        ['doc:1', 'reader', 'group:a#member'],
        ['group:a', 'member', 'user:1'],
      ],
      'can_read',
    );
    assert.deepEqual(used, [['doc:1 group:a#member', 'group:a user:1']]);
    assert.ok(!steps.some(({ rule }) => rule === 'but not'));
  });

  it('Says that there are more ways than were asked for', async () => {
    const groups = Array.from({ length: 40 }, (_, number) => `group:${number}`);
    const rows = groups.flatMap((group): Row[] => [
      ['doc:1', 'reader', `${group}#member`],
      [group, 'member', 'user:1'],
    ]);
    const { used, hasMore } = await ways(rows, 'can_read');
    assert.deepEqual([used.length, hasMore], [10, true]);
    const few = await ways(rows.slice(0, 20), 'can_read');
    assert.deepEqual([few.used.length, few.hasMore], [10, false]);
  });

  const SINGLE: readonly (readonly [what: string, rows: readonly Row[]])[] = [
    [
      'through groups',
      [
        ['doc:1', 'reader', 'group:a#member'],
        ['group:a', 'member', 'group:b#member'],
        ['group:b', 'member', 'user:1'],
      ],
    ],
    ['through a direct grant', [['doc:1', 'guest', 'user:1']]],
    ['through a grant to everybody', [['doc:1', 'guest', 'user:*']]],
  ];
  for (const [what, rows] of SINGLE) {
    it(`The only way ${what} is the proof that explain gives, with depths that go down step by step`, async () => {
      const { found, steps } = await ways(rows, 'can_read');
      assert.deepEqual(found, [steps]);
      assert.equal(steps[0]?.depth, 0);
      assert.deepEqual(
        steps.map(({ depth }) => depth),
        steps.map(({ depth }) => depth).sort((one, other) => one - other),
      );
    });
  }

  it('Says that there may be more ways, if circles keep the search from ending', async () => {
    const circle = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    const { used, hasMore } = await ways(
      [
        ['doc:1', 'reader', 'group:gate#member'],
        ['group:gate', 'member', 'user:1'],
        // Each of them is in each other, and in the gate, so that every way through them comes back to the gate.
        ...circle.map((name): Row => ['group:gate', 'member', `group:${name}#member`]),
        ...circle.map((name): Row => [`group:${name}`, 'member', 'group:gate#member']),
        ...circle.flatMap((name) =>
          circle
            .filter((other) => other !== name)
            .map((other): Row => [`group:${name}`, 'member', `group:${other}#member`]),
        ),
      ],
      'can_read',
    );
    assert.deepEqual([used, hasMore], [[['doc:1 group:gate#member', 'group:gate user:1']], true]);
  });

  it('Says that there may be more ways, if there are too many combinations to try', async () => {
    // Every combination of two different groups can be spared, so only the number of combinations ends the search.
    const same = Array.from({ length: 60 }, (_, number) => `same_${number}`);
    const model = `${MODEL}${same.map((name) => `    define ${name}: reader\n`).join('')}    define all: ${same.join(' and ')}\n`;
    const rows = Array.from({ length: 32 }, (_, number): Row[] => [
      ['doc:1', 'reader', `group:${number}#member`],
      [`group:${number}`, 'member', 'user:1'],
    ]).flat();
    const { hasMore } = await ways(rows, 'all', 32, model);
    assert.equal(hasMore, true);
    const few = await ways(rows, 'reader', 32, model);
    assert.deepEqual([few.used.length, few.hasMore], [32, false]);
  });

  it('Finds as many ways as are asked for, and the shortest first, for a user in hundreds of groups', async () => {
    const outer = Array.from({ length: 300 }, (_, number) => `group:outer${number}`);
    const inner = Array.from({ length: 200 }, (_, number) => `group:inner${number}`);
    const rows: Row[] = [
      ...outer.map((group): Row => ['doc:1', 'reader', `${group}#member`]),
      ...outer.flatMap((group) => inner.map((other): Row => [group, 'member', `${other}#member`])),
      ...inner.map((group): Row => [group, 'member', 'user:1']),
      ['doc:1', 'reader', 'group:short#member'],
      ['group:short', 'member', 'user:1'],
    ];
    const { used, hasMore } = await ways(rows, 'can_read');
    assert.deepEqual([used.length, hasMore], [10, true]);
    assert.deepEqual(used[0], ['doc:1 group:short#member', 'group:short user:1']);
    assert.deepEqual(new Set(used.map((way) => way.join(' '))).size, 10);
  });

  it('There is no way to what does not hold', async () => {
    assert.deepEqual((await ways([['doc:1', 'banned', 'user:1']], 'can_read')).used, []);
  });
});
