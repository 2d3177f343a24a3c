import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../../support/checks/long.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';

/** More than are counted for a search. */
const USERS = 10_100;
const FILL = `insert into account (kind, name, full_name) select 'user', 'many' || n, '' from generate_series($1::integer, $2::integer) n`;
const KEPT = `select sum(users)::integer as users, sum(barred)::integer as barred, sum(organizations)::integer as organizations
  from account_count`;
const COUNTED = `select (count(*) filter (where kind = 'user'))::integer as users,
    (count(*) filter (where kind = 'user' and (not active or prohibit_login)))::integer as barred,
    (count(*) filter (where kind = 'organization'))::integer as organizations from account`;
/** Accounts whose flags say something else than their rows. */
const WRONG_FLAGS = `select a.name from account a
  where a.has_factor <> (exists (select 1 from passkey p where p.account_id = a.id) or exists (select 1 from totp t where t.account_id = a.id))
     or a.is_ownerless <> (a.kind = 'organization' and not exists (
          select 1 from team t join team_member m on m.team_id = t.id where t.organization_id = a.id and t.permission = 'owner'))`;

for (const driver of API_DRIVERS) {
  describeLong(`Lists of a large deployment on ${driver}`, () => {
    let atrium: TestServer;
    const get = async (path: string) => {
      const { status, headers, body, text } = await atrium.as('root')('GET', path);
      assert.equal(status, 200, text);
      return { total: headers.get('x-total-count'), link: headers.get('link') ?? '', body };
    };
    before(async () => {
      atrium = await openTestServer({ driver });
      for (let first = 1; first <= USERS; first += 1010) {
        await atrium.instance.db.query(statement(FILL), [first, first + 1009]);
      }
    });
    after(() => atrium.close());

    it(`All users are counted exactly, and every page of them is in order on ${driver}`, async () => {
      const { total, link, body } = await get('/admin/users?limit=50&page=200');
      const world = Number(total) - USERS;
      assert.ok(world > 0 && world < 500, `${total}`);
      assert.match(link, /rel="last"/);
      const logins = body.map(({ login }: { login: string }) => login);
      const first = 199 * 50 - world + 1;
      assert.deepEqual(
        logins,
        Array.from({ length: 50 }, (_, number) => `many${first + number}`),
      );
      assert.deepEqual((await get('/admin/users?limit=50&page=400')).body, []);
    });

    it(`More than 10,000 hits are not told apart, and their pages go on on ${driver}`, async () => {
      const { total, link } = await get('/users/search?q=many&limit=50');
      assert.equal(total, '10001');
      assert.match(link, /page=2[^>]*>; rel="next"/);
      assert.doesNotMatch(link, /rel="last"/);
      const later = await get('/users/search?q=many&limit=50&page=202');
      assert.equal(later.body.data.length, 50);
      assert.match(later.link, /rel="next".*rel="first".*rel="prev"/);
      assert.doesNotMatch((await get('/users/search?q=many&limit=50&page=203')).link, /rel="next"/);
    });

    it(`Up to 10,000 hits are counted exactly on ${driver}`, async () => {
      assert.equal((await get('/users/search?q=many1&limit=1')).total, '1212');
      assert.equal((await get('/admin/users?q=any99&limit=1')).total, '111');
      assert.deepEqual(
        (await get('/users/search?q=many9999')).body.data.map(({ login }: { login: string }) => login),
        ['many9999'],
      );
      assert.equal((await get('/users/search?q=y7')).total, '1111');
      assert.equal((await get('/users/search?q=qx')).total, '0');
    });

    it(`Numbers and flags are kept by every change of an account on ${driver}`, async () => {
      const root = atrium.as('root');
      const user = { username: 'newcomer', email: 'newcomer@example.com' };
      assert.equal((await root('POST', '/admin/users', user)).status, 201);
      assert.equal((await root('PATCH', '/admin/users/newcomer', { active: false })).status, 200);
      assert.equal((await root('PATCH', '/admin/users/many1', { prohibit_login: true })).status, 200);
      assert.equal((await root('POST', '/orgs', { username: 'brand-new' })).status, 201);
      await same();
      assert.equal((await root('DELETE', '/admin/users/newcomer')).status, 204);
      assert.equal((await root('DELETE', '/orgs/brand-new')).status, 204);
      await same();
      await atrium.instance.features.addUpCounts();
      await same();
      const { body } = await get('/admin/overview');
      const [counted] = await atrium.instance.db.query<{ users: number; organizations: number }>(statement(COUNTED));
      assert.deepEqual([body.users, body.organizations], [counted?.users, counted?.organizations]);
    });

    it(`An organization is listed as ownerless from the moment its last owner is gone on ${driver}`, async () => {
      const names = async () =>
        (await get('/admin/orgs?ownerless=true')).body.map((one: { username: string }) => one.username);
      const before = await names();
      const eve = await atrium.as('root')('DELETE', '/admin/users/eve?orphan=true');
      assert.equal(eve.status, 204, eve.text);
      assert.deepEqual(await names(), [...before, 'globex']);
      assert.deepEqual((await get('/admin/orgs?ownerless=true&q=glob')).total, '1');
      await same();
    });

    async function same(): Promise<void> {
      const { db } = atrium.instance;
      assert.deepEqual(await db.query(statement(KEPT)), await db.query(statement(COUNTED)));
      assert.deepEqual(await db.query(statement(WRONG_FLAGS)), []);
    }
  });
}
