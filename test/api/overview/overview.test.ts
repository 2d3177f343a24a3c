import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { assertRejected, makeHolder, orgPermission, type Pair } from '../../support/world/authz.ts';
import { createRobot, makeOrganization, makePerson } from '../../support/world/people.ts';

const DAY_MS = 86_400_000;
const ALL_PARTS = [
  'members',
  'owners',
  'teams',
  'roles',
  'robots',
  'tokens',
  'clusters',
  'contracts',
  'guardrails',
  'assignments',
  'expiring',
  'unused_access',
  'last_change',
];

for (const driver of API_DRIVERS) {
  describe(`The overview of an organization on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    it(`The overview counts what the lists of an organization contain on ${driver}`, async () => {
      const { status, body, text } = await atrium.as('ann')('GET', '/orgs/ACME/overview');
      assert.equal(status, 200, text);
      const { last_change, unused_access, ...counts } = body;
      const { tracked_since, all, ...unused } = unused_access;
      assert.ok(Date.parse(tracked_since) <= Date.now());
      // Uses are not noted for 90 days yet.
      assert.deepEqual(unused, { days: 90, complete: false, memberships: 0, assignments: 0, permissions: 0 });
      assert.equal(all.assignments, counts.assignments);
      const by_phase = { Active: 0, Inactive: 0, NotReady: 0, NotConnected: 0, Registered: 2, NotImported: 0, Lost: 0 };
      assert.deepEqual(counts, {
        members: 4,
        owners: 1,
        teams: 4,
        roles: 1,
        robots: 1,
        tokens: { all: 1, expiring: 0, unused: 0, days: [] },
        clusters: { all: 2, attention: 0, by_phase },
        contracts: { all: 1, ending: 0, days: [] },
        guardrails: 0,
        assignments: 1,
        expiring: { memberships: 0, assignments: 0, days: { memberships: [], assignments: [] } },
      });
      const newest = (await atrium.as('ann')('GET', '/orgs/acme/audit?limit=1')).body.items[0];
      const { actor, action, object } = newest;
      assert.deepEqual(last_change, {
        at: newest.at.replace(/\.\d+Z$/, 'Z'),
        actor,
        action,
        object: { type: object.type, id: object.id },
      });
    });

    it(`The overview changes at once, and a denied request is no change on ${driver}`, async () => {
      const made = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'counted' });
      await atrium.as('ann')('PUT', `/teams/${made.body.id}/members/cat`);
      const denied = await atrium.as('cat')('DELETE', `/teams/${made.body.id}`);
      assert.equal(denied.status, 403);
      // Reading the log writes what was denied so far.
      assert.equal((await atrium.as('ann')('GET', '/orgs/acme/audit?limit=1')).body.items[0].action, 'access.denied');
      const { members, teams, last_change } = (await atrium.as('ann')('GET', '/orgs/acme/overview')).body;
      assert.deepEqual([members, teams, last_change.action, last_change.actor.name], [4, 5, 'team.add_member', 'ann']);
      await atrium.as('ann')('DELETE', `/teams/${made.body.id}`);
      assert.equal((await atrium.as('cat')('GET', '/orgs/acme/overview')).body.teams, 4);
    });

    it(`Tokens and contracts that end within 30 days, and tokens unused for 90 days, are counted on ${driver}`, async (t) => {
      const now = Date.now();
      t.mock.timers.enable({ apis: ['Date'], now });
      const { name: who } = await makePerson(atrium);
      const { id, name } = await makeOrganization(atrium, who);
      const robotId = await createRobot(atrium.instance, id, 'one');
      const at = (days: number, ms = 0) => new Date(now + days * DAY_MS + ms);
      // created, last used, expires
      const tokens: readonly (readonly (Date | null)[])[] = [
        [at(-200), at(-1), null],
        [at(-1), null, null],
        [at(-200), null, null],
        [at(-200), at(-90, -1), at(31)],
        [at(-200), at(-90), at(30, 1)],
        [at(-1), null, at(30)],
        [at(-200), null, at(0, 1)],
        [at(-200), null, at(0)],
        [at(-200), null, at(-5)],
      ];
      for (const [place, times] of tokens.entries()) {
        await atrium.instance.db.query(
          statement(`insert into token (account_id, robot_id, name, hash, last_eight, scopes, created_at, last_used_at, expires_at)
                     values ($1, $2, $3, $4, '', '{}', $5, $6, $7)`),
          [id, robotId, String(place), Buffer.from(`${name} ${place}`), ...times],
        );
      }
      // ends, revoked
      const contracts: readonly (readonly (Date | null)[])[] = [
        [null, null],
        [at(30), null],
        [at(30, 1), null],
        [at(0), null],
        [at(0, 1), null],
        [at(10), at(-1)],
      ];
      for (const [place, times] of contracts.entries()) {
        await atrium.instance.db.query(
          statement(`insert into contract (owner_id, uid, name, ends_at, revoked_at) values ($1, $2, $3, $4, $5)`),
          [id, crypto.randomUUID(), String(place), ...times],
        );
      }
      // memberships and assignments: those of another organization do not count
      const teams = atrium.world.orgs[name]?.teams ?? {};
      for (const [place, days] of [1, 30, 31].entries()) {
        const person = await makePerson(atrium);
        const team = Object.values(teams)[place];
        const expires_at = at(days).toISOString();
        const role = await atrium.as(who)('POST', `/authz/roles?org=${name}`, { name: `r${place}`, permissions: [] });
        const paths = [
          `/teams/${team}/members/${person.name}`,
          ...(days > 1 ? [`/teams/${team}/roles/${role.body.id}`] : []),
        ];
        for (const path of paths) assert.equal((await atrium.as(who)('PUT', path, { expires_at })).status, 204);
      }
      const { body } = await atrium.as(who)('GET', `/orgs/${name}/overview`);
      const day = (days: number, ms = 0) => at(days, ms).toISOString().slice(0, 10);
      const [today, tomorrow, last] = [
        { day: day(0, 1), count: 1 },
        { day: day(1), count: 1 },
        { day: day(30), count: 1 },
      ];
      assert.deepEqual(body.expiring, {
        memberships: 2,
        assignments: 1,
        days: { memberships: [tomorrow, last], assignments: [last] },
      });
      assert.deepEqual((await atrium.as('eve')('GET', '/orgs/globex/overview')).body.expiring, {
        memberships: 0,
        assignments: 0,
        days: { memberships: [], assignments: [] },
      });
      assert.deepEqual(body.tokens, { all: 9, expiring: 2, unused: 3, days: [today, last] });
      assert.deepEqual(body.contracts, { all: 6, ending: 2, days: [today, last] });
    });
  });
}

describe('The overview of an organization', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const partsFor = async (who: string) => {
    const { status, body, text } = await atrium.as(who)('GET', '/orgs/acme/overview');
    assert.equal(status, 200, text);
    return Object.keys(body);
  };

  it('The overview has exactly the parts whose lists the caller may see', async () => {
    for (const who of ['ann', 'root']) assert.deepEqual(await partsFor(who), ALL_PARTS, who);
    const table: readonly [permissions: readonly Pair[], parts: readonly string[], list: string][] = [
      [[orgPermission('view members')], ['members'], '/orgs/acme/members'],
      [[orgPermission('view teams')], ['teams'], '/orgs/acme/teams'],
      [[orgPermission('view roles')], ['roles', 'guardrails'], '/authz/roles?org=acme'],
      [[orgPermission('view audit log')], ['last_change'], '/orgs/acme/audit'],
      [[{ namespace: 'robot_mgmt', action: 'view robot accounts' }], ['robots'], '/orgs/acme/robots'],
      [[{ namespace: 'token_mgmt', action: 'view tokens' }], [], ''],
      [
        [
          { namespace: 'token_mgmt', action: 'view tokens' },
          { namespace: 'robot_mgmt', action: 'view robot accounts' },
        ],
        ['robots', 'tokens'],
        `/robots/${atrium.world.robots.ci}/tokens`,
      ],
      [[{ namespace: 'contract_mgmt', action: 'edit contracts' }], ['contracts'], '/orgs/acme/contracts'],
      [
        [orgPermission('view members'), orgPermission('view teams'), orgPermission('view roles')],
        ['members', 'owners', 'teams', 'roles', 'guardrails', 'assignments', 'expiring', 'unused_access'],
        '/orgs/acme/members',
      ],
      [[orgPermission('edit')], [], ''],
    ];
    for (const [permissions, parts, list] of table) {
      const { name: who } = await makeHolder(atrium, permissions);
      assert.deepEqual(await partsFor(who), parts, JSON.stringify(permissions));
      if (list !== '') assert.equal((await atrium.as(who)('GET', list)).status, 200, list);
    }
    assert.deepEqual(await partsFor('dan'), ['clusters']);
  });

  it('The overview is rejected for callers outside the organization, and without the scope', async () => {
    const send = ['GET', '/orgs/acme/overview'] as const;
    await assertRejected(atrium, { send, status: 401, message: 'token is required' });
    await assertRejected(atrium, { who: 'eve', send, status: 404, message: 'organization does not exist' });
    await assertRejected(atrium, {
      who: 'ann',
      send: ['GET', '/orgs/nothing/overview'],
      status: 404,
      message: 'organization does not exist',
    });
    const narrow = { accountId: atrium.world.users.ann?.id ?? 0n, name: 'narrow', scopes: ['read:user'] };
    const { text } = await atrium.instance.identity.tokens.issue(narrow);
    const answer = await atrium.as()(...send, undefined, { Authorization: `token ${text}` });
    assert.equal(answer.status, 403);
  });
});
