import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place, rejected } from '../../support/world/assignments.ts';

describe('A role on one object shows that object, and not the others', () => {
  let atrium: TestServer;
  let place: Place;
  let asDan: Call;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
    asDan = atrium.as(place.dan.name);
  });
  after(() => atrium.close());

  const names = (body: readonly { name: string }[]) => body.map(({ name }) => name);

  it('Lists, totals, searches, counts and single reads have exactly what the caller may view', async () => {
    const { org, call, role, dan, prod, staging, robot } = place;
    const contract = await call('POST', `/orgs/${org.name}/contracts`, { name: 'basic' });
    await call('POST', `/orgs/${org.name}/contracts`, { name: 'other' });
    await call('POST', `/orgs/${org.name}/robots`, { name: 'other' });
    const lists = ['clusters', 'contracts', 'robots'].map((list) => `/orgs/${org.name}/${list}`);
    for (const list of lists) await rejected(asDan, ['GET', list], 403, 'missing_relation');
    const overview = async () => (await asDan('GET', `/orgs/${org.name}/overview`)).body;
    assert.equal((await overview()).clusters, undefined);

    const viewer = await role(
      'viewer',
      'cluster_mgmt connect to clusters',
      'contract_mgmt view contracts',
      'robot_mgmt view robot accounts',
    );
    const user = { type: 'user', id: Number(dan.id) };
    const made = [
      await assign(place, viewer.id, user, { type: 'cluster', id: prod.id }),
      await assign(place, viewer.id, user, { type: 'contract', id: contract.body.id }),
      await assign(place, viewer.id, user, { type: 'robot_ac', id: robot }),
    ];
    const expected = ['prod', 'basic', 'deploy'];
    for (const [index, list] of lists.entries()) {
      const answer = await asDan('GET', list);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual([names(answer.body), answer.headers.get('x-total-count')], [[expected[index]], '1']);
    }
    const narrowed = [
      `${lists[0]}?q=prod`,
      `${lists[0]}?phase=Registered`,
      `${lists[0]}?sort=name`,
      '/user/clusters?all=true',
    ];
    for (const list of narrowed) {
      const answer = await asDan('GET', list);
      assert.deepEqual([names(answer.body), answer.headers.get('x-total-count')], [['prod'], '1'], list);
    }
    assert.deepEqual((await asDan('GET', `${lists[0]}?q=staging`)).body, []);
    assert.equal((await asDan('GET', `/clusters/${prod.id}`)).status, 200);
    await rejected(asDan, ['GET', `/clusters/${staging.id}`], 404, 'cluster_not_found');
    const found = (await asDan('GET', `/search?q=o&org=${org.name}`)).body;
    assert.deepEqual([names(found.clusters), names(found.contracts), names(found.robots)], [['prod'], [], ['deploy']]);
    const counts = await overview();
    assert.deepEqual([counts.clusters.all, counts.contracts.all, counts.robots], [1, 1, 1]);
    assert.equal(counts.teams, undefined);
    // The rules for tokens are about all robots.
    await rejected(asDan, ['GET', `/orgs/${org.name}/token_policy`], 403, 'missing_relation');

    const set = await assign(place, viewer.id, { type: 'team', id: place.crew }, { type: 'cluster_set', name: 'us' });
    assert.equal((await call('PATCH', `/clusters/${staging.id}`, { clusterSetName: 'us' })).status, 200);
    assert.deepEqual(names((await asDan('GET', lists[0] ?? '')).body), ['prod', 'staging']);
    assert.equal((await call('PATCH', `/clusters/${staging.id}`, { clusterSetName: '' })).status, 200);
    assert.deepEqual(names((await asDan('GET', lists[0] ?? '')).body), ['prod']);
    for (const { id } of [...made, set]) await call('DELETE', place.at(id));
    for (const list of lists) await rejected(asDan, ['GET', list], 403, 'missing_relation');
  });
});
