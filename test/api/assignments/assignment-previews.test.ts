import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assign, openPlace, pair } from '../../support/assignments.ts';
import { openTestServer } from '../../support/server.ts';

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
