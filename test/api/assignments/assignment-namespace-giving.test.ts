import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place, rejected } from '../../support/world/assignments.ts';
import { inHours } from '../../support/world/expiry.ts';
import { addMember, createTeam, makePerson } from '../../support/world/people.ts';

describe('Giving in namespaces', () => {
  let atrium: TestServer;
  let place: Place;
  let worker: number;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
    const actions = ['view clusters', 'reconfigure clusters', 'connect to clusters', 'remove clusters'];
    worker = (await place.role('worker', ...actions.map((action) => `cluster_mgmt ${action}`))).id;
  });
  after(() => atrium.close());

  const dan = () => ({ type: 'user', id: Number(place.dan.id) });
  const prod = () => ({ type: 'cluster', id: place.prod.id });
  const eu = { type: 'cluster_set', name: 'eu' };

  it('Who holds some namespaces gives those, for as long, and neither more nor the whole cluster', async () => {
    const { org, path, staging } = place;
    const [giver, friend] = [await makePerson(atrium), await makePerson(atrium)];
    const team = await createTeam(atrium.instance, { organizationId: org.id, name: 'givers', permission: 'none' });
    await addMember(atrium.instance, team, giver.id);
    await addMember(atrium.instance, team, friend.id);
    const assigner = await place.role('assigner', 'org_mgmt assign roles');
    const to = { type: 'user', id: Number(giver.id) };
    const until = inHours(4);
    const viewer = await place.role('onlooker', 'cluster_mgmt view clusters');
    await assign(place, assigner.id, to);
    await assign(place, worker, to, prod(), { namespaces: ['team-*', 'web'], expires_at: until });
    await assign(place, worker, to, eu, { namespaces: ['set'], expires_at: until });
    const as = atrium.as(giver.name);
    const give = (more: object) => ({
      ...{ role: { id: worker }, to: { type: 'user', id: Number(friend.id) }, on: prod(), expires_at: until },
      ...more,
    });
    const refusedFor = async (assignment: object) => {
      const changes = [{ action: 'assignment.create', ...assignment }];
      const { status, body, text } = await as('POST', `/authz/preview?org=${org.name}`, { changes });
      assert.equal(status, 200, text);
      return body.refusals.map(({ reason }: { reason: string }) => reason);
    };
    for (const more of [
      { namespaces: ['team-a'] },
      { namespaces: ['team-a*'] },
      { namespaces: ['team-*', 'web'] },
      { namespaces: ['set'] },
      { on: eu, namespaces: ['set'] },
      { role: { id: viewer.id }, namespaces: ['web'] },
    ]) {
      assert.deepEqual(await refusedFor(give(more)), [], JSON.stringify(more));
      const answer = await as('POST', path, give(more));
      assert.equal(answer.status, 201, `${JSON.stringify(more)} ${answer.text}`);
      assert.equal((await place.call('DELETE', place.at(answer.body.id))).status, 204);
    }
    for (const more of [
      {},
      { role: { id: viewer.id } },
      { namespaces: ['team'] },
      { namespaces: ['tea*'] },
      { namespaces: ['t*'] },
      { namespaces: ['web*'] },
      { namespaces: ['web', 'other'] },
      { namespaces: ['team-a'], expires_at: inHours(5) },
      { namespaces: ['team-a'], expires_at: null },
      { on: eu, namespaces: ['web'] },
      { on: eu },
      { on: { type: 'cluster_set', name: 'new' }, namespaces: ['set'] },
    ]) {
      const answer = await as('POST', path, give(more));
      assert.deepEqual([answer.status, answer.body.reason], [403, 'escalation'], JSON.stringify(more));
      assert.deepEqual(await refusedFor(give(more)), ['escalation'], `a preview of ${JSON.stringify(more)}`);
    }
    await rejected(
      as,
      ['POST', path, give({ on: { type: 'cluster', id: staging.id }, namespaces: ['web'] })],
      404,
      'cluster_not_found',
    );
    const longer = await as('POST', path, give({ namespaces: ['team-a'], expires_at: inHours(2) }));
    await rejected(as, ['PATCH', place.at(longer.body.id), { expires_at: null }], 403, 'escalation');
    assert.equal((await as('PATCH', place.at(longer.body.id), { expires_at: until })).status, 200);
  });

  it('Joining a team, or moving a cluster into a set, gives what is assigned there in namespaces', async () => {
    const { org, call, operator } = place;
    const [mover, guest] = [await makePerson(atrium), await makePerson(atrium)];
    const team = await createTeam(atrium.instance, { organizationId: org.id, name: 'movers', permission: 'none' });
    await addMember(atrium.instance, team, mover.id);
    await addMember(atrium.instance, team, guest.id);
    const to = { type: 'user', id: Number(mover.id) };
    const role = await place.role(
      'mover',
      'org_mgmt assign roles',
      'org_mgmt manage team members',
      'cluster_mgmt reconfigure clusters',
    );
    await assign(place, role.id, to);
    const other = await place.cluster('other');
    await assign(place, operator.id, dan(), { type: 'cluster_set', name: 'guarded' }, { namespaces: ['web'] });
    const move = ['PATCH', `/clusters/${other.id}`, { clusterSetName: 'guarded' }] as const;
    const as = atrium.as(mover.name);
    await rejected(as, move, 403, 'escalation');
    const held = await assign(place, operator.id, to, { type: 'cluster', id: other.id }, { namespaces: ['w*'] });
    assert.equal((await as(...move)).status, 200);
    const away = { clusterSetName: '' };
    assert.equal((await call('PATCH', `/clusters/${other.id}`, away)).status, 200);
    assert.equal((await call('DELETE', place.at(held.id))).status, 204);
    await rejected(as, move, 403, 'escalation');
    const crowd = await createTeam(atrium.instance, { organizationId: org.id, name: 'crowd', permission: 'none' });
    await assign(
      place,
      operator.id,
      { type: 'team', id: Number(crowd) },
      { type: 'cluster', id: other.id },
      { namespaces: ['web'] },
    );
    const join = ['PUT', `/teams/${crowd}/members/${guest.name}`] as const;
    await rejected(as, join, 403, 'escalation');
    await assign(place, operator.id, to, { type: 'cluster', id: other.id }, { namespaces: ['web'] });
    assert.ok((await as(...join)).status < 300);
  });
});
