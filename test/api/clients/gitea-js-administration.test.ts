import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { giteaApi } from 'gitea-js';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

/** An existing client library of this API family, used as administrators use it to run a platform. */
describe('Administration with gitea-js', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const clientOf = (name: string) =>
    giteaApi(atrium.url, { token: atrium.world.users[name]?.token ?? '', customFetch: fetch });

  it('gitea-js can create an organization with teams and members and delete it all again', async () => {
    const eve = clientOf('eve');
    const made = await eve.orgs.orgCreate({ username: 'hooli', full_name: 'Hooli', visibility: 'limited' });
    assert.deepEqual([made.status, made.data.name, made.data.visibility], [201, 'hooli', 'limited']);
    assert.equal((await eve.orgs.orgEdit('hooli', { description: 'Makes boxes.' })).data.description, 'Makes boxes.');
    assert.equal((await eve.orgs.orgGet('hooli')).data.full_name, 'Hooli');
    assert.deepEqual(
      (await eve.user.orgListCurrentUserOrgs()).data.map((org) => org.name),
      ['globex', 'hooli'],
    );

    const wish = { name: 'boxes', description: 'd', permission: 'write', units: ['repo.code'] } as const;
    const team = await eve.orgs.orgCreateTeam('hooli', { ...wish, units: [...wish.units] });
    const id = team.data.id ?? 0;
    assert.deepEqual([team.status, team.data.permission, team.data.organization?.name], [201, 'write', 'hooli']);
    const edited = await eve.teams.orgEditTeam(id, { name: 'boxes', permission: 'admin' });
    assert.deepEqual([edited.status, edited.data.permission, edited.data.description], [200, 'admin', 'd']);
    assert.equal((await eve.teams.orgAddTeamMember(id, 'ann')).status, 204);
    assert.equal((await eve.teams.orgListTeamMember(id, 'ann')).data.login, 'ann');
    assert.equal((await eve.teams.orgListTeamMembers(id)).data.length, 1);
    assert.equal((await eve.orgs.orgListMembers('hooli')).data.length, 2);
    assert.equal((await eve.orgs.orgIsMember('hooli', 'ann')).status, 204);
    assert.equal((await eve.orgs.orgListTeams('hooli')).data.length, 4);
    assert.deepEqual((await eve.orgs.teamSearch('hooli', { q: 'box' })).data.data?.length, 1);
    assert.equal((await eve.teams.orgRemoveTeamMember(id, 'ann')).status, 204);
    assert.equal((await eve.teams.orgDeleteTeam(id)).status, 204);
    assert.equal(
      (await eve.teams.orgAddTeamMember((await eve.orgs.orgListTeams('hooli')).data[0]?.id ?? 0, 'bob')).status,
      204,
    );
    assert.equal((await eve.orgs.orgDeleteMember('hooli', 'bob')).status, 204);
    assert.equal((await eve.orgs.orgDelete('hooli')).status, 204);
  });

  it('gitea-js can create, find, edit and delete users', async () => {
    const root = clientOf('root');
    const wish = {
      username: 'gavin',
      email: 'gavin@example.com',
      password: 'a good password',
      must_change_password: false,
    };
    const made = await root.admin.adminCreateUser(wish);
    assert.deepEqual([made.status, made.data.login], [201, 'gavin']);
    const edited = await root.admin.adminEditUser('gavin', {
      login_name: '',
      source_id: 0,
      active: false,
      full_name: 'Gavin',
    });
    assert.deepEqual([edited.data.full_name, edited.data.active], ['Gavin', false]);
    assert.equal((await root.admin.adminCreateOrg('gavin', { username: 'gavins' })).status, 201);
    assert.ok(((await root.admin.adminGetAllOrgs()).data.length ?? 0) >= 3);
    assert.equal((await root.admin.adminSearchUsers({ limit: 2 })).data.length, 2);
    assert.equal((await clientOf('eve').users.userSearch({ q: 'gav' })).data.data?.[0]?.login, 'gavin');
    assert.equal((await clientOf('eve').users.userGet('gavin')).data.full_name, 'Gavin');
    assert.equal((await root.orgs.orgDelete('gavins')).status, 204);
    assert.equal((await root.admin.adminDeleteUser('gavin')).status, 204);
  });
});
