import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected, clusterPermission, makeHolder, orgPermission } from '../../support/world/authz.ts';
import { inHours, letExpire, openScene } from '../../support/world/expiry.ts';
import { addMember, makePerson } from '../../support/world/people.ts';

for (const driver of API_DRIVERS) {
  describe(`Ends of memberships and assignments on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, hasOurClock: true });
    });
    after(() => atrium.close());

    it(`A membership can end, be renewed and be made permanent, and each change is audited on ${driver}`, async () => {
      const { other, org, call, put } = await openScene(atrium);
      const path = `/teams/${org.team('Editors')}/members/${other.name}`;
      const [soon, later] = [inHours(1), inHours(48)];
      const shown = async () => {
        const inTeam = await call('GET', path);
        const list = await call('GET', `/teams/${org.team('Editors')}/members`);
        const members = (await call('GET', `/orgs/${org.name}/members`)).body;
        const member = members.find((one: { login: string }) => one.login === other.name);
        assert.equal(list.body[0].expires_at, inTeam.body.expires_at);
        assert.equal(member.teams[0].expires_at, inTeam.body.expires_at);
        assert.equal(member.expires_at, inTeam.body.expires_at);
        return inTeam.body.expires_at;
      };
      await put(path, { expires_at: soon });
      assert.equal(await shown(), soon);
      // Whoever says nothing about it leaves it as it is.
      await put(path);
      await put(path, {});
      await put(path, { expires_at: '' });
      assert.equal(await shown(), soon);
      await put(path, { expires_at: later });
      assert.equal(await shown(), later);
      // Exactly, in any time zone, and the same again changes nothing.
      await put(path, { expires_at: later.replace('Z', '.000+00:00') });
      await put(path, { expires_at: null });
      assert.equal(await shown(), undefined);
      await put(`/orgs/${org.name}/members/${other.name}`, { team: 'editors', expires_at: soon });
      assert.equal(await shown(), soon);

      const states = (await auditOf(atrium.instance.db, org.id)).map(({ action, before, after }) => [
        action,
        ...[before, after].map((state) => (state === null ? null : (JSON.parse(state).expiresAt ?? 'never'))),
      ]);
      const exact = (text: string) => new Date(text).toISOString();
      assert.deepEqual(states, [
        ['team.add_member', null, exact(soon)],
        ['team.update_member', exact(soon), exact(later)],
        ['team.update_member', exact(later), 'never'],
        ['team.update_member', 'never', exact(soon)],
      ]);
    });

    it(`A membership of an organization ends with the last of its teams on ${driver}`, async () => {
      const { other, org, call, put } = await openScene(atrium);
      const member = async () =>
        (await call('GET', `/orgs/${org.name}/members`)).body.find(
          (one: { login: string }) => one.login === other.name,
        );
      const path = `/orgs/${org.name}/members/${other.name}`;
      const [soon, later] = [inHours(1), inHours(2)];
      await put(path, { expires_at: soon });
      assert.deepEqual([(await member()).expires_at, (await member()).teams[0].name], [soon, 'Viewers']);
      // Without a team, it is about the first one.
      await put(path, { expires_at: later });
      assert.equal((await member()).expires_at, later);
      await put(path, { team: 'Editors', expires_at: soon });
      assert.equal((await member()).expires_at, later);
      await put(`/teams/${org.team('Editors')}/members/${other.name}`, { expires_at: null });
      assert.equal((await member()).expires_at, undefined);
      assert.equal((await call('DELETE', `/teams/${org.team('Viewers')}/members/${other.name}`)).status, 204);
      const refused = await call('PUT', path, { expires_at: soon });
      assert.deepEqual([refused.status, refused.body.reason], [422, 'validation_failed']);
      assert.match(refused.body.message, /team is required: the user is a member, but not through Viewers/);
    });

    it(`An end that is past, too far away or no date is rejected on ${driver}`, async () => {
      const { owner, other, org, call } = await openScene(atrium);
      const role = await call('POST', `/authz/roles?org=${org.name}`, { name: 'r', permissions: [] });
      const paths = [
        `/teams/${org.team('Viewers')}/members/${other.name}`,
        `/orgs/${org.name}/members/${other.name}`,
        `/teams/${org.team('Viewers')}/roles/${role.body.id}`,
      ];
      const wrong: [unknown, RegExp][] = [
        ['2020-01-01T00:00:00Z', /expires_at must be in the future/],
        [new Date(Date.now() - 1).toISOString(), /expires_at must be in the future/],
        [`${new Date().getUTCFullYear() + 11}-01-01T00:00:00Z`, /expires_at must be within 10 years/],
        ['tomorrow', /expires_at/],
        ['2099-02-30T00:00:00Z', /expires_at/],
        [7, /expires_at/],
      ];
      for (const path of paths) {
        for (const [expires_at, message] of wrong) {
          const send = ['PUT', path, { expires_at }] as const;
          await assertRejected(atrium, { who: owner.name, send, status: 422, message });
        }
      }
      assert.equal((await call('GET', `/orgs/${org.name}/members`)).body.length, 1);
    });

    it(`A role of a team can end, be renewed and be made permanent, and lists of teams keep the end on ${driver}`, async () => {
      const { org, call, put } = await openScene(atrium);
      const [viewers, editors] = [org.team('Viewers'), org.team('Editors')];
      const permissions = [clusterPermission('view clusters')];
      const { body: role } = await call('POST', `/authz/roles?org=${org.name}`, {
        ...{ name: 'r', permissions, teamIDs: [editors] },
      });
      const [soon, later] = [inHours(1), inHours(48)];
      const path = `/teams/${viewers}/roles/${role.id}`;
      const shown = async () => {
        const { body } = await call('GET', `/authz/roles/${role.id}?org=${org.name}`);
        const [inTeam] = (await call('GET', `/teams/${viewers}/roles`)).body;
        const principals = (await call('GET', `/authz/roles/${role.id}/principals?org=${org.name}`)).body;
        assert.equal(principals.find((one: { id: number }) => one.id === viewers).expires_at, inTeam.expires_at);
        assert.deepEqual(
          body.team_expiries,
          inTeam.expires_at && [{ team_id: viewers, expires_at: inTeam.expires_at }],
        );
        return inTeam.expires_at;
      };
      await put(path, { expires_at: soon });
      assert.equal(await shown(), soon);
      await put(path);
      const teamIDs = [viewers, editors];
      const renamed = await call('PUT', `/authz/roles/${role.id}?org=${org.name}`, { name: 's', teamIDs });
      assert.equal(renamed.status, 200, renamed.text);
      assert.equal(await shown(), soon);
      await put(path, { expires_at: later });
      assert.equal(await shown(), later);
      await put(path, { expires_at: null });
      assert.equal(await shown(), undefined);
      const actions = (await auditOf(atrium.instance.db, org.id)).map(({ action }) => action);
      assert.deepEqual(actions, ['role.create', ...Array.from({ length: 4 }, () => 'role.update')]);
    });

    it(`A file of roles states, keeps and changes when assignments end on ${driver}`, async () => {
      const { org, call, put } = await openScene(atrium);
      const { body: role } = await call('POST', `/authz/roles?org=${org.name}`, {
        ...{ name: 'r', permissions: [clusterPermission('view clusters')], teamIDs: [org.team('Editors')] },
      });
      const [soon, later] = [inHours(1), inHours(48)].map((text) => new Date(text).toISOString());
      await put(`/teams/${org.team('Viewers')}/roles/${role.id}`, { expires_at: soon });
      const exported = await call('GET', `/authz/roles/export?org=${org.name}`);
      assert.ok(exported.text.includes(`teams: [Editors, {name: Viewers, expires_at: "${soon}"}]`), exported.text);
      const document = (await call('GET', `/authz/roles/export?org=${org.name}&format=json`)).body;
      assert.deepEqual(document.roles[0].teams, ['Editors', { name: 'Viewers', expires_at: soon }]);
      const bringIn = async (teams: unknown, name = 'r') => {
        const roles = [{ ...document.roles[0], name, teams }];
        const answer = await call('PUT', `/authz/roles/import?org=${org.name}`, { ...document, roles });
        assert.equal(answer.status, 200, answer.text);
        return answer.body.changes.map((change: { words: string[] }) => change.words.at(-1));
      };
      assert.deepEqual(await bringIn(document.roles[0].teams), []);
      assert.deepEqual(await bringIn(['editors', 'viewers']), [], 'a name alone keeps the end');
      const until = (expires_at: string | null) => ['Editors', { name: 'viewers', expires_at }];
      assert.deepEqual(await bringIn(until(later ?? '')), [`team Viewers expires at ${later}`]);
      assert.deepEqual(await bringIn(until(null)), ['team Viewers does not expire']);
      assert.deepEqual(await bringIn(until('2020-01-31T12:00:00Z')), ['- team Viewers'], 'what has expired stays away');
      assert.deepEqual(await bringIn(until(later ?? ''), 's'), [`team Viewers expires at ${later}`]);
      const [made] = (await call('GET', `/teams/${org.team('Viewers')}/roles`)).body.filter(
        (one: { name: string }) => one.name === 's',
      );
      assert.equal(new Date(made.expires_at).toISOString(), later);
      const wrong: [unknown, RegExp][] = [
        [{ name: 'Viewers', expires_at: 'tomorrow' }, /roles\[0\]\.teams\[0\]\.expires_at must be a date-time or null/],
        [{ name: 'Viewers', until: null }, /roles\[0\]\.teams\[0\]\.until is not a known field/],
        [{ expires_at: null }, /roles\[0\]\.teams\[0\]\.name must be a string/],
        [7, /roles\[0\]\.teams\[0\] must be a string, or have a name and expires_at/],
        [{ name: 'Viewers', expires_at: '9999-01-01T00:00:00Z' }, /expires_at must be within 10 years/],
      ];
      for (const [team, message] of wrong) {
        const body = { ...document, roles: [{ name: 'r', teams: [team] }] };
        const answer = await call('PUT', `/authz/roles/import?org=${org.name}`, body);
        assert.equal(answer.status, 422, answer.text);
        assert.match(answer.body.message, message);
      }
    });

    it(`An organization keeps an owner whose membership does not expire on ${driver}`, async (t) => {
      const { owner, other, org, call, put } = await openScene(atrium);
      const team = `/teams/${org.team('Owners')}/members`;
      const soon = inHours(1);
      const alone = /an organization needs an owner whose membership does not expire/;
      const leave = /the last owner of an organization cannot leave/;
      const refuse = (who: string, method: string, path: string, message: RegExp) =>
        assertRejected(atrium, {
          who,
          send: [method, path, method === 'PUT' ? { expires_at: inHours(1) } : undefined],
          status: 409,
          message,
        });
      await refuse(owner.name, 'PUT', `${team}/${owner.name}`, alone);
      await put(`${team}/${other.name}`, { expires_at: soon });
      // A temporary owner does not count.
      await refuse(other.name, 'PUT', `${team}/${owner.name}`, alone);
      await refuse(other.name, 'DELETE', `${team}/${owner.name}`, leave);
      await refuse(owner.name, 'DELETE', `/orgs/${org.name}/members/${owner.name}`, leave);
      assert.equal((await atrium.as('root')('DELETE', `/admin/users/${owner.name}`)).status, 409);
      // Once there is another one, the first can be limited. The other may then not leave.
      await put(`${team}/${other.name}`, { expires_at: null });
      await put(`${team}/${owner.name}`, { expires_at: soon });
      await refuse(other.name, 'DELETE', `/orgs/${org.name}/members/${other.name}`, leave);
      // They may leave the organization to the site administrators, and the last one who is left then expires.
      const gone = await atrium.as(other.name)('DELETE', `/orgs/${org.name}/members/${other.name}?orphan=true`);
      assert.equal(gone.status, 204, gone.text);
      await letExpire(t, atrium, org.id);
      assert.equal((await call('GET', `/orgs/${org.name}`)).status, 404);
      const last = (await auditOf(atrium.instance.db, org.id)).at(-1);
      assert.deepEqual([last?.action, JSON.parse(last?.after ?? '{}')], ['team.expire_member', { owners: 0 }]);
      await refuse('root', 'PUT', `${team}/${owner.name}`, alone);
    });

    it(`Whoever may only add members cannot end a membership, and nobody can extend their own on ${driver}`, async () => {
      const adder = await makeHolder(atrium, [orgPermission('add members'), orgPermission('view members')]);
      // Nobody adds others to a team that holds more than they do.
      await addMember(atrium.instance, atrium.world.orgs.acme?.teams.Viewers ?? 0n, adder.id);
      const { name } = await makePerson(atrium);
      const path = `/orgs/acme/members/${name}`;
      const call = atrium.as(adder.name);
      assert.equal((await call('PUT', path, { expires_at: inHours(2) })).status, 204);
      const refused = { who: adder.name, status: 403, message: /missing relation remove_member:team/ };
      await assertRejected(atrium, { ...refused, send: ['PUT', path, { expires_at: inHours(1) }] });
      assert.equal((await call('PUT', path, { expires_at: inHours(3) })).status, 204);
      assert.equal((await call('PUT', path, { expires_at: null })).status, 204);
      await assertRejected(atrium, { ...refused, send: ['PUT', path, { expires_at: inHours(3) }] });

      const { owner, other, org, put } = await openScene(atrium);
      const own = `/teams/${org.team('Owners')}/members/${other.name}`;
      await put(own, { expires_at: inHours(2) });
      for (const expires_at of [inHours(3), null]) {
        await assertRejected(atrium, {
          ...{ who: other.name, status: 403, message: /users cannot extend their own membership/ },
          send: ['PUT', own, { expires_at }],
        });
      }
      assert.equal((await atrium.as(other.name)('PUT', own, { expires_at: inHours(1) })).status, 204);
      assert.equal((await atrium.as(owner.name)('PUT', own, { expires_at: inHours(2) })).status, 204);
    });

    it(`Whoever does not hold what a role contains cannot renew its assignment on ${driver}`, async () => {
      const editor = await makeHolder(atrium, [
        orgPermission('edit roles'),
        orgPermission('view teams'),
        orgPermission('view roles'),
      ]);
      const team = Number(atrium.world.orgs.acme?.teams.Viewers);
      const permissions = [clusterPermission('connect to clusters')];
      const { body: role } = await atrium.as('ann')('POST', '/authz/roles?org=acme', {
        ...{ name: `renewed on ${driver}`, permissions, teamIDs: [team] },
      });
      const path = `/teams/${team}/roles/${role.id}`;
      const call = atrium.as(editor.name);
      assert.equal(
        (await call('PUT', path, { expires_at: inHours(1) })).status,
        204,
        'ending it sooner grants nothing',
      );
      for (const expires_at of [inHours(2), null]) {
        const refused = await call('PUT', path, { expires_at });
        assert.equal(refused.status, 403, refused.text);
      }
      assert.equal((await atrium.as('ann')('PUT', path, { expires_at: null })).status, 204);
    });
  });
}
