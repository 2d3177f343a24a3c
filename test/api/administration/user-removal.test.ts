import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SESSION_COOKIE } from '../../../src/http/credential.ts';
import { COUNTS } from '../../counts.ts';
import { auditOf } from '../../support/audit.ts';
import { API_DRIVERS } from '../../support/drivers.ts';
import { openTestHouse, type TestHouse } from '../../support/house.ts';
import { makeOrganization, makePerson } from '../../support/people.ts';

const LEFT = `select
  (select count(*)::integer from account where id = $1) as accounts,
  (select count(*)::integer from email where account_id = $1) as emails,
  (select count(*)::integer from token where account_id = $1) as tokens,
  (select count(*)::integer from session where account_id = $1) as sessions,
  (select count(*)::integer from credential where owner_id = $1) as credentials,
  (select count(*)::integer from cluster where owner_id = $1) as clusters,
  (select count(*)::integer from deploy_order where owner_id = $1) as orders,
  (select count(*)::integer from bus_user where account_id = $1) as bus,
  (select count(*)::integer from team_member where account_id = $1) as teams,
  (select count(*)::integer from data_key where owner_id = $1) as keys,
  (select count(*)::integer from follow where follower_id = $1 or followed_id = $1) as follows,
  (select count(*)::integer from tuple where store = $1 or subject = 'user:' || $1::text) as tuples`;

for (const driver of API_DRIVERS) {
  describe(`Deleting a user on ${driver}`, () => {
    let house: TestHouse;
    before(async () => {
      house = await openTestHouse({ driver });
    });
    after(() => house.close());

    it(`Deleting a user removes all their data and nothing of other users on ${driver}`, async () => {
      const { house: inner } = house;
      const { name, id, token } = await makePerson(house, { isAdmin: true });
      const call = house.as(name);
      await inner.organizations.addMember(house.world.orgs.acme?.teams.Editors ?? 0n, id);
      await inner.organizations.addMember(house.world.orgs.acme?.teams.Owners ?? 0n, id);
      const session = await inner.sessions.open(id, true, new Date());
      await inner.resources.createCluster({ ownerId: id, name: 'own', uid: crypto.randomUUID() });
      const spec = { name: 'key', type: 'Aws', aws: { accessKeyID: 'a', secretAccessKey: 'b' } };
      assert.equal((await call('POST', '/user/credentials', spec)).status, 201);
      assert.equal((await call('GET', '/user/bus/credentials')).status, 200);
      const item = { chart: { name: 'c', sourceRef: { name: 's' }, version: '1', releaseName: 'r', namespace: 'n' } };
      assert.equal((await call('POST', '/user/deploy/orders', { spec: { items: [item] } })).status, 200);
      assert.equal((await call('PUT', '/user/following/bob')).status, 204);
      assert.equal((await house.as('bob')('PUT', `/user/following/${name}`)).status, 204);
      const count = async () => Number((await house.as('bob')('GET', '/user/followers')).headers.get('x-total-count'));
      const followers = await count();
      const state = async () =>
        (await inner.db.query<Record<string, number>>({ name: 'test.left', text: LEFT }, [id]))[0];
      const full = (await state()) ?? {};
      for (const [what, many] of Object.entries(full)) assert.ok(many > 0, what);

      const answer = await house.as('root')('DELETE', `/admin/users/${name}`);
      assert.equal(answer.status, 204, answer.text);
      assert.deepEqual(await state(), Object.fromEntries(Object.keys(full).map((what) => [what, 0])));
      const ways = [{ Authorization: `token ${token}` }, { Cookie: `${SESSION_COOKIE}=${session.text}` }];
      for (const headers of ways)
        assert.equal((await house.call('GET', '/api/v1/user', undefined, headers)).status, 401);
      assert.equal((await house.as('eve')('GET', `/users/${name}`)).status, 404);
      assert.equal(await count(), followers - 1);
      const owners = await house.as('ann')('GET', `/teams/${house.world.orgs.acme?.teams.Owners}/members`);
      assert.deepEqual(
        owners.body.map((user: { login: string }) => user.login),
        ['ann'],
      );

      const left = (await auditOf(inner.db, house.world.orgs.acme?.id ?? 0n)).slice(-2);
      assert.deepEqual(
        left.map((entry) => [entry.action, entry.actor_name]),
        [
          ['team.remove_member', 'root'],
          ['team.remove_member', 'root'],
        ],
      );
      const last = (await auditOf(inner.db, 0n)).at(-1);
      assert.deepEqual(
        [last?.action, last?.object_id, JSON.parse(last?.before ?? '{}').username],
        ['user.delete', id, name],
      );
      const again = await house.as('root')('POST', '/admin/users', { username: name, email: `${name}@example.com` });
      assert.equal(again.status, 201, again.text);
      assert.notEqual(BigInt(again.body.id), id);
    });

    it(`The last owner of organizations cannot be deleted, and the error names them, on ${driver}`, async () => {
      const { name } = await makePerson(house);
      const [one, two] = [await makeOrganization(house, name), await makeOrganization(house, name)];
      const refused = await house.as('root')('DELETE', `/admin/users/${name}`);
      assert.deepEqual(
        [refused.status, refused.body.message],
        [409, `the last owner of an organization cannot be deleted: ${one.name}, ${two.name}`],
      );
      assert.equal((await house.as(name)('GET', `/orgs/${one.name}`)).status, 200);
      assert.equal((await house.as('root')('DELETE', `/orgs/${one.name}`)).status, 204);
      assert.equal((await house.as('root')('PUT', `/orgs/${two.name}/members/eve`, { team: 'Owners' })).status, 204);
      assert.equal((await house.as('root')('DELETE', `/admin/users/${name}`)).status, 204);
      assert.equal((await house.as('root')('GET', `/orgs/${two.name}/members/eve`)).status, 204);
    });

    it(`An organization keeps an owner when its owners are deleted and leave concurrently on ${driver}`, async () => {
      for (let round = 0; round < COUNTS.raceRounds; round++) {
        const [one, two] = [await makePerson(house), await makePerson(house)];
        const org = await makeOrganization(house, one.name);
        await house.house.organizations.addMember(BigInt(org.team('Owners')), two.id);
        await house.as(one.name)('PUT', `/user/following/${two.name}`);
        await house.as(two.name)('PUT', `/user/following/${one.name}`);
        const answers = await Promise.all([
          house.as('root')('DELETE', `/admin/users/${one.name}`),
          house.as('root')('DELETE', `/admin/users/${two.name}`),
          house.as('root')('PUT', `/teams/${org.team('Viewers')}/members/${one.name}`),
          house.as('bob')('PUT', `/user/following/${one.name}`),
          house.as(two.name)('DELETE', `/orgs/${org.name}/members/${two.name}`),
        ]);
        for (const answer of answers) assert.ok(answer.status < 500, answer.text);
        const owners = await house.as('root')('GET', `/teams/${org.team('Owners')}/members`);
        assert.equal(owners.body.length, 1, answers.map((answer) => answer.status).join());
      }
    });
  });
}
