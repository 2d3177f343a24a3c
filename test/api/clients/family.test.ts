import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { giteaApi } from 'gitea-js';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const UNKNOWN = 'ffffffff-ffff-4fff-8fff-ffffffffffff';

/** What clients of this API family call beyond the specification. */
describe('Calls of the API family', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { BUS_URL: 'nats://127.0.0.1:1', BUS_WS_URL: 'ws://127.0.0.1:2' } });
  });
  after(() => atrium.close());

  const get = (name: string, path: string) => atrium.as(name)('GET', path);
  const logins = async (name: string, path: string) => {
    const { status, body, text } = await get(name, path);
    assert.equal(status, 200, text);
    return (Array.isArray(body) ? body : body.data).map(({ login }: { login: string }) => login);
  };
  const idOf = (name: string) => atrium.world.users[name]?.id ?? 0n;
  const clientOf = (name: string) =>
    giteaApi(atrium.url, { token: atrium.world.users[name]?.token ?? '', customFetch: fetch });

  describe('GET /users/search?uid=', () => {
    it('A search by ID finds that user alone, and 0 means any user', async () => {
      assert.deepEqual(await logins('ann', `/users/search?uid=${idOf('bob')}`), ['bob']);
      assert.deepEqual(await logins('ann', `/users/search?uid=${idOf('bob')}&q=BAK`), ['bob']);
      assert.deepEqual(await logins('ann', `/users/search?uid=${idOf('bob')}&q=cat`), []);
      assert.deepEqual(await logins('ann', `/users/search?uid=${idOf('bob')}&page=2`), []);
      assert.deepEqual(await logins('ann', `/users/search?uid=${2n ** 63n - 1n}`), []);
      assert.deepEqual(await logins('ann', `/users/search?uid=${atrium.world.orgs.acme?.id}`), []);
      assert.deepEqual(await logins('ann', '/users/search?uid=0&q=archer'), ['ann']);
      assert.deepEqual(await logins('ann', '/users/search?uid=&q=archer'), ['ann']);
      const { headers } = await get('ann', `/users/search?uid=${idOf('bob')}`);
      assert.equal(headers.get('x-total-count'), '1');
      const found = await clientOf('ann').users.userSearch({ uid: Number(idOf('cat')) });
      assert.deepEqual(
        found.data.data?.map(({ login, email }) => [login, email]),
        [['cat', '']],
      );
    });

    it('A search by something that is not an ID is rejected', async () => {
      for (const uid of ['-1', '1.5', 'bob', '9223372036854775808', '00000000000000000000001']) {
        const { status, body } = await get('ann', `/users/search?uid=${uid}`);
        assert.deepEqual([status, body.message], [400, `invalid user ID: "${uid}"`]);
      }
      assert.equal((await atrium.as()('GET', '/users/search?uid=1')).status, 401);
    });
  });

  describe('Followers of others', () => {
    it('Everybody can page through the followers of a user, but sees no addresses', async () => {
      const page = await get('ann', '/users/ROOT/followers?page=2&limit=20');
      assert.deepEqual([page.status, page.headers.get('x-total-count'), page.body[0].login], [200, '45', 'fan25']);
      assert.match(page.headers.get('link') ?? '', /users\/ROOT\/followers\?page=3&limit=20>; rel="next"/);
      assert.ok(page.body.every(({ email }: { email: string }) => email === ''));
      assert.deepEqual(await logins('cat', '/users/ann/following'), ['bob']);
      assert.deepEqual(await logins('cat', '/users/ann/followers'), ['bob']);
      assert.deepEqual(await logins('cat', '/users/cat/followers'), []);
      const { data } = await clientOf('cat').users.userListFollowers('root', { limit: 50 });
      assert.equal(data.length, 45);
    });

    it('The user in question and site administrators see addresses, as in the own list', async () => {
      const own = (await get('ann', '/user/followers')).body;
      assert.equal(own[0].email, 'bob@example.com');
      assert.deepEqual((await get('ann', '/users/Ann/followers')).body, own);
      assert.deepEqual((await get('root', '/users/ann/followers')).body, own);
      // Bob sees his own address, wherever he looks.
      assert.equal((await get('bob', '/users/ann/followers')).body[0].email, 'bob@example.com');
    });

    it('Whether one user follows another is 204 or 404', async () => {
      const status = async (path: string) => (await get('cat', path)).status;
      assert.equal(await status('/users/ann/following/BOB'), 204);
      assert.equal(await status('/users/ann/following/cat'), 404);
      assert.equal(await status('/users/ann/following/nobody'), 404);
      assert.equal(await status('/users/nobody/following/ann'), 404);
    });

    it('The lists of an unknown user or of an organization are 404, and without a token 401', async () => {
      for (const list of ['followers', 'following', 'orgs']) {
        for (const name of ['nobody', 'acme']) {
          const { status, body } = await get('ann', `/users/${name}/${list}`);
          assert.deepEqual([status, body.reason], [404, 'user_not_found'], `${name} ${list}`);
        }
        assert.equal((await atrium.as()('GET', `/users/ann/${list}`)).status, 401);
      }
    });
  });

  describe('Organizations of others', () => {
    const names = async (caller: string, name: string) => {
      const { status, body, headers, text } = await get(caller, `/users/${name}/orgs`);
      assert.equal(status, 200, text);
      assert.equal(headers.get('x-total-count'), String(body.length));
      return body.map(({ username }: { username: string }) => username);
    };

    it('A list has the organizations in which the caller may see the members', async () => {
      assert.deepEqual(await names('ann', 'ann'), ['acme']);
      assert.deepEqual(await names('bob', 'ANN'), ['acme']);
      assert.deepEqual(await names('eve', 'ann'), []);
      assert.deepEqual(await names('ann', 'eve'), []);
      assert.deepEqual(await names('root', 'eve'), ['globex']);
      // Dan is in acme, but only as an operator of its clusters.
      assert.equal((await get('dan', '/orgs/acme/members')).status, 403);
      assert.deepEqual(await names('dan', 'dan'), ['acme']);
      assert.deepEqual(await names('dan', 'ann'), []);
      const { data } = await clientOf('bob').users.orgListUserOrgs('ann');
      assert.deepEqual(
        data.map(({ name }) => name),
        ['acme'],
      );
    });

    it('Public members are those that the caller may see anyway, and the check answers 204 or 404', async () => {
      const members = ['ann', 'bob', 'cat', 'dan'];
      assert.deepEqual(await logins('cat', '/orgs/acme/public_members'), members);
      assert.deepEqual(await logins('cat', '/orgs/ACME/public_members?limit=2&page=2'), ['cat', 'dan']);
      assert.deepEqual(await logins('root', '/orgs/acme/public_members'), members);
      const status = async (caller: string, path: string) => (await get(caller, path)).status;
      assert.equal(await status('cat', '/orgs/acme/public_members/Ann'), 204);
      assert.equal(await status('cat', '/orgs/acme/public_members/eve'), 404);
      assert.equal(await status('cat', '/orgs/acme/public_members/nobody'), 404);
      for (const path of ['/orgs/acme/public_members', '/orgs/acme/public_members/ann']) {
        assert.equal(await status('eve', path), 404, path);
        assert.equal(await status('dan', path), 403, path);
        assert.equal((await atrium.as()('GET', path)).status, 401, path);
      }
      assert.equal((await atrium.as('ann')('PUT', '/orgs/acme/public_members/ann')).status, 405);
      assert.equal((await clientOf('ann').orgs.orgListPublicMembers('acme')).data.length, 4);
    });
  });

  describe('GET /user/nats/credentials', () => {
    it('Bus credentials are also under the name that older clients use, with natsEndpoints', async () => {
      const { status, body } = await get('ann', '/user/nats/credentials');
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['natsEndpoints', 'busEndpoints', 'credentials']);
      assert.deepEqual(body.natsEndpoints, ['nats://127.0.0.1:1', 'ws://127.0.0.1:2']);
      assert.deepEqual(body.busEndpoints, body.natsEndpoints);
      assert.match(Buffer.from(body.credentials, 'base64').toString(), /BEGIN NATS USER JWT/);
      assert.equal((await atrium.as()('GET', '/user/nats/credentials')).status, 401);
    });
  });

  describe('Clusters under /clustersv2', () => {
    const namesIn = ({ items }: { items: { spec: { name: string } }[] }) => items.map(({ spec }) => spec.name);

    it('The clusters of an owner are those that the caller may view', async () => {
      const names = async (caller: string, path: string) => {
        const { status, body, headers } = await get(caller, `/clustersv2/${path}`);
        assert.deepEqual([status, headers.get('x-total-count')], [200, String(body.items.length)]);
        return namesIn(body);
      };
      assert.deepEqual(await names('dan', 'acme'), ['prod', 'staging']);
      assert.deepEqual(await names('root', 'Acme'), ['prod', 'staging']);
      assert.deepEqual(await names('ann', 'ANN'), ['laptop']);
      assert.deepEqual(await names('bob', 'bob'), []);
      assert.equal((await get('bob', '/clustersv2/bob')).text, '{"items":[]}');
      const { provider } = (await get('ann', '/clustersv2/acme/prod')).body;
      assert.ok((await names('ann', `acme?provider=${provider.toLowerCase()}`)).includes('prod'));
      assert.deepEqual(await names('ann', 'acme?provider=nothing'), []);
      const second = await get('ann', '/clustersv2/acme?page=2&limit=1');
      assert.deepEqual(namesIn(second.body), ['staging']);
      assert.equal(second.headers.get('x-total-count'), '2');
    });

    it('A cluster has the fields of the own list, and kubernetesVersion', async () => {
      const own = (await get('ann', '/user/clusters?all=true&name=prod')).body[0];
      const answers = await Promise.all(['', '/status'].map((end) => get('ann', `/clustersv2/acme/prod${end}`)));
      for (const { status, body } of answers) {
        assert.equal(status, 200);
        const { kubernetesVersion, heartbeatAt, hubClusterOwnerName, metadata, spec, status: state, ...rest } = body;
        assert.deepEqual({ ...rest, status: { response: state.response } }, { ...own, age: rest.age });
        assert.deepEqual([kubernetesVersion, hubClusterOwnerName], [own.orchestratorVersion, '']);
      }
    });

    it('A cluster also has metadata, spec and status, alone and in a list', async () => {
      const cluster = (await get('ann', '/clustersv2/acme/prod')).body;
      const { metadata, spec, status } = cluster;
      const { name, uid, createdAt } = cluster;
      assert.deepEqual(metadata, { name, uid, creationTimestamp: createdAt });
      for (const field of Object.keys(spec)) if (field !== 'createdAt') assert.deepEqual(spec[field], cluster[field]);
      assert.deepEqual([spec.name, spec.uid, spec.ownerName], ['prod', uid, 'acme']);
      // Clients read it as a number of seconds.
      assert.equal(spec.createdAt, Date.parse(createdAt) / 1000);
      assert.equal(spec.kubernetesVersion, cluster.orchestratorVersion);
      const { phase, reason, message } = status.response;
      const { clusterManagers, heartbeatAt } = cluster;
      assert.deepEqual(status, { phase, reason, message, clusterManagers, heartbeatAt, response: status.response });
      assert.notEqual(phase, '');
      const [listed] = (await get('ann', '/clustersv2/acme')).body.items;
      assert.deepEqual(listed, { metadata, spec: { ...spec, age: listed.spec.age }, status });
    });

    it('Calls that would install or remove software are errors, with a reason', async () => {
      for (const [method, path, status] of [
        ['POST', 'import', 405],
        ['POST', 'prod/connect', 404],
        ['POST', 'prod/reconfigure', 404],
        ['POST', 'prod/remove', 404],
        ['GET', 'prod/client-config', 404],
        ['DELETE', 'prod', 405],
      ] as const) {
        const answer = await atrium.as('ann')(method, `/clustersv2/acme/${path}`, method === 'POST' ? {} : undefined);
        assert.equal(answer.status, status, path);
        assert.deepEqual(
          [answer.body.reason, answer.body.message !== ''],
          [status === 405 ? 'method_not_allowed' : 'route_not_found', true],
        );
      }
    });

    it('Whether a cluster exists is answered for the caller', async () => {
      const exist = async (caller: string, path: string) => (await get(caller, `/clustersv2/${path}/exist`)).body;
      assert.deepEqual(await exist('dan', 'acme/prod'), { exist: true });
      assert.deepEqual(await exist('dan', 'acme/laptop'), { exist: false });
      assert.deepEqual(await exist('dan', 'acme/globex'), { exist: false });
    });

    it('A check finds a cluster by UID before its name, and calls one that is not there NotImported', async () => {
      const check = async (body: unknown) => (await atrium.as('ann')('POST', '/clustersv2/acme/check', body)).body;
      const { uid } = atrium.world.clusters.prod ?? assert.fail();
      assert.equal((await check({ basicInfo: { name: 'staging', clusterUID: uid.toUpperCase() } })).name, 'prod');
      assert.equal((await check({ basicInfo: { name: 'staging' } })).name, 'staging');
      assert.equal((await check({ basicInfo: { name: 'staging' } })).spec.name, 'staging');
      for (const basicInfo of [{ name: 'other' }, { name: 'prod', clusterUID: UNKNOWN }, {}, null]) {
        const { status, spec, id, uid: asked } = await check({ basicInfo, provider: { name: 'eks' } });
        assert.deepEqual([status.response.phase, id, asked], ['NotImported', 0, basicInfo?.clusterUID ?? '']);
        const { phase, reason } = status;
        assert.deepEqual(
          [phase, reason, spec.name],
          ['NotImported', 'ClusterNotFound', (basicInfo && 'name' in basicInfo && basicInfo.name) || ''],
        );
      }
    });

    it('Owners that the caller may not see, and unknown clusters, do not exist', async () => {
      const { laptop, globex } = atrium.world.clusters;
      for (const [caller, path, reason] of [
        ['eve', '/clustersv2/acme', 'organization_not_found'],
        ['ann', '/clustersv2/globex', 'organization_not_found'],
        ['ann', '/clustersv2/nobody', 'organization_not_found'],
        ['bob', '/clustersv2/ann', 'organization_not_found'],
        ['root', '/clustersv2/ann', 'organization_not_found'],
        ['eve', '/clustersv2/acme/prod', 'organization_not_found'],
        ['eve', '/clustersv2/acme/prod/exist', 'organization_not_found'],
        ['ann', '/clustersv2/acme/nothing', 'cluster_not_found'],
        ['ann', '/clustersv2/acme/laptop/status', 'cluster_not_found'],
      ] as const) {
        const { status, body } = await get(caller, path);
        assert.deepEqual([status, body.reason], [404, reason], `${caller} ${path}`);
      }
      for (const uid of [laptop?.uid, globex?.uid]) {
        const { body } = await atrium.as('ann')('POST', '/clustersv2/acme/check', { basicInfo: { clusterUID: uid } });
        assert.equal(body.status.response.phase, 'NotImported');
      }
      const stranger = await atrium.as('eve')('POST', '/clustersv2/acme/check', { basicInfo: { name: 'prod' } });
      assert.equal(stranger.status, 404);
      assert.equal((await atrium.as('ann')('POST', '/clustersv2/acme/check', { basicInfo: 'prod' })).status, 422);
      assert.equal((await atrium.as()('GET', '/clustersv2/acme')).status, 401);
      assert.equal((await atrium.as('ann')('POST', '/clustersv2/acme')).status, 405);
    });
  });
});
