import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowed, check } from '../src/engine.ts';
import { createGraph } from '../src/graph.ts';
import { listObjects } from '../src/list-objects.ts';
import { listUsers } from '../src/list-users.ts';
import { readModel } from '../src/model.ts';

type Context = Readonly<Record<string, unknown>>;

/**
 * What `viewer: [user with c]` answers for a condition with these parameters, taken from the tuple and from the
 * request.
 */
async function ask(
  parameters: string,
  expression: string,
  request: Context,
  tuple?: Context,
): Promise<boolean | number> {
  const model = await readModel(
    `model\n  schema 1.1\ntype user\ntype doc\n  relations\n    define viewer: [user with c]\ncondition c(${parameters}) {\n  ${expression}\n}\n`,
  );
  const condition = { name: 'c', context: tuple };
  const graph = createGraph(model, [{ user: 'user:ann', relation: 'viewer', object: 'doc:1', condition }]);
  try {
    return check(graph, { user: 'user:ann', relation: 'viewer', object: 'doc:1', context: request });
  } catch (error) {
    return (error as { code: number }).code;
  }
}

const CASES: readonly [string, string, Context, Context | undefined, boolean | number][] = [
  ['x: int, y: int', 'x < 100 || y < 50', { x: 10, y: 99 }, undefined, true],
  ['x: int, y: int', 'x < 100 || y < 50', { x: 10 }, undefined, 2000],
  ['x: int', 'x < 100', {}, undefined, 2000],
  ['x: int', 'x < 100', { x: 500 }, { x: 5 }, true],
  ['x: int', 'x < 100', { x: 5 }, { x: 500 }, false],
  ['x: int', 'x == 5', { x: '5' }, undefined, true],
  ['x: int', 'x == 5', { x: 5.5 }, undefined, 2000],
  ['x: int', 'x == 5', { x: 'five' }, undefined, 2000],
  ['x: int', 'x == 5', { x: true }, undefined, 2000],
  ['x: uint', 'x == 5u', { x: 5 }, undefined, true],
  ['x: uint', 'x == 5u', { x: -5 }, undefined, 2000],
  ['x: double', 'x > 1.5', { x: 2 }, undefined, true],
  ['x: double', 'x > 1.5', { x: '1.25' }, undefined, false],
  ['x: bool', 'x', { x: true }, undefined, true],
  ['x: bool', 'x', { x: 'true' }, undefined, 2000],
  ['x: string', 'x.startsWith("a") && x.matches("^[a-z]+$")', { x: 'abc' }, undefined, true],
  ['x: string', 'x == "1"', { x: 1 }, undefined, 2000],
  ['x: list<string>', '"a" in x', { x: ['b', 'a'] }, undefined, true],
  ['x: list<string>', '"a" in x', { x: ['b', 1] }, undefined, 2000],
  ['x: list<int>', 'x.exists(n, n > 2)', { x: [1, 3] }, undefined, true],
  ['x: map<int>', 'x["k"] == 1', { x: { k: 1 } }, undefined, true],
  ['x: map<int>', 'x["k"] == 1', { x: { other: 1 } }, undefined, 2000],
  ['x: map<string>', 'x.k == "v"', { x: { k: 'v' } }, undefined, true],
  ['t: timestamp', 't < timestamp("2024-01-01T00:00:00Z")', { t: '2023-12-31T23:59:59+00:00' }, undefined, true],
  ['t: timestamp', 't < timestamp("2024-01-01T00:00:00Z")', { t: '2024-01-01T01:00:00+02:00' }, undefined, true],
  ['t: timestamp', 't < timestamp("2024-01-01T00:00:00Z")', { t: 'yesterday' }, undefined, 2000],
  [
    't: timestamp, d: duration, now: timestamp',
    'now < t + d',
    { now: '2024-01-01T00:30:00Z' },
    { t: '2024-01-01T00:00:00Z', d: '1h' },
    true,
  ],
  ['d: duration', 'd > duration("1h")', { d: '90m' }, undefined, true],
  ['d: duration', 'd > duration("1h")', { d: 'long' }, undefined, 2000],
  ['ip: ipaddress', 'ip.in_cidr("192.168.0.0/16")', { ip: '192.168.4.1' }, undefined, true],
  ['ip: ipaddress', 'ip.in_cidr("192.168.0.0/16")', { ip: '193.168.4.1' }, undefined, false],
  ['ip: ipaddress', 'ip.in_cidr("2001:db8::/32")', { ip: '2001:db8::1' }, undefined, true],
  ['ip: ipaddress', 'ip.in_cidr("2001:db8::/32")', { ip: '192.168.4.1' }, undefined, false],
  ['ip: ipaddress', 'ip.in_cidr("nonsense")', { ip: '192.168.4.1' }, undefined, 2000],
  ['ip: ipaddress', 'ip == ipaddress("10.0.0.1")', { ip: '10.0.0.1' }, undefined, true],
  ['ip: ipaddress', 'ip == ipaddress("10.0.0.1")', { ip: '10.0.0.256' }, undefined, 2000],
  ['x: string', 'x == "constructor"', { x: 'constructor' }, undefined, true],
];

for (const [parameters, expression, request, tuple, due] of CASES) {
  const told = `${JSON.stringify(request)}${tuple ? ` on a tuple with ${JSON.stringify(tuple)}` : ''}`;
  test(`Condition (${parameters}) { ${expression} } with ${told} ${due === 2000 ? 'fails with code 2000' : `is ${due}`}`, async () => {
    assert.equal(await ask(parameters, expression, request, tuple), due);
  });
}

const model = await readModel(`model
  schema 1.1
type user
type group
  relations
    define member: [user, user with small]
type doc
  relations
    define parent: [doc, doc with small]
    define viewer: [user, user:* with small, group#member, group#member with small] or viewer from parent
    define can_read: viewer
condition small(x: int) {
  x < 10
}
`);
const small = { name: 'small' };

test('An unconditional grant takes precedence over a condition that cannot be evaluated', () => {
  const graph = createGraph(model, [
    { user: 'user:*', relation: 'viewer', object: 'doc:1', condition: small },
    { user: 'user:ann', relation: 'viewer', object: 'doc:1' },
  ]);
  assert.equal(check(graph, { user: 'user:ann', relation: 'viewer', object: 'doc:1' }), true);
  assert.throws(() => check(graph, { user: 'user:bob', relation: 'viewer', object: 'doc:1' }), { code: 2000 });
  assert.deepEqual(allowed(graph, 'user:bob', 'doc:1'), []);
  assert.deepEqual(allowed(graph, 'user:bob', 'doc:1', { context: { x: 1 } }), ['viewer', 'can_read']);
});

test('A userset condition that cannot be evaluated fails the check unless another userset can be used', () => {
  const conditional = { user: 'group:1#member', relation: 'viewer', object: 'doc:1', condition: small };
  const question = { user: 'user:bob', relation: 'viewer', object: 'doc:1' };
  assert.throws(() => check(createGraph(model, [conditional]), question), { code: 2000 });
  const usable = { user: 'group:2#member', relation: 'viewer', object: 'doc:1' };
  assert.equal(check(createGraph(model, [conditional, usable]), question), false);
});

test('Listing objects or users fails when a condition on the path cannot be evaluated', () => {
  const graph = createGraph(model, [
    { user: 'user:ann', relation: 'member', object: 'group:1', condition: small },
    { user: 'group:1#member', relation: 'viewer', object: 'doc:1' },
    { user: 'doc:1', relation: 'parent', object: 'doc:2', condition: { ...small, context: { x: 1 } } },
  ]);
  const objects = (context: Context) =>
    listObjects(graph, { user: 'user:ann', relation: 'can_read', type: 'doc', context });
  const users = (context: Context) =>
    listUsers(graph, { object: 'doc:2', relation: 'can_read', filter: 'user', context });
  assert.throws(() => objects({}), { code: 2000 });
  assert.throws(() => users({}), { code: 2000 });
  assert.deepEqual(objects({ x: 5 }), ['doc:1', 'doc:2']);
  assert.deepEqual(users({ x: 5 }), ['user:ann']);
  assert.deepEqual(objects({ x: 50 }), []);
  assert.deepEqual(users({ x: 50 }), []);
});

test('A tuple without the condition that the model requires, or with invalid parameters, is rejected', () => {
  const grant = { user: 'user:*', relation: 'viewer', object: 'doc:1' };
  const ask = (condition?: { name: string; context?: Context }) => () =>
    check(createGraph(model), {
      user: 'user:ann',
      relation: 'viewer',
      object: 'doc:1',
      context: { x: 1 },
      contextualTuples: [{ ...grant, condition }],
    });
  assert.equal(ask(small)(), true);
  assert.throws(ask(undefined), { code: 2027 });
  assert.throws(ask({ name: 'large' }), { code: 2027 });
  assert.throws(ask({ name: 'small', context: { y: 1 } }), { code: 2027 });
  assert.throws(ask({ name: 'small', context: { x: 'one' } }), { code: 2027 });
});
