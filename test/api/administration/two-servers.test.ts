import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import type { TestHouse } from '../../support/house.ts';
import { makeOrganization, makePerson } from '../../support/people.ts';
import { openPair, type SecondProcess } from '../../support/processes.ts';
import { lacks } from '../../support/requirements.ts';

const bearer = (text: string) => ({ Authorization: `token ${text}` });

/** A server in this process and one in another share a database: what one removes, the other knows at once. */
describe('Removals with two servers', { skip: lacks('postgresql') }, () => {
  let house: TestHouse;
  let other: SecondProcess;
  before(async () => {
    const pair = await openPair();
    house = pair.house;
    other = await pair.open();
  });
  after(async () => {
    await other.close();
    await house.close();
  });

  it('A robot account or token deleted on one server is rejected by the other on the next request', async () => {
    const url = `${other.url}/api/v1/clusters/${house.world.clusters.prod?.id}/heartbeat`;
    const beat = async (text: string) => (await fetch(url, { method: 'POST', headers: bearer(text) })).status;
    for (let round = 0; round < COUNTS.removalRounds; round++) {
      const { body: robot } = await house.as('ann')('POST', '/orgs/acme/robots', { name: `r${round}` });
      const tokens = await Promise.all(
        ['a', 'b'].map(async (name) => (await house.as('ann')('POST', `/robots/${robot.id}/tokens`, { name })).body),
      );
      for (const { sha1 } of tokens) assert.equal(await beat(sha1), 204);
      assert.equal((await house.as('ann')('DELETE', `/robots/${robot.id}/tokens/a`)).status, 204);
      assert.deepEqual([await beat(tokens[0].sha1), await beat(tokens[1].sha1)], [401, 204]);
      assert.equal((await house.as('ann')('DELETE', `/robots/${robot.id}`)).status, 204);
      assert.equal(await beat(tokens[1].sha1), 401);
    }
  });

  it('A cluster removed on one server grants no permissions on the other from the next request', async () => {
    const token = bearer(house.world.users.ann?.token ?? '');
    for (let round = 0; round < COUNTS.removalRounds; round++) {
      const body = { name: `c${round}`, uid: crypto.randomUUID() };
      const { id } = (await house.as('ann')('POST', '/orgs/acme/clusters', body)).body;
      const url = `${other.url}/api/v1/authz/objects/cluster/${id}/allowed-permissions?org=acme`;
      const allowed = async () =>
        ((await (await fetch(url, { headers: token })).json()) as { allowedPermissions: string[] }).allowedPermissions;
      assert.ok((await allowed()).includes('can_remove'));
      assert.equal((await house.as('ann')('DELETE', `/clusters/${id}`)).status, 204);
      assert.deepEqual(await allowed(), []);
    }
  });

  it('An organization deleted in one process grants nothing in the other from the next request', async () => {
    const ask = async (who: string, path: string) => {
      const headers = { Authorization: `token ${house.world.users[who]?.token}` };
      return await house.call('GET', `/api/v1${path}`, undefined, headers, other.url);
    };
    const stale: string[] = [];
    for (let round = 0; round < COUNTS.removalRounds; round++) {
      const [owner, member] = [await makePerson(house), await makePerson(house)];
      const org = await makeOrganization(house, owner.name);
      await house.house.organizations.addMember(BigInt(org.team('Editors')), member.id);
      const cluster = await house.house.resources.createCluster({
        ownerId: org.id,
        name: 'c',
        uid: crypto.randomUUID(),
      });
      const robotId = await house.house.resources.createRobot({ ownerId: org.id, name: 'r' });
      const robot = await house.house.tokens.issue({ accountId: org.id, robotId, name: 'r', scopes: ['all'] });
      house.world.users[`robot${round}`] = { id: org.id, token: robot.text };
      const about = `/authz/objects/cluster/${cluster}/allowed-permissions?org=acme`;
      for (const { name } of [owner, member]) {
        assert.equal((await ask(name, `/orgs/${org.name}`)).status, 200);
        assert.equal((await ask(name, '/user/clusters?all=true')).body.length, 1);
        assert.deepEqual((await ask(name, about)).body.allowedPermissions, []);
      }
      const own = `/authz/objects/cluster/${cluster}/allowed-permissions?org=${org.name}`;
      assert.ok((await ask(member.name, own)).body.allowedPermissions.includes('can_edit'));
      assert.equal((await ask(`robot${round}`, '/user')).status, 403);

      assert.equal((await house.as(owner.name)('DELETE', `/orgs/${org.name}`)).status, 204);
      for (const { name } of [owner, member]) {
        if ((await ask(name, `/orgs/${org.name}`)).status !== 404) stale.push(`${name} ${org.name}`);
        if ((await ask(name, '/user/clusters?all=true')).body.length !== 0) stale.push(`${name} clusters`);
        if ((await ask(name, own)).status !== 403) stale.push(`${name} permissions`);
        if ((await ask(name, '/user')).body.orgAdmin) stale.push(`${name} orgAdmin`);
      }
      if ((await ask(`robot${round}`, '/user')).status !== 401) stale.push('robot');
    }
    assert.deepEqual(stale, []);
  });

  it('A user deleted or deactivated in one process is rejected by the other on the next request', async () => {
    const ask = async (token: string, path = '/user') => {
      const headers = { Authorization: `token ${token}` };
      return (await house.call('GET', `/api/v1${path}`, undefined, headers, other.url)).status;
    };
    const stale: string[] = [];
    for (let round = 0; round < COUNTS.removalRounds; round++) {
      const { name, id, token } = await makePerson(house, { isAdmin: round % 2 === 0 });
      await house.house.organizations.addMember(house.world.orgs.acme?.teams.Viewers ?? 0n, id);
      assert.deepEqual([await ask(token), await ask(token, '/orgs/acme')], [200, 200]);
      assert.equal((await house.as('root')('PATCH', `/admin/users/${name}`, { active: false })).status, 200);
      if ((await ask(token)) !== 403) stale.push(`${name} active`);
      assert.equal((await house.as('root')('PATCH', `/admin/users/${name}`, { active: true })).status, 200);
      if ((await ask(token)) !== 200) stale.push(`${name} inactive`);
      assert.equal((await house.as('root')('DELETE', `/admin/users/${name}`)).status, 204);
      if ((await ask(token)) !== 401) stale.push(`${name} there`);
    }
    assert.deepEqual(stale, []);
  });
});
