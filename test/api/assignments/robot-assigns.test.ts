import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openTestServer } from '../../support/server/server.ts';
import { pair, rejected } from '../../support/world/assignments.ts';
import { makeRobot } from '../../support/world/robots.ts';

it('A robot assigns what it holds, no longer than it does, and gives up what is assigned to it', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const robot = await makeRobot(atrium, 'giver');
  const ann = atrium.as('ann');
  const path = '/authz/assignments?org=acme';
  const permissions = ['cluster_mgmt connect to clusters', 'org_mgmt assign roles'].map(pair);
  const role = await ann('POST', '/authz/roles?org=acme', { name: 'giving', permissions });
  assert.equal(role.status, 201, role.text);
  const to = { type: 'robot_ac', id: robot.id };
  const on = { type: 'cluster', id: Number(atrium.world.clusters.prod?.id) };
  const given = { role: { id: role.body.id }, to: { type: 'user', name: 'dan' }, on };
  await rejected(robot.call, ['POST', path, given], 403, 'missing_relation');
  const end = new Date(Date.now() + 3_600_000).toISOString();
  const held = await ann('POST', path, { role: given.role, to, expires_at: end });
  assert.equal(held.status, 201, held.text);
  await rejected(robot.call, ['POST', path, given], 403, 'escalation');
  const made = await robot.call('POST', path, { ...given, expires_at: end });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body.created_by, { type: 'robot_ac', id: robot.id, name: 'giver' });
  const own = await robot.call('GET', `${path}&to=robot:giver`);
  assert.deepEqual(
    own.body.map(({ id }: { id: number }) => id),
    [held.body.id],
  );
  const gone = await robot.call('DELETE', `/authz/assignments/${held.body.id}?org=acme`);
  assert.equal(gone.status, 204, gone.text);
  await rejected(robot.call, ['POST', path, given], 403, 'missing_relation');
  assert.deepEqual((await robot.call('GET', path)).body, []);
});
