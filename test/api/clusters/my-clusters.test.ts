import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ageOf } from '../../../src/clusters/cluster.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { createCluster } from '../../support/world/people.ts';

for (const driver of API_DRIVERS) {
  describe(`Clusters of the caller on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const clusters = async (name: string, query = '') => {
      const { status, body } = await atrium.as(name)('GET', `/user/clusters${query}`);
      assert.equal(status, 200);
      return body;
    };
    const names = async (name: string, query = '?all=true') =>
      (await clusters(name, query)).map((one: { name: string }) => one.name);

    it(`A listed cluster has every field with the correct type on ${driver}`, async () => {
      const [laptop, ...others] = await clusters('ann');
      assert.deepEqual(others, []);
      const { uid, id } = atrium.world.clusters.laptop ?? assert.fail();
      const { createdAt, age, ...rest } = laptop;
      assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.match(age, /^\d+(s|m|h|d|mo|y)$/);
      assert.match(uid, /^[0-9a-f-]{36}$/);
      assert.deepEqual(rest, {
        id: Number(id),
        displayName: rest.displayName,
        name: 'laptop',
        uid,
        ownerID: Number(atrium.world.users.ann?.id),
        ownerName: 'ann',
        managerID: 0,
        externalID: '',
        provider: 'Generic',
        vendor: '',
        orchestratorVersion: rest.orchestratorVersion,
        nodeCount: 1,
        endpoint: '',
        location: rest.location,
        project: '',
        infraNamespace: '',
        hubClusterName: '',
        hubClusterUID: '',
        clusterSetName: '',
        clusterManagers: [],
        isMonitoringCluster: false,
        status: { response: { phase: rest.status.response.phase, reason: '', message: '' } },
      });
      for (const text of [rest.displayName, rest.orchestratorVersion, rest.location])
        assert.equal(typeof text, 'string');
      const phases = ['Active', 'Inactive', 'NotReady', 'NotConnected', 'Registered', 'NotImported', 'Lost'];
      assert.ok(phases.includes(rest.status.response.phase));
    });

    it(`Only clusters owned by the caller are listed without all=true on ${driver}`, async () => {
      for (const query of ['', '?all=', '?all=false', '?all=1', '?all=TRUE']) {
        assert.deepEqual(await names('ann', query), ['laptop'], query);
        assert.deepEqual(await names('bob', query), [], query);
      }
      assert.equal((await atrium.as('bob')('GET', '/user/clusters')).text, '[]');
    });

    it(`all=true lists the clusters that the caller may view in all organizations on ${driver}`, async () => {
      assert.deepEqual(await names('ann'), ['prod', 'staging', 'laptop']);
      for (const name of ['bob', 'cat', 'dan']) assert.deepEqual(await names(name), ['prod', 'staging'], name);
      assert.deepEqual(await names('eve'), ['globex']);
      // A site administrator is a member everywhere, but does not see what users own themselves.
      assert.deepEqual(await names('root'), ['prod', 'staging', 'globex']);
    });

    it(`The listed clusters agree with allowed-permissions on ${driver}`, async () => {
      for (const name of ['ann', 'bob', 'cat', 'dan', 'eve', 'root']) {
        const seen = new Set(await names(name));
        for (const [cluster, { id, org }] of Object.entries(atrium.world.clusters)) {
          const path = `/authz/objects/cluster/${id}/allowed-permissions?org=${org ?? 'acme'}`;
          const { body } = await atrium.as(name)('GET', path);
          assert.equal(body.allowedPermissions.includes('can_view'), seen.has(cluster), `${name} ${cluster}`);
        }
      }
    });

    it(`Revoking or restoring a role changes the listed clusters immediately on ${driver}`, async () => {
      const { roles, teams } = atrium.world.orgs.acme ?? assert.fail();
      const path = `/authz/roles/${roles['cluster-operator']}?org=acme`;
      const { body: role } = await atrium.as('ann')('GET', path);
      const change = (teamIDs: number[]) =>
        atrium.as('ann')('PUT', path, { name: role.name, permissions: role.permissions, teamIDs });
      assert.ok((await change([])).status < 300);
      assert.deepEqual(await names('dan'), []);
      assert.ok((await change([Number(teams.operators)])).status < 300);
      assert.deepEqual(await names('dan'), ['prod', 'staging']);
    });

    it(`A new cluster is listed immediately for members of its organization on ${driver}`, async () => {
      await createCluster(atrium.instance, {
        ownerId: atrium.world.orgs.acme?.id ?? 0n,
        name: 'new',
        uid: crypto.randomUUID(),
      });
      assert.deepEqual(await names('cat'), ['prod', 'staging', 'new']);
      assert.deepEqual(await names('eve'), ['globex']);
    });
  });
}

describe('Cluster age', () => {
  const [minute, hour, day] = [60, 3600, 86_400];
  const table: readonly [seconds: number, age: string][] = [
    [-5, '0s'],
    [0, '0s'],
    [59, '59s'],
    [minute, '1m'],
    [43 * minute + 59, '43m'],
    [hour - 1, '59m'],
    [hour, '1h'],
    [day - 1, '23h'],
    [day, '1d'],
    [8 * day, '8d'],
    [30 * day - 1, '29d'],
    [30 * day, '1mo'],
    [185 * day, '6mo'],
    [365 * day - 1, '12mo'],
    [365 * day, '1y'],
    [3650 * day, '10y'],
  ];
  for (const [seconds, age] of table) {
    it(`A cluster age of ${seconds} s is shown as ${age}`, () => {
      const now = new Date('2030-01-01T00:00:00Z');
      assert.equal(ageOf(new Date(now.getTime() - seconds * 1000), now), age);
    });
  }
});
