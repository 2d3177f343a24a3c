import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { itLong } from '../../support/checks/long.ts';
import { until } from '../../support/checks/until.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { checksIn, startFakeOpenFga } from '../../support/services/fake-openfga.ts';
import { makeHolder } from '../../support/world/authz.ts';
import { createCluster } from '../../support/world/people.ts';

const OBJECTS = 300;
const BATCHES = 4;
/** A call with as many checks is one of several. */
const FULL_CALL = 48;
const EDIT = { namespace: 'cluster_mgmt', action: 'reconfigure clusters' };
const isCheck = (path: string) => path.endsWith('/batch-check');

describe('Batches of questions to an OpenFGA server', () => {
  let fga: Awaited<ReturnType<typeof startFakeOpenFga>>;
  let atrium: TestServer;
  let holder: Awaited<ReturnType<typeof makeHolder>>;
  before(async () => {
    fga = await startFakeOpenFga();
    atrium = await openTestServer({ env: { OPENFGA_URL: fga.url, RATE_LIMIT: '0' } });
    holder = await makeHolder(atrium, [EDIT]);
  });
  afterEach(() => {
    fga.state.meddle = undefined;
  });
  after(async () => {
    await atrium.close();
    await fga.close();
  });

  const batch = (who: string, objects: readonly { objectType: string; objectID: number }[]) =>
    atrium.as(who)('POST', '/authz/objects/allowed-permissions?org=acme', objects);
  const setRole = (permissions: readonly object[]) =>
    atrium.as('ann')('PUT', `/authz/roles/${holder.roleId}?org=acme`, { permissions, teamIDs: [holder.teamId] });

  /** So many kinds of objects that one call is not enough. */
  const everything = () => {
    const { orgs, clusters } = atrium.world;
    const teams = Object.values(orgs.acme?.teams ?? {});
    const of = (objectType: string, ids: readonly bigint[]) => ids.map((id) => ({ objectType, objectID: Number(id) }));
    return [
      ...of('organization', [orgs.acme?.id ?? 0n]),
      ...of('team', [...teams, BigInt(holder.teamId)]),
      ...of('cluster', [clusters.prod?.id ?? 0n, 1n]),
      ...['contract', 'robot_ac', 'token'].flatMap((type) => of(type, [1n, 2n, 3n])),
    ];
  };

  it('The server decides about namespaces, alone and among other questions', async () => {
    const prod = Number(atrium.world.clusters.prod?.id);
    const made = await atrium.as('ann')('POST', '/authz/assignments?org=acme', {
      role: { name: 'cluster-operator' },
      to: { type: 'user', name: 'dan' },
      on: { type: 'cluster', id: prod },
      namespaces: ['web', 'shop-*'],
    });
    assert.equal(made.status, 201, made.text);
    const teams = await atrium.as('ann')('GET', '/authz/roles?org=acme');
    const operator = teams.body.find(({ name }: { name: string }) => name === 'cluster-operator');
    const { name, permissions } = operator;
    const without = { name, permissions, teamIDs: [] };
    assert.equal((await atrium.as('ann')('PUT', `/authz/roles/${operator.id}?org=acme`, without)).status, 200);
    const namespaces = [undefined, 'web', 'shop-eu', 'other'];
    const expected = [['can_view'], ['can_view', 'can_connect'], ['can_view', 'can_connect'], []];
    const objects = namespaces.map((namespace) => ({
      ...{ objectType: 'cluster', objectID: prod },
      ...(namespace && { namespace }),
    }));
    const held = (await batch('dan', objects)).body;
    assert.deepEqual(
      held.map(({ allowedPermissions }: { allowedPermissions: string[] }) => allowedPermissions),
      expected,
    );
    for (const [place, namespace] of namespaces.entries()) {
      const query = `org=acme${namespace === undefined ? '' : `&namespace=${namespace}`}`;
      const path = `/authz/objects/cluster/${prod}/allowed-permissions?${query}`;
      assert.deepEqual((await atrium.as('dan')('GET', path)).body.allowedPermissions, expected[place], namespace);
    }
    const back = { ...without, teamIDs: operator.teamIDs };
    assert.equal((await atrium.as('ann')('PUT', `/authz/roles/${operator.id}?org=acme`, back)).status, 200);
    assert.equal((await atrium.as('ann')('DELETE', `/authz/assignments/${made.body.id}?org=acme`)).status, 204);
  });

  it(`${OBJECTS} clusters of an organization take one call, and each has its own answer`, async () => {
    const ownerId = atrium.world.orgs.acme?.id ?? 0n;
    const ids: bigint[] = [];
    for (let count = 0; count < OBJECTS; count++) {
      ids.push(await createCluster(atrium.instance, { ownerId, name: `c${count}`, uid: crypto.randomUUID() }));
    }
    const own = await createCluster(atrium.instance, { ownerId: holder.id, name: 'own', uid: crypto.randomUUID() });
    const foreign = atrium.world.clusters.globex?.id ?? 0n;
    await atrium.instance.features.openFga?.sync(false);
    let calls = 0;
    fga.state.meddle = ({ path, proceed }) => {
      if (isCheck(path)) calls += 1;
      proceed();
    };
    const asked = [...ids, own, foreign].map((id) => ({ objectType: 'cluster', objectID: Number(id) }));
    const answer = await batch(holder.name, asked);
    assert.equal(answer.status, 200, answer.text);
    const held = answer.body.map((one: { allowedPermissions: string[] }) => one.allowedPermissions.join());
    assert.deepEqual(new Set(held.slice(0, OBJECTS)), new Set(['can_view,can_edit']));
    assert.ok(held[OBJECTS].includes('can_remove'), 'their own');
    assert.equal(held[OBJECTS + 1], '', 'that of another organization');
    // One of these is about the organization of the request.
    assert.ok(calls <= 2, `${calls} calls`);
  });

  itLong(
    'A role write is not rejected while batches wait for a slow server, and the batches are answered',
    async () => {
      const kept: (() => void)[] = [];
      let isSlow = true;
      let underWay = 0;
      let most = 0;
      fga.state.meddle = ({ path, body, proceed }) => {
        if (!isCheck(path) || checksIn(body).length < FULL_CALL) return proceed();
        underWay += 1;
        most = Math.max(most, underWay);
        const go = () => {
          underWay -= 1;
          proceed();
        };
        if (isSlow) kept.push(go);
        else go();
      };
      const batches = Array.from({ length: BATCHES }, () => batch('ann', everything()));
      await until(() => kept.length >= BATCHES);
      for (const permissions of [[], [EDIT]]) assert.equal((await setRole(permissions)).status, 200);
      isSlow = false;
      for (const go of kept) go();
      for (const held of await Promise.all(batches)) {
        // On a slow machine, the writes may take longer than a call waits.
        const answer = held.status === 503 ? await batch('ann', everything()) : held;
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.body.length, everything().length);
      }
      assert.equal(most, BATCHES, 'calls under way for all batches together');
    },
  );

  itLong('A batch that meets a write again and again does not keep the next write waiting', async () => {
    const before = fga.state.calls;
    let writes = 0;
    fga.state.meddle = ({ path, body, proceed }) => {
      if (!isCheck(path) || checksIn(body).length < FULL_CALL || writes >= 3) return proceed();
      writes += 1;
      // The call of the batch is answered only once the write, which asks the same server, is done.
      void setRole(writes % 2 === 0 ? [EDIT] : []).then(({ status }) => {
        assert.equal(status, 200);
        proceed();
      });
    };
    const answer = await batch('ann', everything());
    assert.deepEqual([answer.status, answer.body.length], [200, everything().length], answer.text);
    assert.ok(writes > 0 && fga.state.calls > before);
  });
});
