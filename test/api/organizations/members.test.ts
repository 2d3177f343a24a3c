import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { COUNTS } from '../../counts.ts';
import { auditOf } from '../../support/checks/audit.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected, makeHolder, numbersOf, orgPermission, type Rejected } from '../../support/world/authz.ts';
import { addMember, makeOrganization, makePerson } from '../../support/world/people.ts';

const JOINED = sql('test.joined', 'update team_member set created_at = $2 where account_id = $1');
const JOINED_TEAM = sql(
  'test.joinedTeam',
  'update team_member set created_at = $3 where account_id = $1 and team_id = $2',
);

interface Listed {
  readonly login: string;
  readonly teams: readonly { readonly id: number; readonly name: string; readonly permission: string }[];
  readonly joined_at: string;
}

const names = (body: { login: string }[]) => body.map((user) => user.login);

for (const driver of COUNTED_DRIVERS) {
  describe(`Members on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    it(`Members can be added, moved between teams and removed, and each change is audited on ${driver}`, async () => {
      const { name: who } = await makePerson(atrium);
      const org = await makeOrganization(atrium, who);
      const [call, eve] = [atrium.as(who), atrium.as('eve')];
      assert.deepEqual(names((await call('GET', `/orgs/${org.name}/members`)).body), [who]);
      assert.equal((await call('GET', `/orgs/${org.name}/members/eve`)).status, 404);
      assert.equal((await eve('GET', `/orgs/${org.name}`)).status, 404);

      assert.equal((await call('PUT', `/orgs/${org.name}/members/EVE`, {})).status, 204);
      assert.equal((await call('GET', `/orgs/${org.name}/members/eve`)).status, 204);
      assert.equal((await eve('GET', `/orgs/${org.name}`)).status, 200);
      const listed = await call('GET', `/orgs/${org.name}/members?limit=1&page=2`);
      assert.deepEqual([listed.body.length, listed.headers.get('x-total-count')], [1, '2']);
      assert.deepEqual(names((await call('GET', `/teams/${org.team('Viewers')}/members`)).body), ['eve']);
      // Repeating it changes nothing, because she is already a member. Naming another team adds her to that one, too.
      assert.equal((await call('PUT', `/orgs/${org.name}/members/eve`)).status, 204);
      assert.equal((await call('PUT', `/orgs/${org.name}/members/eve`, { team: 'editors' })).status, 204);
      const member = await call('GET', `/teams/${org.team('Editors')}/members/eve`);
      assert.deepEqual([member.status, member.body.login, member.body.is_admin], [200, 'eve', false]);

      assert.equal((await call('PUT', `/teams/${org.team('Owners')}/members/eve`)).status, 204);
      assert.equal((await call('PUT', `/teams/${org.team('Owners')}/members/eve`)).status, 204);
      assert.equal((await call('DELETE', `/teams/${org.team('Editors')}/members/eve`)).status, 204);
      assert.equal((await call('DELETE', `/teams/${org.team('Editors')}/members/eve`)).status, 404);
      assert.equal((await call('DELETE', `/orgs/${org.name}/members/eve`)).status, 204);
      assert.equal((await call('DELETE', `/orgs/${org.name}/members/eve`)).status, 404);
      assert.equal((await eve('GET', `/orgs/${org.name}`)).status, 404);
      assert.equal((await eve('GET', '/user/teams')).body.length, 1);

      const entries = await auditOf(atrium.instance.db, org.id);
      assert.deepEqual(
        entries.map((entry) => [
          entry.action,
          JSON.parse(entry.after ?? entry.before ?? '').team,
          Number(entry.object_id),
        ]),
        [
          ['team.add_member', 'Viewers', org.team('Viewers')],
          ['team.add_member', 'Editors', org.team('Editors')],
          ['team.add_member', 'Owners', org.team('Owners')],
          ['team.remove_member', 'Editors', org.team('Editors')],
          ['team.remove_member', 'Owners', org.team('Owners')],
          ['team.remove_member', 'Viewers', org.team('Viewers')],
        ],
      );
      assert.ok(entries.every((entry) => `${entry.after}${entry.before}`.includes('"username":"eve"')));
    });

    it(`Members are listed with their teams and the time they joined, and can be searched and sorted on ${driver}`, async () => {
      const [founder, second, third] = [await makePerson(atrium), await makePerson(atrium), await makePerson(atrium)];
      const org = await makeOrganization(atrium, founder.name);
      const [owners, editors, viewers] = ['Owners', 'Editors', 'Viewers'].map(org.team);
      await addMember(atrium.instance, BigInt(org.team('Viewers')), third.id);
      await addMember(atrium.instance, BigInt(org.team('Viewers')), second.id);
      await addMember(atrium.instance, BigInt(org.team('Editors')), second.id);
      for (const [{ id }, day] of [
        [founder, 3],
        [third, 2],
        [second, 1],
      ] as const) {
        await atrium.instance.db.query(JOINED, [id, `2026-01-0${day}T12:00:00.9Z`]);
      }
      // Only the earliest membership counts.
      await atrium.instance.db.query(JOINED_TEAM, [second.id, editors, '2026-02-01T00:00:00Z']);
      const list = async (query = '') => await atrium.as(founder.name)('GET', `/orgs/${org.name}/members${query}`);
      const logins = async (query: string) => names((await list(query)).body);

      const { body } = await list();
      assert.deepEqual(
        body.map(({ login, teams, joined_at }: Listed) => ({ login, teams, joined_at })),
        [
          {
            login: founder.name,
            teams: [{ id: owners, name: 'Owners', permission: 'owner' }],
            joined_at: '2026-01-03T12:00:00Z',
          },
          {
            login: second.name,
            teams: [
              { id: editors, name: 'Editors', permission: 'write' },
              { id: viewers, name: 'Viewers', permission: 'read' },
            ],
            joined_at: '2026-01-01T12:00:00Z',
          },
          {
            login: third.name,
            teams: [{ id: viewers, name: 'Viewers', permission: 'read' }],
            joined_at: '2026-01-02T12:00:00Z',
          },
        ],
      );
      // Clients of the API family know the other fields, which are those of a user's public view, in the same order.
      const { teams: _, joined_at: __, active, last_login, ...known } = body[1];
      const profile = await atrium.as('eve')('GET', `/users/${second.name}`);
      assert.equal(JSON.stringify(known), profile.text);
      assert.deepEqual([active, last_login], [true, '1970-01-01T00:00:00Z']);

      assert.deepEqual(await logins('?sort=joined'), [second.name, third.name, founder.name]);
      assert.deepEqual(await logins('?sort=joined&order=desc'), [founder.name, third.name, second.name]);
      assert.deepEqual(await logins('?sort=name&order=desc'), [founder.name, second.name, third.name].sort().reverse());
      assert.deepEqual(await logins('?order=desc'), [third.name, second.name, founder.name]);
      assert.deepEqual(await logins(`?team=${viewers}`), [second.name, third.name]);
      assert.deepEqual(await logins('?team=viewers&sort=joined&order=desc'), [third.name, second.name]);
      assert.deepEqual(await logins(`?q=${second.name.toUpperCase()}@EX`), [second.name]);
      assert.deepEqual(await logins('?q=%25'), []);
      assert.deepEqual(await logins('?q=person_'), []);
      assert.deepEqual(await logins(`?team=Owners&q=${second.name}`), []);
      const paged = await list('?team=Viewers&limit=1&page=2');
      assert.deepEqual([names(paged.body), paged.headers.get('x-total-count')], [[third.name], '2']);
      assert.match(paged.headers.get('link') ?? '', /team=Viewers&limit=1&page=1>; rel="prev"/);
    });

    it(`Every member except the last owner can leave an organization on ${driver}`, async () => {
      const [{ name: who }, { name: member, id }] = [await makePerson(atrium), await makePerson(atrium)];
      const org = await makeOrganization(atrium, who);
      await addMember(atrium.instance, BigInt(org.team('Viewers')), id);
      const message = 'the last owner of an organization cannot leave: make another user an owner first';
      const last = { status: 409, message };
      const own = `${message}, or pass orphan=true to leave it to the site administrators`;
      const itself = { status: 409, message: own };
      await assertRejected(atrium, { who, send: ['DELETE', `/orgs/${org.name}/members/${who}`], ...itself });
      await assertRejected(atrium, {
        who,
        send: ['DELETE', `/orgs/${org.name}/members/${who}?orphan=false`],
        ...itself,
      });
      // Nobody else can leave an organization without an owner.
      await assertRejected(atrium, {
        who: 'root',
        send: ['DELETE', `/orgs/${org.name}/members/${who}?orphan=true`],
        ...last,
      });
      await assertRejected(atrium, { who: 'root', send: ['DELETE', `/orgs/${org.name}/members/${who}`], ...last });
      await assertRejected(atrium, {
        who,
        send: ['DELETE', `/teams/${org.team('Owners')}/members/${who}`],
        status: 409,
        message: 'the last owner of an organization cannot leave',
      });
      await assertRejected(atrium, {
        who: member,
        send: ['DELETE', `/orgs/${org.name}/members/${who}`],
        status: 403,
        message: 'missing relation remove_member:org',
      });
      // The last owner is no reason for callers who could not remove another owner either.
      await assertRejected(atrium, {
        who: member,
        send: ['DELETE', `/teams/${org.team('Owners')}/members/${who}`],
        status: 403,
        message: 'missing relation remove_member:team',
      });
      assert.equal((await atrium.as(member)('DELETE', `/orgs/${org.name}/members/${member}`)).status, 204);
      assert.equal((await atrium.as(member)('GET', `/orgs/${org.name}`)).status, 404);
      // A site administrator who is in no team has nothing to leave.
      assert.equal((await atrium.as('root')('DELETE', `/orgs/${org.name}/members/root`)).status, 404);
    });

    it(`Whoever was made the last owner can leave, and site administrators then own the organization, on ${driver}`, async () => {
      const [{ name: founder }, { name: victim }, { name: heir }] = [
        await makePerson(atrium),
        await makePerson(atrium),
        await makePerson(atrium),
      ];
      const org = await makeOrganization(atrium, founder);
      const members = `/orgs/${org.name}/members`;
      assert.equal((await atrium.as(founder)('PUT', `${members}/${victim}`, { team: 'Owners' })).status, 204);
      assert.equal((await atrium.as(founder)('DELETE', `${members}/${founder}`)).status, 204);
      const leave = (query: string) => atrium.as(victim)('DELETE', `${members}/${victim}${query}`);
      assert.deepEqual([(await leave('')).status, (await leave('?orphan=true')).status], [409, 204]);
      assert.equal((await atrium.as(victim)('GET', `/orgs/${org.name}`)).status, 404);
      const ownerless = async () =>
        (await atrium.as('root')('GET', '/admin/orgs?ownerless=true&limit=50')).body.map(
          ({ username }: { username: string }) => username,
        );
      assert.ok((await ownerless()).includes(org.name));
      assert.ok(!(await ownerless()).includes('acme'));
      const { body: log } = await atrium.as('root')('GET', `/orgs/${org.name}/audit`);
      assert.ok(JSON.stringify(log).includes('"owners":0'), 'the audit log tells when it lost its last owner');
      assert.equal((await atrium.as('root')('PUT', `${members}/${heir}`, { team: 'Owners' })).status, 204);
      assert.equal((await atrium.as(heir)('PATCH', `/orgs/${org.name}`, { location: 'Rome' })).status, 200);
      assert.ok(!(await ownerless()).includes(org.name));
    });

    it(`One owner remains when the last two leave an organization concurrently on ${driver}`, async () => {
      for (let round = 0; round < COUNTS.raceRounds; round++) {
        const [one, two] = [await makePerson(atrium), await makePerson(atrium)];
        const org = await makeOrganization(atrium, one.name);
        await addMember(atrium.instance, BigInt(org.team('Owners')), two.id);
        const leave = (who: string, path: string) => atrium.as(who)('DELETE', `${path}/members/${who}`);
        const path = round % 2 === 0 ? `/orgs/${org.name}` : `/teams/${org.team('Owners')}`;
        const answers = await Promise.all([leave(one.name, path), leave(two.name, `/orgs/${org.name}`)]);
        assert.deepEqual(
          answers.map((answer) => answer.status).sort(),
          [204, 409],
          answers.map((one) => one.text).join(),
        );
        const owners = await atrium.as('root')('GET', `/teams/${org.team('Owners')}/members`);
        assert.equal(owners.body.length, 1);
      }
    });
  });
}

describe('Members', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  it('Invalid or unauthorized membership requests are rejected and change nothing', async () => {
    const noTeam = { status: 404, message: 'team does not exist' };
    const noOrg = { status: 404, message: 'organization does not exist' };
    const owners = `/teams/${id.team('Owners')}/members`;
    const operators = `/teams/${id.team('operators')}/members`;
    const refused: Rejected[] = [
      { send: ['GET', '/orgs/acme/members'], status: 401, message: 'token is required' },
      { who: 'eve', send: ['GET', '/orgs/acme/members'], ...noOrg },
      { who: 'eve', send: ['PUT', '/orgs/acme/members/eve', {}], ...noOrg },
      { who: 'eve', send: ['DELETE', '/orgs/acme/members/ann'], ...noOrg },
      { who: 'eve', send: ['GET', owners], ...noTeam },
      { who: 'eve', send: ['PUT', `${operators}/eve`], ...noTeam },
      { who: 'eve', send: ['DELETE', `${operators}/dan`], ...noTeam },
      { who: 'dan', send: ['GET', '/orgs/acme/members'], status: 403, message: 'missing relation view_members:org' },
      { who: 'dan', send: ['GET', owners], ...noTeam },
      {
        who: 'cat',
        send: ['PUT', '/orgs/acme/members/eve', {}],
        status: 403,
        message: 'missing relation add_member:org',
      },
      {
        who: 'bob',
        send: ['PUT', '/orgs/acme/members/eve', {}],
        status: 403,
        message: 'missing relation add_member:org',
      },
      { who: 'cat', send: ['PUT', `${operators}/cat`], status: 403, message: 'missing relation add_member:team' },
      { who: 'bob', send: ['PUT', `${owners}/bob`], status: 403, message: 'missing relation add_member:team' },
      { who: 'bob', send: ['DELETE', `${operators}/dan`], status: 403, message: 'missing relation remove_member:team' },
      {
        who: 'bob',
        send: ['DELETE', '/orgs/acme/members/cat'],
        status: 403,
        message: 'missing relation remove_member:org',
      },
      {
        who: 'ann',
        send: ['PUT', '/orgs/acme/members/nobody', {}],
        status: 404,
        message: 'user does not exist: nobody',
      },
      {
        who: 'ann',
        send: ['PUT', '/orgs/acme/members/globex', {}],
        status: 404,
        message: 'user does not exist: globex',
      },
      { who: 'ann', send: ['PUT', `${operators}/nobody`], status: 404, message: 'user does not exist: nobody' },
      { who: 'ann', send: ['DELETE', `${operators}/cat`], status: 404, message: 'user is not in this team' },
      { who: 'ann', send: ['GET', `${operators}/cat`], status: 404, message: 'user is not in this team' },
      {
        who: 'ann',
        send: ['DELETE', '/orgs/acme/members/eve'],
        status: 404,
        message: 'user is not a member of this organization',
      },
      {
        who: 'ann',
        send: ['PUT', '/orgs/acme/members/eve', { team: 'traders' }],
        status: 400,
        message: 'not a team of the organization: traders',
      },
      { who: 'ann', send: ['PUT', '/orgs/acme/members/eve', { team: 7 }], status: 422, message: 'team must be string' },
      { who: 'ann', send: ['GET', '/teams/0/members'], status: 400, message: 'invalid team ID: "0"' },
      { who: 'ann', send: ['GET', '/teams/9007199254740993/members'], ...noTeam },
    ];
    const before = (await atrium.as('ann')('GET', '/orgs/acme/members')).text;
    for (const one of refused) await assertRejected(atrium, one);
    assert.equal((await atrium.as('ann')('GET', '/orgs/acme/members')).text, before);
  });

  it('An editor can add viewers and remove them', async () => {
    const viewers = `/teams/${id.team('Viewers')}/members`;
    assert.equal((await atrium.as('bob')('PUT', `${viewers}/fan01`)).status, 204);
    assert.equal((await atrium.as('bob')('DELETE', `${viewers}/fan01`)).status, 204);
  });

  it('Permission to manage team members allows moving members but not adding non-members', async () => {
    const { name } = await makeHolder(atrium, ['manage team members'].map(orgPermission));
    const made = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'guests', permission: 'none' });
    const guests = `/teams/${made.body.id}/members`;
    for (const path of [`${guests}/fan03`, `/teams/${id.team('Viewers')}/members/fan03`]) {
      await assertRejected(atrium, {
        who: name,
        send: ['PUT', path],
        status: 403,
        message: 'missing relation add_member:org',
      });
    }
    assert.equal((await atrium.as('ann')('GET', '/orgs/acme/members/fan03')).status, 404);
    assert.equal((await atrium.as(name)('PUT', `${guests}/cat`)).status, 204);
    assert.equal((await atrium.as('root')('PUT', `${guests}/fan03`)).status, 204);
    assert.equal((await atrium.as(name)('DELETE', `${guests}/fan03`)).status, 204);
    assert.equal((await atrium.as('ann')('DELETE', `/teams/${made.body.id}`)).status, 204);
  });

  it('A caller cannot add anyone, themselves included, to a team with more permissions than they hold', async () => {
    const bring = ['add members', 'remove members', 'manage team members'].map(orgPermission);
    const { name } = await makeHolder(atrium, bring);
    const call = atrium.as(name);
    const more = /^you cannot grant what you do not hold yourself: /;
    const tell = (what: string) => new RegExp(`${more.source}${what}`);
    const editors = id.team('Editors');
    const put = (path: string, message: RegExp, body?: object) =>
      assertRejected(atrium, { who: name, send: ['PUT', path, body], status: 403, message });
    await put(`/teams/${editors}/members/${name}`, tell('permission "write"$'));
    await put(`/teams/${editors}/members/fan02`, tell('permission "write"$'));
    await put(`/orgs/acme/members/fan02`, tell('permission "read"$'), {});
    await put(`/orgs/acme/members/${name}`, tell('permission "write"$'), { team: 'Editors' });
    await put(`/orgs/acme/members/${name}`, /^missing relation add_member:team$/, { team: 'Owners' });
    await put(
      `/teams/${id.team('operators')}/members/${name}`,
      tell('cluster_mgmt "connect to clusters", cluster_mgmt "view clusters"$'),
    );
    // They may grant what they hold themselves.
    const own = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'plain', permission: 'none' });
    assert.equal((await call('PUT', `/teams/${own.body.id}/members/fan02`)).status, 204);
    assert.equal((await call('DELETE', `/orgs/acme/members/fan02`)).status, 204);
    await assertRejected(atrium, {
      who: name,
      send: ['DELETE', '/orgs/acme/members/ann'],
      status: 403,
      message: 'missing relation remove_member:team: only an owner can remove an owner',
    });
    // An owner who is also an editor is not removed from only one of the two teams.
    assert.equal((await atrium.as('ann')('PUT', `/teams/${editors}/members/ann`)).status, 204);
    assert.equal((await call('DELETE', '/orgs/acme/members/ann')).status, 403);
    assert.equal((await atrium.as('ann')('GET', `/teams/${editors}/members/ann`)).status, 200);
    assert.equal((await atrium.as('ann')('DELETE', `/teams/${editors}/members/ann`)).status, 204);
  });
});
