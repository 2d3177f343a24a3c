import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../../src/audit/denials/denials.ts';
import { brokenLinks, chainOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { reopen } from '../../support/server/reopen.ts';
import { type Answer, openTestServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { clusterPermission, makeHolder, numbersOf, orgPermission } from '../../support/world/authz.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';

interface Entry {
  readonly actor: { readonly id: number; readonly name: string };
  readonly object: { readonly type: string; readonly id: number };
  readonly after: Readonly<Record<string, unknown>>;
  readonly organization_id: number;
  readonly request_id: string;
}

const HOUR_MS = 3_600_000;

describe('Denied requests in the audit log', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  let sent = 0;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  const denials = async (query = ''): Promise<Entry[]> => {
    const answer = await atrium.as('root')('GET', `/admin/audit?action=access.denied&limit=200${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.items;
  };
  /** Sends one request and returns its status and the denials that it left. */
  const left = async (send: (headers: Record<string, string>) => Promise<Answer>): Promise<[number, Entry[]]> => {
    const requestId = `denial-${++sent}`;
    const { status } = await send({ 'X-Request-Id': requestId });
    return [status, (await denials()).filter((entry) => entry.request_id === requestId)];
  };
  const as =
    (who: string, method: string, path: string, body?: unknown) =>
    (headers: Record<string, string>): Promise<Answer> =>
      atrium.as(who)(method, path, body, headers);

  const ORG = '/api/v1/orgs/:org';
  const noRole = { name: 'x', permissions: [] };
  type Case = readonly [
    title: string,
    send: () => ReturnType<typeof as>,
    status: number,
    chain: () => number,
    object: () => string,
    attempt: Readonly<Record<string, unknown>>,
  ];
  const acme = () => id.org('acme');
  const ofAcme = () => `organization:${acme()}`;
  const platform = () => 0;
  const CASES: readonly Case[] = [
    [
      'a member who edits the organization',
      () => as('cat', 'PATCH', '/orgs/acme', {}),
      403,
      acme,
      ofAcme,
      { method: 'PATCH', route: ORG, path: { org: 'acme' }, relation: 'edit:org', reason: 'missing_relation' },
    ],
    [
      'an editor who renames the organization',
      () => as('bob', 'PATCH', '/orgs/acme', { username: 'mine' }),
      403,
      acme,
      ofAcme,
      { method: 'PATCH', route: ORG, path: { org: 'acme' }, relation: 'owner:org', reason: 'missing_relation' },
    ],
    [
      'a stranger who deletes the organization',
      () => as('eve', 'DELETE', '/orgs/acme'),
      404,
      acme,
      ofAcme,
      { method: 'DELETE', route: ORG, path: { org: 'acme' }, relation: 'delete:org', reason: 'organization_not_found' },
    ],
    [
      'a stranger who creates a role',
      () => as('eve', 'POST', '/authz/roles?org=acme', noRole),
      403,
      acme,
      ofAcme,
      { method: 'POST', route: '/api/v1/authz/roles', relation: 'create_role:org', reason: 'forbidden' },
    ],
    [
      'a member who deletes a role',
      () => as('cat', 'DELETE', `/authz/roles/${id.role('cluster-operator')}?org=acme`),
      403,
      acme,
      () => `role:${id.role('cluster-operator')}`,
      { method: 'DELETE', route: '/api/v1/authz/roles/:id', relation: 'delete:role', reason: 'missing_relation' },
    ],
    [
      'a member who removes a cluster',
      () => as('cat', 'DELETE', `/clusters/${id.cluster('prod')}`),
      403,
      acme,
      () => `cluster:${id.cluster('prod')}`,
      { method: 'DELETE', route: '/api/v1/clusters/:id', relation: 'remove:cluster', reason: 'missing_relation' },
    ],
    [
      'a stranger who removes a cluster',
      () => as('eve', 'DELETE', `/clusters/${id.cluster('prod')}`),
      404,
      acme,
      () => `cluster:${id.cluster('prod')}`,
      { method: 'DELETE', route: '/api/v1/clusters/:id', relation: 'remove:cluster', reason: 'cluster_not_found' },
    ],
    [
      'a stranger who removes the cluster of a user',
      () => as('eve', 'DELETE', `/clusters/${id.cluster('laptop')}`),
      404,
      () => id.user('ann'),
      () => `cluster:${id.cluster('laptop')}`,
      { method: 'DELETE', route: '/api/v1/clusters/:id', relation: 'remove:cluster', reason: 'cluster_not_found' },
    ],
    [
      'a member who edits a contract',
      () => as('cat', 'PATCH', `/contracts/${id.contract('acme')}`, {}),
      403,
      acme,
      () => `contract:${id.contract('acme')}`,
      { method: 'PATCH', route: '/api/v1/contracts/:id', relation: 'edit:contract', reason: 'missing_relation' },
    ],
    [
      'a member who deletes a robot',
      () => as('cat', 'DELETE', `/robots/${id.robot('ci')}`),
      403,
      acme,
      () => `robot_ac:${id.robot('ci')}`,
      { method: 'DELETE', route: '/api/v1/robots/:id', relation: 'delete:robot_ac', reason: 'missing_relation' },
    ],
    [
      'a member who adds a member',
      () => as('cat', 'PUT', '/orgs/acme/members/eve', {}),
      403,
      acme,
      ofAcme,
      {
        method: 'PUT',
        route: '/api/v1/orgs/:org/members/:username',
        path: { org: 'acme', username: 'eve' },
        relation: 'add_member:org',
        reason: 'missing_relation',
      },
    ],
    [
      'an owner who reads what is for site administrators',
      () => as('ann', 'GET', '/admin/orgs'),
      403,
      platform,
      () => 'platform:0',
      { method: 'GET', route: '/api/v1/admin/orgs', reason: 'forbidden' },
    ],
    [
      'an owner who deletes a user',
      () => as('ann', 'DELETE', '/admin/users/bob'),
      403,
      platform,
      () => 'platform:0',
      { method: 'DELETE', route: '/api/v1/admin/users/:username', path: { username: 'bob' }, reason: 'forbidden' },
    ],
    [
      'a user who tries sudo',
      () => as('ann', 'GET', '/user?sudo=bob'),
      403,
      platform,
      () => 'platform:0',
      { method: 'GET', route: '/api/v1/user', sudo: 'bob', reason: 'forbidden' },
    ],
  ];
  for (const [title, send, status, chain, object, attempt] of CASES) {
    it(`A denied attempt of ${title} leaves one entry with actor, route and object`, async () => {
      const [answered, entries] = await left(send());
      assert.equal(answered, status);
      const [entry, ...others] = entries;
      assert.deepEqual(others, []);
      assert.equal(entry?.organization_id, chain());
      assert.equal(`${entry?.object.type}:${entry?.object.id}`, object());
      const { path, ...rest } = entry?.after ?? {};
      // A number in the path is the object.
      assert.deepEqual({ ...rest, ...('path' in attempt && { path }) }, attempt);
    });
  }

  const SILENT: readonly (readonly [string, () => ReturnType<typeof as>, number])[] = [
    ['names an organization that does not exist', () => as('eve', 'DELETE', '/orgs/nowhere'), 404],
    ['names an object that does not exist', () => as('cat', 'DELETE', '/clusters/999999'), 404],
    ['only reads', () => as('cat', 'GET', '/orgs/acme/audit'), 403],
    ['asks by POST but only reads', () => as('cat', 'POST', '/authz/roles/preview?org=acme', {}), 403],
    ['is invalid', () => as('ann', 'PATCH', '/orgs/acme', { username: '-' }), 422],
    ['is about a user who does not exist', () => as('root', 'DELETE', '/admin/users/nobody'), 404],
  ];
  for (const [title, send, status] of SILENT) {
    it(`A rejected request that ${title} leaves no entry`, async () => {
      assert.deepEqual(await left(send()), [status, []]);
    });
  }

  it('Robots, narrow tokens, closed accounts and administrators who act for others are named as actors', async () => {
    const { instance } = atrium;
    const tokenOf = async (accountId: bigint, more: object = {}) =>
      (await instance.identity.tokens.issue({ accountId, name: `denied ${++sent}`, scopes: ['all'], ...more })).text;
    const send = (token: string, method: string, path: string) => (headers: Record<string, string>) =>
      atrium.call(method, `/api/v1${path}`, {}, { ...headers, Authorization: `token ${token}` });
    const acmeId = atrium.world.orgs.acme?.id ?? 0n;
    const robot = await tokenOf(acmeId, { robotId: atrium.world.robots.ci });
    const narrow = await tokenOf(atrium.world.users.ann?.id ?? 0n, { scopes: ['read:organization'] });
    const closed = await makePerson(atrium);
    await instance.features.users.update(closed.name, { active: false }, () => undefined, {
      id: 0n,
      name: 'test',
      requestId: 'test',
    });
    const expected: readonly [ReturnType<typeof send>, string][] = [
      [send(robot, 'PATCH', '/orgs/acme'), 'ci'],
      [send(robot, 'POST', `/clusters/${id.cluster('globex')}/heartbeat`), 'ci'],
      [send(narrow, 'PATCH', '/orgs/acme'), 'ann'],
      [send(closed.token, 'PATCH', '/orgs/acme'), closed.name],
      [as('root', 'PATCH', '/orgs/acme?sudo=cat', {}), 'root'],
    ];
    for (const [one, name] of expected) {
      const [, [entry]] = await left(one);
      assert.equal(entry?.actor.name, name);
    }
  });

  it('A caller who grants more than they hold leaves an entry', async () => {
    const maker = await makeHolder(atrium, [orgPermission('create roles')]);
    const body = { name: 'too much', permissions: [clusterPermission('view clusters')] };
    const [status, [entry]] = await left(as(maker.name, 'POST', '/authz/roles?org=acme', body));
    assert.deepEqual([status, entry?.after.reason, entry?.organization_id], [403, 'escalation', acme()]);
  });

  it('Owners see denials in the log of their organization, whose chain stays whole, and revisions stay as they are', async () => {
    const revision = async () => (await atrium.instance.db.query(statement('select value from revision')))[0];
    const before = await revision();
    await atrium.as('cat')('DELETE', '/orgs/acme');
    const mine = await atrium.as('ann')('GET', '/orgs/acme/audit?action=access.&limit=1');
    assert.deepEqual([mine.body.items[0].action, mine.body.items[0].actor.name], ['access.denied', 'cat']);
    assert.deepEqual(await revision(), before);
    assert.deepEqual(brokenLinks(await chainOf(atrium.instance.db, acme())), []);
    const verdict = await atrium.as('ann')('GET', '/orgs/acme/audit/verify');
    assert.equal(verdict.body.ok, true);
  });

  it('One actor leaves a limited number of entries in an hour, and then one that counts the others', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + HOUR_MS });
    const owner = await makePerson(atrium);
    const { name: org, id: orgId } = await makeOrganization(atrium, owner.name);
    const member = await makePerson(atrium);
    assert.equal((await atrium.as(owner.name)('PUT', `/orgs/${org}/members/${member.name}`)).status, 204);
    for (let time = 0; time < LIMITS.actor + 7; time++) {
      assert.equal((await atrium.as(member.name)('PATCH', `/orgs/${org}`, {})).status, 403);
    }
    const found = async () => await denials(`&org=${org}`);
    assert.equal((await found()).length, LIMITS.actor);
    t.mock.timers.setTime(Date.now() + HOUR_MS);
    const [count, ...rest] = await found();
    assert.equal(rest.length, LIMITS.actor);
    const object = { type: 'organization', id: Number(orgId), name: org };
    assert.deepEqual([count?.actor.name, count?.object], [member.name, object]);
    assert.equal(count?.after.suppressed, 7);
    // The next hour begins with a new allowance.
    await atrium.as(member.name)('PATCH', `/orgs/${org}`, {});
    assert.equal((await found()).length, LIMITS.actor + 2);
  });

  it('Strangers can neither fill the log of an organization nor hide what its members do', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 4 * HOUR_MS });
    const [owner, member] = [await makePerson(atrium), await makePerson(atrium)];
    const { name: org } = await makeOrganization(atrium, owner.name);
    assert.equal((await atrium.as(owner.name)('PUT', `/orgs/${org}/members/${member.name}`)).status, 204);
    const strangers = [await makePerson(atrium), await makePerson(atrium), await makePerson(atrium)];
    const each = Math.ceil(LIMITS.strangers / 2);
    for (const { name } of strangers) {
      for (let time = 0; time < each; time++) {
        assert.equal((await atrium.as(name)('DELETE', `/orgs/${org}`)).status, 404);
      }
    }
    assert.equal((await denials(`&org=${org}`)).length, LIMITS.strangers);
    await atrium.as(member.name)('DELETE', `/orgs/${org}`);
    const [newest] = await denials(`&org=${org}`);
    assert.equal(newest?.actor.name, member.name);
    t.mock.timers.setTime(Date.now() + HOUR_MS);
    assert.equal((await denials(`&org=${org}`)).length, LIMITS.strangers + 1);
    const [count] = (await denials('&org=0')).filter(({ after: said }) => said.suppressed !== undefined);
    assert.deepEqual([count?.after.suppressed, count?.actor.name], [3 * each - LIMITS.strangers, 'atrium']);
  });
});

for (const driver of API_DRIVERS) {
  it(`Denials that were noted or only counted are written when the server stops, on ${driver}`, async () => {
    const atrium = await openTestServer({ driver });
    const acme = atrium.world.orgs.acme?.id ?? 0n;
    for (let time = 0; time < LIMITS.actor + 2; time++) await atrium.as('cat')('DELETE', '/orgs/acme');
    const { DATABASE_URL: databaseUrl } = atrium.instance.config;
    await atrium.close();
    const place = { dataDir: atrium.dataDir, ...(databaseUrl !== undefined && { databaseUrl }) };
    const again = await reopen(place, { ATRIUM_KEY: TEST_KEY });
    const entries = await chainOf(again.db, acme);
    await again.close();
    const denied = entries.filter(({ action }) => action === 'access.denied');
    assert.equal(denied.length, LIMITS.actor + 1);
    assert.equal(JSON.parse(denied.at(-1)?.after ?? '{}').suppressed, 2);
    assert.deepEqual(brokenLinks(entries), []);
  });
}
