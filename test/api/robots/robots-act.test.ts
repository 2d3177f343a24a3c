import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { callWith, makeRobot, type TestRobot } from '../../support/world/robots.ts';

for (const driver of API_DRIVERS) {
  describe(`Robots that act on ${driver}`, () => {
    let atrium: TestServer;
    let deploy: TestRobot;
    before(async () => {
      atrium = await openTestServer({ driver });
      deploy = await makeRobot(atrium, 'deploy');
    });
    after(() => atrium.close());
    const acme = () => Number(atrium.world.orgs.acme?.id);

    it(`A robot sees itself, its token, its organization and its clusters under /user on ${driver}`, async () => {
      const me = await deploy.call('GET', '/user');
      assert.equal(me.status, 200, me.text);
      const { id, login, username, type, is_admin, email, full_name, organization } = me.body;
      assert.deepEqual(
        { id, login, username, type, is_admin, email, full_name, organization },
        {
          ...{ id: deploy.id, login: 'acme/deploy', username: 'acme/deploy', type: 4, is_admin: false, email: '' },
          ...{ full_name: 'deploy', organization: { type: 'organization', id: acme(), name: 'acme' } },
        },
      );
      assert.equal((await deploy.call('GET', '/user?check_client_org=true')).status, 200);
      assert.equal((await deploy.call('GET', '/user/token')).body.id, deploy.tokenId);
      const orgs = await deploy.call('GET', '/user/orgs');
      assert.deepEqual(
        orgs.body.map(({ name }: { name: string }) => name),
        ['acme'],
      );
      assert.equal(orgs.headers.get('x-total-count'), '1');
      for (const query of ['', '?all=true']) {
        const clusters = await deploy.call('GET', `/user/clusters${query}`);
        assert.deepEqual([clusters.status, clusters.body], [200, []]);
      }
    });

    it(`Everything else about a person is closed to robots before scopes are looked at, on ${driver}`, async () => {
      const narrow = await makeRobot(atrium, 'narrow', { scopes: ['write:organization'] });
      const closed: readonly (readonly [string, string, unknown?])[] = [
        ['PATCH', '/user', {}],
        ['GET', '/user/teams'],
        ['GET', '/user/emails'],
        ['GET', '/user/audit'],
        ['GET', '/user/sessions'],
        ['GET', '/user/credentials'],
        ['POST', '/user/clusters', { name: 'x', uid: 'x' }],
        ['GET', '/user/context'],
        ['GET', '/user/signout'],
        ['POST', '/user/validate/username'],
        ['GET', '/user/bus/credentials'],
        ['GET', '/admin/users'],
        ['POST', '/admin/users', { username: 'x', email: 'x@example.com' }],
        ['POST', '/orgs', { username: 'theirs' }],
        ['GET', '/users/ann/tokens'],
        ['DELETE', '/users/ann/tokens/1'],
      ];
      for (const [method, path, body] of closed) {
        for (const call of [deploy.call, narrow.call]) {
          const answer = await call(method, path, body);
          assert.deepEqual([answer.status, answer.body?.reason], [403, 'not_for_robots'], `${method} ${path}`);
        }
      }
      const basic = { Authorization: `Basic ${Buffer.from(`x:${deploy.text}`).toString('base64')}` };
      const token = await atrium.as()('POST', '/users/ann/tokens', { name: 'x' }, basic);
      assert.deepEqual([token.status, token.body.reason], [403, 'not_for_robots']);
      const scoped = await narrow.call('GET', '/user');
      assert.match(scoped.body.message, /required=\[read:user\]/);
    });

    it(`Routes that need no credential answer a robot as nobody on ${driver}`, async () => {
      for (const path of ['/user/providers', '/version', '/user/emails/confirm?key=x']) {
        const [mine, nobody] = [await deploy.call('GET', path), await atrium.as()('GET', path)];
        assert.deepEqual([mine.status, mine.text.length], [nobody.status, nobody.text.length], path);
      }
      const opened = await atrium.as()('POST', '/user/signin', { token: deploy.text });
      assert.deepEqual([opened.status, opened.body.reason], [403, 'not_for_robots']);
    });

    it(`A robot without assignments holds can_view of its organization and nothing else on ${driver}`, async () => {
      const prod = Number(atrium.world.clusters.prod?.id);
      const objects = [
        { objectType: 'organization', objectID: acme() },
        { objectType: 'organization', objectID: Number(atrium.world.orgs.globex?.id) },
        { objectType: 'robot_ac', objectID: deploy.id },
        { objectType: 'cluster', objectID: prod },
        { objectType: 'team', objectID: Number(atrium.world.orgs.acme?.teams.Owners) },
        { objectType: 'token', objectID: deploy.tokenId },
      ];
      const all = await deploy.call('POST', '/authz/objects/allowed-permissions?org=acme', objects);
      assert.equal(all.status, 200, all.text);
      assert.deepEqual(
        all.body.map((one: { allowedPermissions: string[] }) => one.allowedPermissions),
        [['can_view'], [], [], [], [], []],
      );
      for (const [type, id, expected] of [
        ['organization', acme(), ['can_view']],
        ['robot_ac', deploy.id, []],
      ] as const) {
        const one = await deploy.call('GET', `/authz/objects/${type}/${id}/allowed-permissions?org=acme`);
        assert.deepEqual(one.body.allowedPermissions, expected);
      }
      const user = `/authz/objects/user/${deploy.id}/allowed-permissions?org=acme`;
      assert.equal((await deploy.call('GET', user)).status, 403, 'a user with the same ID is another account');
      const elsewhere = await deploy.call('POST', '/authz/objects/allowed-permissions?org=globex', [
        { objectType: 'organization', objectID: Number(atrium.world.orgs.globex?.id) },
      ]);
      assert.deepEqual([elsewhere.status, elsewhere.body[0].allowedPermissions], [200, []]);
    });

    it(`In its own organization, a robot needs the relation that a route names on ${driver}`, async () => {
      const prod = atrium.world.clusters.prod?.id;
      const answers: readonly (readonly [string, string, number, string, unknown?])[] = [
        ['GET', '/orgs/acme', 200, ''],
        ['GET', '/orgs', 200, ''],
        ['GET', '/orgs/acme/overview', 200, ''],
        ['GET', '/orgs/acme/members', 403, 'missing_relation'],
        ['GET', '/orgs/acme/teams', 403, 'missing_relation'],
        ['GET', '/orgs/acme/clusters', 403, 'missing_relation'],
        ['GET', '/orgs/acme/robots', 403, 'missing_relation'],
        ['GET', '/orgs/acme/audit', 403, 'missing_relation'],
        ['PATCH', '/orgs/acme', 403, 'missing_relation', {}],
        ['DELETE', '/orgs/acme', 403, 'missing_relation'],
        ['POST', '/orgs/acme/teams', 403, 'missing_relation', { name: 'x' }],
        ['DELETE', '/orgs/acme/members/dan', 403, 'missing_relation'],
        ['GET', `/clusters/${prod}`, 404, 'cluster_not_found'],
        ['GET', `/robots/${deploy.id}`, 404, 'robot_not_found'],
        ['POST', `/robots/${deploy.id}/tokens`, 404, 'robot_not_found', { name: 'x' }],
        ['GET', `/teams/${atrium.world.orgs.acme?.teams.Owners}`, 404, 'team_not_found'],
        ['GET', '/authz/roles?org=acme', 403, 'missing_relation'],
        ['GET', '/authz/roles/available_permissions?org=acme', 403, 'missing_relation'],
        ['POST', '/authz/roles/preview?org=acme', 403, 'missing_relation', {}],
        ['GET', '/authz/guardrails?org=acme', 403, 'missing_relation'],
        ['POST', '/authz/matrix?org=acme', 403, 'missing_relation', { type: 'cluster' }],
        ['GET', '/authz/model', 200, ''],
        ['GET', '/users/ann', 200, ''],
        ['GET', '/users/search?q=ann', 200, ''],
        ['GET', '/users/ann/orgs', 200, ''],
        ['GET', '/search?q=prod&org=acme', 200, ''],
        ['GET', '/clustersv2/acme', 200, ''],
        ['GET', '/events?org=acme&follow=false', 200, ''],
      ];
      for (const [method, path, status, reason, body] of answers) {
        const answer = await deploy.call(method, path, body);
        const said = reason === '' ? [answer.status] : [answer.status, answer.body?.reason];
        assert.deepEqual(said, reason === '' ? [status] : [status, reason], `${method} ${path}: ${answer.text}`);
      }
      assert.deepEqual((await deploy.call('GET', '/users/ann/orgs')).body, []);
      assert.deepEqual((await deploy.call('GET', '/search?q=prod&org=acme')).body.clusters, []);
      assert.deepEqual((await deploy.call('GET', '/clustersv2/acme')).body, { items: [] });
    });

    it(`In other organizations, a robot is a stranger on ${driver}`, async () => {
      for (const [method, path, body] of [
        ['GET', '/orgs/globex'],
        ['GET', '/orgs/globex/teams'],
        ['GET', '/authz/roles?org=globex'],
        ['POST', '/authz/check?org=globex', { checks: [] }],
        ['GET', '/search?q=x&org=globex'],
        ['GET', '/events?org=globex&follow=false'],
        ['GET', '/clustersv2/globex'],
        ['GET', '/authz/roles?org=nowhere'],
        ['GET', '/orgs/nowhere'],
      ] as const) {
        const [mine, theirs] = [await deploy.call(method, path, body), await atrium.as('dan')(method, path, body)];
        assert.deepEqual([mine.status, mine.body], [theirs.status, theirs.body], path);
      }
    });

    it(`A robot acts for nobody, and nobody acts for a robot on ${driver}`, async () => {
      for (const headers of [{ Sudo: 'ann' }, { Sudo: 'nobody' }]) {
        const answer = await deploy.call('GET', '/user', undefined, headers);
        assert.deepEqual([answer.status, answer.body.reason], [403, 'sudo_forbidden']);
      }
      const query = await deploy.call('GET', '/user?sudo=ann');
      assert.deepEqual([query.status, query.body.reason], [403, 'sudo_forbidden']);
      const root = await atrium.as('root')('GET', '/user?sudo=acme%2Fdeploy');
      assert.deepEqual([root.status, root.body.reason], [404, 'user_not_found']);
    });

    it(`A robot is called by its new name and is rejected once it is deleted, immediately, on ${driver}`, async () => {
      const robot = await makeRobot(atrium, 'before');
      assert.equal((await robot.call('GET', '/user')).body.login, 'acme/before');
      const renamed = await atrium.as('ann')('PATCH', `/robots/${robot.id}`, { name: 'after' });
      assert.equal(renamed.status, 200, renamed.text);
      assert.equal((await robot.call('GET', '/user')).body.login, 'acme/after');
      assert.equal((await atrium.as('ann')('DELETE', `/robots/${robot.id}`)).status, 204);
      assert.equal((await robot.call('GET', '/user')).status, 401);
    });

    it(`The audit log names the robot that acted, by type and ID, on ${driver}`, async () => {
      const made = await atrium.as('ann')('POST', `/robots/${deploy.id}/tokens`, { name: 'r', can_rotate: true });
      const rotated = await callWith(atrium, made.body.sha1)('POST', '/user/token/rotate', {});
      assert.equal(rotated.status, 201, rotated.text);
      const url = `/clusters/${atrium.world.clusters.prod?.id}/heartbeat`;
      assert.equal((await deploy.call('POST', url, { phase: 'NotReady', reason: 'x', message: 'x' })).status, 204);
      const page = await atrium.as('ann')('GET', '/orgs/acme/audit?actor=robot:deploy');
      const actor = { type: 'robot_ac', id: deploy.id, name: 'deploy' };
      const changes = page.body.items.filter(({ action }: { action: string }) => action !== 'access.denied');
      assert.ok(changes.length >= 2, page.text);
      for (const entry of page.body.items) assert.deepEqual(entry.actor, actor);
      assert.ok(
        changes.some(({ summary }: { summary: string }) => summary.startsWith('robot deploy ')),
        page.text,
      );
      for (const filter of [`robot:${deploy.id}`, `robot_ac:deploy`]) {
        const same = await atrium.as('ann')('GET', `/orgs/acme/audit?actor=${filter}`);
        assert.deepEqual(same.body, page.body);
      }
      const everywhere = await atrium.as('root')('GET', '/admin/audit?actor=robot:acme/deploy&org=acme');
      assert.deepEqual(everywhere.body.items.length, page.body.items.length);
      for (const [caller, path] of [
        ['ann', '/orgs/acme/audit?actor=robot:nobody'],
        ['root', '/admin/audit?actor=robot:deploy'],
        ['root', '/admin/audit?actor=robot:globex/deploy'],
      ] as const) {
        const unknown = await atrium.as(caller)('GET', path);
        assert.deepEqual([unknown.status, unknown.body.reason], [400, 'invalid_request'], path);
      }
      const account = await atrium.as('ann')('GET', `/orgs/acme/audit?actor=${deploy.id}`);
      for (const entry of account.body.items ?? []) assert.equal(entry.actor.type, undefined);
      const lines = await atrium.as('ann')('GET', '/orgs/acme/audit/export?actor=robot:deploy');
      assert.deepEqual(JSON.parse(lines.text.split('\n')[0] ?? '').actor, actor);
      assert.deepEqual(brokenLinks(await auditOf(atrium.instance.db, acme())), []);
      const verified = await atrium.as('ann')('GET', '/orgs/acme/audit/verify');
      assert.equal(verified.body.ok, true, verified.text);
    });

    it(`Two robots of an organization may use the same idempotency key on ${driver}`, async () => {
      const answers = await Promise.all(
        ['one', 'two'].map(async (name) => {
          const { call } = await makeRobot(atrium, name, { can_rotate: true });
          return await call('POST', '/user/token/rotate', {}, { 'Idempotency-Key': 'same' });
        }),
      );
      for (const answer of answers) {
        assert.deepEqual([answer.status, answer.headers.get('idempotency-replayed')], [201, null], answer.text);
      }
    });
  });
}
