import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import {
  accessReview,
  type KubePlace,
  kubeToken,
  openKubePlace,
  path,
  resource,
  sar,
  tokenOf,
} from '../../support/services/kubernetes.ts';
import { assign } from '../../support/world/assignments.ts';
import { addMember, makePerson } from '../../support/world/people.ts';
import { makeRobot } from '../../support/world/robots.ts';

describe('POST /clusters/{id}/access-review', () => {
  let atrium: TestServer;
  let place: KubePlace;
  const dan = () => ({ type: 'user', id: Number(place.dan.id) });
  const prod = () => ({ type: 'cluster', id: place.prod.id });
  const ask = (user: string, spec: object) => accessReview(place, { user, ...spec });
  const may = async (user: string, spec: object) => (await ask(user, spec)).allowed;
  before(async () => {
    atrium = await openTestServer();
    place = await openKubePlace(atrium);
  });
  after(() => atrium.close());

  async function withRole<T>(permissions: string[], work: () => Promise<T>, more: object = {}): Promise<T> {
    const role = await place.role(`r${Math.random()}`.slice(0, 20), ...permissions.map((one) => `cluster_mgmt ${one}`));
    const made = await assign(place, role.id, dan(), prod(), more);
    try {
      return await work();
    } finally {
      assert.equal((await place.call('DELETE', place.at(made.id))).status, 204);
    }
  }

  it('A member without any right gets a no with the sentence of explain, and the next request after a grant a yes', async () => {
    const { name } = place.dan;
    const get = resource('list', 'pods@shop');
    const no = await ask(name, get);
    assert.equal(no.allowed, false);
    assert.equal('denied' in no, false);
    const query = `org=${place.org.name}&relation=can_view&namespace=shop`;
    const { body } = await atrium.as(name)('GET', `/authz/objects/cluster/${place.prod.id}/explain?${query}`);
    assert.equal(no.reason, body.sentence);
    await withRole(['view clusters'], async () => {
      assert.deepEqual(await ask(name, get), { allowed: true });
      assert.equal((await ask(name, resource('delete', 'pods@shop'))).allowed, false);
    });
    assert.equal(await may(name, get), false);
  });

  it('A no about a cluster that the user sees ends with the command that asks for it, unless no rule allows it', async () => {
    const { name } = place.dan;
    const rules = `/orgs/${place.org.name}/request_rules`;
    const command = 'atrium request edit cluster:prod --namespace shop --for 4h --because …';
    await withRole(['view clusters'], async () => {
      const no = await ask(name, resource('delete', 'pods@shop'));
      assert.deepEqual(no.reason?.split('\n').slice(1), [command]);
      assert.match(no.reason ?? '', new RegExp(`^${name} cannot edit prod in the namespace shop`));
      assert.equal((await place.call('PUT', rules, [{ name: 'none', match: {}, allow: false }])).status, 200);
      assert.doesNotMatch((await ask(name, resource('delete', 'pods@shop'))).reason ?? '', /\n|atrium request/);
      assert.equal((await place.call('PUT', rules, [])).status, 200);
    });
  });

  it('Each relation allows what the table says, and no more (K24 to K33)', async () => {
    const cases: [string, object][] = [
      ['view', resource('get', 'pods@shop')],
      ['view', resource('list', 'deployments.apps')],
      ['view', resource('get', 'deployments.apps/scale@shop')],
      ['view', resource('get', 'pods/status@shop')],
      ['view', resource('get', 'nodes')],
      ['view', resource('get', 'nodes/status')],
      ['view', resource('list', 'namespaces')],
      ['view', resource('get', 'namespaces@shop', { name: 'shop' })],
      ['view', resource('list', 'clusterroles.rbac.authorization.k8s.io')],
      ['view', resource('get', 'pods@kube-system')],
      ['view', resource('create', 'selfsubjectaccessreviews.authorization.k8s.io')],
      ['view', resource('create', 'selfsubjectreviews.authentication.k8s.io')],
      // Only read in these groups, whatever a resource there is called.
      ['administer', resource('delete', 'secrets.rbac.authorization.k8s.io@shop')],
      ['view', path('get', '/version')],
      ['view', path('get', '/apis/apps/v1')],
      ['view', path('head', '/openapi/v3')],
      ['view', path('get', '/livez/ping')],
      ['connect', resource('get', 'pods/log@shop')],
      ['connect', resource('create', 'pods/exec@shop')],
      ['connect', resource('get', 'pods/exec@shop')],
      ['connect', resource('create', 'pods/attach@shop')],
      ['connect', resource('create', 'pods/portforward@shop')],
      ['connect', resource('update', 'services/proxy@shop')],
      ['edit', resource('get', 'secrets@shop')],
      ['edit', resource('list', 'secrets')],
      ['edit', resource('get', 'secrets/status@shop')],
      ['edit', resource('list', 'secrets.example.com@shop')],
      ['edit', resource('create', 'pods@shop')],
      ['edit', resource('deletecollection', 'widgets.example.com@shop')],
      ['edit', resource('update', 'deployments.apps/status@shop')],
      ['edit', resource('get', 'pods/proxy@shop')],
      ['edit', resource('create', 'pods/eviction@shop')],
      ['edit', resource('patch', 'pods/ephemeralcontainers@shop')],
      ['edit', resource('delete', 'pods/exec@shop')],
      ['administer', resource('create', 'pods@kube-system')],
      ['administer', resource('create', 'pods/exec@kube-system')],
      ['administer', resource('get', 'pods/log@kube-public')],
      ['administer', resource('get', 'secrets@kube-node-lease')],
      ['administer', resource('create', 'pods@atrium-system')],
      ['administer', resource('delete', 'namespaces@shop', { name: 'shop' })],
      ['administer', resource('patch', 'namespaces@kube-system', { name: 'kube-system' })],
      ['administer', resource('create', 'serviceaccounts/token@shop')],
      ['administer', resource('create', 'bindings@shop')],
      ['administer', resource('create', 'pods/binding@shop')],
      ['administer', resource('create', 'rolebindings.rbac.authorization.k8s.io@shop')],
      ['administer', resource('update', 'validatingwebhookconfigurations.admissionregistration.k8s.io')],
      ['administer', resource('create', 'customresourcedefinitions.apiextensions.k8s.io')],
      ['administer', resource('delete', 'nodes')],
      ['administer', resource('get', 'nodes/proxy')],
      ['administer', resource('create', 'clusterissuers.cert-manager.io')],
      ['administer', resource('impersonate', 'users')],
      ['administer', resource('bind', 'clusterroles.rbac.authorization.k8s.io')],
      ['administer', resource('use', 'podsecuritypolicies.policy@shop')],
      ['administer', resource('get', 'pods/unknown@shop')],
      ['administer', resource('get', 'widgets.example.com/exec@shop')],
      ['administer', resource('*', 'pods@shop')],
      ['administer', resource('get', '*@shop')],
      ['administer', resource('get', 'pods.*@shop')],
      ['administer', resource('', 'pods@shop')],
      ['administer', path('get', '/metrics')],
      ['administer', path('get', '/apix')],
      ['administer', path('get', '/logs')],
      ['administer', path('post', '/api')],
      ['administer', path('get', '/api/../metrics')],
      ['administer', path('get', '/api//v1')],
      ['administer', path('get', '/api/%2e%2e/metrics')],
      ['administer', path('get', '/.well-known/openid-configuration')],
    ];
    const levels = ['view', 'connect', 'edit', 'administer'];
    const actions = ['view clusters', 'connect to clusters', 'reconfigure clusters', 'administer clusters'];
    for (const [level, action] of actions.entries()) {
      await withRole([action], async () => {
        for (const [needed, spec] of cases) {
          const expected = level >= levels.indexOf(needed);
          assert.equal(await may(place.dan.name, spec), expected, `${action}: ${JSON.stringify(spec)}`);
        }
      });
    }
    for (const [, spec] of cases) assert.equal(await may(place.owner.name, spec), true, JSON.stringify(spec));
    for (const [, spec] of cases) assert.equal(await may(place.dan.name, spec), false, JSON.stringify(spec));
  });

  it('A role in namespaces counts there only, and gives discovery and the namespaces themselves (K23, K34)', async () => {
    const namespaces = ['web', 'shop-*'];
    const { name } = place.dan;
    const yes = [
      resource('list', 'pods@web'),
      resource('get', 'pods@shop-eu'),
      resource('get', 'namespaces@web', { name: 'web' }),
      resource('get', 'namespaces', { name: 'shop-eu' }),
      resource('create', 'selfsubjectrulesreviews.authorization.k8s.io'),
      path('get', '/api'),
    ];
    const no = [
      resource('list', 'pods'),
      resource('list', 'pods@other'),
      resource('list', 'namespaces'),
      resource('get', 'namespaces@other', { name: 'other' }),
      resource('get', 'nodes'),
      resource('list', 'secrets'),
    ];
    await withRole(
      ['view clusters'],
      async () => {
        for (const spec of yes) assert.equal(await may(name, spec), true, JSON.stringify(spec));
        for (const spec of no) assert.equal(await may(name, spec), false, JSON.stringify(spec));
        const { reason } = await ask(name, resource('list', 'pods'));
        assert.equal(reason, `${name} can view only some namespaces of prod`);
      },
      { namespaces },
    );
    await withRole(
      ['administer clusters'],
      async () => {
        const inside = [
          resource('create', 'rolebindings.rbac.authorization.k8s.io@web'),
          resource('bind', 'roles.rbac.authorization.k8s.io@web'),
          resource('get', 'secrets@web'),
          resource('frobnicate', 'pods@web'),
        ];
        const outside = [
          resource('impersonate', 'serviceaccounts@web'),
          resource('delete', 'namespaces@web', { name: 'web' }),
          resource('get', 'secrets@other'),
          resource('list', 'secrets'),
          path('get', '/metrics'),
        ];
        for (const spec of [...inside, ...yes]) assert.equal(await may(name, spec), true, JSON.stringify(spec));
        for (const spec of [...outside, ...no]) assert.equal(await may(name, spec), false, JSON.stringify(spec));
      },
      { namespaces },
    );
  });

  it('About users that it does not know there, and those of Kubernetes, there is no opinion (K20 to K22)', async () => {
    const { owner, robotAccount } = place;
    const stranger = await makePerson(atrium);
    const unknown = ['system:admin', 'system:anonymous', 'nobody', stranger.name, owner.name.toUpperCase()];
    const others = [
      String(owner.id),
      `${owner.name}@example.com`,
      'acme/deploy',
      `${place.org.name}/none`,
      '/',
      'a/b/c',
    ];
    for (const user of [...unknown, ...others, 'x'.repeat(1000)]) {
      assert.deepEqual(await ask(user, resource('get', 'pods@shop')), { allowed: false }, user);
    }
    const get = resource('get', 'pods@shop');
    assert.deepEqual(await ask(owner.name, { ...get, uid: 'user:999999' }), { allowed: false });
    assert.deepEqual(await ask(owner.name, { ...get, uid: `user:${owner.id}` }), { allowed: true });
    assert.deepEqual(await ask(owner.name, { ...get, groups: ['system:masters'] }), { allowed: true });
    assert.equal((await ask(place.dan.name, { ...get, groups: ['system:masters'] })).allowed, false);
    const robot = await ask(`${place.org.name}/kube-prod`, { ...get, uid: `robot_ac:${robotAccount.id}` });
    assert.equal(robot.allowed, false);
    assert.match(robot.reason ?? '', /cannot view/);
  });

  it('A site administrator counts as a member with what memberships and assignments give (K37)', async () => {
    const admin = await makePerson(atrium, { isAdmin: true });
    const get = resource('get', 'pods@shop');
    const no = await ask(admin.name, get);
    assert.equal(no.allowed, false);
    assert.match(no.reason ?? '', /site administrator/);
    await addMember(atrium.instance, BigInt(place.org.team('Viewers')), admin.id);
    assert.equal(await may(admin.name, get), true);
    assert.equal(await may(admin.name, resource('create', 'pods/exec@shop')), true);
    assert.equal(await may(admin.name, resource('create', 'pods@shop')), false);
  });

  it('The credential of the request narrows the answer, and one that has ended denies (K2)', async () => {
    const { owner } = place;
    const get = resource('get', 'pods@shop');
    const as = (id: string | number | bigint) => ({ ...get, extra: { 'atrium/token-id': [String(id)] } });
    const whole = await tokenOf(atrium, owner.name, { scopes: ['all'] });
    assert.deepEqual(await ask(owner.name, as(whole.id)), { allowed: true });
    const kube = await tokenOf(atrium, owner.name, { scopes: ['kube'] });
    assert.deepEqual(await ask(owner.name, as(kube.id)), { allowed: true });
    const narrow = [
      await tokenOf(atrium, owner.name, { scopes: ['read:user'] }),
      await tokenOf(atrium, owner.name, { scopes: ['all', 'public-only'] }),
      await tokenOf(atrium, owner.name, { scopes: ['all'], objects: [place.staging.id], ownerId: place.org.id }),
    ];
    for (const { id } of narrow) {
      const answer = await ask(owner.name, as(id));
      assert.deepEqual([answer.allowed, answer.denied], [false, undefined]);
      assert.match(answer.reason ?? '', /not for this cluster/);
    }
    await atrium.instance.identity.tokens.revoke(kube.id);
    for (const dead of [kube.id, 99999999, 'nonsense', '']) {
      const answer = await ask(owner.name, as(dead));
      assert.deepEqual([answer.allowed, answer.denied], [false, true], String(dead));
    }
    // Of another user.
    assert.equal((await ask(place.dan.name, as(whole.id))).denied, true);
  });

  it('Questions that are not exactly one about a user are rejected, and unknown members ignored (K12, K38, K61)', async () => {
    const { api, prod: cluster, owner } = place;
    const at = `/clusters/${cluster.id}/access-review`;
    const get = resource('get', 'pods@shop');
    const wrong: [string, unknown][] = [
      ['no user', sar(get)],
      ['an empty user', sar({ user: '', ...get })],
      ['neither', sar({ user: owner.name })],
      ['both', sar({ user: owner.name, ...get, ...path('get', '/api') })],
      ['another kind', { ...sar({ user: owner.name, ...get }), kind: 'TokenReview' }],
      ['another version', { ...sar({ user: owner.name, ...get }), apiVersion: 'authorization.k8s.io/v1beta1' }],
      ['no spec', { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' }],
      ['a number as user', sar({ user: 5, ...get })],
      ['a list', []],
    ];
    for (const [what, body] of wrong) assert.equal((await api('POST', at, body)).status, 422, what);
    const more = { metadata: { creationTimestamp: null }, status: { allowed: false }, extra: 1 };
    const fine = { ...sar({ user: owner.name, ...get, nonResourceAttributes: null, groups: null }), ...more };
    const answer = await api('POST', `${at}?timeout=30s`, fine);
    assert.deepEqual([answer.status, answer.body?.status], [200, { allowed: true }]);
    const core = await ask(owner.name, { resourceAttributes: { verb: 'list', resource: 'pods', version: '*' } });
    assert.deepEqual(core, { allowed: true });
  });

  it('Only robots that hold can_review on the cluster may ask, and others learn nothing of it (K36, K50 to K52)', async () => {
    const { call, api, prod: cluster, staging, org, owner } = place;
    const at = (id: number, what = 'access-review') => `/clusters/${id}/${what}`;
    const body = sar({ user: owner.name, ...resource('get', 'pods@shop') });
    const expect = async (as: typeof call, id: number, status: number, reason: string) => {
      const answer = await as('POST', at(id), body);
      assert.deepEqual([answer.status, answer.body?.reason], [status, reason], answer.text);
    };
    await expect(atrium.as(), cluster.id, 401, 'unauthenticated');
    await expect(call, cluster.id, 403, 'not_for_people');
    await expect(atrium.as('ann'), cluster.id, 403, 'not_for_people');
    await expect(call, 99999999, 403, 'not_for_people');
    const deploy = await makeRobot(atrium, 'other', { org: org.name, owner: owner.name });
    await expect(deploy.call, cluster.id, 404, 'cluster_not_found');
    const viewer = await place.role('just-view', 'cluster_mgmt view clusters');
    await assign(place, viewer.id, { type: 'robot_ac', id: deploy.id }, prod());
    await expect(deploy.call, cluster.id, 403, 'missing_relation');
    const spaced = await call('POST', place.path, {
      role: { id: place.reviewer.id },
      to: { type: 'robot_ac', id: deploy.id },
      on: prod(),
      namespaces: ['web'],
    });
    assert.deepEqual([spaced.status, spaced.body?.reason], [422, 'no_effect']);
    await expect(api, staging.id, 404, 'cluster_not_found');
    const narrow = await makeRobot(atrium, 'narrow', { org: org.name, owner: owner.name, scopes: ['read:user'] });
    assert.equal((await narrow.call('POST', at(cluster.id), body)).status, 403);
    await assign(place, place.reviewer.id, { type: 'robot_ac', id: deploy.id }, { type: 'cluster', id: staging.id });
    await expect(deploy.call, staging.id, 409, 'kubernetes_auth_off');
    assert.equal((await deploy.call('POST', at(staging.id, 'token-review'), {})).body.reason, 'kubernetes_auth_off');
    const laptop = await call('POST', '/user/clusters', { name: 'laptop', uid: crypto.randomUUID() });
    await expect(call, laptop.body.id, 409, 'kubernetes_auth_off');
    await expect(deploy.call, laptop.body.id, 404, 'cluster_not_found');
  });

  it('A robot that may review a cluster knows its name, and cannot see it (K51)', async () => {
    const { org, owner, reviewer, prod } = place;
    const robot = await makeRobot(atrium, 'named', { org: org.name, owner: owner.name, scopes: ['all'] });
    const made = await assign(place, reviewer.id, { type: 'robot_ac', id: robot.id }, { type: 'cluster', id: prod.id });
    const own = await robot.call('GET', `/authz/assignments?org=${org.name}`);
    assert.deepEqual(
      own.body.map(({ on }: { on: object }) => on),
      [{ type: 'cluster', id: prod.id, name: 'prod' }],
    );
    assert.equal((await robot.call('GET', `/clusters/${prod.id}`)).status, 404);
    assert.equal((await place.call('DELETE', place.at(made.id))).status, 204);
  });

  it('A deactivated user cannot do anything, and neither can a robot without an assignment', async () => {
    const person = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(place.org.team('Editors')), person.id);
    const get = resource('get', 'pods@shop');
    assert.equal(await may(person.name, get), true);
    const token = await kubeToken(atrium.as(person.name), place.prod.id);
    assert.ok(token.length > 100);
    const off = await atrium.as('root')('PATCH', `/admin/users/${person.name}`, { active: false });
    assert.equal(off.status, 200, off.text);
    const answer = await ask(person.name, get);
    assert.deepEqual([answer.allowed, answer.denied], [false, undefined]);
    assert.match(answer.reason ?? '', /not active/);
  });

  it('Requests are counted by user, as allowed and refused, without what they were about', async () => {
    const { call, prod: cluster, dan: person } = place;
    const before = (await call('GET', `/clusters/${cluster.id}/reviews`)).body;
    await ask(place.owner.name, resource('get', 'pods@shop'));
    await ask(person.name, resource('get', 'pods@shop'));
    await ask('system:admin', resource('get', 'pods@shop'));
    const after = (await call('GET', `/clusters/${cluster.id}/reviews`)).body;
    assert.deepEqual([after.allowed - before.allowed, after.refused - before.refused], [1, 1]);
    assert.deepEqual(after.people[0].user, { type: 'user', id: Number(person.id), name: person.name });
    assert.equal((await call('GET', `/clusters/${cluster.id}/reviews?at=x`)).status, 400);
  });
});
