import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place } from '../../support/world/assignments.ts';
import { authzenPoint, question } from '../../support/world/authzen.ts';

/** What the certification harness of AuthZEN 1.0 checks, on types of ours. */
describe('The Authorization API of AuthZEN 1.0', () => {
  let atrium: TestServer;
  let place: Place;
  let point: ReturnType<typeof authzenPoint>;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
    point = authzenPoint(atrium, place.org.name);
    const to = { type: 'user', id: Number(place.dan.id) };
    await assign(place, place.operator.id, to, { type: 'cluster', id: place.prod.id });
  });
  after(() => atrium.close());

  const send = (path: string, body?: unknown, headers?: Record<string, string>, method?: string) =>
    point.as(place.owner.name)(path, body, headers, method);
  const dan = () => ({ type: 'user', id: place.dan.name });
  const prod = () => ({ type: 'cluster', id: String(place.prod.id) });
  const whole = () => ({ subject: dan(), action: { name: 'can_connect' }, resource: prod() });

  describe('Discovery', () => {
    it('The metadata is that of the identifier from which its address was made, with all endpoints', async () => {
      const answer = await atrium.call('GET', '/.well-known/authzen-configuration/access/v1/acme');
      assert.equal(answer.status, 200, answer.text);
      const identifier = `${atrium.url}/access/v1/acme`;
      assert.deepEqual(answer.body, {
        policy_decision_point: identifier,
        access_evaluation_endpoint: `${identifier}/evaluation`,
        access_evaluations_endpoint: `${identifier}/evaluations`,
        search_subject_endpoint: `${identifier}/search/subject`,
        search_resource_endpoint: `${identifier}/search/resource`,
        search_action_endpoint: `${identifier}/search/action`,
        access_request_endpoint: `${identifier}/requests`,
        capabilities: ['urn:openid:authzen:capability:access-request'],
      });
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=3600');
    });

    it('It does not tell which organizations there are', async () => {
      for (const [name, status] of [
        ['no-such-organization', 200],
        ['acme', 200],
        ['a..b', 404],
        ['-a', 404],
        ['a%00', 404],
      ] as const) {
        const answer = await atrium.call('GET', `/.well-known/authzen-configuration/access/v1/${name}`);
        assert.equal(answer.status, status, name);
      }
    });
  });

  describe('Transport', () => {
    it('What is wrong with a request is 400, in every call', async () => {
      const { subject, action, resource } = whole();
      const wrong: [string, unknown][] = [
        ['evaluation', {}],
        ['evaluation', []],
        ['evaluation', 'text'],
        ['evaluation', { action, resource }],
        ['evaluation', { subject, resource }],
        ['evaluation', { subject, action }],
        ['evaluation', { subject: { type: 'user' }, action, resource }],
        ['evaluation', { subject: { type: 'user', id: 5 }, action, resource }],
        ['evaluation', { subject, action: {}, resource }],
        ['evaluation', { subject, action: 'can_view', resource }],
        ['evaluation', { subject, action, resource: { id: '1' } }],
        ['evaluation', { subject, action, resource, context: [] }],
        ['evaluation', { subject: { ...subject, properties: 'x' }, action, resource }],
        ['evaluations', { evaluations: [{ subject }] }],
        ['evaluations', { evaluations: {} }],
        ['evaluations', { ...whole(), evaluations: [{}], options: { evaluations_semantic: 'sometimes' } }],
        ['evaluations', { ...whole(), evaluations: Array.from({ length: 1001 }, () => ({})) }],
        ['search/subject', { subject, action }],
        ['search/subject', { ...whole(), page: { limit: 0 } }],
        ['search/subject', { ...whole(), page: { limit: 1001 } }],
        ['search/subject', { ...whole(), page: { token: 'nonsense' } }],
        ['search/resource', { action, resource }],
        ['search/action', { subject }],
      ];
      for (const [path, body] of wrong) {
        const answer = await send(path, body);
        assert.equal(answer.status, 400, `${path} ${JSON.stringify(body).slice(0, 100)}: ${answer.text}`);
        assert.equal(typeof answer.body.reason, 'string');
      }
    });

    it('A body that is no JSON, of another type or absent is 400, and another method 405', async () => {
      const headers = { Authorization: `Bearer ${place.owner.token}` };
      const url = `${atrium.url}/access/v1/${place.org.name}/evaluation`;
      const raw = async (body: string | undefined, type: string) =>
        (await fetch(url, { method: 'POST', headers: { ...headers, 'Content-Type': type }, ...(body && { body }) }))
          .status;
      assert.equal(await raw('{"subject": ', 'application/json'), 400);
      assert.equal(await raw(JSON.stringify(whole()), 'text/plain'), 400);
      assert.equal(await raw('', 'application/json'), 400);
      assert.equal(await raw(undefined, 'application/json'), 400);
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await send('evaluation', undefined, undefined, method);
        assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST'], method);
      }
    });

    it('X-Request-ID comes back, also with errors, and nothing may be kept', async () => {
      for (const [path, body] of [
        ['evaluation', whole()],
        ['evaluation', {}],
        ['nowhere', {}],
      ] as const) {
        const answer = await send(path, body, { 'X-Request-ID': 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716' });
        assert.equal(answer.headers.get('x-request-id'), 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716', path);
        assert.equal(answer.headers.get('cache-control'), 'no-store', path);
      }
      assert.equal((await send('evaluation', whole())).status, 200);
    });

    it('Without a credential 401, with a token of another scope 403', async () => {
      const none = await point.as()('evaluation', whole());
      assert.deepEqual([none.status, none.headers.get('www-authenticate')], [401, 'Bearer']);
      const { text } = await atrium.instance.identity.tokens.issue({
        ...{ accountId: place.owner.id, name: 'narrow', scopes: ['read:organization'] },
      });
      const narrow = await point.withToken(text)('evaluation', whole());
      assert.deepEqual([narrow.status, narrow.body.reason], [403, 'forbidden']);
    });
  });

  describe('Evaluation', () => {
    it('The same request twice has the same answer, and members that nobody knows are ignored', async () => {
      const first = await send('evaluation', whole());
      const second = await send('evaluation', { ...whole(), unknown: { a: 1 }, page: 5 });
      assert.deepEqual([first.body, first.status], [second.body, 200]);
      assert.equal(first.body.decision, true);
    });
  });

  describe('Evaluations', () => {
    it('Answers come in the order of the items, each with what the request gives them by default', async () => {
      const { subject, action, resource } = whole();
      const staging = { type: 'cluster', id: String(place.staging.id) };
      const answer = await send('evaluations', {
        ...{ subject, action, resource },
        evaluations: [
          {},
          { resource: staging },
          { subject: { type: 'user', id: 'nobody' } },
          { action: { name: 'view' } },
        ],
      });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(Object.keys(answer.body), ['evaluations']);
      const decisions = answer.body.evaluations.map(({ decision }: { decision: boolean }) => decision);
      assert.deepEqual(decisions, [true, false, false, true]);
    });

    it('An item replaces a default as a whole', async () => {
      const context = { namespace: 'web' };
      const answer = await send('evaluations', { ...whole(), context, evaluations: [{ context: { other: 1 } }, {}] });
      const [plain, inWeb] = answer.body.evaluations;
      assert.deepEqual([plain.decision, inWeb.decision], [true, true]);
      assert.notEqual(plain.context.reason_user, inWeb.context.reason_user);
    });

    it('Without items, the answer is that of a single evaluation', async () => {
      const single = await send('evaluation', whole());
      for (const body of [whole(), { ...whole(), evaluations: [] }]) {
        assert.deepEqual((await send('evaluations', body)).body, single.body);
      }
    });

    it('The short-circuit semantics end with the item that decides', async () => {
      const item = (action: string) => ({ action: { name: action } });
      const decisions = async (semantic: string, ...actions: string[]) => {
        const body = { ...whole(), evaluations: actions.map(item), options: { evaluations_semantic: semantic } };
        const answer = await send('evaluations', body);
        return answer.body.evaluations.map(({ decision }: { decision: boolean }) => decision);
      };
      assert.deepEqual(await decisions('execute_all', 'view', 'edit', 'view'), [true, false, true]);
      assert.deepEqual(await decisions('deny_on_first_deny', 'view', 'edit', 'view'), [true, false]);
      assert.deepEqual(await decisions('deny_on_first_deny', 'view', 'nonsense', 'view'), [true, false]);
      assert.deepEqual(await decisions('permit_on_first_permit', 'edit', 'nonsense', 'view', 'view'), [
        false,
        false,
        true,
      ]);
    });
  });

  describe('Search', () => {
    const results = async (path: string, body: object) => {
      const answer = await send(path, body);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(typeof answer.body.page.next_token, 'string');
      assert.equal(answer.body.page.count, answer.body.results.length);
      return answer.body.results;
    };

    it('Subjects are users by login, or robots by name, and the ID that is sent is ignored', async () => {
      const asked = { ...whole(), subject: { type: 'user', id: 'ignored' } };
      const found = await results('search/subject', asked);
      const entity = (name: string, id: bigint) => ({ type: 'user', id: name, properties: { id: Number(id) } });
      for (const one of [entity(place.dan.name, place.dan.id), entity(place.owner.name, place.owner.id)]) {
        assert.ok(JSON.stringify(found).includes(JSON.stringify(one)), JSON.stringify(found));
      }
      assert.ok(found.every(({ type }: { type: string }) => type === 'user'));
      const operating = { type: 'robot_ac', id: place.robot };
      await assign(place, place.operator.id, operating, { type: 'cluster', id: place.prod.id });
      const robots = await results('search/subject', { ...asked, subject: { type: 'robot_ac' } });
      assert.deepEqual(robots, [{ type: 'robot_ac', id: 'deploy', properties: { id: place.robot } }]);
      assert.deepEqual(await results('search/subject', { ...asked, subject: { type: 'team' } }), []);
    });

    it('Resources are objects by ID, with their names; in a namespace, those where it counts there', async () => {
      const asked = { ...whole(), resource: { type: 'cluster' } };
      const entity = { type: 'cluster', id: String(place.prod.id), properties: { name: 'prod' } };
      assert.deepEqual(await results('search/resource', asked), [entity]);
      const staging = { type: 'cluster', id: place.staging.id };
      const to = { type: 'user', id: Number(place.dan.id) };
      const made = await assign(place, place.operator.id, to, staging, { namespaces: ['web'] });
      const inWeb = await results('search/resource', { ...asked, context: { namespace: 'web' } });
      const ids = [place.prod.id, place.staging.id].map(String);
      assert.deepEqual(inWeb.map(({ id }: { id: string }) => id).sort(), ids.sort());
      assert.deepEqual(await results('search/resource', { ...asked, context: { namespace: 'shop' } }), [entity]);
      await place.call('DELETE', place.at(made.id));
    });

    it('Actions have their prefix, in the order of the model, and no `action` is needed', async () => {
      const { subject, resource } = whole();
      const query = `org=${place.org.name}`;
      const own = await atrium.as(place.dan.name)(
        'GET',
        `/authz/objects/cluster/${place.prod.id}/allowed-permissions?${query}`,
      );
      const found = await results('search/action', { subject, resource });
      assert.deepEqual(
        found,
        own.body.allowedPermissions.map((name: string) => ({ name })),
      );
    });

    it('Each result evaluates to true, in all three', async () => {
      const may = async (body: object) => (await send('evaluation', body)).body.decision;
      const base = whole();
      for (const subject of await results('search/subject', { ...base, subject: { type: 'user' } })) {
        assert.ok(await may({ ...base, subject }), JSON.stringify(subject));
      }
      for (const resource of await results('search/resource', { ...base, resource: { type: 'cluster' } })) {
        assert.ok(await may({ ...base, resource }), JSON.stringify(resource));
      }
      for (const action of await results('search/action', { subject: base.subject, resource: base.resource })) {
        assert.ok(await may({ ...base, action }), JSON.stringify(action));
      }
    });

    it('What does not exist has no results', async () => {
      const nothing = { type: 'cluster', id: '999999' };
      const nobody = { type: 'user', id: 'nobody-here' };
      for (const [path, body] of [
        ['search/subject', { ...whole(), resource: nothing, subject: { type: 'user' } }],
        ['search/subject', { ...whole(), action: { name: 'fly' }, subject: { type: 'user' } }],
        ['search/resource', { ...whole(), subject: nobody, resource: { type: 'cluster' } }],
        ['search/resource', { ...whole(), resource: { type: 'record' } }],
        ['search/resource', { ...whole(), resource: { type: 'user' } }],
        ['search/action', { subject: nobody, resource: prod() }],
        ['search/action', { subject: dan(), resource: nothing }],
      ] as const) {
        assert.deepEqual(await results(path, body), [], JSON.stringify(body));
      }
    });

    it('Pages continue with a token that is good for this caller and this request only', async () => {
      const asked = { ...whole(), subject: { type: 'user' }, page: { limit: 1 } };
      const first = await send('search/subject', asked);
      assert.equal(first.body.results.length, 1);
      const { next_token: token } = first.body.page;
      assert.notEqual(token, '');
      const next = { ...asked, page: { token } };
      const all = await results('search/subject', { ...asked, page: undefined });
      const second = await send('search/subject', next);
      assert.deepEqual([...first.body.results, ...second.body.results], all.slice(0, 2));
      const changed = await send('search/subject', { ...next, action: { name: 'view' } });
      assert.equal(changed.status, 400, changed.text);
      const elsewhere = await send('search/action', { subject: dan(), resource: prod(), page: { token } });
      assert.equal(elsewhere.status, 400);
      const root = await point.as('root')('search/subject', next);
      assert.equal(root.status, 400, root.text);
      const last = await send('search/subject', { ...asked, page: { limit: 1000 } });
      assert.equal(last.body.page.next_token, '');
    });

    it('Who may do something is for callers who may view members', async () => {
      const { text } = await atrium.instance.identity.tokens.issue({
        ...{ accountId: place.dan.id, name: 'own', scopes: ['read:authz'] },
      });
      const loner = await place.role('loner', 'cluster_mgmt import clusters');
      assert.ok(loner.id > 0);
      const ask = { ...question('', 'connect', place.prod.id), subject: { type: 'user' } };
      const answer = await point.withToken(text)('search/subject', ask);
      assert.deepEqual([answer.status, answer.body.reason], [403, 'missing_relation']);
      const others = { ...question(place.owner.name, 'connect', 1), resource: { type: 'cluster' } };
      const resources = await point.withToken(text)('search/resource', others);
      assert.deepEqual([resources.status, resources.body.reason], [403, 'missing_relation']);
      const own = { ...question(place.dan.name, 'connect', 1), resource: { type: 'cluster' } };
      assert.equal((await point.withToken(text)('search/resource', own)).body.results.length, 1);
    });
  });
});
