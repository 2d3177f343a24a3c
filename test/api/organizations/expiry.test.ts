import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { only, sql } from '../../../src/db/db.ts';
import { COUNTS } from '../../counts.ts';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { itLong } from '../../support/checks/long.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { DRIVERS } from '../../support/server/db.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, clusterPermission } from '../../support/world/authz.ts';
import { inHours, letExpire, openScene } from '../../support/world/expiry.ts';
import { addMember, createTeam, makeOrganization, makePerson } from '../../support/world/people.ts';

const CROWD = sql(
  'test.expiringCrowd',
  `with made as (insert into account (kind, name) select 'user', $2 || n from generate_series(1, $3::integer) n returning id)
   insert into team_member (team_id, account_id, expires_at) select $1, id, now() + interval '1 hour' from made`,
);
const SIZE = sql('test.teamSize', 'select count(*)::integer as count from team_member where team_id = $1');
const REVISIONS = sql(
  'test.expiryRevisions',
  `select count(*)::integer as changes from change where kind = 'team' and id = $1 group by revision order by revision`,
);
const NEXT = sql('test.nextExpiry', 'select next_expiry from revision');
const REFUSE = [
  sql(
    'test.refuseFunction',
    `create function test_refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`,
  ),
  sql('test.refuse', 'create trigger test_refuse before delete on team_member execute function test_refuse()'),
];
const ALLOW = sql('test.allow', 'drop function test_refuse cascade');

for (const driver of DRIVERS) {
  // The built-in database does not ask for the revision, so the moment is tested on both every day.
  const itOnce = COUNTED_DRIVERS.includes(driver) ? it : itLong;

  describe(`Expiring memberships and assignments on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, hasOurClock: true });
    });
    after(() => atrium.close());

    it(`The first request after the moment no longer has what expired, and the log says so on ${driver}`, async (t) => {
      const { other, org, call, put } = await openScene(atrium);
      const session = await atrium.as(other.name)('GET', '/user');
      assert.equal(session.status, 200);
      const team = await createTeam(atrium.instance, { organizationId: org.id, name: 'ops', permission: 'none' });
      await addMember(atrium.instance, team, other.id);
      const { body: role } = await call('POST', `/authz/roles?org=${org.name}`, {
        name: 'connector',
        permissions: [clusterPermission('connect to clusters')],
      });
      const soon = inHours(1);
      await put(`/teams/${team}/roles/${role.id}`, { expires_at: soon });
      await put(`/teams/${org.team('Editors')}/members/${other.name}`, { expires_at: soon });
      const holds = () => allowedTo(atrium, other.name, 'organization', org.id, org.name);
      assert.ok((await holds()).includes('can_edit'));
      assert.ok((await holds()).includes('can_connect_clusters'));
      const version = (await call('GET', `/authz/roles/${role.id}?org=${org.name}`)).headers.get('etag');

      await letExpire(t, atrium, org.id);
      const left = await holds();
      assert.deepEqual(
        ['can_edit', 'can_connect_clusters', 'can_view'].filter((one) => left.includes(one)),
        ['can_view'],
      );
      assert.equal((await atrium.as(other.name)('GET', '/user')).status, 200, 'nobody is signed out');
      assert.deepEqual((await call('GET', `/teams/${org.team('Editors')}/members`)).body, []);
      const after = await call('GET', `/authz/roles/${role.id}?org=${org.name}`);
      assert.deepEqual([after.body.team_ids, after.body.team_expiries], [[], undefined]);
      assert.notEqual(after.headers.get('etag'), version, 'the role has changed');
      assert.deepEqual((await call('GET', `/teams/${team}/roles`)).body, []);

      const chain = await auditOf(atrium.instance.db, org.id);
      const ends = chain.filter(({ action }) => action.includes('expire'));
      assert.deepEqual(brokenLinks(chain), []);
      assert.deepEqual(
        ends.map(({ action, actor_id, actor_name, object_type, object_id }) => [
          ...[action, actor_id, actor_name, object_type, Number(object_id)],
        ]),
        [
          ['role.expire', 0n, 'atrium', 'role', role.id],
          ['team.expire_member', 0n, 'atrium', 'team', org.team('Editors')],
        ],
      );
      const [assignment, member] = ends.map(({ before, after }) =>
        [before, after].map((one) => JSON.parse(one ?? '0')),
      );
      const { expiresAt, ...who } = member?.[0] ?? {};
      assert.deepEqual(who, { team: 'Editors', userId: String(other.id), username: other.name });
      assert.ok(new Date(expiresAt).getTime() <= new Date(soon).getTime());
      assert.deepEqual([assignment?.[0].teamIds, assignment?.[1].teamIds], [[String(team)], []]);
      assert.deepEqual(Object.keys(assignment?.[0].teamExpiries), [String(team)]);
    });

    itOnce(`${COUNTS.expiringAtOnce} memberships that expire at once are removed in pieces on ${driver}`, async (t) => {
      const { org, call } = await openScene(atrium);
      const team = BigInt(org.team('Viewers'));
      const { db, revisions } = atrium.instance;
      await revisions.write(async (query, touch) => {
        await query(CROWD, [team, `${org.name}x`, COUNTS.expiringAtOnce]);
        touch({ kind: 'team', id: team, organizationId: org.id });
      });
      const path = `/orgs/${org.name}/members?limit=1`;
      assert.equal((await call('GET', path)).headers.get('x-total-count'), String(COUNTS.expiringAtOnce + 1));
      await letExpire(t, atrium, org.id);
      assert.equal((await call('GET', path)).headers.get('x-total-count'), '1');
      assert.equal(only(await db.query<{ count: number }>(SIZE, [team])).count, 0);
      const chain = await auditOf(db, org.id);
      assert.equal(chain.filter(({ action }) => action === 'team.expire_member').length, COUNTS.expiringAtOnce);
      assert.deepEqual(brokenLinks(chain), []);
      const pieces = (await db.query<{ changes: number }>(REVISIONS, [team])).map(({ changes }) => changes);
      assert.ok(Math.max(...pieces) <= 500, pieces.join());
    });

    itOnce(`While what has expired cannot be removed, nobody is answered on ${driver}`, async (t) => {
      const { other, org, call, put } = await openScene(atrium);
      await put(`/teams/${org.team('Editors')}/members/${other.name}`, { expires_at: inHours(1) });
      const ask = () => atrium.as(other.name)('GET', `/orgs/${org.name}`);
      assert.equal((await ask()).status, 200);
      for (const statement of REFUSE) await atrium.instance.db.query(statement);
      await letExpire(t, atrium, org.id);
      for (const answer of [await ask(), await call('GET', '/user')]) {
        assert.deepEqual([answer.status, answer.body.reason], [503, 'unavailable']);
      }
      await atrium.instance.db.query(ALLOW);
      assert.equal((await ask()).status, 404);
      assert.equal((await call('GET', '/user')).status, 200);
    });

    it(`What is renewed in time stays, and a time that was too early harms nobody on ${driver}`, async (t) => {
      const { other, org, put } = await openScene(atrium);
      const path = `/teams/${org.team('Editors')}/members/${other.name}`;
      await put(path, { expires_at: inHours(1) });
      await put(path, { expires_at: inHours(48) });
      const { db } = atrium.instance;
      const next = async () => only(await db.query<{ next_expiry: Date }>(NEXT)).next_expiry;
      const before = await next();
      await letExpire(t, atrium, 0n);
      if (driver === 'postgres') await db.query(sql('test.early', 'update revision set next_expiry = now()'));
      assert.equal((await atrium.as(other.name)('GET', `/orgs/${org.name}`)).status, 200);
      if (driver === 'pglite') assert.ok((await next()) > before);
    });

    // Its clock is that of this process, so a test can go to the very millisecond.
    if (driver === 'pglite') {
      it(`Over ${COUNTS.expirySteps} random steps, everybody holds exactly what has not ended (seed ${SEED})`, (t) =>
        takeRandomSteps(t as TestContext, atrium));
    }
  });
}

/** Memberships and roles of teams end at random times, and everybody is asked for after each step. */
async function takeRandomSteps(t: TestContext, atrium: TestServer): Promise<void> {
  const random = createRandom();
  const [owner, ...people] = [await makePerson(atrium), await makePerson(atrium), await makePerson(atrium)];
  const org = await makeOrganization(atrium, owner.name);
  const call = atrium.as(owner.name);
  const granted = ['can_view_clusters', 'can_view_contracts', 'can_view_robots'] as const;
  const pairs = [
    clusterPermission('view clusters'),
    { namespace: 'contract_mgmt', action: 'view contracts' },
    { namespace: 'robot_mgmt', action: 'view robot accounts' },
  ];
  // Everybody stays a member, whatever ends.
  const home = await createTeam(atrium.instance, { organizationId: org.id, name: 'home', permission: 'none' });
  for (const { id } of people) await addMember(atrium.instance, home, id);
  const teams: { id: bigint; role: number }[] = [];
  for (const [place, pair] of pairs.entries()) {
    const id = await createTeam(atrium.instance, { organizationId: org.id, name: `t${place}`, permission: 'none' });
    const role = await call('POST', `/authz/roles?org=${org.name}`, { name: `r${place}`, permissions: [pair] });
    teams.push({ id, role: role.body.id });
  }
  /** When each membership and each assignment ends, by the path that sets it. Infinity: never. */
  const ends = new Map<string, number>();
  const isOn = (path: string) => (ends.get(path) ?? 0) > Date.now();
  const memberPath = (team: bigint, name: string) => `/teams/${team}/members/${name}`;
  const rolePath = (team: { id: bigint; role: number }) => `/teams/${team.id}/roles/${team.role}`;
  const paths = teams.flatMap((team) => [rolePath(team), ...people.map(({ name }) => memberPath(team.id, name))]);
  const start = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now: start });
  let now = start;
  for (let step = 0; step < COUNTS.expirySteps; step++) {
    const path = random.pick(paths);
    if (random.chance(0.2)) {
      const answer = await call('DELETE', path);
      assert.equal(answer.status, isOn(path) ? 204 : 404, `${path} ${answer.text}`);
      ends.delete(path);
    } else if (random.chance(0.7)) {
      const end = random.chance(0.2) ? null : now + 1 + random.below(20_000);
      const expires_at = end === null ? null : new Date(end).toISOString();
      assert.equal((await call('PUT', path, { expires_at })).status, 204);
      ends.set(path, end ?? Number.POSITIVE_INFINITY);
    } else {
      const kept = isOn(path) ? (ends.get(path) ?? 0) : Number.POSITIVE_INFINITY;
      assert.equal((await call('PUT', path)).status, 204);
      ends.set(path, kept);
    }
    // Often to the very millisecond at which something ends, or the one before it.
    const next = Math.min(...[...ends.values()].filter((end) => end > now));
    const isExact = Number.isFinite(next) && random.chance(0.5);
    now = isExact ? Math.max(now, next - random.below(2)) : now + random.below(4000);
    t.mock.timers.setTime(now);
    for (const { name } of people) {
      const held = await allowedTo(atrium, name, 'organization', org.id, org.name);
      const expected = granted.filter((_one, place) => {
        const team = teams[place] ?? assert.fail();
        return isOn(memberPath(team.id, name)) && isOn(rolePath(team));
      });
      assert.deepEqual(
        granted.filter((one) => held.includes(one)),
        expected,
        `step ${step}, ${name}`,
      );
    }
  }
  const chain = await auditOf(atrium.instance.db, org.id);
  assert.deepEqual(brokenLinks(chain), []);
  assert.ok(chain.some(({ action }) => action === 'role.expire'));
  assert.ok(chain.some(({ action }) => action === 'team.expire_member'));
}
