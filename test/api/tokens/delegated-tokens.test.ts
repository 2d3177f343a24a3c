import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inSession, sessionOf } from '../../support/server/browser-session.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { addMember } from '../../support/world/people.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';
import { basic, bearer, tokenCalls } from '../../support/world/tokens.ts';

const HOUR_MS = 3_600_000;
const EVERYTHING = ['read:authz', 'write:authz', 'read:organization'];

for (const driver of API_DRIVERS) {
  describe(`Delegated tokens on ${driver}`, () => {
    let atrium: TestServer;
    let place: RequestPlace;
    let calls: ReturnType<typeof tokenCalls>;
    before(async () => {
      atrium = await openTestServer({ driver, env: { RATE_LIMIT: '0', AUTH_FAILURES: '1000' } });
      place = await openRequestPlace(atrium);
      calls = tokenCalls(atrium);
    });
    after(() => atrium.close());

    const inAcme = { limits: { organizations: ['acme'] }, delegated: true };
    const make = (name: string, more: object = {}) => calls.make('ann', { name, ...inAcme, ...more });
    /** Of dan, in the place of the requests. */
    const forDan = async (name: string, scopes = EVERYTHING) => {
      const { dan, org } = place;
      const body = { name, scopes, delegated: true, limits: { organizations: [org.name] } };
      const made = await atrium.as()('POST', `/users/${dan.name}/tokens`, body, basic(`${dan.name}:${dan.token}`));
      assert.equal(made.status, 201, made.text);
      return { ...made.body, call: calls.withToken(made.body.sha1) };
    };

    it('A user gives an agent a token that reads their organization for an hour, and sees it in the list', async () => {
      const made = await make('assistant');
      assert.deepEqual(made.scopes, ['read:authz', 'read:organization']);
      assert.deepEqual([made.delegated, made.can_rotate], [true, false]);
      assert.deepEqual(made.limits.organizations[0].name, 'acme');
      assert.ok(Math.abs(Date.parse(made.expires_at) - Date.now() - HOUR_MS) < 60_000, made.expires_at);
      const listed = (await calls.list('ann')).find(({ id }) => id === made.id);
      assert.deepEqual([listed?.name, listed?.delegated, listed?.sha1], ['assistant', true, '']);
      const agent = calls.withToken(made.sha1);
      assert.equal((await agent('GET', '/orgs/acme/teams')).status, 200);
      assert.equal((await agent('GET', '/user/token')).body.delegated, true);
      for (const path of ['/orgs/globex/teams', '/user/clusters', '/users/ann/tokens', '/user/credentials']) {
        assert.ok([403, 404].includes((await agent('GET', path)).status), path);
      }
    });

    it('The name is free for the next one as soon as the hour is over, or what it was made with has gone', async () => {
      const parent = await calls.make('ann', { name: 'parent' });
      const made = () =>
        atrium.as()('POST', '/users/ann/tokens', { name: 'again', ...inAcme }, basic(`ann:${parent.sha1}`));
      const first = await made();
      assert.equal(first.status, 201, first.text);
      assert.equal((await made()).body.message, 'access token name has been used already');
      await atrium.as('ann')('DELETE', '/users/ann/tokens/parent');
      assert.ok(!(await calls.list('ann')).some(({ name }) => name === 'again'));
      assert.notEqual((await make('again')).id, first.body.id);
      const log = await atrium.as('ann')('GET', '/user/audit?action=token.expire');
      assert.deepEqual(log.body.items[0].before.name, 'again', log.text);
    });

    const REJECTED: readonly [what: string, body: object, status: number, field: string | undefined][] = [
      ['without limits', { limits: undefined }, 422, 'limits'],
      ['with empty limits', { limits: {} }, 422, 'limits'],
      ['for an organization that its user is not in', { limits: { organizations: ['globex'] } }, 422, 'limits'],
      ['for everything', { scopes: ['all'] }, 422, 'scopes'],
      ['that changes its user', { scopes: ['write:user'] }, 422, 'scopes'],
      ['that changes the organization', { scopes: ['write:organization'] }, 422, 'scopes'],
      ['for credentials', { scopes: ['read:credential'] }, 422, 'scopes'],
      ['for clusters', { scopes: ['kube'] }, 422, 'scopes'],
      ['for the site', { scopes: ['read:admin'] }, 422, 'scopes'],
      ['for two hours', { expires_at: new Date(Date.now() + 2 * HOUR_MS).toISOString() }, 422, 'expires_at'],
      ['that rotates itself', { can_rotate: true }, 422, 'can_rotate'],
    ];
    for (const [what, body, status, field] of REJECTED) {
      it(`A delegated token ${what} is rejected with ${status}`, async () => {
        const answer = await calls.create('ann', { name: `rejected ${what}`, ...inAcme, ...body });
        assert.equal(answer.status, status, answer.text);
        assert.equal(answer.body.errors[0].field.split('.')[0], field, answer.text);
      });
    }

    it('A robot has no agents', async () => {
      const robot = await atrium.as('ann')('POST', '/orgs/acme/robots', { name: 'no-agents' });
      const answer = await atrium.as('ann')('POST', `/robots/${robot.body.id}/tokens`, { name: 'x', ...inAcme });
      assert.deepEqual([answer.status, answer.body.errors[0].field], [422, 'delegated'], answer.text);
    });

    it('Nobody gives an agent a token of another user, also not a site administrator', async () => {
      const answer = await calls.create('root', { name: 'for ann', ...inAcme }, 'ann');
      assert.deepEqual([answer.status, answer.body.reason], [403, 'sudo_forbidden']);
      const proof = { ...calls.proof('root'), Sudo: 'ann' };
      const sudo = await atrium.as()('POST', '/users/ann/tokens', { name: 'for ann', ...inAcme }, proof);
      assert.deepEqual([sudo.status, sudo.body.reason], [403, 'sudo_forbidden'], sudo.text);
      assert.equal((await calls.create('eve', { name: 'for ann', ...inAcme }, 'ann')).status, 403);
    });

    it('What an agent tried in vain is in the log with its name', async () => {
      const agent = await forDan('nosy');
      assert.equal((await agent.call('POST', `/orgs/${place.org.name}/teams`, { name: 'x' })).status, 403);
      const { body } = await atrium.as('root')('GET', '/admin/audit?action=access.denied');
      assert.equal(body.items[0].actor.name, place.dan.name);
      assert.deepEqual(body.items[0].via, { delegate: 'nosy', token: agent.id });
    });

    it('An agent gets no further than its token, whichever way it tries', async () => {
      const agent = await forDan('prisoner');
      const { dan, org } = place;
      const own = basic(`${dan.name}:${agent.sha1}`);
      const body = { name: 'more', scopes: ['all'] };
      for (const headers of [own, bearer(agent.sha1)]) {
        const made = await atrium.as()('POST', `/users/${dan.name}/tokens`, body, headers);
        assert.ok(made.status === 401 || made.body.reason === 'not_for_delegates', made.text);
        const rotated = await atrium.as()('POST', `/users/${dan.name}/tokens/${agent.id}/rotate`, {}, headers);
        assert.ok(rotated.status === 401 || rotated.body.reason === 'not_for_delegates', rotated.text);
      }
      const tries: readonly [method: string, path: string, body?: object][] = [
        ['POST', '/user/token/rotate', {}],
        ['PUT', '/user/password', { old_password: 'x', new_password: 'y' }],
        ['POST', '/user/emails', { emails: ['x@example.com'] }],
        ['PATCH', '/user', { full_name: 'x' }],
        ['DELETE', '/user/sessions'],
        ['POST', '/user/factors/totp', {}],
        ['POST', '/user/reauthenticate', { password: 'x' }],
        ['DELETE', `/users/${dan.name}/tokens/${agent.id}`],
        ['PATCH', `/orgs/${org.name}`, { full_name: 'x' }],
        ['POST', `/orgs/${org.name}/teams`, { name: 'x', permission: 'read' }],
        ['POST', `/orgs/${org.name}/invitations`, { email: 'x@example.com', team_ids: [1] }],
        ['PUT', `/orgs/${org.name}/file`, {}],
        ['POST', `/authz/assignments?org=${org.name}`, {}],
      ];
      for (const [method, path, more] of tries) {
        const answer = await agent.call(method, path, more);
        assert.deepEqual([answer.status, answer.body.reason], [403, 'not_for_delegates'], `${method} ${path}`);
      }
      const signIn = await atrium.as()('POST', '/user/signin', { token: agent.sha1 });
      assert.equal(signIn.status, 403, signIn.text);
      const forward = `/authz/forward?org=${org.name}&relation=can_view&object=cluster:prod`;
      assert.equal((await agent.call('GET', forward)).body.reason, 'not_for_delegates');
    });

    it('Its user does not replace it either', async () => {
      const { id } = await make('not replaced');
      const answer = await calls.rotate('ann', id);
      assert.deepEqual([answer.status, answer.body.reason], [409, 'token_not_renewable'], answer.text);
    });

    it('The agent of a site administrator does not administer the site', async () => {
      const outside = await calls.create('root', { name: 'outside', ...inAcme });
      assert.deepEqual([outside.status, outside.body.errors[0].field], [422, 'limits.organizations'], outside.text);
      await addMember(atrium.instance, atrium.world.orgs.acme?.teams.Viewers ?? 0n, atrium.world.users.root?.id ?? 0n);
      const made = await calls.make('root', { name: 'operator', ...inAcme });
      const agent = calls.withToken(made.sha1);
      assert.equal((await agent('GET', '/orgs/acme/teams')).status, 200);
      for (const path of ['/admin/users', '/admin/audit', '/orgs/globex/teams']) {
        assert.ok([403, 404].includes((await agent('GET', path)).status), path);
      }
      const sudo = await atrium.as()('GET', '/orgs/acme/teams', undefined, { ...bearer(made.sha1), Sudo: 'ann' });
      assert.equal(sudo.status, 403, sudo.text);
    });

    it('An agent asks in the name of its user; the audit log and its OCSF export tell both', async () => {
      const agent = await forDan('scout');
      const { dan, org, connect } = place;
      const wish = { ...connect, for: 'PT1H', reason: 'INC-7' };
      const made = await agent.call('POST', place.requests, wish);
      assert.equal(made.status, 201, made.text);
      assert.equal(made.body.by.name, dan.name);
      const { body } = await place.call('GET', `/orgs/${org.name}/audit?action=request.create`);
      const [entry] = body.items;
      assert.equal(entry.actor.name, dan.name);
      assert.deepEqual(entry.via, { delegate: 'scout', token: agent.id });
      assert.ok(entry.summary.startsWith(`${dan.name} (through scout) asked to connect to `), entry.summary);
      const exported = await place.call('GET', `/orgs/${org.name}/audit/export?format=ocsf`);
      const event = exported.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .find(({ unmapped }) => JSON.parse(unmapped.entry).id === entry.id);
      assert.deepEqual(
        [event.actor.user.name, event.actor.app_name, event.actor.app_uid],
        [dan.name, 'scout', `token:${agent.id}`],
      );
      const verified = await place.call('GET', `/orgs/${org.name}/audit/verify`);
      assert.equal(verified.body.ok, true, verified.text);
      const cancelled = await agent.call('POST', place.request(made.body.id, 'cancel'));
      assert.equal(cancelled.body.state, 'cancelled', cancelled.text);
    });

    it('An agent gets nothing that no other person approves, breaks no glass, and decides nothing', async () => {
      const agent = await forDan('eager');
      const wish = { ...place.connect, for: 'PT1H', reason: 'INC-8' };
      const refused = async (more: object) => {
        const answer = await agent.call('POST', place.requests, { ...wish, ...more });
        assert.deepEqual([answer.status, answer.body.reason], [403, 'confirmation_required'], answer.text);
      };
      await place.rules({ name: 'free', match: {}, approvals: 0, allow: true });
      await refused({});
      await place.rules({ name: 'two', match: {}, approvals: 1, break_glass: true });
      await refused({ break_glass: true });
      await place.rules();
      const { id } = await place.ask({}, place.cat.name);
      for (const verb of ['approve', 'deny', 'acknowledge', 'end']) {
        const answer = await agent.call('POST', place.request(id, verb), {});
        assert.deepEqual([answer.status, answer.body.reason], [403, 'not_for_delegates'], verb);
      }
    });

    it('A delegated token ends with the session that made it, and does not outlive it', async () => {
      const session = sessionOf(await atrium.as()('POST', '/user/signin', { token: atrium.world.users.ann?.token }));
      const page = inSession(atrium, session);
      const made = await page('POST', '/users/ann/tokens', { name: 'of the session', ...inAcme });
      assert.equal(made.status, 201, made.text);
      const agent = calls.withToken(made.body.sha1);
      assert.equal((await agent('GET', '/orgs/acme/teams')).status, 200);
      assert.equal((await page('POST', '/user/signout')).status, 200);
      assert.equal((await agent('GET', '/orgs/acme/teams')).status, 401);
      assert.ok(!(await calls.list('ann')).some(({ id }) => id === made.body.id));
    });

    it('A delegated token does not outlive the token that made it', async () => {
      const soon = new Date(Date.now() + 600_000).toISOString();
      const parent = await calls.make('ann', { name: 'short', expires_at: soon });
      const body = { name: 'shorter', ...inAcme };
      const give = (more: object = {}) =>
        atrium.as()('POST', '/users/ann/tokens', { ...body, ...more }, basic(`ann:${parent.sha1}`));
      assert.equal((await give({ expires_at: new Date(Date.now() + 1_200_000).toISOString() })).status, 403);
      const made = await give();
      assert.equal(made.body.expires_at, parent.expires_at, made.text);
      assert.equal((await calls.withToken(made.body.sha1)('GET', '/orgs/acme/teams')).status, 200);
      await atrium.as('ann')('DELETE', '/users/ann/tokens/short');
      assert.equal((await calls.withToken(made.body.sha1)('GET', '/orgs/acme/teams')).status, 401);
    });

    it('A delegated token is rejected as soon as its user is deactivated', async () => {
      const agent = await forDan('orphan');
      const path = `/authz/requests?org=${place.org.name}`;
      assert.equal((await agent.call('GET', path)).status, 200);
      const user = `/admin/users/${place.dan.name}`;
      const set = async (active: boolean) => {
        const changed = await atrium.as('root')('PATCH', user, { source_id: 0, login_name: place.dan.name, active });
        assert.equal(changed.status, 200, changed.text);
      };
      await set(false);
      assert.equal((await agent.call('GET', path)).status, 403);
      await set(true);
      assert.equal((await agent.call('GET', path)).status, 200);
    });
  });
}
