import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openTestServer } from '../../support/server/server.ts';
import { assign, openPlace, pair } from '../../support/world/assignments.ts';

interface Effect {
  readonly object: { readonly type: string; readonly id: number };
  readonly relation: string;
}

it('A preview knows what roles give on single objects, to users and to teams', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const place = await openPlace(atrium);
  const { call, org, operator, dan, staging, prod, crew, at } = place;
  const losses = async (change: object) => {
    const answer = await call('POST', `/authz/preview?org=${org.name}`, { changes: [change] });
    assert.equal(answer.status, 200, answer.text);
    const mine = answer.body.users.find(({ user }: { user: { name: string } }) => user.name === dan.name);
    const effects: Effect[] = mine?.loses ?? [];
    return effects.flatMap(({ object, relation }) => (object.type === 'cluster' ? [`${object.id} ${relation}`] : []));
  };
  const less = {
    action: 'role.update',
    id: operator.id,
    role: { permissions: [pair('cluster_mgmt view clusters')] },
  };
  const leaving = { action: 'team.remove_member', id: crew, username: dan.name };
  const toUser = await assign(
    place,
    operator.id,
    { type: 'user', id: Number(dan.id) },
    { type: 'cluster', id: prod.id },
  );
  assert.deepEqual(await losses(less), [`${prod.id} can_connect`]);
  assert.deepEqual(await losses(leaving), [`${prod.id} can_view`, `${prod.id} can_connect`]);
  await call('DELETE', at(toUser.id));
  await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster', id: staging.id });
  assert.deepEqual(await losses(less), [`${staging.id} can_connect`]);
  assert.deepEqual(await losses({ action: 'role.delete', id: operator.id }), [
    `${staging.id} can_view`,
    `${staging.id} can_connect`,
  ]);
});

it('A preview assigns roles, changes and removes assignments, and moves clusters, and names whose tokens gain', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const place = await openPlace(atrium);
  const { call, org, operator, dan, owner, staging, prod, robot, crew } = place;
  const preview = async (changes: readonly object[], who = call, more: object = {}) => {
    const answer = await who('POST', `/authz/preview?org=${org.name}`, { changes, ...more });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const effects = (list: readonly Effect[]) => list.map(({ object, relation }) => `${object.id} ${relation}`);
  const made = {
    action: 'assignment.create',
    role: { id: operator.id },
    to: { type: 'user', name: dan.name },
    on: { type: 'cluster', id: prod.id },
  };
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const timed = await preview([{ ...made, expires_at: until }]);
  assert.equal(timed.total, 1);
  const [first] = timed.users;
  assert.deepEqual(effects(first.gains), [`${prod.id} can_view`, `${prod.id} can_connect`]);
  assert.deepEqual([first.user.name, new Date(first.gains[0].expires_at).toISOString()], [dan.name, until]);
  const later = new Date(Date.now() + 2 * 86_400_000).toISOString();
  assert.equal((await preview([{ ...made, expires_at: until }], call, { at: later })).total, 0);
  const inNamespaces = { ...made, namespaces: ['web', 'team-*'] };
  const [somewhere] = (await preview([inNamespaces])).users;
  assert.deepEqual(effects(somewhere.gains), [`${prod.id} can_view`], 'a question without a namespace');
  const robots = await preview([{ ...made, to: { type: 'robot', name: 'deploy' } }]);
  assert.deepEqual(robots.users[0].user, { id: robot, name: 'deploy', type: 'robot_ac' });
  assert.ok(!('token_creators' in robots.users[0]));
  const token = await call('POST', `/robots/${robot}/tokens`, { name: 'ci', scopes: ['all'] });
  assert.equal(token.status, 201, token.text);
  const [named] = (await preview([{ ...made, to: { type: 'robot_ac', id: robot } }])).users;
  assert.deepEqual(
    [named.live_tokens, named.token_creators],
    [1, [{ type: 'user', id: Number(owner.id), name: owner.name }]],
  );
  const onSet = await assign(place, operator.id, { type: 'user', name: dan.name }, { type: 'cluster_set', name: 'eu' });
  const moved = await preview([{ action: 'cluster.update', id: staging.id, cluster: { clusterSetName: 'eu' } }]);
  assert.deepEqual(effects(moved.users[0].gains), [`${staging.id} can_view`, `${staging.id} can_connect`]);
  const [kept] = (await preview([{ action: 'assignment.update', id: onSet.id, expires_at: until }])).users;
  assert.deepEqual(effects(kept.keeps), [`${prod.id} can_view`, `${prod.id} can_connect`]);
  const [lost] = (await preview([{ action: 'assignment.delete', id: onSet.id }])).users;
  assert.deepEqual(effects(lost.loses), [`${prod.id} can_view`, `${prod.id} can_connect`]);
  const twice = await preview([made, made]);
  assert.deepEqual(
    twice.refusals.map(({ change, reason }: { change: number; reason: string }) => [change, reason]),
    [[1, 'already_assigned']],
  );
  const other = { ...made, namespaces: ['team-*'] };
  const again = { ...made, namespaces: ['team-*', 'web'] };
  const among = await preview([made, inNamespaces, other, again]);
  assert.deepEqual(
    among.refusals.map(({ change, reason }: { change: number; reason: string }) => [change, reason]),
    [[3, 'already_assigned']],
  );
  const undone = await preview([made, { action: 'assignment.delete', id: -1 }]);
  assert.deepEqual([undone.total, undone.refusals], [0, []]);
  const path = `/authz/preview?org=${org.name}`;
  for (const [change, status, reason] of [
    [{ ...made, role: { id: 999999 } }, 404, 'role_not_found'],
    [{ ...made, role: {} }, 422, 'validation_failed'],
    [{ ...made, namespaces: [] }, 422, 'validation_failed'],
    [{ ...made, namespaces: ['*'] }, 422, 'validation_failed'],
    [{ ...made, on: undefined, namespaces: ['web'] }, 422, 'validation_failed'],
    [{ ...made, to: { type: 'user', name: 'nobody-at-all' } }, 422, 'not_a_member'],
    [{ ...made, to: { type: 'team', id: 999999 } }, 404, 'team_not_found'],
    [{ ...made, to: { type: 'robot_ac', name: 'none' } }, 404, 'robot_not_found'],
    [{ ...made, to: { type: 'cluster', id: prod.id } }, 422, 'validation_failed'],
    [{ ...made, on: { type: 'cluster', id: 999999 } }, 404, 'cluster_not_found'],
    [{ ...made, on: { type: 'token', id: 1 } }, 404, 'not_found'],
    [{ ...made, on: { type: 'cluster_set', id: 3 } }, 422, 'validation_failed'],
    [{ ...made, on: { type: 'team', id: crew } }, 422, 'no_effect'],
    [{ action: 'assignment.update', id: 999999, expires_at: null }, 404, 'assignment_not_found'],
    [{ action: 'assignment.delete', id: 999999 }, 404, 'assignment_not_found'],
    [{ action: 'cluster.update', id: 999999, cluster: { clusterSetName: '' } }, 404, 'cluster_not_found'],
    [{ action: 'cluster.update', id: prod.id }, 422, 'validation_failed'],
  ] as const) {
    const answer = await call('POST', path, { changes: [change] });
    assert.deepEqual([answer.status, answer.body.reason], [status, reason], `${JSON.stringify(change)} ${answer.text}`);
  }
  // A member who may not view roles sees no assignment but their own, and may remove it.
  const asDan = atrium.as(dan.name);
  const own = await preview([{ action: 'assignment.delete', id: onSet.id }], asDan);
  assert.deepEqual([own.total, own.users[0]?.user.name], [1, dan.name]);
  const others = await assign(place, operator.id, { type: 'robot_ac', id: robot }, { type: 'cluster', id: prod.id });
  const hidden = await asDan('POST', path, { changes: [{ action: 'assignment.delete', id: others.id }] });
  assert.deepEqual([hidden.status, hidden.body.reason], [404, 'assignment_not_found']);
  const right = await asDan('POST', path, { changes: [made] });
  assert.deepEqual([right.status, right.body.reason], [403, 'missing_relation']);
});
