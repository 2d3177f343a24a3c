import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it, type TestContext } from 'node:test';
import { allowed, createGraph, type Graph, type Model, readModel } from '../../packages/rebac/src/rebac.ts';
import { createCells, isSet, sortAlike } from '../../src/authz/matrix/cells.ts';
import { createMatrix } from '../../src/authz/matrix/matrix.ts';
import { writeCsv } from '../../src/authz/matrix/matrix.view.ts';
import { differencesOf } from '../../src/authz/matrix/row-differences.ts';
import { givenBy, sourcesOf } from '../../src/authz/matrix/sources.ts';
import { inOneMoment } from '../../src/authz/one-moment.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { HOME, randomOrganization, shown } from '../support/world/random-organization.ts';

const WORLDS = 40;
const TYPES = ['organization', 'team', 'cluster', 'token'];

describe('The matrix', () => {
  let model: Model;
  before(async () => {
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
  });

  it(`Each cell is what the engine says about that user and object, in ${WORLDS} random worlds, with seed ${SEED}`, () => {
    const random = createRandom();
    for (let world = 0; world < WORLDS; world++) {
      const { graph, users, objects } = randomOrganization(model, random);
      for (const type of TYPES) {
        const relations = shown(model, type);
        const asked = objects.filter((object) => object.startsWith(`${type}:`));
        const cells = createCells(graph, run(sortAlike(graph, asked)), relations);
        for (const user of users) {
          const row = run(cells.row(user));
          for (const [place, object] of asked.entries()) {
            const held = relations.filter((_, index) => isSet(row[place] ?? 0, index));
            assert.deepEqual(held, allowed(graph, user, object, { prefix: 'can_' }), `${user} on ${object}`);
          }
        }
      }
    }
  });

  it('Users about whom the same is stated share one row', () => {
    const graph = createGraph(model, [
      { user: 'team:1#member', relation: 'viewer', object: HOME },
      { user: HOME, relation: 'organization', object: 'cluster:1' },
      ...['user:1', 'user:2'].map((user) => ({ user, relation: 'member', object: 'team:1' })),
    ]);
    const cells = createCells(graph, run(sortAlike(graph, ['cluster:1'])), ['can_view']);
    const [one, two, three] = ['user:1', 'user:2', 'user:3'].map((user) => run(cells.row(user)));
    assert.equal(one, two);
    assert.deepEqual([one, three], [[1], [0]]);
  });

  it(`Whatever a user holds comes from a source, and a source gives nothing that nobody holds, with seed ${SEED}`, () => {
    const random = createRandom(SEED + 1);
    for (let world = 0; world < WORLDS; world++) {
      const { graph, users, objects } = randomOrganization(model, random);
      for (const user of users) {
        const sources = sourcesOf(graph, HOME, user);
        for (const object of objects) {
          const held = allowed(graph, user, object, { prefix: 'can_' });
          const given = new Set(sources.flatMap((source) => [...givenBy(graph, source, object)]));
          for (const relation of held) assert.ok(given.has(relation), `${user} ${relation} ${object}`);
          if (sources.length === 0) assert.deepEqual(held, []);
        }
      }
    }
  });

  it('A graph that changes between two pieces makes the work begin anew, and the answer is of one moment', async (t) => {
    everyStepIsAPiece(t);
    const graph = createGraph(model);
    let asked = 0;
    const graphs = graphsOf(graph, () => {
      // Before the second, third and fourth piece, something else is written.
      if (asked++ < 4) graph.replaceSource('team:1', memberOf('team:1', asked));
    });
    const seen = await inOneMoment(graphs, 1n, 1n, function* (now) {
      const revisions = [now.revision];
      for (let piece = 0; piece < 2; piece++) {
        yield;
        revisions.push(now.revision);
      }
      return revisions;
    });
    assert.deepEqual(new Set(seen).size, 1);
    assert.ok(asked > 4);
  });

  it('If the organization never stops changing, the answer is that it is not available, not a mixture', async (t) => {
    everyStepIsAPiece(t);
    const graph = createGraph(model);
    let asked = 0;
    const graphs = graphsOf(graph, () => graph.replaceSource('team:1', memberOf('team:1', ++asked)));
    const work = inOneMoment(graphs, 1n, 1n, function* () {
      for (;;) yield;
    });
    await assert.rejects(work, { kind: 'unavailable' });
    assert.ok(asked < 40, `asked ${asked} times`);
  });

  it('More than 200,000 cells are rejected in words, and as many are answered', async () => {
    const team = { user: 'team:1#member', object: HOME };
    const numbers = Array.from({ length: 501 }, (_, at) => at + 1);
    const graph = createGraph(model, [
      { ...team, relation: 'viewer' },
      { ...team, relation: 'participant' },
      ...numbers.slice(0, 400).flatMap((id) => memberOf('team:1', id)),
      ...numbers.map((id) => ({ user: HOME, relation: 'organization', object: `cluster:${id}` })),
    ]);
    const store = {
      names: async () => new Map(),
      peopleNamed: async () => [],
      inactive: async () => new Set<bigint>(),
      robotNamed: async () => undefined,
    };
    const { matrix } = createMatrix(
      graphsOf(graph, () => {}),
      store,
      model,
    );
    const question = { organizationId: 1n, callerId: 1n, type: 'cluster', people: 'members' } as const;
    const all = {
      ...question,
      ids: undefined,
      relations: undefined,
      isDifferencesOnly: false,
      isPartEnough: false,
      withRobots: false,
    };
    await assert.rejects(matrix(all), {
      kind: 'malformed',
      message:
        '400 people × 501 objects are 200,400 cells, and a matrix has at most 200,000: name some of the people with ' +
        'team or users, or some of the objects with ids',
    });
    const { users, objects, rows } = await matrix({ ...all, ids: numbers.slice(1).map(BigInt) });
    assert.deepEqual([users.length, objects.length, new Set(rows.flat())], [400, 500, new Set([1 + 8 + 16])]);
    assert.deepEqual([users[9]?.id, users[99]?.id, objects[0]?.id], [10n, 100n, 2n]);
    const part = await matrix({ ...all, isPartEnough: true });
    assert.deepEqual([part.users.length, part.objects.length, part.rows.length], [400, 200, 400]);
    assert.deepEqual(part.whole, { users: 400, objects: 501 });
    assert.deepEqual([part.users[0]?.id, part.objects[199]?.id], [1n, 200n]);
    const small = await matrix({ ...all, ids: [1n], isPartEnough: true });
    assert.deepEqual([small.users.length, small.whole], [400, undefined]);
  });

  it('Differences leave out objects that are the same for everybody and the people with the most common row', () => {
    const all = { users: ['a', 'b', 'c', 'd'], objects: ['x', 'y', 'z'] };
    const rows = [
      [1, 3, 0],
      [1, 3, 0],
      [1, 7, 0],
      [1, 3, 4],
    ];
    assert.deepEqual(differencesOf({ ...all, rows }), {
      users: ['c', 'd'],
      objects: ['y', 'z'],
      rows: [
        [7, 0],
        [3, 4],
      ],
      leftOut: { users: 2, objects: 1, common: [3, 0] },
    });
    // Nobody is the rule if every row occurs once, or two rows occur equally often.
    const each = {
      users: ['a', 'b'],
      objects: ['x', 'y'],
      rows: [
        [1, 2],
        [1, 3],
      ],
    };
    assert.deepEqual(differencesOf(each), {
      users: ['a', 'b'],
      objects: ['y'],
      rows: [[2], [3]],
      leftOut: { users: 0, objects: 1, common: undefined },
    });
    const even = { users: ['a', 'b', 'c', 'd'], objects: ['x'], rows: [[1], [1], [2], [2]] };
    assert.equal(differencesOf(even).users.length, 4);
    assert.deepEqual(differencesOf({ users: ['a', 'b'], objects: ['x'], rows: [[1], [1]] }).users, []);
    assert.deepEqual(differencesOf({ users: [], objects: ['x'], rows: [] }).objects, []);
  });

  it(`A list of differences keeps every cell that differs from the most common row, with seed ${SEED}`, () => {
    const random = createRandom(SEED + 2);
    for (let round = 0; round < 200; round++) {
      const users = Array.from({ length: random.below(6) }, (_, at) => `u${at}`);
      const objects = Array.from({ length: random.below(5) }, (_, at) => `o${at}`);
      const rows = users.map(() => objects.map(() => random.below(2)));
      const { users: people, objects: things, rows: cells, leftOut } = differencesOf({ users, objects, rows });
      const at = (user: string, object: string) => rows[users.indexOf(user)]?.[objects.indexOf(object)];
      for (const [row, user] of people.entries())
        for (const [column, object] of things.entries()) assert.equal(cells[row]?.[column], at(user, object));
      for (const object of objects.filter((one) => !things.includes(one)))
        assert.ok(new Set(users.map((user) => at(user, object))).size <= 1);
      for (const user of users.filter((one) => !people.includes(one)))
        assert.deepEqual(
          things.map((object) => at(user, object)),
          leftOut.common,
        );
      if (leftOut.common) for (const row of cells) assert.notDeepEqual(row, leftOut.common);
      assert.deepEqual(
        [leftOut.users, leftOut.objects],
        [users.length - people.length, objects.length - things.length],
      );
    }
  });

  it('In CSV, nothing is a formula, names that occur twice are told apart, and fields are quoted where they must be', async () => {
    const csv = await writeCsv({
      relations: ['can_view', 'can_edit'],
      users: [
        { id: 1n, name: '=cmd()' },
        { id: 2n, name: 'bob' },
      ],
      objects: ['@x', '+1', '-1', '\tx', 'a,"b"', 'same', 'same', ''].map((name, at) => ({ id: BigInt(at + 1), name })),
      rows: [
        [3, 1, 0, 0, 0, 0, 0, 2],
        [0, 0, 0, 0, 0, 0, 0, 0],
      ],
      leftOut: undefined,
      whole: undefined,
    });
    assert.deepEqual(csv.split('\r\n'), [
      `user,'@x,'+1,'-1,'\tx,"a,""b""",same #6,same #7, #8`,
      `'=cmd(),can_view can_edit,can_view,,,,,,can_edit`,
      'bob,,,,,,,,',
      '',
    ]);
  });
});

function graphsOf(graph: Graph, before: () => void) {
  return {
    async together<T>(_one: bigint, _other: bigint, ask: (first: Graph, second: Graph) => T): Promise<T> {
      before();
      return ask(graph, graph);
    },
  };
}

/** As if each step took longer than a piece may last. */
function everyStepIsAPiece(t: TestContext): void {
  let now = 0;
  t.mock.method(performance, 'now', () => {
    now += 100;
    return now;
  });
}

function memberOf(object: string, user: number) {
  return [{ user: `user:${user}`, relation: 'member', object }];
}

function run<T>(work: Generator<void, T, void>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
