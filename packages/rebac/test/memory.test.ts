import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { COUNTS } from '../../../test/counts.ts';
import { allowed } from '../src/engine.ts';
import { createGraph, type Graph } from '../src/graph.ts';
import { readModel } from '../src/model.ts';
import type { Tuple } from '../src/tuple.ts';

const MIB = 1024 * 1024;

test('A graph does not retain the text that its tuples were parsed from', async () => {
  const model = await readModel(
    'model\n  schema 1.1\ntype user\ntype contract\n  relations\n    define owner: [user]\n',
  );
  const graphs: Graph[] = [];
  const before = used();
  for (let at = 0; at < 10; at++) {
    const text = `contract:12345678 owner user:1 source-of-this:${at}${' '.repeat(MIB)}`;
    const [object = '', relation = '', user = '', source = ''] = text.split(' ', 4);
    graphs.push(createGraph(model, [{ object, relation, user, source }]));
  }
  const more = used() - before;
  assert.ok(more < 3 * MIB, `${graphs.length} graphs of one tuple keep ${more} bytes`);
  assert.deepEqual([...(graphs[7]?.sources ?? [])], ['source-of-this:7']);
});

const PERMISSIONS = Array.from({ length: 60 }, (_, at) => `can_${at}`);

const roles = await readModel(`model
  schema 1.1
type user
type role
  relations
    define assignee: [user]
type organization
  relations
${PERMISSIONS.map((name) => `    define ${name}: [role#assignee]\n`).join('')}`);

function tuplesOf(role: number, permissions: Iterable<string>): Tuple[] {
  const user = `role:${role}#assignee`;
  const grants = Array.from(permissions, (relation) => ({ user, relation, object: 'organization:1' }));
  return [{ user: 'user:ann', relation: 'assignee', object: `role:${role}` }, ...grants];
}

/** Edits roles, then compares the graph with a new one of the same tuples. */
function edit(
  count: number,
  nextEdit: (turn: number) => readonly [role: number, permissions: readonly string[]],
): void {
  const graph = createGraph(roles);
  const held = new Map<number, readonly string[]>();
  for (let turn = 0; turn < count; turn++) {
    const [role, permissions] = nextEdit(turn);
    held.set(role, permissions);
    graph.replaceSource(`role:${role}`, tuplesOf(role, permissions));
    assert.ok(graph.edges.setCount <= held.size + 2, `${graph.edges.setCount} sets after ${turn + 1} edits`);
  }
  const fresh = createGraph(roles);
  for (const [role, permissions] of held) fresh.replaceSource(`role:${role}`, tuplesOf(role, permissions));
  assert.equal(graph.size, fresh.size);
  assert.equal(graph.edges.setCount, fresh.edges.setCount);
  assert.ok(graph.bytes < fresh.bytes * 2 + 20_000, `${graph.bytes} bytes instead of ${fresh.bytes}`);
  assert.deepEqual(allowed(graph, 'user:ann', 'organization:1'), allowed(fresh, 'user:ann', 'organization:1'));
}

test(`A graph stays as small as a new one over ${COUNTS.roleEdits} edits that switch one permission of a role`, () => {
  const held = new Set(PERMISSIONS.slice(0, 33));
  edit(COUNTS.roleEdits, (turn) => {
    const name = PERMISSIONS[(turn * 7) % PERMISSIONS.length] as string;
    if (!held.delete(name)) held.add(name);
    return [1, [...held]];
  });
});

test(`A graph stays as small as a new one over ${COUNTS.roleEdits} edits that give 50 roles random permissions`, () => {
  let state = 7;
  const random = (): number => {
    state = Math.imul(state, 1_103_515_245) + 12_345;
    return (state >>> 16) & 1;
  };
  edit(COUNTS.roleEdits, (turn) => [turn % 50, PERMISSIONS.filter(() => random() === 1)]);
});

test('A graph gives room back that was reserved for more tuples than there are', () => {
  const graph = createGraph(roles, tuplesOf(1, PERMISSIONS), 100_000);
  // Two rows of eight integers for each tuple would take six times as much. The index of the edges keeps its size.
  assert.ok(graph.bytes < 100_000 * 12, `${graph.bytes} bytes`);
});

test('A graph is not rebuilt by edits that leave nothing empty', () => {
  const graph = createGraph(roles);
  graph.replaceSource('role:1', tuplesOf(1, PERMISSIONS));
  const { nodes } = graph;
  for (let turn = 0; turn < 2_000; turn++) graph.replaceSource('role:1', tuplesOf(1, [PERMISSIONS[turn % 60] ?? '']));
  assert.equal(graph.nodes, nodes);
});

test('A patch that fails half-way leaves a graph that answers according to the tuples that it has', () => {
  const graph = createGraph(
    roles,
    tuplesOf(1, ['can_1', 'can_2']).map((tuple) => ({ ...tuple, source: 'role:1' })),
  );
  function* failing() {
    yield* tuplesOf(1, ['can_3']);
    throw new Error('half-way');
  }
  assert.throws(() => graph.replaceSource('role:1', failing()), /half-way/);
  assert.deepEqual(allowed(graph, 'user:ann', 'organization:1'), ['can_3']);
  graph.replaceSource('role:1', tuplesOf(1, ['can_4']));
  assert.deepEqual(allowed(graph, 'user:ann', 'organization:1'), ['can_4']);
});

function used(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
