import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowed, allowedMany, check } from '../src/engine.ts';
import { explain } from '../src/explanation.ts';
import { createGraph } from '../src/graph.ts';
import { listObjects } from '../src/list-objects.ts';
import { listUsers } from '../src/list-users.ts';
import { readModel } from '../src/model.ts';
import { RebacError } from '../src/rebac-error.ts';

const MODEL = `model
  schema 1.1
type user
type team
  relations
    define member: [user, team#member]
type role
  relations
    define assignee: [user, team#member]
type organization
  relations
    define admin: [user]
    define suspended: [user]
    define can_view: [role#assignee] or admin
    define can_edit: ([role#assignee] or admin) but not suspended
type cluster
  relations
    define organization: [organization]
    define can_view: can_view from organization
    define owner: [user]
    define can_edit: owner or can_edit from organization
`;
const model = await readModel(MODEL);

function tuples(text: string) {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [user = '', relation = '', object = '', source = ''] = line.trim().split(/\s+/);
      return { user, relation, object, source };
    });
}

const ACME = tuples(`
  user:bob          member       team:dev            team:dev
  team:dev#member   member       team:all            team:all
  team:all#member   assignee     role:7              role:7
  role:7#assignee   can_view     organization:acme   role:7
  role:7#assignee   can_edit     organization:acme   role:7
  user:ann          admin        organization:acme   organization:acme
  organization:acme organization cluster:5           cluster:5
`);

test('allowed returns relations in model order, limited to the requested prefix', () => {
  const graph = createGraph(model, ACME);
  assert.deepEqual(allowed(graph, 'user:bob', 'cluster:5'), ['can_view', 'can_edit']);
  assert.deepEqual(allowed(graph, 'user:ann', 'organization:acme'), ['admin', 'can_view', 'can_edit']);
  assert.deepEqual(allowed(graph, 'user:ann', 'organization:acme', { prefix: 'can_' }), ['can_view', 'can_edit']);
  assert.deepEqual(allowedMany(graph, 'user:eve', ['cluster:5', 'cluster:nowhere']), [[], []]);
});

test('A source is replaced as a whole without affecting the tuples of other sources', () => {
  const graph = createGraph(model, ACME);
  graph.replaceSource('role:8', tuples('role:7#assignee can_view organization:acme'));
  graph.replaceSource('role:7', tuples('team:all#member assignee role:7'));
  assert.deepEqual(allowed(graph, 'user:bob', 'cluster:5'), ['can_view']);
  graph.replaceSource('role:8', []);
  assert.deepEqual(allowed(graph, 'user:bob', 'cluster:5'), []);
  graph.replaceSource(
    'organization:acme',
    tuples('user:bob suspended organization:acme\nuser:bob admin organization:acme'),
  );
  assert.deepEqual(allowed(graph, 'user:bob', 'cluster:5'), ['can_view']);
});

test('A graph stays bounded in memory and correct after 20,000 patches', () => {
  const graph = createGraph(model, ACME);
  const before = graph.bytes;
  for (let turn = 0; turn < 20_000; turn++) {
    graph.replaceSource('cluster:moving', tuples(`organization:acme organization cluster:moving-${turn}`));
  }
  assert.equal(graph.size, ACME.length + 1);
  assert.ok(graph.bytes < before + 1_000_000, `${before} bytes became ${graph.bytes}`);
  assert.deepEqual(allowed(graph, 'user:bob', 'cluster:moving-19999', { prefix: 'can_' }), ['can_view', 'can_edit']);
  assert.deepEqual(allowed(graph, 'user:bob', 'cluster:moving-19998'), []);
});

test('Contextual tuples affect only their own request', () => {
  const graph = createGraph(model, ACME);
  const contextualTuples = [{ user: 'user:eve', relation: 'member', object: 'team:dev' }];
  assert.equal(check(graph, { user: 'user:eve', relation: 'can_view', object: 'cluster:5', contextualTuples }), true);
  assert.equal(check(graph, { user: 'user:eve', relation: 'can_view', object: 'cluster:5' }), false);
  const stale = [{ user: 'team:dev', relation: 'member', object: 'team:dev' }];
  assert.throws(() => allowed(graph, 'user:eve', 'cluster:5', { contextualTuples: stale }), { code: 2027 });
});

/** team:0 is a member of team:1, and so on; ann is in team:0. */
function chain(length: number) {
  const links = Array.from({ length }, (_, i) => ({
    user: `team:${i}#member`,
    relation: 'member',
    object: `team:${i + 1}`,
  }));
  return createGraph(model, [{ user: 'user:ann', relation: 'member', object: 'team:0' }, ...links]);
}

test('A grant across 24 hops is found, one across 25 is too complex, and a denial is answered either way', () => {
  const ask = (length: number, user: string) => () =>
    check(chain(length), { user, relation: 'member', object: `team:${length}` });
  assert.equal(ask(24, 'user:ann')(), true);
  assert.throws(ask(25, 'user:ann'), { code: 2002 });
  assert.equal(ask(25, 'user:eve')(), false);
  assert.throws(ask(20_000, 'user:ann'), { code: 2002 });
  assert.deepEqual(allowed(chain(25), 'user:ann', 'team:25'), []);
  assert.throws(() => listUsers(chain(25), { object: 'team:25', relation: 'member', filter: 'user' }), { code: 2002 });
});

test('A user with hundreds of teams, roles or clusters gets correct answers', () => {
  const teams = Array.from({ length: 300 }, (_, i) => ({ user: 'user:ann', relation: 'member', object: `team:${i}` }));
  const grants = tuples(
    'team:7#member assignee role:1\nteam:7#member assignee role:2\nrole:2#assignee can_view organization:a',
  );
  const many = Array.from({ length: 400 }, (_, i) => ({
    user: `role:x${i}#assignee`,
    relation: 'can_edit',
    object: 'organization:a',
  }));
  const own = Array.from({ length: 50 }, (_, i) => ({ user: 'user:bob', relation: 'owner', object: `cluster:${i}` }));
  const links = teams.map(({ object }) => ({ user: `${object}#member`, relation: 'member', object: 'team:all' }));
  const direct = tuples('user:ann owner cluster:ann');
  const graph = createGraph(model, [...teams, ...grants, ...many, ...own, ...links, ...direct, ...ACME]);
  assert.deepEqual(allowed(graph, 'user:ann', 'organization:a'), ['can_view']);
  assert.deepEqual(allowed(graph, 'user:ann', 'cluster:ann'), ['owner', 'can_edit']);
  assert.deepEqual(allowed(graph, 'user:ann', 'role:1'), ['assignee']);
  assert.deepEqual(allowed(graph, 'user:bob', 'cluster:49'), ['owner', 'can_edit']);
  assert.deepEqual(allowed(graph, 'user:bob', 'organization:acme'), ['can_view', 'can_edit']);
});

test('Cyclic team memberships are evaluated correctly', () => {
  const graph = createGraph(model, [
    ...ACME,
    ...tuples('team:all#member member team:dev\nteam:dev#member member team:dev'),
  ]);
  assert.equal(check(graph, { user: 'user:bob', relation: 'can_view', object: 'cluster:5' }), true);
  assert.equal(check(graph, { user: 'user:eve', relation: 'can_view', object: 'cluster:5' }), false);
});

test('Malformed or unknown users, objects and relations are rejected', () => {
  const graph = createGraph(model, ACME);
  const ask =
    (user: string, object: string, relation = 'can_view') =>
    () =>
      check(graph, { user, relation, object });
  for (const user of [
    '',
    'bob',
    'user:',
    ':bob',
    'user:a:b',
    'user:a b',
    'ghost:1',
    'team:1#nothing',
    'user:*#member',
    `user:${'x'.repeat(600)}`,
  ]) {
    assert.throws(ask(user, 'cluster:5'), { code: 2000 }, user);
  }
  for (const object of ['', 'cluster', 'cluster:', 'cluster:*', 'cluster:5#owner', 'ghost:1']) {
    assert.throws(ask('user:bob', object), { code: 2000 }, object);
    assert.throws(() => allowedMany(graph, 'user:bob', ['cluster:5', object]), RebacError, object);
  }
  assert.throws(ask('user:bob', 'cluster:5', 'nothing'), { code: 2000 });
});

test('IDs may use any script and the names of built-in properties', () => {
  const names = ['ürsula', '数据', '😀', 'constructor', '__proto__', 'a*', 'é\u0301'];
  const graph = createGraph(
    model,
    names.map((name) => ({ user: `user:${name}`, relation: 'member', object: `team:${name}` })),
  );
  for (const name of names) {
    for (const other of names) {
      assert.equal(check(graph, { user: `user:${name}`, relation: 'member', object: `team:${other}` }), name === other);
    }
    assert.deepEqual(listUsers(graph, { object: `team:${name}`, relation: 'member', filter: 'user' }), [
      `user:${name}`,
    ]);
  }
});

test('explain reports the path, the nearest missing tuple or the exclusion', () => {
  const graph = createGraph(model, ACME);
  const path = explain(graph, { user: 'user:bob', relation: 'can_view', object: 'cluster:5' });
  assert.deepEqual(
    path.steps.map(({ rule, object }) => `${rule} ${object}`),
    ['parent cluster:5', 'userset organization:acme', 'userset role:7', 'userset team:all', 'direct team:dev'],
  );
  const missing = explain(graph, { user: 'user:eve', relation: 'can_view', object: 'cluster:5' }).missing;
  assert.deepEqual(missing?.add, [{ user: 'user:eve', relation: 'member', object: 'team:dev' }]);
  assert.equal(missing?.trail.length, 4);
  graph.replaceSource('suspensions', tuples('user:bob suspended organization:acme'));
  const excluded = explain(graph, { user: 'user:bob', relation: 'can_edit', object: 'cluster:5' }).missing;
  assert.deepEqual(
    excluded?.excludedBy.map(({ object, relation }) => `${object} ${relation}`),
    ['organization:acme suspended'],
  );
});

test('An invalid model is rejected with the line and the error', async () => {
  await assert.rejects(
    readModel(MODEL.replace('or admin', 'or adnim')),
    /line 14: the relation `adnim` does not exist/,
  );
  await assert.rejects(readModel(MODEL.replace('type role', 'typ role')), /line 7: /);
  const conditional = `${MODEL}condition late(now: timestamp) {\n  now > "monday"\n}\n`;
  await assert.rejects(
    readModel(conditional.replace('[role#assignee]', '[role#assignee with late]')),
    /condition late: /,
  );
});

test('Questions about users, objects and relations that the model does not have are rejected by every function', () => {
  const graph = createGraph(model, []);
  const good = { user: 'user:1', relation: 'can_view', object: 'organization:1' };
  const invalid = { name: 'RebacError', fault: 'validation' };
  for (const user of ['ghost:1', 'user', 'user:', '']) {
    assert.throws(() => check(graph, { ...good, user }), invalid, user);
    assert.throws(() => explain(graph, { ...good, user }), invalid, user);
    assert.throws(() => listObjects(graph, { user, relation: 'can_view', type: 'organization' }), invalid, user);
  }
  for (const object of ['ghost:1', 'organization', '']) {
    assert.throws(() => check(graph, { ...good, object }), invalid, object);
    assert.throws(() => explain(graph, { ...good, object }), invalid, object);
    assert.throws(() => allowed(graph, good.user, object), invalid, object);
  }
  assert.throws(() => check(graph, { ...good, relation: 'can_fly' }), invalid);
  assert.throws(() => explain(graph, { ...good, relation: 'can_fly' }), invalid);
  const objects = { user: good.user, relation: 'can_view', type: 'organization' };
  assert.deepEqual(listObjects(graph, objects), []);
  assert.throws(() => listObjects(graph, { ...objects, type: 'ghost' }), { fault: 'typeNotFound' });
  assert.throws(() => listObjects(graph, { ...objects, relation: 'can_fly' }), { fault: 'relationNotFound' });
});

test('Everybody of a type has what is granted to all of that type, whichever type of the model it is', async () => {
  const types = await readModel(`model
  schema 1.1
type user
type employee
type document
  relations
    define reader: [user:*]
    define editor: [employee:*]
    define can_edit: editor but not reader
`);
  const graph = createGraph(types, tuples('employee:* editor document:1 s\nuser:* reader document:1 s'));
  const can = (user: string, relation: string) => check(graph, { user, relation, object: 'document:1' });
  assert.deepEqual(
    [can('employee:1', 'editor'), can('employee:1', 'reader'), can('employee:1', 'can_edit')],
    [true, false, true],
  );
  assert.deepEqual([can('user:1', 'editor'), can('user:1', 'reader'), can('user:1', 'can_edit')], [false, true, false]);
});

test('Every question is answered with its own context, not with that of the question before', async () => {
  const types = await readModel(`model
  schema 1.1
type user
type document
  relations
    define viewer: [user with is_open]
condition is_open(hour: int) {
  hour < 12
}
`);
  const tuple = {
    user: 'user:1',
    relation: 'viewer',
    object: 'document:1',
    source: 's',
    condition: { name: 'is_open' },
  };
  const graph = createGraph(types, [tuple]);
  const at = (hour: number) => ({ relation: 'viewer', object: 'document:1', context: { hour } });
  for (const hour of [9, 15, 9]) {
    const isOpen = hour < 12;
    assert.equal(check(graph, { user: 'user:1', ...at(hour) }), isOpen);
    assert.deepEqual(listUsers(graph, { ...at(24 - hour), filter: 'user' }), isOpen ? [] : ['user:1']);
    const objects = listObjects(graph, { ...at(hour), user: 'user:1', type: 'document' });
    assert.deepEqual(objects, isOpen ? ['document:1'] : []);
  }
});
