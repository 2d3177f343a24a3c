import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { openTestServer } from '../../support/server/server.ts';
import { assign, openPlace, pair, rejected } from '../../support/world/assignments.ts';

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

it('Guardrails name robots, by their IDs, and every way to give them something obeys', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const place = await openPlace(atrium);
  const { call, org, operator, staging, prod, path, robot, at, cluster, dan } = place;
  const guardrails = `/authz/guardrails?org=${org.name}`;
  const about = { relation: 'can_connect', object: { type: 'cluster', id: staging.id } };
  const made = await call('POST', guardrails, { name: 'no robots', never: { robots: ['deploy'], ...about } });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.body.sentence, 'the robot account deploy can never connect to staging');
  assert.deepEqual(made.body.never.robots, [{ id: robot, name: 'deploy' }]);
  assert.ok(!('users' in made.body.never));
  for (const [statement, reason] of [
    [{ never: { robots: ['nobody'], ...about } }, 'robot_not_found'],
    [{ never: { robots: ['DEPLOY'], ...about } }, 'robot_not_found'],
    [{ never: { robots: [], ...about } }, 'validation_failed'],
    [{ at_most: { robots: ['deploy'], count: 1, ...about } }, 'validation_failed'],
    [{ never: { robots: Array.from({ length: 101 }, (_, count) => `r${count}`), ...about } }, 'validation_failed'],
  ] as const) {
    const answer = await call('POST', guardrails, { name: 'other', ...statement });
    assert.deepEqual([answer.status, answer.body.reason], [422, reason], `${JSON.stringify(statement)} ${answer.text}`);
  }
  const to = { type: 'robot_ac', id: robot };
  const assigning = { role: { id: operator.id }, to, on: { type: 'cluster', id: staging.id } };
  const error = await rejected(call, ['POST', path, assigning], 409, 'guardrail_violated');
  assert.deepEqual(error.guardrail.violated_by, [{ user: { id: robot, name: 'deploy', type: 'robot_ac' } }]);
  const preview = await call('POST', `/authz/preview?org=${org.name}`, {
    changes: [{ action: 'assignment.create', ...assigning }],
  });
  assert.deepEqual(preview.body.refusals[0]?.guardrail, error.guardrail, preview.text);
  const renamed = await call('PATCH', `/robots/${robot}`, { name: 'deploy-2' });
  assert.equal(renamed.status, 200, renamed.text);
  await rejected(call, ['POST', path, assigning], 409, 'guardrail_violated');
  const shown = await call('GET', guardrails);
  assert.equal(shown.body[0].sentence, 'the robot account deploy-2 can never connect to staging');
  // In the whole organization, through a set, by a role that grows, by moving and by importing.
  await rejected(call, ['POST', path, { role: { id: operator.id }, to }], 409, 'guardrail_violated');
  await assign(place, operator.id, to, { type: 'cluster_set', name: 'eu' });
  await rejected(call, ['PATCH', `/clusters/${staging.id}`, { clusterSetName: 'eu' }], 409, 'guardrail_violated');
  const any = { relation: 'can_connect', object: { type: 'cluster' } };
  const watched = await call('POST', guardrails, {
    name: 'any',
    enforce: false,
    never: { robots: ['deploy-2'], ...any },
  });
  assert.deepEqual(
    [watched.status, watched.body.state.violated_by, watched.body.state.total],
    [201, [{ user: { id: robot, name: 'deploy-2', type: 'robot_ac' } }], 1],
  );
  await call('DELETE', `/authz/guardrails/${watched.body.id}?org=${org.name}`);
  const counted = await call('POST', guardrails, {
    name: 'few',
    at_most: { count: 1, ...any, object: { type: 'cluster', id: prod.id } },
  });
  assert.equal(counted.status, 201, `robots do not count: ${counted.text}`);
  const held = { relation: 'can_connect', object: { type: 'cluster', id: prod.id } };
  const always = await call('POST', guardrails, { name: 'always', always: { robots: ['deploy-2'], ...held } });
  assert.equal(always.status, 201, always.text);
  const [{ id }] = (await call('GET', `${path}&to=robot:${robot}`)).body;
  await rejected(call, ['DELETE', at(id)], 409, 'guardrail_violated');
  await rejected(call, ['PATCH', `/clusters/${prod.id}`, { clusterSetName: '' }], 409, 'guardrail_violated');
  const third = await cluster('third', { clusterSetName: 'eu' });
  const noThird = { robots: ['deploy-2'], relation: 'can_edit', object: { type: 'cluster', id: third.id } };
  assert.equal((await call('POST', guardrails, { name: 'third', never: noThird })).status, 201);
  const grown = { permissions: [pair('cluster_mgmt connect to clusters'), pair('cluster_mgmt reconfigure clusters')] };
  const role = `/authz/roles/${operator.id}?org=${org.name}`;
  await rejected(call, ['PUT', role, grown], 409, 'guardrail_violated');
  const none = { users: [dan.name], relation: 'can_connect', object: { type: 'cluster' } };
  assert.equal((await call('POST', guardrails, { name: 'dan', never: none })).status, 201);
  const toDan = {
    role: { id: operator.id },
    to: { type: 'user', name: dan.name },
    on: { type: 'cluster_set', name: 'us' },
  };
  assert.equal((await call('POST', path, toDan)).status, 201);
  const fourth = { name: 'fourth', uid: randomUUID(), clusterSetName: 'us' };
  await rejected(call, ['POST', `/orgs/${org.name}/clusters`, fourth], 409, 'guardrail_violated');
  // In files, by name.
  const file = await call('GET', `/authz/roles/export?org=${org.name}`);
  assert.match(file.text, /robots: \[deploy-2\]/);
  const again = await call('PUT', `/authz/roles/import?org=${org.name}&dry_run=true`, file.text, {
    'Content-Type': 'application/yaml',
  });
  assert.equal(again.status, 200, again.text);
  assert.doesNotMatch(again.text, /"kind":"(update|create|delete)"/);
  const unknown = await call(
    'PUT',
    `/authz/roles/import?org=${org.name}&dry_run=true`,
    file.text.replaceAll('deploy-2', 'nobody'),
    { 'Content-Type': 'application/yaml' },
  );
  assert.deepEqual([unknown.status >= 400, unknown.body.reason], [true, 'robot_not_found'], unknown.text);
  // A no says so, and a deleted robot violates nothing.
  const why = await call(
    'GET',
    `/authz/objects/cluster/${staging.id}/explain?org=${org.name}&relation=can_connect&user=robot:${robot}`,
  );
  assert.deepEqual(
    why.body.forbidden_by?.map(({ name }: { name: string }) => name),
    ['no robots'],
  );
  const gone = await call('DELETE', `/robots/${robot}`);
  assert.equal(gone.status, 204, gone.text);
  const left = await call('GET', guardrails);
  const states = left.body.filter(({ name }: { name: string }) => name === 'always' || name === 'no robots');
  for (const { state, name } of states) assert.deepEqual([state.holds, state.vacuous], [true, true], name);
});
