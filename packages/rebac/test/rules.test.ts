/**
 * What OpenFGA's server (v1.18.1) answers where its documentation leaves room. The long suite compares the
 * cases of rule-cases.ts with the server.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueryContext } from '../src/contextual.ts';
import { allowed, allowedMany, check } from '../src/engine.ts';
import { explain } from '../src/explanation.ts';
import { createGraph, type Graph } from '../src/graph.ts';
import { listObjects, possibleObjects } from '../src/list-objects.ts';
import { listUsers, possibleUsers } from '../src/list-users.ts';
import { type Model, readModel, readModelJson } from '../src/model.ts';
import { parseSyntax } from '../src/syntax.ts';
import { admit, readObject, type Tuple } from '../src/tuple.ts';
import {
  CIRCLE_CASES,
  CIRCLE_MODEL,
  CONTEXTUAL_CASES,
  FAULT_CASES,
  FAULT_MODEL,
  RING,
  textOf,
  tuplesOf,
} from './rule-cases.ts';

/** The answer of every kind of question. They must agree. */
function answer(graph: Graph, line: string, surroundings: QueryContext = {}): boolean | number {
  const [question] = tuplesOf([line]) as [Tuple];
  const { user, relation, object } = question;
  const attempt = <T>(ask: () => T): T | number => {
    try {
      return ask();
    } catch (error) {
      return (error as { code: number }).code;
    }
  };
  const came = attempt(() => check(graph, { user, relation, object, ...surroundings }));
  assert.equal(
    attempt(() => explain(graph, { user, relation, object, ...surroundings }).allowed),
    came,
  );
  assert.equal(allowed(graph, user, object, surroundings).includes(relation), came === true);
  assert.equal(allowedMany(graph, user, [object], surroundings)[0]?.includes(relation), came === true);
  const type = object.slice(0, object.indexOf(':'));
  const objects = attempt(() => listObjects(graph, { user, relation, type, ...surroundings }));
  if (Array.isArray(objects)) {
    assert.equal(objects.includes(object), came === true, `objects: ${objects}`);
    const possible = possibleObjects(graph, { user, relation, type, ...surroundings });
    for (const one of objects) assert.ok(possible.includes(one), `${one} is not among ${possible}`);
  }
  const filter = user.replace(/:[^#]*/, '');
  const users = attempt(() => listUsers(graph, { object, relation, filter, ...surroundings }));
  if (Array.isArray(users)) {
    if (!user.endsWith(':*'))
      assert.equal(users.includes(user) || users.includes(`${filter}:*`), came === true, `users: ${users}`);
    const possible = possibleUsers(graph, { object, relation, filter, ...surroundings });
    for (const one of users) assert.ok(possible.includes(one), `${one} is not among ${possible}`);
  }
  return came;
}

const CIRCLES = await readModel(CIRCLE_MODEL);
const FAULTS = await readModel(FAULT_MODEL);

const CASES = [
  ...CIRCLE_CASES.map((one) => [CIRCLES, one] as const),
  ...[...FAULT_CASES, ...CONTEXTUAL_CASES].map((one) => [FAULTS, one] as const),
];

for (const [model, { name, stored, contextual = [], question, due }] of CASES) {
  test(name, () => {
    const graph = createGraph(model, tuplesOf(stored));
    const before = answer(graph, question);
    assert.equal(answer(graph, question, { contextualTuples: tuplesOf(contextual) }), due);
    assert.equal(answer(graph, question), before, 'nothing of the contextual tuples remains');
  });
}

test('A circle in a relation that refers to nothing but itself and users denies behind but not', async () => {
  // OpenFGA denies or grants this one, depending on the resolver that its planner takes.
  const model = await readModel(
    textOf(`
      group
        rb: [group#rb, user]
        ra: [user] but not rb`),
  );
  assert.equal(answer(createGraph(model, tuplesOf([...RING, 'group:3#ra@user:a'])), 'group:3#ra@user:a'), false);
});

test('A circle of teams that contextual tuples close denies behind but not, and only during that query', () => {
  const graph = createGraph(CIRCLES, tuplesOf([...RING.slice(1), 'doc:1#blocked@group:3#rb', 'doc:1#viewer@user:a']));
  assert.equal(answer(graph, 'doc:1#viewer@user:a'), true);
  assert.equal(answer(graph, 'doc:1#viewer@user:a', { contextualTuples: tuplesOf(RING.slice(0, 1)) }), false);
  assert.equal(answer(graph, 'doc:1#viewer@user:a'), true);
});

/** group:0 is in group:1, and so on. The last one is blocked on doc:1. */
function blockedChain(length: number): Graph {
  const links = Array.from({ length }, (_, i) => `group:${i + 1}#rb@group:${i}#rb`);
  return createGraph(CIRCLES, tuplesOf([...links, `doc:1#blocked@group:${length}#rb`, 'doc:1#viewer@user:a']));
}

test('An exclusion that takes 25 hops to rule out is too complex, and never a grant', () => {
  assert.equal(answer(blockedChain(23), 'doc:1#viewer@user:a'), true);
  assert.equal(answer(blockedChain(24), 'doc:1#viewer@user:a'), 2002);
  assert.equal(answer(blockedChain(60), 'doc:1#viewer@user:a'), 2002);
  assert.equal(answer(blockedChain(60), 'doc:1#viewer@user:b'), false);
});

test('An exclusion that is too deep to rule out is no grant, whichever place its relation has in its type', async () => {
  const model = await readModel(
    textOf(`
    group
      lead: [user]
      member: [group#member, user]
    doc
      viewer: [user] but not hidden
      other: [user]
      hidden: blocked
      blocked: [group#member]`),
  );
  const chain = (length: number) => {
    const links = Array.from({ length }, (_, i) => `group:${i + 1}#member@group:${i}#member`);
    return createGraph(model, tuplesOf([...links, `doc:1#blocked@group:${length}#member`, 'doc:1#viewer@user:a']));
  };
  assert.equal(answer(chain(20), 'doc:1#viewer@user:a'), true);
  assert.equal(answer(chain(60), 'doc:1#viewer@user:a'), 2002);
});

test('A circle of 40 parents denies behind but not', () => {
  const circle = Array.from({ length: 40 }, (_, i) => `folder:${i}#parent@folder:${(i + 1) % 40}`);
  const graph = createGraph(CIRCLES, tuplesOf([...circle, 'folder:1#viewer@user:a']));
  assert.notEqual(answer(graph, 'folder:1#viewer@user:a'), true);
});

test('Besides everybody, a user whom tuples name only behind two but not is not listed', async () => {
  const model = await readModel(
    textOf(`
    doc
      b: [user]
      c: [user] but not b
      a: [user:*] but not c`),
  );
  const graph = createGraph(model, tuplesOf(['doc:1#a@user:*', 'doc:1#c@user:x', 'doc:1#b@user:x', 'doc:1#b@user:y']));
  assert.equal(answer(graph, 'doc:1#a@user:x'), true);
  assert.deepEqual(listUsers(graph, { object: 'doc:1', relation: 'a', filter: 'user' }), ['user:*', 'user:x']);
});

test('Of two contextual tuples about the same user and relation, the first counts', () => {
  const graph = createGraph(FAULTS, tuplesOf(['doc:1#v@user:a cb']));
  const [no, yes] = tuplesOf(['doc:1#v@user:a cb {"ok":false}', 'doc:1#v@user:a']) as [Tuple, Tuple];
  assert.equal(answer(graph, 'doc:1#v@user:a', { contextualTuples: [no, yes] }), false);
  assert.equal(answer(graph, 'doc:1#v@user:a', { contextualTuples: [yes, no] }), true);
});

/** `never: v but not [user with cb]`, which only JSON can say. */
async function reversed(): Promise<Model> {
  const json = JSON.parse(JSON.stringify(await parseSyntax(FAULT_MODEL)));
  const { relations } = json.type_definitions.at(-1);
  const { base, subtract } = relations.never.difference;
  relations.never.difference = { base: subtract, subtract: base };
  return readModelJson(json);
}

test('Lists ignore a condition that can exclude only, or that stands in another operand than the first', async () => {
  const never = createGraph(await reversed(), tuplesOf(['doc:1#never@user:a cb', 'doc:2#v@user:a']));
  assert.deepEqual(listObjects(never, { user: 'user:a', relation: 'never', type: 'doc' }), ['doc:2']);
  const contextualTuples = tuplesOf(['doc:1#v@user:a']);
  assert.equal(answer(never, 'doc:1#never@user:a', { contextualTuples }), 2000);
  const first = createGraph(FAULTS, tuplesOf(['doc:1#v@user:a cb']));
  assert.deepEqual(listObjects(first, { user: 'user:a', relation: 'first', type: 'doc' }), []);
  const unreachable = createGraph(FAULTS, tuplesOf(['doc:1#par@group:1 cb']));
  assert.deepEqual(listUsers(unreachable, { object: 'doc:1', relation: 'rb', filter: 'user' }), []);
  assert.throws(() => listUsers(unreachable, { object: 'doc:1', relation: 'rb', filter: 'employee' }), { code: 2000 });
});

test('explain names an exclusion only if all of it holds', async () => {
  const model = await readModel(
    textOf(`
    doc
      a: [user]
      b: [user]
      both: [user] but not (a and b)
      rest: [user] but not (a but not b)
      any: [user] but not (a or b)`),
  );
  const missing = (relation: string, tuples: readonly string[]) => {
    const link = explain(createGraph(model, tuplesOf(tuples)), { user: 'user:x', relation, object: 'doc:1' }).missing;
    return { add: link?.add.map((one) => one.relation), excludedBy: link?.excludedBy.map((one) => one.relation) };
  };
  assert.deepEqual(missing('both', ['doc:1#a@user:x']), { add: ['both'], excludedBy: [] });
  assert.deepEqual(missing('both', ['doc:1#a@user:x', 'doc:1#b@user:x']), { add: ['both'], excludedBy: ['a', 'b'] });
  assert.deepEqual(missing('rest', ['doc:1#a@user:x', 'doc:1#b@user:x']), { add: ['rest'], excludedBy: [] });
  assert.deepEqual(missing('rest', ['doc:1#a@user:x', 'doc:1#rest@user:x']), { add: [], excludedBy: ['a'] });
  assert.deepEqual(missing('any', ['doc:1#b@user:x']), { add: ['any'], excludedBy: ['b'] });
});

test('explain suggests a tuple with the condition that the model requires', () => {
  const graph = createGraph(FAULTS);
  const suggested = (relation: string) => explain(graph, { user: 'user:a', relation, object: 'doc:1' }).missing?.add;
  assert.deepEqual(suggested('only'), [
    { user: 'user:a', relation: 'only', object: 'doc:1', condition: { name: 'cb' } },
  ]);
  assert.deepEqual(suggested('v'), [{ user: 'user:a', relation: 'v', object: 'doc:1' }]);
  for (const tuple of suggested('only') ?? []) assert.equal(typeof admit(FAULTS, tuple), 'object');
});

test('explain does not suggest a tuple that excludes the user by itself', async () => {
  const model = await readModel(
    textOf(`
    doc
      a: [user]
      b: a
      c: [user]
      v: a but not b
      w: (a or c) but not b
      x: (a but not c) but not b`),
  );
  const missing = (relation: string, tuples: readonly string[] = []) =>
    explain(createGraph(model, tuplesOf(tuples)), { user: 'user:x', relation, object: 'doc:1' }).missing;
  assert.equal(missing('v'), undefined);
  assert.deepEqual(
    missing('w')?.add.map((one) => one.relation),
    ['c'],
  );
  assert.equal(missing('x', ['doc:1#c@user:x']), undefined);
});

test('Objects have at most 256 characters and users at most 512 bytes', () => {
  const accepts = (object: string): boolean => typeof readObject(CIRCLES, object) !== 'string';
  assert.deepEqual(
    [252, 253].map((length) => accepts(`doc:${'x'.repeat(length)}`)),
    [true, false],
  );
  // Astral characters count once.
  assert.ok(accepts(`doc:${'😀'.repeat(127)}`));
  const graph = createGraph(CIRCLES);
  const ask = (user: string, object: string) => () => check(graph, { user, relation: 'viewer', object });
  assert.equal(ask(`user:${'x'.repeat(507)}`, 'doc:1')(), false);
  assert.throws(ask(`user:${'x'.repeat(508)}`, 'doc:1'), { code: 2000 });
  assert.throws(ask(`user:${'é'.repeat(254)}`, 'doc:1'), { code: 2000 });
  assert.throws(ask('user:a', `doc:${'x'.repeat(253)}`), { code: 2000 });
  const long = `user:${'x'.repeat(500)}`;
  const [tuple] = createGraph(CIRCLES, [{ object: 'doc:1', relation: 'viewer', user: long }]).tuples();
  assert.equal(tuple?.user, long);
  assert.equal(readObject(CIRCLES, 'ghost:1'), "type 'ghost' is not in the model");
});

test('IDs may contain any white space but ASCII space, and no control characters', () => {
  const accepts = (id: string): boolean => typeof readObject(CIRCLES, `doc:${id}`) !== 'string';
  for (const id of ['a\u00a0b', 'a\u2003b', 'a\u2028b', 'a\u3000b', '\ufeff', 'a,b', 'a@b', 'a*'])
    assert.ok(accepts(id), JSON.stringify(id));
  for (const id of [
    'a b',
    'a\tb',
    'a\nb',
    'a\u000bb',
    'a\u0000',
    'a\u007f',
    'a\u0085b',
    'a\u009fb',
    'a:b',
    'a#b',
    '',
    '*',
  ])
    assert.ok(!accepts(id), JSON.stringify(id));
});

test('A tuple that puts a userset into itself is rejected, stored or contextual', () => {
  const [tuple] = tuplesOf(['group:1#rb@group:1#rb']) as [Tuple];
  const graph = createGraph(CIRCLES, [tuple]);
  assert.equal(graph.size, 0);
  assert.throws(() => answer(graph, 'group:1#rb@user:a', { contextualTuples: [tuple] }), { code: 2027 });
  assert.equal(createGraph(CIRCLES, tuplesOf(['group:1#rb@group:2#rb'])).size, 1);
});
