import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { readEvents } from '../../support/server/event-stream.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { basic, tokenCalls } from '../../support/world/tokens.ts';

/** In the names of everything that is outside the limits, and in no request. */
const HIDDEN = /hush/i;
const OUTSIDE = /or it is outside the limits of this token$/;

for (const driver of API_DRIVERS) {
  describe(`Limits of tokens on ${driver}`, () => {
    let atrium: TestServer;
    let calls: ReturnType<typeof tokenCalls>;
    /** Limited to acme, to the cluster prod of acme, and to the team operators. All are tokens of ann. */
    let [inAcme, onProd, onTeam]: ((method: string, path: string, body?: unknown) => Promise<Answer>)[] = [];
    let prod = 0;
    let staging = 0;
    const ids: Record<string, number> = {};

    before(async () => {
      atrium = await openTestServer({ driver });
      calls = tokenCalls(atrium);
      [prod, staging] = [Number(atrium.world.clusters.prod?.id), Number(atrium.world.clusters.staging?.id)];
      await buildOutside();
      const token = async (name: string, limits: object) =>
        calls.withToken((await calls.make('ann', { name, scopes: ['all'], limits })).sha1);
      inAcme = await token('in acme', { organizations: ['acme'] });
      onProd = await token('on prod', { objects: [{ type: 'cluster', id: prod }] });
      const operators = Number(atrium.world.orgs.acme?.teams.operators);
      onTeam = await token('on a team', { objects: [{ type: 'team', id: operators }] });
    });
    after(() => atrium.close());

    const ask = (call: typeof inAcme, method: string, path: string, body?: unknown) =>
      (call ?? assert.fail('no token'))(method, path, body);
    const ann = () => atrium.as('ann');

    /** Another organization of ann, and what she has herself. */
    async function buildOutside(): Promise<void> {
      const made = async (path: string, body: object) => {
        const answer = await ann()('POST', path, body);
        assert.ok(answer.status < 300, answer.text);
        return answer.body;
      };
      const uid = (last: number) => `00000000-0000-4000-8000-0000000000${last}`;
      await made('/orgs', { username: 'other', full_name: 'hush org' });
      ids.cluster = (await made('/orgs/other/clusters', { name: 'hushcluster', uid: uid(10) })).id;
      ids.team = (await made('/orgs/other/teams', { name: 'hushteam', permission: 'read' })).id;
      ids.contract = (await made('/orgs/other/contracts', { name: 'hushcontract' })).id;
      ids.robot_ac = (await made('/orgs/other/robots', { name: 'hushrobot' })).id;
      const permissions = [{ namespace: 'org_mgmt', action: 'edit' }];
      ids.role = (await made('/authz/roles?org=other', { name: 'hushrole', permissions, teamIDs: [ids.team] })).id;
      ids.token = (await made(`/robots/${ids.robot_ac}/tokens`, { name: 'hushtoken' })).id;
      ids.laptop = (await made('/user/clusters', { name: 'hushlaptop', uid: uid(11) })).id;
      await made('/user/emails', { emails: ['hush@work.example'] });
      await made('/user/credentials', { name: 'hushcredential', type: 'Other', other: { password: 'hush' } });
    }

    /** Every request that can name what is outside, with the routes of the server. */
    function requests(): { readonly method: string; readonly path: string }[] {
      const values: Record<string, string> = { org: 'other', owner: 'other', username: 'ann', objectType: 'cluster' };
      return atrium.instance.routes
        .filter(({ path, access }) => path.startsWith('/api/v1/') && access.who !== 'anyone')
        .flatMap(({ method, path, access }) => {
          const [, type = ''] = ('relation' in access && access.relation ? access.relation : '').split(':');
          const filled = path.slice(7).replace(/:(\w+)/g, (_all, name: string) => {
            if (name === 'id') return String(ids[type] ?? ids.cluster);
            if (name === 'objID') return String(ids.cluster);
            return values[name] ?? String(ids[name] ?? 'x');
          });
          const isEvents = filled === '/events';
          const query = (org: string) =>
            `relation=can_view&q=ush&all=true&since=2026-01-01T00:00:00Z${org}${isEvents ? '&follow=false' : ''}`;
          return ['&org=other', '&org=acme', ''].map((org) => ({ method, path: `${filled}?${query(org)}` }));
        });
    }

    it(`No route shows or changes anything outside the limits of a token on ${driver}`, async () => {
      const state = async () => {
        const paths = ['/clusters', '/teams', '/contracts', '/robots', '', '/members'].map(
          (path) => `/orgs/other${path}`,
        );
        const answers = await Promise.all(
          [...paths, '/user/clusters', '/user/emails', '/user/credentials', '/user/sessions'].map((path) =>
            ann()('GET', path),
          ),
        );
        return answers.map(({ text }) => text.replace(/"age":"[^"]*"/g, ''));
      };
      const before = await state();
      let count = 0;
      for (const [name, call] of [
        ['an organization', inAcme],
        ['a cluster', onProd],
        ['a team', onTeam],
      ] as const) {
        for (const { method, path } of requests()) {
          // It would end what the test itself uses.
          if (method !== 'GET' && /org=acme/.test(path) && !/:id|\/authz\//.test(path)) continue;
          const body = method === 'GET' ? undefined : {};
          const { status, text } = await ask(call, method, path, body);
          assert.doesNotMatch(text, HIDDEN, `a token for ${name}: ${method} ${path}`);
          assert.notEqual(status, 500, `a token for ${name}: ${method} ${path}: ${text}`);
          count += 1;
        }
      }
      assert.ok(count > 600, String(count));
      let seen = 0;
      for (const { method, path } of requests()) {
        if (method === 'GET' && HIDDEN.test((await ann()('GET', path)).text)) seen += 1;
      }
      assert.ok(seen > 30, `a token without limits sees it ${seen} times`);
      assert.deepEqual(await state(), before);
    });

    it(`Inside its organization, a token may do what its owner may do on ${driver}`, async () => {
      for (const path of ['', '/members', '/teams', '/clusters', '/contracts', '/robots', '/audit', '/overview']) {
        const [limited, free] = [
          await ask(inAcme, 'GET', `/orgs/acme${path}`),
          await ann()('GET', `/orgs/acme${path}`),
        ];
        assert.equal(limited.status, 200, path);
        // A cluster is a second older in the second answer, now and then.
        const [one, other] = [limited, free].map(({ text }) => text.replaceAll(/"age":"\w+"/g, '"age":""'));
        if (path !== '/audit') assert.equal(one, other, path);
      }
      const team = await ask(inAcme, 'POST', '/orgs/acme/teams', { name: 'made by a limited token' });
      assert.equal(team.status, 201, team.text);
      assert.equal((await ask(inAcme, 'DELETE', `/teams/${team.body.id}`)).status, 204);
      for (const body of [
        { type: 'cluster', all: true },
        { type: 'team', all: true },
      ]) {
        assert.equal((await ask(inAcme, 'POST', '/authz/matrix?org=acme', body)).status, 200);
      }
      const change = {
        changes: [{ action: 'team.add_member', id: Number(atrium.world.orgs.acme?.teams.operators), username: 'bob' }],
      };
      assert.equal((await ask(inAcme, 'POST', '/authz/preview?org=acme', change)).status, 200);
    });

    it(`What is outside looks like what does not exist on ${driver}`, async () => {
      const same = async (call: typeof inAcme, one: string, other: string) => {
        const [outside, absent] = [await ask(call, 'GET', one), await ask(call, 'GET', other)];
        const body = ({ body: { message, reason } }: Answer) => ({ message, reason });
        assert.deepEqual([outside.status, body(outside)], [absent.status, body(absent)], one);
        return outside;
      };
      assert.match((await same(inAcme, '/orgs/other', '/orgs/nothing')).body.message, OUTSIDE);
      assert.match((await same(inAcme, `/clusters/${ids.cluster}`, '/clusters/99999999')).body.message, OUTSIDE);
      await same(inAcme, `/clusters/${ids.laptop}`, '/clusters/99999999');
      await same(inAcme, '/authz/roles?org=other', '/authz/roles?org=nothing');
      await same(onProd, `/clusters/${staging}`, '/clusters/99999999');
      await same(onProd, '/orgs/acme', '/orgs/nothing');
      await same(onProd, '/orgs/other/clusters', '/orgs/nothing/clusters');
      await same(inAcme, '/search?q=a&org=other', '/search?q=a&org=nothing');
      await same(inAcme, '/events?follow=false&org=other', '/events?follow=false&org=nothing');
      await same(onProd, '/events?follow=false&org=other', '/events?follow=false&org=nothing');
    });

    it(`A token for one cluster reaches that cluster and no other on ${driver}`, async () => {
      assert.equal((await ask(onProd, 'GET', `/clusters/${prod}`)).body.name, 'prod');
      assert.equal((await ask(onProd, 'PATCH', `/clusters/${prod}`, { location: 'here' })).status, 200);
      const names = async (path: string) =>
        (await ask(onProd, 'GET', path)).body.map(({ name }: { name: string }) => name);
      assert.deepEqual(await names('/orgs/acme/clusters'), ['prod']);
      assert.deepEqual(await names('/user/clusters?all=true'), ['prod']);
      assert.deepEqual(await names('/user/clusters'), []);
      assert.deepEqual(await names('/authz/objects/cluster?org=acme&relation=can_view'), ['prod']);
      assert.deepEqual((await ask(onProd, 'GET', '/user/orgs')).body, []);
      const found = (await ask(onProd, 'GET', '/search?q=o')).body;
      assert.deepEqual(
        found.clusters.map(({ name }: { name: string }) => name),
        ['prod'],
      );
      assert.deepEqual([found.people, found.teams, found.organizations, found.roles], [[], [], [], []]);
      assert.equal((await ask(onProd, 'POST', '/orgs/acme/clusters', { name: 'x', uid: 'x' })).status, 404);
      const events = await ask(onProd, 'GET', '/events?follow=false');
      assert.deepEqual([events.status, events.body.reason], [403, 'token_limited']);
    });

    it(`A token for a team cannot give the team more rights on ${driver}`, async () => {
      const id = atrium.world.orgs.acme?.teams.operators;
      const role = atrium.world.orgs.acme?.roles['cluster-operator'];
      assert.equal((await ask(onTeam, 'GET', `/teams/${id}`)).status, 200);
      assert.equal((await ask(onTeam, 'GET', `/teams/${id}/members`)).status, 200);
      for (const path of ['teams', 'contracts', 'robots', 'clusters', 'teams/search']) {
        const { status, body } = await ask(onTeam, 'GET', `/orgs/acme/${path}`);
        const names = (body.data ?? body).map(({ name }: { name: string }) => name);
        assert.deepEqual([status, names], [200, path.startsWith('teams') ? ['operators'] : []], path);
      }
      assert.equal((await ask(onTeam, 'PATCH', `/teams/${id}`, { permission: 'admin' })).status, 404);
      assert.equal((await ask(onTeam, 'PUT', `/teams/${id}/roles/${role}`)).status, 404);
      assert.equal((await ask(onTeam, 'GET', `/teams/${id}/roles`)).status, 404);
    });

    it(`Answers about permissions are those of the token, and explanations say so, on ${driver}`, async () => {
      const held = async (call: typeof inAcme, type: string, id: unknown, org = 'acme') =>
        (await ask(call, 'GET', `/authz/objects/${type}/${id}/allowed-permissions?org=${org}`)).body.allowedPermissions;
      const [acme, cluster] = [atrium.world.orgs.acme?.id, prod];
      const free = (await ann()('GET', `/authz/objects/cluster/${cluster}/allowed-permissions?org=acme`)).body;
      assert.deepEqual(await held(inAcme, 'cluster', cluster), free.allowedPermissions);
      assert.deepEqual(await held(onProd, 'cluster', cluster), free.allowedPermissions);
      assert.deepEqual(await held(onProd, 'cluster', staging), []);
      assert.deepEqual(await held(onProd, 'organization', acme), []);
      assert.notDeepEqual(await held(inAcme, 'organization', acme), []);
      assert.deepEqual(await held(inAcme, 'cluster', ids.laptop), [], 'what ann owns herself');
      assert.deepEqual(await held(inAcme, 'user', atrium.world.users.ann?.id), []);
      const batch = [prod, staging, ids.laptop, ids.cluster].map((objectID) => ({ objectType: 'cluster', objectID }));
      const answers = (await ask(onProd, 'POST', '/authz/objects/allowed-permissions?org=acme', batch)).body;
      assert.deepEqual(
        answers.map(({ allowedPermissions }: { allowedPermissions: string[] }) => allowedPermissions.length > 0),
        [true, false, false, false],
      );
      const explain = async (call: typeof inAcme, id: unknown, more = '') =>
        await ask(call, 'GET', `/authz/objects/cluster/${id}/explain?org=acme&relation=can_view${more}`);
      const inside = (await explain(inAcme, prod)).body;
      assert.deepEqual([inside.allowed, inside.token_limit, inside.steps.length > 0], [true, undefined, true]);
      const single = (await explain(onProd, prod)).body;
      assert.deepEqual([single.allowed, single.token_limit, single.steps], [true, true, []]);
      for (const [call, id] of [
        [onProd, staging],
        [inAcme, ids.laptop],
        [inAcme, ids.cluster],
        [inAcme, 99_999_999],
      ] as const) {
        const { allowed, token_limit, found, sentence } = (await explain(call, id)).body;
        assert.deepEqual([allowed, token_limit, found], [false, true, false]);
        assert.equal(sentence, `cluster ${id} is outside the limits of this token, or does not exist`);
      }
      assert.equal((await explain(inAcme, prod, '&user=bob')).body.allowed, true, 'others do not depend on the token');
      assert.equal((await explain(onProd, staging, '&user=bob')).body.reason, 'token_limited');
      const who = `/authz/objects/cluster/${prod}/principals?org=acme&relation=can_view`;
      assert.equal((await ask(inAcme, 'GET', who)).text, (await ann()('GET', who)).text, 'who can is unaffected');
      const own = (await ask(inAcme, 'GET', '/authz/users/ann/access?org=acme')).text;
      assert.doesNotMatch(own, HIDDEN);
      assert.match((await ann()('GET', '/authz/users/ann/access?org=acme')).text, HIDDEN);
    });

    it(`A token with limits cannot get out of them on ${driver}`, async () => {
      const root = atrium.world.users.root?.token ?? '';
      const made = await atrium.as()(
        ...(['POST', '/users/root/tokens', { name: 'limited', limits: { organizations: ['acme'] } }] as const),
        basic(`root:${root}`),
      );
      const limited = calls.withToken(made.body.sha1);
      assert.equal(
        (await limited('GET', '/orgs/acme/members')).status,
        200,
        'a site administrator is a member everywhere',
      );
      assert.equal((await limited('GET', '/orgs/globex')).status, 404);
      const admin = await limited('GET', '/admin/users');
      assert.deepEqual([admin.status, admin.body.reason], [403, 'token_limited']);
      assert.equal((await limited('GET', '/user')).body.is_admin, false);
      assert.equal((await limited('GET', '/user?sudo=eve')).status, 403);
      const session = await atrium.as()('POST', '/user/signin', { token: made.body.sha1 });
      assert.deepEqual([session.status, session.body.reason], [403, 'token_limited']);
      for (const [method, path, body] of [
        ['GET', '/users/root/tokens', undefined],
        ['POST', '/orgs', { username: 'mine' }],
        ['GET', '/user/bus/credentials', undefined],
        ['GET', '/user/credentials', undefined],
        ['GET', '/users/search?q=a', undefined],
        ['PUT', '/user/password', { new: 'another password' }],
      ] as const) {
        const answer = await limited(method, path, body);
        assert.deepEqual([answer.status, answer.body.reason], [403, 'token_limited'], path);
      }
      const child = { name: 'child', scopes: ['all'] };
      const refused = await atrium.as()('POST', '/users/root/tokens', child, basic(`root:${made.body.sha1}`));
      assert.deepEqual([refused.status, refused.body.reason], [403, 'token_limited']);
    });

    it(`A token of a robot that a limited token creates has its limits on ${driver}`, async () => {
      const robot = Number(atrium.world.robots.ci);
      const path = `/robots/${robot}/tokens`;
      const whole = await ask(inAcme, 'POST', path, { name: 'by acme' });
      assert.deepEqual(
        whole.body.limits.organizations.map(({ name }: { name: string }) => name),
        ['acme'],
      );
      const limits = { objects: [{ type: 'robot_ac', id: robot }] };
      const narrow = calls.withToken((await calls.make('ann', { name: 'robot only', limits })).sha1);
      const inherited = await narrow('POST', path, { name: 'inherited' });
      assert.deepEqual(
        inherited.body.limits.objects.map(({ type }: { type: string }) => type),
        ['robot_ac'],
      );
      const further = await narrow('POST', path, { name: 'further', limits: { organizations: ['acme'] } });
      assert.equal(further.status, 422, further.text);
      const objects = [{ type: 'cluster', id: prod }];
      const beyond = await narrow('POST', path, { name: 'beyond', limits: { objects } });
      assert.deepEqual([beyond.status, /reaches further/.test(beyond.body.message)], [403, true]);
      const forProd = (await ann()('POST', path, { name: 'for prod', limits: { objects } })).body;
      const beat = async (id: number) =>
        (await calls.withToken(forProd.sha1)('POST', `/clusters/${id}/heartbeat`, {})).status;
      assert.deepEqual([await beat(prod), await beat(staging)], [204, 404]);
    });

    it(`Limits that nobody could use are rejected on ${driver}`, async () => {
      const refusal = async (limits: object, name = 'ann') => {
        const { status, body } = await calls.create(name, { name: 'odd', limits });
        return [status, body.errors?.[0]?.field ?? body.message];
      };
      assert.deepEqual(await refusal({}), [422, 'limits']);
      assert.deepEqual(await refusal({ organizations: ['nothing'] }), [422, 'limits.organizations']);
      assert.deepEqual(await refusal({ organizations: ['acme'] }, 'eve'), [422, 'limits.organizations']);
      assert.deepEqual(await refusal({ objects: [{ type: 'cluster', id: prod }] }, 'eve'), [422, 'limits.objects']);
      assert.deepEqual(await refusal({ objects: [{ type: 'cluster', id: 99_999_999 }] }), [422, 'limits.objects']);
      assert.equal((await refusal({ objects: [{ type: 'planet', id: 1 }] }))[0], 422);
      const organizations = Array.from({ length: 51 }, () => 'acme');
      const objects = Array.from({ length: 50 }, () => ({ type: 'cluster', id: prod }));
      assert.deepEqual(await refusal({ organizations, objects }), [422, 'limits']);
      const path = `/robots/${atrium.world.robots.ci}/tokens`;
      const other = await ann()('POST', path, { name: 'odd', limits: { organizations: ['other'] } });
      assert.deepEqual([other.status, other.body.errors[0].field], [422, 'limits.organizations']);
    });

    it(`A token whose organization and objects are gone exists, and reaches nothing, on ${driver}`, async () => {
      await ann()('POST', '/orgs', { username: 'doomed' });
      const uid = '00000000-0000-4000-8000-000000000020';
      const { id } = (await ann()('POST', '/orgs/doomed/clusters', { name: 'doomedcluster', uid })).body;
      const limits = { organizations: ['doomed'], objects: [{ type: 'cluster', id }] };
      const token = await calls.make('ann', { name: 'orphan', limits });
      const call = calls.withToken(token.sha1);
      assert.equal((await call('GET', '/orgs/doomed')).status, 200);
      await ann()('DELETE', `/clusters/${id}`);
      const { headers } = await ann()('GET', '/orgs/doomed');
      const gone = await atrium.as('ann')('DELETE', '/orgs/doomed', undefined, {
        'If-Match': headers.get('etag') ?? '',
      });
      assert.equal(gone.status, 204, gone.text);
      await ann()('POST', '/orgs', { username: 'doomed' });
      assert.equal(
        (await call('GET', '/orgs/doomed')).status,
        404,
        'another organization with its name is another one',
      );
      assert.equal((await call('GET', `/clusters/${id}`)).status, 404);
      assert.deepEqual((await call('GET', '/user/orgs')).body, []);
      assert.deepEqual((await call('GET', '/user/clusters?all=true')).body, []);
      const shown = (await call('GET', '/user/token')).body;
      assert.deepEqual(shown.limits, token.limits, 'it says what it was limited to');
    });

    it(`Listeners with a limited token hear of their organization only on ${driver}`, async () => {
      const token = await calls.make('ann', { name: 'listener', limits: { organizations: ['acme'] } });
      const read = async (query = '') => {
        const reader = await readEvents(atrium.url, token.sha1, { path: `/api/v1/events?follow=false${query}` });
        await reader.ended;
        return reader;
      };
      const last = (await read()).lastEventId() ?? '';
      await ann()('POST', '/orgs/other/teams', { name: 'hush again' });
      await ann()('PATCH', '/user', { description: 'changed' });
      await ann()('POST', '/orgs/acme/teams', { name: 'heard of' });
      const { events } = await read(`&last_event_id=${encodeURIComponent(last)}`);
      const changes = events.filter(({ event }) => event === 'change').flatMap(({ data }) => data.changes);
      assert.ok(changes.length > 0);
      assert.ok(
        changes.every(({ organization }: { organization?: string }) => organization === 'acme'),
        JSON.stringify(changes),
      );
    });

    it(`Limits are in the audit log, and in the list of tokens, on ${driver}`, async () => {
      const { id } = await calls.make('ann', { name: 'recorded', limits: { organizations: ['ACME'] } });
      const listed = (await calls.list('ann')).find((token) => token.id === id);
      assert.deepEqual(listed.limits, {
        organizations: [{ id: Number(atrium.world.orgs.acme?.id), name: 'acme' }],
        objects: [],
      });
      const entry = (await auditOf(atrium.instance.db, atrium.world.users.ann?.id ?? 0n)).find(
        ({ action, object_id }) => action === 'token.create' && Number(object_id) === id,
      );
      assert.match(entry?.after ?? '', /"limits":\{"organizations":\[\{"id":"?\d+"?,"name":"acme"\}\]/);
    });
  });
}
