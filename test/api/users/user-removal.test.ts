import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SESSION_COOKIE } from '../../../src/http/admission/credential.ts';
import { COUNTS } from '../../counts.ts';
import { auditOf } from '../../support/checks/audit.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { addMember, createCluster, makeOrganization, makePerson } from '../../support/world/people.ts';

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

for (const driver of COUNTED_DRIVERS) {
  describe(`Deleting a user on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    it(`Deleting a user whom hundreds follow takes several statements and counts right on ${driver}`, async () => {
      const { id, name } = await makePerson(atrium);
      const query = <Row extends object>(text: string) => atrium.instance.db.query<Row>(statement(text));
      await query(`insert into account (kind, name) select 'user', 'fan-of-' || n from generate_series(1, 510) as n`);
      await query(`insert into follow (follower_id, followed_id, seq)
        select id, ${id}, 0 from account where name like 'fan-of-%'`);
      await query(`insert into follow (follower_id, followed_id, seq)
        select ${id}, id, 0 from account where name like 'fan-of-%'`);
      await query('create table watched (rows bigint)');
      await query(`create function watch() returns trigger language plpgsql as
        $$ begin insert into watched select count(*) from gone; return null; end $$`);
      await query(`create trigger watch after delete on follow referencing old table as gone
        for each statement execute function watch()`);

      assert.equal((await atrium.as('root')('DELETE', `/admin/users/${name}`)).status, 204);
      const [watched] = await query<{ most: bigint; all: bigint }>(
        'select max(rows) as most, sum(rows)::bigint as all from watched',
      );
      assert.deepEqual(watched, { most: 500n, all: 1020n });
      const wrong =
        await query(`select name from account where name like 'fan-of-%' and (followers, followings) <> (0, 0)
        union select a.name from account a join follow_block b on b.followed_id = a.id and b.count <> 0
         where a.name like 'fan-of-%'`);
      assert.deepEqual(wrong, []);
      await query('drop trigger watch on follow');
    });

    it(`Deleting a user removes all their data and nothing of other users on ${driver}`, async () => {
      const { instance: inner } = atrium;
      const { name, id, token } = await makePerson(atrium, { isAdmin: true });
      const call = atrium.as(name);
      await addMember(inner, atrium.world.orgs.acme?.teams.Editors ?? 0n, id);
      await addMember(inner, atrium.world.orgs.acme?.teams.Owners ?? 0n, id);
      const session = await inner.identity.sessions.open(id, true, new Date());
      await createCluster(inner, { ownerId: id, name: 'own', uid: crypto.randomUUID() });
      const spec = { name: 'key', type: 'Aws', aws: { accessKeyID: 'a', secretAccessKey: 'b' } };
      assert.equal((await call('POST', '/user/credentials', spec)).status, 201);
      assert.equal((await call('GET', '/user/bus/credentials')).status, 200);
      const item = { chart: { name: 'c', sourceRef: { name: 's' }, version: '1', releaseName: 'r', namespace: 'n' } };
      assert.equal((await call('POST', '/user/deploy/orders', { spec: { items: [item] } })).status, 200);
      assert.equal((await call('PUT', '/user/following/bob')).status, 204);
      assert.equal((await atrium.as('bob')('PUT', `/user/following/${name}`)).status, 204);
      const count = async () => Number((await atrium.as('bob')('GET', '/user/followers')).headers.get('x-total-count'));
      const followers = await count();
      const state = async () =>
        (await inner.db.query<Record<string, number>>({ name: 'test.left', text: LEFT }, [id]))[0];
      const full = (await state()) ?? {};
      for (const [what, many] of Object.entries(full)) assert.ok(many > 0, what);

      const answer = await atrium.as('root')('DELETE', `/admin/users/${name}`);
      assert.equal(answer.status, 204, answer.text);
      assert.deepEqual(await state(), Object.fromEntries(Object.keys(full).map((what) => [what, 0])));
      const ways = [{ Authorization: `token ${token}` }, { Cookie: `${SESSION_COOKIE}=${session.text}` }];
      for (const headers of ways)
        assert.equal((await atrium.call('GET', '/api/v1/user', undefined, headers)).status, 401);
      assert.equal((await atrium.as('eve')('GET', `/users/${name}`)).status, 404);
      assert.equal(await count(), followers - 1);
      const owners = await atrium.as('ann')('GET', `/teams/${atrium.world.orgs.acme?.teams.Owners}/members`);
      assert.deepEqual(
        owners.body.map((user: { login: string }) => user.login),
        ['ann'],
      );

      const left = (await auditOf(inner.db, atrium.world.orgs.acme?.id ?? 0n)).slice(-2);
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
      const again = await atrium.as('root')('POST', '/admin/users', { username: name, email: `${name}@example.com` });
      assert.equal(again.status, 201, again.text);
      assert.notEqual(BigInt(again.body.id), id);
    });

    it(`A site administrator can delete the last owner of organizations and keep the organizations on ${driver}`, async () => {
      const { name } = await makePerson(atrium);
      const org = await makeOrganization(atrium, name);
      assert.equal((await atrium.as('eve')('DELETE', `/admin/users/${name}?orphan=true`)).status, 403);
      assert.equal((await atrium.as('root')('DELETE', `/admin/users/${name}?orphan=true`)).status, 204);
      assert.equal((await atrium.as('root')('GET', `/orgs/${org.name}`)).status, 200);
      const { body } = await atrium.as('root')('GET', '/admin/orgs?ownerless=true&limit=50');
      assert.ok(body.some(({ username }: { username: string }) => username === org.name));
      assert.equal((await atrium.as('root')('PUT', `/orgs/${org.name}/members/eve`, { team: 'Owners' })).status, 204);
    });

    it(`The last owner of organizations cannot be deleted, and the error names them, on ${driver}`, async () => {
      const { name } = await makePerson(atrium);
      const [one, two] = [await makeOrganization(atrium, name), await makeOrganization(atrium, name)];
      const refused = await atrium.as('root')('DELETE', `/admin/users/${name}`);
      assert.deepEqual(
        [refused.status, refused.body.message],
        [
          409,
          `the last owner of an organization cannot be deleted: ${one.name}, ${two.name}; make another user an owner first, ` +
            'or pass orphan=true to leave them to the site administrators',
        ],
      );
      assert.equal((await atrium.as(name)('GET', `/orgs/${one.name}`)).status, 200);
      assert.equal((await atrium.as('root')('DELETE', `/orgs/${one.name}`)).status, 204);
      assert.equal((await atrium.as('root')('PUT', `/orgs/${two.name}/members/eve`, { team: 'Owners' })).status, 204);
      assert.equal((await atrium.as('root')('DELETE', `/admin/users/${name}`)).status, 204);
      assert.equal((await atrium.as('root')('GET', `/orgs/${two.name}/members/eve`)).status, 204);
    });

    it(`An organization keeps an owner when its owners are deleted and leave concurrently on ${driver}`, async () => {
      for (let round = 0; round < COUNTS.raceRounds; round++) {
        const [one, two] = [await makePerson(atrium), await makePerson(atrium)];
        const org = await makeOrganization(atrium, one.name);
        await addMember(atrium.instance, BigInt(org.team('Owners')), two.id);
        await atrium.as(one.name)('PUT', `/user/following/${two.name}`);
        await atrium.as(two.name)('PUT', `/user/following/${one.name}`);
        const answers = await Promise.all([
          atrium.as('root')('DELETE', `/admin/users/${one.name}`),
          atrium.as('root')('DELETE', `/admin/users/${two.name}`),
          atrium.as('root')('PUT', `/teams/${org.team('Viewers')}/members/${one.name}`),
          atrium.as('bob')('PUT', `/user/following/${one.name}`),
          atrium.as(two.name)('DELETE', `/orgs/${org.name}/members/${two.name}`),
        ]);
        for (const answer of answers) assert.ok(answer.status < 500, answer.text);
        const owners = await atrium.as('root')('GET', `/teams/${org.team('Owners')}/members`);
        assert.equal(owners.body.length, 1, answers.map((answer) => answer.status).join());
      }
    });
  });
}
