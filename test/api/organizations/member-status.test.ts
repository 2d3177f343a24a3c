import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { addMember, createTeam, makeOrganization, makePerson, setActive } from '../../support/world/people.ts';

interface Listed {
  readonly login: string;
  readonly name?: string;
  readonly active?: boolean;
  readonly last_login?: string;
}

describe('Whether people are active', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  async function openScene() {
    const [owner, here, gone] = [await makePerson(atrium), await makePerson(atrium), await makePerson(atrium)];
    const org = await makeOrganization(atrium, owner.name);
    const team = await createTeam(atrium.instance, { organizationId: org.id, name: 'ops', permission: 'none' });
    for (const { id } of [here, gone]) await addMember(atrium.instance, team, id);
    await addMember(atrium.instance, BigInt(org.team('Editors')), gone.id);
    await setActive(atrium.instance, gone.id, false);
    const list = async (who: string, path: string): Promise<Listed[]> => {
      const { status, body, text } = await atrium.as(who)('GET', path);
      assert.equal(status, 200, text);
      return body.data ?? body;
    };
    return { owner, here, gone, org, team, list };
  }

  it('Lists of members say who is active and when they last signed in, to whoever may see members', async () => {
    const { owner, here, gone, org, team, list } = await openScene();
    for (const path of [`/orgs/${org.name}/members`, `/orgs/${org.name}/public_members`, `/teams/${team}/members`]) {
      const found = await list(owner.name, path);
      const of = (name: string) => found.find(({ login }) => login === name);
      assert.deepEqual([of(here.name)?.active, of(gone.name)?.active], [true, false], path);
      assert.equal(of(here.name)?.last_login, '1970-01-01T00:00:00Z', path);
    }
    const self = (await atrium.as('ann')('GET', '/user')).body;
    const [ann] = (await list('ann', '/orgs/acme/members')).filter(({ login }) => login === 'ann');
    assert.deepEqual([ann?.active, ann?.last_login], [self.active, self.last_login]);
  });

  it('What a caller may not see is absent, except about themselves', async () => {
    const { here, gone, team, list } = await openScene();
    const found = await list(here.name, `/teams/${team}/members`);
    const of = (name: string) => found.find(({ login }) => login === name) ?? assert.fail(name);
    assert.ok(!('active' in of(gone.name)) && !('last_login' in of(gone.name)));
    assert.equal(of(here.name).active, true);
    for (const [path, sees] of [
      [`/users/search?q=${gone.name}`, false],
      [`/users/search?q=${here.name}`, true],
    ] as const) {
      const [one] = await list(here.name, path);
      assert.equal('active' in (one ?? {}), sees, path);
    }
    const other = (await atrium.as(here.name)('GET', `/users/${gone.name}`)).body;
    assert.ok(!('active' in other) && !('last_login' in other));
    assert.equal((await atrium.as('root')('GET', `/users/${gone.name}`)).body.active, false);
  });

  it('Followers are shown with zero values, as the specification says', async () => {
    const { here, owner, list } = await openScene();
    assert.equal((await atrium.as(here.name)('PUT', `/user/following/${owner.name}`)).status, 204);
    const [one] = await list(here.name, '/user/following');
    assert.deepEqual([one?.active, one?.last_login], [false, '1970-01-01T00:00:00Z']);
  });

  it('Deactivated people are marked in answers about who may do what', async () => {
    const { owner, gone, org, list } = await openScene();
    const call = atrium.as(owner.name);
    const who = await list(
      owner.name,
      `/authz/objects/organization/${org.id}/principals?org=${org.name}&relation=can_edit`,
    );
    assert.deepEqual(
      who.filter(({ name }) => name !== 'root').map(({ name, active }) => [name, active]),
      [
        [owner.name, undefined],
        [gone.name, false],
      ],
    );
    const access = await call('GET', `/authz/users/${gone.name}/access?org=${org.name}`);
    assert.equal(access.body.user.active, false);
    const matrix = await call('POST', `/authz/matrix?org=${org.name}`, { type: 'organization' });
    const marks = matrix.body.users.filter((one: { active?: boolean }) => one.active === false);
    assert.deepEqual(
      marks.map(({ name }: { name: string }) => name),
      [gone.name],
    );
  });
});
