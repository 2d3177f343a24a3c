import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { applicationId, binding, openMarketplace } from '../../support/world/marketplace.ts';
import { createCluster, makeOrganization, makePerson } from '../../support/world/people.ts';

const LEFT = `select
  (select count(*)::integer from tuple where store = $1) as tuples,
  (select count(*)::integer from account where id = $1) as accounts,
  (select count(*)::integer from team where organization_id = $1) as teams,
  (select count(*)::integer from role where organization_id = $1) as roles,
  (select count(*)::integer from cluster where owner_id = $1) as clusters,
  (select count(*)::integer from contract where owner_id = $1) as contracts,
  (select count(*)::integer from robot where owner_id = $1) as robots,
  (select count(*)::integer from token where account_id = $1) as tokens,
  (select count(*)::integer from data_key where owner_id = $1) as keys`;
const NOTHING = {
  tuples: 0,
  accounts: 0,
  teams: 0,
  roles: 0,
  clusters: 0,
  contracts: 0,
  robots: 0,
  tokens: 0,
  keys: 0,
};

for (const driver of COUNTED_DRIVERS) {
  describe(`Deleting an organization on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const left = async (id: bigint) => (await atrium.instance.db.query({ name: 'test.left', text: LEFT }, [id]))[0];

    const sourcesOf = async (id: number | bigint) => {
      const text = `select distinct source_kind || ':' || source_id as source from tuple where store = $1`;
      return (await atrium.instance.db.query<{ source: string }>({ name: 'test.sources', text }, [id])).map(
        (row) => row.source,
      );
    };
    const named = async (id: bigint) => {
      const text = `select kind || ':' || id as source from change
         where organization_id = $1 and revision = (select max(revision) from change where organization_id = $1)`;
      return (await atrium.instance.db.query<{ source: string }>({ name: 'test.named', text }, [id])).map(
        (row) => row.source,
      );
    };

    it(`Deleting an organization removes all its resources but not its members or audit log on ${driver}`, async () => {
      const { world } = atrium;
      const acme = world.orgs.acme;
      assert.ok(acme);
      const robot = await atrium.instance.identity.tokens.issue({
        accountId: acme.id,
        robotId: world.robots.ci ?? 0n,
        name: 'last',
        scopes: ['all'],
      });
      await atrium.as('cat')('PUT', '/user/following/acme');
      // Everything about it is cached now.
      const prod = world.clusters.prod?.id ?? 0n;
      assert.ok((await allowedTo(atrium, 'ann', 'cluster', prod)).includes('can_remove'));
      assert.deepEqual(await allowedTo(atrium, 'dan', 'cluster', prod), ['can_view', 'can_connect']);
      const sources = await sourcesOf(acme.id);
      assert.ok(sources.length > 8);
      const others = await left(world.orgs.globex?.id ?? 0n);

      assert.equal((await atrium.as('ann')('DELETE', '/orgs/acme')).status, 204);

      for (const who of ['ann', 'bob', 'cat', 'dan', 'root']) {
        assert.equal((await atrium.as(who)('GET', '/orgs/acme')).status, 404, who);
        assert.equal((await atrium.as(who)('GET', `/teams/${acme.teams.Owners}`)).status, 404, who);
        assert.equal((await atrium.as(who)('GET', '/authz/roles?org=acme')).status, 403, who);
        assert.deepEqual((await atrium.as(who)('GET', '/user/orgs')).body, [], who);
        assert.deepEqual((await atrium.as(who)('GET', '/user/teams')).body, [], who);
        const clusters = (await atrium.as(who)('GET', '/user/clusters?all=true')).body;
        assert.ok(!clusters.some((cluster: { id: number }) => cluster.id === Number(prod)), who);
        for (const type of ['organization', 'team', 'cluster'])
          assert.equal(
            (await atrium.as(who)('GET', `/authz/objects/${type}/1/allowed-permissions?org=acme`)).status,
            403,
          );
      }
      assert.equal((await atrium.as('ann')('GET', '/user')).body.orgAdmin, false);
      const asRobot = await atrium.call('GET', '/api/v1/user', undefined, { Authorization: `token ${robot.text}` });
      assert.equal(asRobot.status, 401);
      assert.deepEqual(await left(acme.id), NOTHING);
      // Whoever caches its graph, on any replica, is notified of every row that contributed a tuple.
      const told = await named(acme.id);
      for (const source of sources) assert.ok(told.includes(source), source);
      assert.deepEqual(await left(world.orgs.globex?.id ?? 0n), others);
      assert.deepEqual((await atrium.as('cat')('GET', '/user/following')).body, []);

      const entries = await auditOf(atrium.instance.db, acme.id);
      const last = entries.at(-1);
      assert.deepEqual(
        [last?.action, last?.actor_name, Number(last?.object_id)],
        ['organization.delete', 'ann', Number(acme.id)],
      );
      assert.deepEqual(brokenLinks(entries), []);

      // The name is reserved. Once it is released, whoever takes it gets nothing of what the old organization had.
      assert.equal((await atrium.as('eve')('POST', '/orgs', { username: 'acme' })).body.reason, 'name_reserved');
      assert.equal((await atrium.as('root')('DELETE', '/admin/reserved-names/acme')).status, 204);
      const again = await atrium.as('eve')('POST', '/orgs', { username: 'acme' });
      assert.equal(again.status, 201);
      assert.notEqual(again.body.id, Number(acme.id));
      assert.deepEqual(await allowedTo(atrium, 'eve', 'cluster', prod), []);
      assert.deepEqual(await allowedTo(atrium, 'ann', 'organization', again.body.id), []);
      assert.equal((await atrium.as('ann')('GET', '/orgs/acme')).status, 404);
    });

    it(`More teams and members than are deleted at once are deleted with what they belong to on ${driver}`, async () => {
      const { name: who } = await makePerson(atrium);
      const org = await makeOrganization(atrium, who);
      const { db } = atrium.instance;
      const crowd = await db.query<{ id: bigint }>(
        statement(
          `insert into account (kind, name) select 'user', 'crowd' || n from generate_series(1, 1010) n returning id`,
        ),
      );
      const teams = await db.query<{ id: bigint }>(
        statement(`insert into team (organization_id, name, permission, type)
                   select $1, 'team' || n, 'read', 'custom' from generate_series(1, 510) n returning id`),
        [org.id],
      );
      const [large, small, ...others] = teams.map(({ id }) => id);
      const ids = crowd.map(({ id }) => id);
      const JOIN = statement('insert into team_member (team_id, account_id) select $1, unnest($2::bigint[])');
      for (const team of [large, small]) await db.query(JOIN, [team, ids]);

      assert.equal((await atrium.as(who)('DELETE', `/teams/${large}`)).status, 204);
      const entry = (await auditOf(db, org.id)).at(-1);
      assert.equal(entry?.action, 'team.delete');
      const recorded: (string | number)[] = JSON.parse(entry.before ?? '').members;
      assert.deepEqual(new Set(recorded.map(BigInt)), new Set(ids));
      assert.equal((await atrium.as(who)('GET', `/teams/${large}`)).status, 404);
      assert.equal((await atrium.as(who)('GET', `/teams/${small}`)).body.member_count, ids.length);

      const sources = await sourcesOf(org.id);
      assert.ok(sources.length > others.length);
      assert.equal((await atrium.as(who)('DELETE', `/orgs/${org.name}`)).status, 204);
      assert.deepEqual(await left(BigInt(org.id)), NOTHING);
      const told = new Set(await named(BigInt(org.id)));
      assert.deepEqual(
        sources.filter((source) => !told.has(source)),
        [],
      );
    });

    it(`Installers of a deleted organization cannot be bound again and their links stop working on ${driver}`, async () => {
      const market = await openMarketplace({ driver });
      const a = await market.installer('A');
      const bound = await market.notify('A', binding(a));
      assert.equal(bound.status, 200, bound.text);
      const link = new URL(bound.body.link);
      const path = `${link.pathname}${link.search}`;
      assert.equal((await market.call('GET', path)).status, 200);
      const c = await market.installer('C');
      assert.equal((await market.notify('C', binding(c, { marketplace: 'CloudC' }))).status, 200);
      const b = await market.installer('B');
      const application = applicationId();
      const bind = { eventType: 'BIND', applicationId: application, ...binding(b, { marketplace: 'CloudB' }) };
      assert.equal((await market.notify('B', bind)).status, 200);

      const rows = await market.rows<{ name: string }>(
        'select a.name from installer i join account a on a.id = i.organization_id where i.id = any($1::text[])',
        [[a, b, c]],
      );
      assert.equal(rows.length, 3);
      for (const { name } of rows) assert.equal((await market.as('root')('DELETE', `/orgs/${name}`)).status, 204);

      // A customer who asks for the name of a deleted organization gets a similar one.
      const [wished] = rows;
      const other = await market.notify('A', binding(await market.installer('A'), { adminUsername: wished?.name }));
      assert.equal(other.status, 200, other.text);
      const takers = 'select name from account where name_key = $1';
      assert.deepEqual(await market.rows(takers, [wished?.name.toLowerCase()]), []);

      assert.equal((await market.call('GET', path)).status, 404);
      const kept = await market.rows(
        `select count(*)::integer as installers, count(bound_at)::integer as bound, count(organization_id)::integer as owned,
                count(contract_id)::integer as contracted from installer where id = any($1::text[])`,
        [[a, b, c]],
      );
      assert.deepEqual(kept, [{ installers: 3, bound: 3, owned: 0, contracted: 0 }]);
      // The same delivery, another one, and what an administrator requests.
      for (const more of [{}, { clusterId: 'cluster-2' }]) {
        const answer = await market.notify('A', binding(a, more));
        assert.deepEqual(
          [answer.status, answer.body],
          [400, { message: 'the organization of the installer has been deleted' }],
        );
      }
      assert.equal((await market.notify('B', bind)).status, 400);
      assert.equal((await market.notify('C', binding(c, { marketplace: 'CloudC' }))).status, 403);
      await assert.rejects(market.instance.features.marketplace.installers.link(a, new Date()), /has been deleted/);
      const gone = {
        eventType: 'DELETE',
        applicationId: application,
        provisioningState: 'Deleted',
        eventTime: '2026-12-02T10:00:00Z',
      };
      assert.equal((await market.notify('B', gone)).status, 200);
      await market.close();
    });
  });
}

/** As if it had been requested over HTTP. */
const settled = [
  () => ({ status: 201 }),
  (error: { kind: string }) => ({ status: error.kind === 'conflict' ? 409 : 500 }),
] as const;

describe('Concurrent deletion of an organization', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('Changes concurrent with the deletion of an organization either precede it or are rejected', async () => {
    for (let round = 0; round < COUNTS.raceRounds; round++) {
      const [owner, member] = [await makePerson(atrium), await makePerson(atrium)];
      const org = await makeOrganization(atrium, owner.name);
      const call = atrium.as(owner.name);
      const role = { name: 'r', permissions: [], teamIDs: [org.team('Editors')] };
      const first = await call('POST', `/authz/roles?org=${org.name}`, role);
      const answers = await Promise.all([
        call('PUT', `/teams/${org.team('Viewers')}/members/${member.name}`),
        call('POST', `/orgs/${org.name}/teams`, { name: 'late' }),
        call('PUT', `/authz/roles/${first.body.id}?org=${org.name}`, { teamIDs: [org.team('Viewers')] }),
        call('DELETE', `/orgs/${org.name}`),
        call('DELETE', `/orgs/${org.name}`),
        call('PATCH', `/orgs/${org.name}`, { location: 'here' }),
        atrium.as(member.name)('PUT', `/user/following/${org.name}`),
        call('POST', `/authz/roles?org=${org.name}`, { name: 'late', permissions: [] }),
        createCluster(atrium.instance, { ownerId: org.id, name: 'late', uid: crypto.randomUUID() }).then(...settled),
        call('DELETE', `/teams/${org.team('Viewers')}/members/${member.name}`),
      ]);
      for (const answer of answers) assert.ok(answer.status < 500, JSON.stringify(answer));
      assert.deepEqual([answers[3]?.status, answers[4]?.status].sort(), [204, 404]);
      assert.deepEqual((await atrium.as(member.name)('GET', '/user/teams')).body, []);
      assert.deepEqual((await atrium.instance.db.query({ name: 'test.left', text: LEFT }, [org.id]))[0], NOTHING);
    }
  });
});
