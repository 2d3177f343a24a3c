import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import {
  allowedTo,
  assertRejected,
  makeHolder,
  makeRole,
  numbersOf,
  orgPermission,
  type Rejected,
} from '../../support/world/authz.ts';
import { addMember, makeOrganization, makePerson } from '../../support/world/people.ts';

for (const driver of COUNTED_DRIVERS) {
  describe(`Teams on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    it(`Teams on ${driver} can be created, searched, edited and deleted, and member permissions follow at once`, async () => {
      const [{ name: who }, member] = [await makePerson(atrium), await makePerson(atrium)];
      const org = await makeOrganization(atrium, who);
      const call = atrium.as(who);
      const made = await call('POST', `/orgs/${org.name}/teams`, {
        name: ' Ops ',
        description: 'd',
        units: ['repo.code'],
      });
      assert.equal(made.status, 201, made.text);
      const { id, organization, ...rest } = made.body;
      assert.deepEqual(rest, {
        name: 'Ops',
        description: 'd',
        permission: 'read',
        units: ['repo.code'],
        type: 'custom',
        role_ids: [],
        member_count: 0,
      });
      assert.equal(organization.username, org.name);
      const read = await call('GET', `/teams/${id}`);
      assert.deepEqual([read.body, read.headers.get('etag')], [made.body, made.headers.get('etag')]);
      const list = await call('GET', `/orgs/${org.name}/teams`);
      const titles = (body: { name: string }[]) => body.map((team) => team.name);
      assert.deepEqual(titles(list.body), ['Owners', 'Editors', 'Ops', 'Viewers']);
      assert.equal(list.headers.get('x-total-count'), '4');
      const found = await call('GET', `/orgs/${org.name}/teams/search?q=OP`);
      assert.deepEqual([found.body.ok, titles(found.body.data)], [true, ['Ops']]);
      for (const q of ['%25', '_', '%5C'])
        assert.deepEqual((await call('GET', `/orgs/${org.name}/teams/search?q=${q}`)).body, { ok: true, data: [] }, q);

      assert.equal((await call('PUT', `/teams/${id}/members/${member.name}`)).status, 204);
      const may = () => allowedTo(atrium, member.name, 'organization', org.id, org.name);
      assert.ok(!(await may()).includes('can_edit'));
      assert.equal((await atrium.as(member.name)('GET', '/user')).body.orgAdmin, false);
      const changed = await call('PATCH', `/teams/${id}`, { permission: 'admin', name: 'Chiefs' });
      assert.deepEqual(
        [changed.body.name, changed.body.permission, changed.body.description],
        ['Chiefs', 'admin', 'd'],
      );
      assert.ok((await may()).includes('can_create_team'));
      assert.equal((await atrium.as(member.name)('GET', '/user')).body.orgAdmin, true);
      assert.equal((await call('PATCH', `/teams/${id}`, { permission: 'none' })).status, 200);
      assert.deepEqual(await may(), ['can_view', 'can_leave']);

      assert.equal((await call('DELETE', `/teams/${id}`)).status, 204);
      assert.deepEqual(await may(), []);
      assert.equal((await atrium.as(member.name)('GET', `/orgs/${org.name}`)).status, 404);
      assert.equal((await call('GET', `/teams/${id}`)).status, 404);
      const entries = await auditOf(atrium.instance.db, org.id);
      assert.deepEqual(
        entries.map((entry) => entry.action),
        ['team.create', 'team.add_member', 'team.update', 'team.update', 'team.delete'],
      );
      assert.deepEqual(brokenLinks(entries), []);
    });

    it(`A team shows how many members it has, in every list and on its own, on ${driver}`, async () => {
      const [{ name: who }, one, two] = [await makePerson(atrium), await makePerson(atrium), await makePerson(atrium)];
      const org = await makeOrganization(atrium, who);
      const call = atrium.as(who);
      const { id } = (await call('POST', `/orgs/${org.name}/teams`, { name: 'ops', permission: 'none' })).body;
      for (const { name } of [one, two]) assert.equal((await call('PUT', `/teams/${id}/members/${name}`)).status, 204);
      const tag = (await call('GET', `/teams/${id}`)).headers.get('etag');
      const counts = (body: { name: string; member_count: number }[]) =>
        body.map((team) => [team.name, team.member_count]);
      const all = [
        ['Owners', 1],
        ['Editors', 0],
        ['ops', 2],
        ['Viewers', 0],
      ];
      assert.deepEqual(counts((await call('GET', `/orgs/${org.name}/teams`)).body), all);
      assert.deepEqual(counts((await call('GET', `/orgs/${org.name}/teams?limit=2&page=2`)).body), all.slice(2));
      assert.deepEqual(counts((await call('GET', `/orgs/${org.name}/teams/search?q=op`)).body.data), [['ops', 2]]);
      assert.deepEqual(counts((await atrium.as(one.name)('GET', '/user/teams')).body), [['ops', 2]]);
      assert.deepEqual(counts((await atrium.as('root')('GET', `/admin/users/${two.name}/teams`)).body), [['ops', 2]]);

      assert.equal((await call('DELETE', `/teams/${id}/members/${two.name}`)).status, 204);
      const left = await call('GET', `/teams/${id}`);
      assert.deepEqual([left.body.member_count, left.headers.get('etag')], [1, tag], 'members are no part of the tag');
      const edited = await call('PATCH', `/teams/${id}`, { description: 'x' }, { 'If-Match': tag ?? '' });
      assert.deepEqual([edited.status, edited.body.member_count], [200, 1]);
    });

    it(`A list of roles shows how many users have each, counted once, to those who may see all teams, on ${driver}`, async () => {
      const [{ name: who }, one, two] = [await makePerson(atrium), await makePerson(atrium), await makePerson(atrium)];
      const reader = await makePerson(atrium);
      const org = await makeOrganization(atrium, who);
      const call = atrium.as(who);
      const team = async (name: string, ...members: { name: string }[]) => {
        const { id } = (await call('POST', `/orgs/${org.name}/teams`, { name, permission: 'none' })).body;
        for (const member of members) await call('PUT', `/teams/${id}/members/${member.name}`);
        return id;
      };
      const [left, both, nobody] = [await team('left', one), await team('both', one, two), await team('nobody')];
      const role = (name: string, ...teamIDs: number[]) => makeRole(atrium, { name, teamIDs }, org.name, who);
      await role('of left', left);
      await role('of both', left, both, nobody);
      await role('of nobody', nobody);
      await role('of no team');
      const people = async (as: string, path: string) =>
        (await atrium.as(as)('GET', path)).body.map((found: { name: string; people?: number }) => [
          found.name,
          found.people,
        ]);
      const all = [
        ['of left', 1],
        ['of both', 2],
        ['of nobody', 0],
        ['of no team', 0],
      ];
      const path = `/authz/roles?org=${org.name}`;
      assert.deepEqual(await people(who, path), all);
      assert.deepEqual(await people('root', path), all);
      assert.deepEqual(await people(who, `/teams/${left}/roles`), all.slice(0, 2));
      const untold = all.map(([name]) => [name, undefined]);
      assert.deepEqual(await people(one.name, path), untold);
      assert.deepEqual(await people(one.name, `/teams/${left}/roles`), untold.slice(0, 2));

      const viewers = (await call('GET', `/orgs/${org.name}/teams/search?q=viewers`)).body.data[0].id;
      assert.equal((await call('PUT', `/teams/${viewers}/members/${reader.name}`)).status, 204);
      assert.deepEqual(await people(reader.name, path), all);
      assert.equal((await call('DELETE', `/teams/${both}/members/${two.name}`)).status, 204);
      assert.deepEqual((await people(reader.name, path))[1], ['of both', 1]);
    });

    it(`Roles can be assigned to a team and removed, and deleting the team unassigns them on ${driver}`, async () => {
      const [{ name: who }, member] = [await makePerson(atrium), await makePerson(atrium)];
      const org = await makeOrganization(atrium, who);
      const call = atrium.as(who);
      const team = (await call('POST', `/orgs/${org.name}/teams`, { name: 'ops', permission: 'none' })).body.id;
      assert.equal((await call('PUT', `/teams/${team}/members/${member.name}`)).status, 204);
      const role = (await makeRole(atrium, { permissions: [orgPermission('edit')] }, org.name, who)).body.id;
      const may = () => allowedTo(atrium, member.name, 'organization', org.id, org.name);
      const path = `/teams/${team}/roles`;
      assert.deepEqual((await call('GET', path)).body, []);
      const tagNow = async () => (await call('GET', `/teams/${team}`)).headers.get('etag') ?? '';
      const bare = await tagNow();
      assert.equal((await call('PUT', `${path}/${role}`)).status, 204);
      const full = await tagNow();
      assert.notEqual(full, bare, 'the roles are part of what is shown');
      assert.equal((await call('PATCH', `/teams/${team}`, { description: 'x' }, { 'If-Match': bare })).status, 412);
      assert.equal((await call('PATCH', `/teams/${team}`, { description: 'x' }, { 'If-Match': full })).status, 200);
      assert.equal((await call('PUT', `${path}/${role}`)).status, 204);
      assert.ok((await may()).includes('can_edit'));
      const [given] = (await call('GET', path)).body;
      assert.deepEqual(given, { ...(await call('GET', `/authz/roles/${role}?org=${org.name}`)).body, people: 1 });
      assert.deepEqual((await call('GET', `/teams/${team}`)).body.role_ids, [role]);
      const stale = { 'If-Match': `"${role}-1"` };
      assert.equal((await call('DELETE', `${path}/${role}`, undefined, stale)).status, 412);
      const before = await tagNow();
      assert.equal((await call('DELETE', `${path}/${role}`)).status, 204);
      assert.notEqual(await tagNow(), before);
      assert.equal((await call('DELETE', `${path}/${role}`)).status, 404);
      assert.deepEqual(await may(), ['can_view', 'can_leave']);

      assert.equal((await call('PUT', `${path}/${role}`)).status, 204);
      const tag = (await call('GET', `/authz/roles/${role}?org=${org.name}`)).headers.get('etag');
      assert.equal((await call('DELETE', `/teams/${team}`)).status, 204);
      const left = await call('GET', `/authz/roles/${role}?org=${org.name}`);
      assert.deepEqual(left.body.team_ids, []);
      assert.notEqual(left.headers.get('etag'), tag);
      assert.deepEqual(await may(), []);
    });
  });
}

describe('Teams', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  const make = (body: object, status: number, message: string | RegExp, who = 'ann'): Rejected => ({
    who,
    send: ['POST', '/orgs/acme/teams', body],
    status,
    message,
  });

  it('Invalid or unauthorized team requests are rejected and change nothing', async () => {
    const team = (name: string) => `/teams/${id.team(name)}`;
    const rule = /^name must be 1 to 100 letters/;
    const taken = 'name is taken by another team of the organization';
    const role = id.role('cluster-operator');
    const none = { status: 404, message: 'team does not exist' };
    const roles = { status: 403, message: 'missing relation edit_roles:org' };
    const fixed = (name: string) => `the built-in team ${name} must keep its name and permission`;
    const REFUSED: Rejected[] = [
      make({ name: 'OWNERS' }, 422, taken),
      make({ name: 'Operators' }, 422, taken),
      make({ name: '' }, 422, rule),
      make({ name: '  ' }, 422, rule),
      make({ name: 'x'.repeat(101) }, 422, rule),
      make({ name: 'a/b' }, 422, rule),
      make({ name: 'äb' }, 422, rule),
      make({}, 422, 'name is required'),
      make({ name: 'x', permission: 'owner' }, 422, 'permission must be one of none, read, write, admin'),
      make({ name: 'x', permission: 'root' }, 422, /^permission must be one of/),
      make({ name: 'x', units: 'all' }, 422, 'units must be array'),
      make({ name: 'x' }, 403, 'missing relation create_team:org', 'cat'),
      make({ name: 'x' }, 403, 'missing relation create_team:org', 'bob'),
      make({ name: 'x' }, 404, 'organization does not exist', 'eve'),
      { who: 'dan', send: ['GET', '/orgs/acme/teams'], status: 403, message: 'missing relation view_teams:org' },
      { who: 'eve', send: ['GET', '/orgs/acme/teams/search?q=o'], status: 404, message: 'organization does not exist' },
      { who: 'eve', send: ['GET', team('operators')], ...none },
      { who: 'eve', send: ['PATCH', team('operators'), {}], ...none },
      { who: 'eve', send: ['DELETE', team('operators')], ...none },
      { who: 'eve', send: ['GET', `${team('operators')}/roles`], ...none },
      { who: 'eve', send: ['PUT', `${team('operators')}/roles/${role}`], ...none },
      { who: 'cat', send: ['PATCH', team('operators'), {}], status: 403, message: 'missing relation edit:team' },
      { who: 'bob', send: ['DELETE', team('operators')], status: 403, message: 'missing relation delete:team' },
      { who: 'ann', send: ['DELETE', team('Owners')], status: 403, message: 'missing relation delete:team' },
      {
        who: 'ann',
        send: ['DELETE', team('Editors')],
        status: 409,
        message: 'the built-in team Editors cannot be deleted',
      },
      {
        who: 'root',
        send: ['DELETE', team('Viewers')],
        status: 409,
        message: 'the built-in team Viewers cannot be deleted',
      },
      { who: 'ann', send: ['PATCH', team('Owners'), { name: 'Bosses' }], status: 409, message: fixed('Owners') },
      { who: 'ann', send: ['PATCH', team('Owners'), { permission: 'read' }], status: 409, message: fixed('Owners') },
      { who: 'ann', send: ['PATCH', team('Viewers'), { permission: 'write' }], status: 409, message: fixed('Viewers') },
      {
        who: 'ann',
        send: ['PATCH', team('operators'), { permission: 'owner' }],
        status: 422,
        message: 'permission must be one of none, read, write, admin',
      },
      { who: 'ann', send: ['PATCH', team('operators'), { name: 'editors' }], status: 422, message: taken },
      {
        who: 'ann',
        send: ['PATCH', team('operators'), {}, { 'If-Match': '"0-0"' }],
        status: 412,
        message: /changed since/,
      },
      {
        who: 'ann',
        send: ['DELETE', team('operators'), undefined, { 'If-Match': '"0-0"' }],
        status: 412,
        message: /changed since/,
      },
      { who: 'bob', send: ['PUT', `${team('operators')}/roles/${role}`], ...roles },
      { who: 'cat', send: ['DELETE', `${team('operators')}/roles/${role}`], ...roles },
      { who: 'dan', send: ['DELETE', `${team('operators')}/roles/${role}`], ...roles },
      { who: 'ann', send: ['PUT', `${team('operators')}/roles/999999`], status: 404, message: 'role not found' },
      { who: 'ann', send: ['PUT', `${team('operators')}/roles/x`], status: 400, message: 'invalid role ID: "x"' },
      {
        who: 'eve',
        send: ['PUT', `/teams/${id.team('traders', 'globex')}/roles/${role}`],
        status: 404,
        message: 'role not found',
      },
    ];
    const state = async () => [
      (await atrium.as('ann')('GET', '/orgs/acme/teams')).text,
      (await atrium.as('ann')('GET', '/authz/roles?org=acme')).text,
    ];
    const before = await state();
    for (const refused of REFUSED) await assertRejected(atrium, refused);
    assert.deepEqual(await state(), before);
  });

  it('The description of a built-in team can be changed', async () => {
    const path = `/teams/${id.team('Viewers')}`;
    const answer = await atrium.as('ann')('PATCH', path, { name: 'Viewers', permission: 'read', description: 'Look.' });
    assert.deepEqual([answer.status, answer.body.description], [200, 'Look.']);
  });

  it('A caller cannot give a team more permissions than they hold themselves', async () => {
    const held = ['create teams', 'edit teams', 'edit roles', 'manage team members', 'view members'].map(orgPermission);
    const { name, teamId, roleId } = await makeHolder(atrium, held);
    const call = atrium.as(name);
    const permission = (what: string) => `you cannot grant what you do not hold yourself: permission "${what}"`;
    for (const what of ['read', 'write', 'admin']) {
      const body = { name: 'mine', permission: what };
      await assertRejected(atrium, {
        who: name,
        send: ['POST', '/orgs/acme/teams', body],
        status: 403,
        message: permission(what),
      });
      const path = `/teams/${teamId}`;
      await assertRejected(atrium, { who: name, send: ['PATCH', path, body], status: 403, message: permission(what) });
    }
    assert.equal((await call('POST', '/orgs/acme/teams', { name: 'mine' })).status, 403, 'read is what is meant');
    const mine = await call('POST', '/orgs/acme/teams', { name: 'mine', permission: 'none' });
    assert.equal(mine.status, 201, mine.text);
    // They may assign the role that they hold themselves, but not one that contains more.
    assert.equal((await call('PUT', `/teams/${mine.body.id}/roles/${roleId}`)).status, 204);
    const more = (await makeRole(atrium, { permissions: [orgPermission('delete teams')] })).body.id;
    await assertRejected(atrium, {
      who: name,
      send: ['PUT', `/teams/${teamId}/roles/${more}`],
      status: 403,
      message: 'you cannot grant what you do not hold yourself: org_mgmt "delete teams"',
    });
    // Taking away or reducing permissions is not an escalation.
    assert.equal((await atrium.as('ann')('PUT', `/teams/${mine.body.id}/roles/${more}`)).status, 204);
    await assertRejected(atrium, {
      who: name,
      send: ['PUT', `/teams/${mine.body.id}/members/${name}`],
      status: 403,
      message: 'you cannot grant what you do not hold yourself: org_mgmt "delete teams"',
    });
    assert.equal((await call('DELETE', `/teams/${mine.body.id}/roles/${more}`)).status, 204);
    assert.equal((await call('PUT', `/teams/${mine.body.id}/members/${name}`)).status, 204);
    assert.equal((await atrium.as('ann')('PATCH', `/teams/${mine.body.id}`, { permission: 'write' })).status, 200);
    assert.equal((await call('PATCH', `/teams/${mine.body.id}`, { permission: 'read', name: 'ours' })).status, 200);
  });

  it('An organization administrator can appoint administrators but not owners', async () => {
    const { name, id: personId } = await makePerson(atrium);
    const chiefs = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'chiefs', permission: 'admin' });
    await addMember(atrium.instance, BigInt(chiefs.body.id), personId);
    assert.equal(
      (await atrium.as(name)('POST', '/orgs/acme/teams', { name: 'more chiefs', permission: 'admin' })).status,
      201,
    );
    assert.equal((await atrium.as(name)('PUT', '/orgs/acme/members/fan03', { team: 'chiefs' })).status, 204);
    for (const path of [`/teams/${id.team('Owners')}/members/${name}`]) {
      await assertRejected(atrium, {
        who: name,
        send: ['PUT', path],
        status: 403,
        message: 'missing relation add_member:team',
      });
    }
    assert.equal((await atrium.as(name)('PATCH', `/teams/${id.team('Owners')}`, {})).status, 403);
  });

  it('Roles assigned to one team concurrently are all assigned', async () => {
    const roles = await Promise.all(Array.from({ length: 10 }, () => makeRole(atrium)));
    const [one, two] = [id.team('operators'), id.team('Viewers')];
    const { body: first } = roles[0] ?? assert.fail();
    const answers = await Promise.all([
      ...roles.map(({ body }) => atrium.as('ann')('PUT', `/teams/${one}/roles/${body.id}`)),
      atrium.as('ann')('PUT', `/teams/${two}/roles/${first.id}`),
    ]);
    for (const answer of answers) assert.equal(answer.status, 204, answer.text);
    const held = (await atrium.as('ann')('GET', `/teams/${one}/roles`)).body.map((role: { id: number }) => role.id);
    for (const { body } of roles) assert.ok(held.includes(body.id));
    assert.ok((await atrium.as('ann')('GET', `/teams/${two}`)).body.role_ids.includes(first.id));
  });

  it('A team deleted while roles are assigned and members join leaves nothing behind', async () => {
    for (let round = 0; round < COUNTS.raceRounds; round++) {
      const team = (await atrium.as('ann')('POST', '/orgs/acme/teams', { name: `brief ${round}` })).body.id;
      const role = (await makeRole(atrium)).body.id;
      const answers = await Promise.all([
        atrium.as('ann')('PUT', `/teams/${team}/roles/${role}`),
        atrium.as('ann')('PUT', `/teams/${team}/members/fan04`),
        atrium.as('ann')('DELETE', `/teams/${team}`),
        atrium.as('ann')('PATCH', `/teams/${team}`, { permission: 'write' }),
      ]);
      for (const answer of answers) assert.ok(answer.status < 500, answer.text);
      assert.equal(answers[2]?.status, 204);
      assert.deepEqual((await atrium.as('ann')('GET', `/authz/roles/${role}?org=acme`)).body.team_ids, []);
    }
    assert.equal((await atrium.as('root')('GET', '/orgs/acme/members/fan04')).status, 404);
  });
});
