import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, clusterPermission, makeHolder } from '../../support/world/authz.ts';

const UID = '0F1E2D3C-4B5A-4697-8877-665544332211';

for (const driver of API_DRIVERS) {
  describe(`Clusters on ${driver}`, () => {
    let atrium: TestServer;
    let id: number;
    let etag: string;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const acme = () => atrium.world.orgs.acme?.id ?? assert.fail();
    const actions = async (owner = acme()) => (await auditOf(atrium.instance.db, owner)).map(({ action }) => action);

    it(`A cluster imported by an editor is visible to viewers at once on ${driver}`, async () => {
      const body = {
        name: 'edge-1',
        uid: UID,
        provider: 'K3s at home',
        endpoint: 'https://10.0.0.1:6443',
        managerID: 7,
        externalID: 'ext',
        hubClusterName: 'hub',
        hubClusterUID: 'hub-uid',
        hubClusterOwnerName: 'hub-owner',
        // A set decides who reaches the cluster, so it takes the right to assign roles.
        clusterSetName: '',
        infraNamespace: 'infra',
        project: 'apollo',
        clusterManagers: ['OCM', 'Rancher', 'OCM'],
        isMonitoringCluster: true,
        nodeCount: 2,
        // Read-only fields are ignored if they are sent.
        id: 1,
        ownerID: 1,
        status: { response: { phase: 'Active' } },
      };
      const made = await atrium.as('bob')('POST', '/orgs/acme/clusters', body);
      assert.equal(made.status, 201, made.text);
      id = made.body.id;
      etag = made.headers.get('etag') ?? assert.fail('no ETag');
      const { createdAt, age, ...rest } = made.body;
      assert.deepEqual(rest, {
        ...body,
        id,
        ownerID: Number(acme()),
        ownerName: 'acme',
        displayName: 'edge-1',
        uid: UID.toLowerCase(),
        vendor: '',
        orchestratorVersion: '',
        location: '',
        clusterManagers: ['OCM', 'Rancher'],
        heartbeatAt: '1970-01-01T00:00:00Z',
        status: { response: { phase: 'Registered', reason: '', message: '' } },
      });
      assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.match(age, /^\d+s$/);
      const { body: seen } = await atrium.as('cat')('GET', `/clusters/${id}`);
      assert.deepEqual(seen, { ...made.body, age: seen.age });
      assert.deepEqual(await allowedTo(atrium, 'cat', 'cluster', id), [
        'can_view',
        'can_connect',
        'can_view_orchestratorconfig',
      ]);
      const own = await atrium.as('cat')('GET', '/user/clusters?all=true');
      // The specification defines which fields that list has.
      const { hubClusterOwnerName, heartbeatAt, ...listed } = made.body;
      assert.deepEqual(own.body.at(-1), { ...listed, age: own.body.at(-1).age });
    });

    it(`Clusters can be listed in pages and filtered by name on ${driver}`, async () => {
      const all = await atrium.as('cat')('GET', '/orgs/acme/clusters');
      assert.deepEqual(
        all.body.map(({ name }: { name: string }) => name),
        ['prod', 'staging', 'edge-1'],
      );
      assert.equal(all.headers.get('x-total-count'), '3');
      const second = await atrium.as('cat')('GET', '/orgs/acme/clusters?limit=2&page=2');
      assert.deepEqual([second.body.length, second.headers.get('x-total-count')], [1, '3']);
      assert.match(second.headers.get('link') ?? '', /page=1>; rel="prev"/);
      const named = await atrium.as('dan')('GET', '/orgs/ACME/clusters?name=staging');
      assert.deepEqual([named.body.length, named.body[0].name], [1, 'staging']);
      assert.equal((await atrium.as('cat')('GET', '/orgs/acme/clusters?name=Staging')).text, '[]');
      assert.equal((await atrium.as('root')('GET', '/orgs/globex/clusters')).body.length, 1);
    });

    it(`Editing a cluster leaves omitted fields unchanged on ${driver}`, async () => {
      const before = (await atrium.as('bob')('GET', `/clusters/${id}`)).body;
      const edited = await atrium.as('bob')('PATCH', `/clusters/${id}`, { displayName: 'Edge', managerID: 0 });
      assert.equal(edited.status, 200, edited.text);
      assert.deepEqual(edited.body, { ...before, displayName: 'Edge', managerID: 0, age: edited.body.age });
      assert.notEqual(edited.headers.get('etag'), etag);
      // The whole resource can be sent back as it was read.
      const same = await atrium.as('bob')('PATCH', `/clusters/${id}`, edited.body);
      assert.deepEqual(same.body, { ...edited.body, age: same.body.age });
      const exact = await atrium.as('bob')('PATCH', `/clusters/${id}`, '{"managerID":9007199254740993}');
      assert.match(exact.text, /"managerID":9007199254740993,/);
      const listed = await atrium.as('bob')('GET', '/user/clusters?all=true');
      assert.match(listed.text, /"managerID":9007199254740993,/);
      assert.match((await atrium.as('bob')('GET', '/orgs/acme/clusters')).text, /"managerID":9007199254740993,/);
    });

    it(`If-Match prevents concurrent edits of a cluster from overwriting each other on ${driver}`, async () => {
      const stale = { 'If-Match': etag };
      assert.equal((await atrium.as('bob')('PATCH', `/clusters/${id}`, { project: 'x' }, stale)).status, 412);
      assert.equal((await atrium.as('bob')('DELETE', `/clusters/${id}`, undefined, stale)).status, 412);
      const fresh = (await atrium.as('bob')('GET', `/clusters/${id}`)).headers.get('etag') ?? '';
      const at = (project: string) =>
        atrium
          .as('bob')('PATCH', `/clusters/${id}`, { project }, { 'If-Match': fresh })
          .then(({ status }) => status);
      assert.deepEqual((await Promise.all([at('a'), at('b'), at('c')])).sort(), [200, 412, 412]);
    });

    it(`Concurrent imports of the same cluster create it only once on ${driver}`, async () => {
      const uid = crypto.randomUUID();
      const tries = Array.from({ length: 6 }, (_, n) =>
        atrium.as(n % 2 ? 'ann' : 'bob')('POST', '/orgs/acme/clusters', { name: `race-${n}`, uid }),
      );
      const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
      assert.deepEqual(statuses, [201, 422, 422, 422, 422, 422]);
    });

    it(`A cluster owned by a user is visible only to that user on ${driver}`, async () => {
      const made = await atrium.as('eve')('POST', '/user/clusters', { name: 'mine', uid: crypto.randomUUID() });
      assert.equal(made.status, 201, made.text);
      assert.equal(made.body.ownerName, 'eve');
      const [listed, ...others] = (await atrium.as('eve')('GET', '/user/clusters')).body;
      assert.deepEqual([listed, others], [{ ...made.body, age: listed.age }, []]);
      const path = `/clusters/${made.body.id}`;
      for (const who of ['ann', 'root']) assert.equal((await atrium.as(who)('GET', path)).status, 404, who);
      assert.equal((await atrium.as('eve')('PATCH', path, { name: 'Mine.2' })).body.name, 'Mine.2');
      assert.equal((await atrium.as('eve')('POST', `${path}/heartbeat`, {})).status, 204);
      assert.equal((await atrium.as('eve')('DELETE', path)).status, 204);
      assert.equal((await atrium.as('eve')('GET', '/user/clusters')).text, '[]');
      const own = atrium.world.users.eve?.id ?? 0n;
      assert.deepEqual(await actions(own), ['cluster.create', 'cluster.update', 'cluster.phase', 'cluster.delete']);
    });

    it(`Removing a cluster revokes all permissions on it and frees its name and UID on ${driver}`, async () => {
      const before = await allowedTo(atrium, 'ann', 'cluster', id);
      assert.ok(before.includes('can_remove'));
      assert.equal((await atrium.as('cat')('DELETE', `/clusters/${id}`)).status, 403);
      assert.equal((await atrium.as('bob')('DELETE', `/clusters/${id}`)).status, 204);
      assert.deepEqual(await allowedTo(atrium, 'ann', 'cluster', id), []);
      for (const method of ['GET', 'DELETE'])
        assert.equal((await atrium.as('ann')(method, `/clusters/${id}`)).status, 404);
      assert.equal((await atrium.as('bob')('POST', `/clusters/${id}/heartbeat`, {})).status, 404);
      const again = await atrium.as('bob')('POST', '/orgs/acme/clusters', { name: 'edge-1', uid: UID });
      assert.equal(again.status, 201, again.text);
      const entries = await auditOf(atrium.instance.db, acme());
      assert.deepEqual(brokenLinks(entries), []);
      const gone = entries.find(({ action, object_id }) => action === 'cluster.delete' && object_id === BigInt(id));
      assert.equal(gone?.actor_name, 'bob');
      assert.match(gone?.before ?? '', new RegExp(UID.toLowerCase()));
    });

    it(`Custom roles grant importing, editing and removing clusters separately on ${driver}`, async () => {
      const body = () => ({ name: `c-${crypto.randomUUID()}`, uid: crypto.randomUUID() });
      const importer = await makeHolder(atrium, [clusterPermission('import clusters')]);
      const made = await atrium.as(importer.name)('POST', '/orgs/acme/clusters', body());
      assert.equal(made.status, 201, made.text);
      const path = `/clusters/${made.body.id}`;
      const edit = await atrium.as(importer.name)('PATCH', path, { project: 'x' });
      assert.deepEqual([edit.status, edit.body.message], [403, 'missing relation edit:cluster']);
      const editor = await makeHolder(atrium, [clusterPermission('reconfigure clusters')]);
      assert.equal((await atrium.as(editor.name)('PATCH', path, { project: 'x' })).status, 200);
      const remove = await atrium.as(editor.name)('DELETE', path);
      assert.deepEqual([remove.status, remove.body.message], [403, 'missing relation remove:cluster']);
      assert.equal((await atrium.as(editor.name)('POST', '/orgs/acme/clusters', body())).status, 403);
    });
  });
}
