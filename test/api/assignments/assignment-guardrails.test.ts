import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assign, openPlace, rejected } from '../../support/assignments.ts';
import { openTestServer } from '../../support/server.ts';

it('A guardrail rejects an assignment, and a move into a set, that would violate it', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const place = await openPlace(atrium);
  const { call, org, operator, dan, staging, path, crew } = place;
  const rule = {
    name: 'staging is closed',
    never: { users: [dan.name], relation: 'can_connect', object: { type: 'cluster', id: staging.id } },
  };
  const made = await call('POST', `/authz/guardrails?org=${org.name}`, rule);
  assert.equal(made.status, 201, made.text);
  const body = { role: { id: operator.id }, on: { type: 'cluster', id: staging.id } };
  const user = { type: 'user', id: Number(dan.id) };
  await rejected(call, ['POST', path, { ...body, to: user }], 409, 'guardrail_violated');
  await rejected(call, ['POST', path, { ...body, to: { type: 'team', id: crew } }], 409, 'guardrail_violated');
  await rejected(call, ['POST', path, { role: body.role, to: user }], 409, 'guardrail_violated');
  await assign(place, operator.id, user, { type: 'cluster_set', name: 'eu' });
  await rejected(call, ['PATCH', `/clusters/${staging.id}`, { clusterSetName: 'eu' }], 409, 'guardrail_violated');
  assert.equal((await call('GET', path)).headers.get('x-total-count'), '1');
});
