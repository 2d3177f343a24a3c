import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../../src/base/config/limits.ts';
import { OBJECT_KINDS, RESOURCE_TYPES } from '../../../src/changes/object-kinds.ts';
import { COUNTS } from '../../counts.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { basic, chart, createToken, LISTS, type List, withOthers } from '../../support/world/limited-lists.ts';
import { type Owner, organization, person } from '../../support/world/list-owners.ts';

/** Small enough that every list is full after three. */
const MAX = 3;
const BYTES = 4096;
const env = Object.fromEntries(
  Object.values(LIMITS).map(({ setting }) => [setting, String(setting.includes('BYTES') ? BYTES : MAX)]),
);
const AT_ONCE = COUNTS.requestsAtOnce;

describe('Limits of resources', () => {
  for (const type of RESOURCE_TYPES.filter((one) => OBJECT_KINDS[one].isAddressed)) {
    it(`The number of objects of type ${type} has a limit, and that limit is tried here`, () => {
      assert.ok(LISTS.some(({ limit }) => limit.startsWith(`${OBJECT_KINDS[type].plural}Per`)));
    });
  }
});

for (const driver of COUNTED_DRIVERS) {
  describe(`Limits of lists on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, env });
    });
    after(() => atrium.close());

    const sizeOf = async ({ size }: List, { id }: Owner) =>
      (await atrium.instance.db.query<{ n: number }>(statement(size), [id]))[0]?.n;

    for (const [place, list] of LISTS.entries()) {
      const { setting, things } = LIMITS[list.limit];
      it(`${setting} holds against concurrent requests, case ${place} on ${driver}`, async () => {
        const owner = await list.prepare(atrium);
        const present = (await sizeOf(list, owner)) ?? 0;
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, (_, number) => list.grow(atrium, owner, `n${number}`)),
        );
        const refused = answers.filter(({ status }) => status >= 300);
        assert.equal(AT_ONCE - refused.length, MAX - present);
        for (const { status, body } of refused) {
          assert.deepEqual([status, body.reason], [422, 'limit_reached'], body.message);
          assert.match(body.message, new RegExp(`^this .* already has the maximum of ${MAX} ${things}: `));
          assert.match(body.message, new RegExp(`ask the operator of the server to raise ${setting}$`));
        }
        assert.equal(await sizeOf(list, owner), MAX);
      });
    }

    const reasonOf = ({ status, body }: Answer) => [status, body?.reason];
    const REACHED = [422, 'limit_reached'];
    const role = (name: string, more: object = {}) => ({ name, permissions: [], ...more });

    it(`Site administrators are bound by the limits too on ${driver}`, async () => {
      const { org } = await organization(atrium);
      const create = (name: string) => atrium.as('root')('POST', `/authz/roles?org=${org}`, role(name));
      for (const name of ['a', 'b', 'c']) assert.equal((await create(name)).status, 201);
      assert.deepEqual(reasonOf(await create('d')), REACHED);
    });

    it(`LIMIT_TEAMS_PER_ORGANIZATION counts the built-in teams on ${driver}`, async () => {
      const { user, org } = await organization(atrium);
      assert.deepEqual(reasonOf(await atrium.as(user)('POST', `/orgs/${org}/teams`, { name: 'one more' })), REACHED);
    });

    it(`LIMIT_TEAMS_PER_ROLE holds for new roles, changed roles, assignments and imports on ${driver}`, async () => {
      const { user, org, id } = await organization(atrium);
      const insert = `insert into team (organization_id, name, permission, type)
        select $1, 'extra ' || n, 'none', 'custom' from generate_series(1, 3) as n returning id`;
      const rows = await atrium.instance.db.query<{ id: bigint }>(statement(insert), [id]);
      const all = (await atrium.as(user)('GET', `/orgs/${org}/teams?limit=50`)).body.map(
        (one: { id: number }) => one.id,
      );
      assert.equal(all.length, MAX + rows.length);
      const path = `/authz/roles?org=${org}`;
      assert.deepEqual(reasonOf(await atrium.as(user)('POST', path, role('wide', { teamIDs: all }))), REACHED);
      const made = await atrium.as(user)('POST', path, role('narrow', { teamIDs: all.slice(0, MAX) }));
      assert.equal(made.status, 201);
      const one = `/authz/roles/${made.body.id}?org=${org}`;
      assert.deepEqual(reasonOf(await atrium.as(user)('PUT', one, { teamIDs: all })), REACHED);
      assert.deepEqual(reasonOf(await atrium.as(user)('PUT', `/teams/${all[MAX]}/roles/${made.body.id}`)), REACHED);
      const teams = ['Owners', 'Editors', 'Viewers', 'extra 1'];
      const imported = await send(user, org, [{ name: 'narrow', teams }]);
      assert.deepEqual(reasonOf(imported), REACHED);
      assert.match(imported.body.message, /^role "narrow": this role /);
      assert.equal((await atrium.as(user)('PUT', one, { teamIDs: all.slice(1, MAX + 1) })).status, 200);
    });

    const send = (user: string, org: string, roles: readonly object[], query = '') =>
      atrium.as(user)('PUT', `/authz/roles/import?org=${org}${query}`, {
        ...{ apiVersion: 'atrium/v1', kind: 'Roles', organization: org },
        roles,
      });

    it(`An import of roles is bound by the number of roles after it on ${driver}`, async () => {
      const { user, org } = await organization(atrium);
      const roles = (...names: string[]) => names.map((name) => ({ name }));
      const tooMany = await send(user, org, roles('a', 'b', 'c', 'd'));
      assert.deepEqual(reasonOf(tooMany), REACHED);
      assert.match(
        tooMany.body.message,
        /^this organization has 0 of at most 3 roles, and the request would exceed that/,
      );
      assert.deepEqual(reasonOf(await send(user, org, roles('a', 'b', 'c', 'd'), '&dry_run=true')), REACHED);
      assert.equal((await send(user, org, roles('a', 'b', 'c'))).status, 200);
      assert.deepEqual(reasonOf(await send(user, org, roles('d'))), REACHED);
      assert.equal((await send(user, org, roles('a', 'b', 'd'), '&prune=true')).status, 200);
    });

    it(`What exceeds a limit that was lowered can be used, changed and imported, but not grow, on ${driver}`, async () => {
      const { user, org, id } = await organization(atrium);
      const insert = `insert into role (organization_id, name, name_key)
        select $1, 'old ' || n, 'old ' || n from generate_series(1, 5) as n returning id`;
      const [first] = await atrium.instance.db.query<{ id: bigint }>(statement(insert), [id]);
      const names = [1, 2, 3, 4, 5].map((n) => ({ name: `old ${n}`, description: 'changed' }));
      assert.equal((await atrium.as(user)('GET', `/authz/roles?org=${org}`)).body.length, 5);
      assert.equal((await send(user, org, names)).status, 200);
      const one = `/authz/roles/${first?.id}?org=${org}`;
      assert.equal((await atrium.as(user)('PUT', one, { description: 'again' })).status, 200);
      const swapped = [...names.slice(1), { name: 'new' }];
      assert.equal((await send(user, org, swapped, '&prune=true')).status, 200, 'five before and five after');
      assert.deepEqual(reasonOf(await send(user, org, [{ name: 'newer' }])), REACHED);
    });

    it(`A team, an organization and a user each have their own limit of memberships on ${driver}`, async () => {
      const owner = await withOthers(atrium, await organization(atrium), 4);
      const put = (name: string | undefined, team: string) =>
        atrium.as(owner.user)('PUT', `/orgs/${owner.org}/members/${name}`, { team });
      const [first, second, third] = owner.others;
      for (const name of [first, second]) assert.equal((await put(name, 'Viewers')).status, 204);
      assert.deepEqual(reasonOf(await put(third, 'Editors')), REACHED, 'three members and the founder');
      for (const name of [first, second]) assert.equal((await put(name, 'Editors')).status, 204);
      assert.equal((await put(first, 'Editors')).status, 204, 'already in it');
      // In a third team, and then in a fourth one, of another organization.
      assert.equal((await put(first, 'Owners')).status, 204);
      const other = await organization(atrium);
      const refused = await atrium.as(other.user)('PUT', `/orgs/${other.org}/members/${first}`);
      assert.deepEqual(reasonOf(refused), REACHED);
      assert.match(refused.body.message, /^this user .* teams: the user has to leave/);
      assert.equal((await atrium.as(first)('DELETE', `/orgs/${owner.org}/members/${first}`)).status, 204);
      assert.equal((await atrium.as(other.user)('PUT', `/orgs/${other.org}/members/${first}`)).status, 204);
    });

    it(`LIMIT_MEMBERS_PER_TEAM holds although the organization has room on ${driver}`, async () => {
      const { user, org, id } = await organization(atrium);
      const fill = `insert into team_member (team_id, account_id)
        select t.id, a.id from team t, (select id from account where name like 'fan%' order by id limit 3) a
         where t.organization_id = $1 and t.name = 'Viewers'`;
      await atrium.instance.db.query(statement(fill), [id]);
      const { body } = await atrium.as(user)('PUT', `/orgs/${org}/members/${user}`, { team: 'Viewers' });
      assert.equal(body.reason, 'limit_reached');
      assert.match(body.message, /^this team /);
    });

    it(`Following a user again is accepted although the list is full on ${driver}`, async () => {
      const { user, others } = await withOthers(atrium, await person(atrium), 4);
      const follow = (place: number) => atrium.as(user)('PUT', `/user/following/${others[place]}`);
      for (const place of [0, 1, 2]) assert.equal((await follow(place)).status, 204);
      assert.deepEqual(reasonOf(await follow(3)), REACHED);
      assert.equal((await follow(0)).status, 204);
      assert.equal((await atrium.as(user)('PUT', `/user/following/${user}`)).status, 204);
      assert.equal((await atrium.as(user)('DELETE', `/user/following/${others[0]}`)).status, 204);
      assert.equal((await follow(3)).status, 204);
    });

    it(`Expired tokens make room for new ones on ${driver}`, async () => {
      const { user, id } = await person(atrium);
      const create = (name: string) => createToken(atrium, user, name);
      const expire = `insert into token (account_id, name, hash, last_eight, scopes, expires_at)
        select $1::bigint, 'old ' || n, sha256(($1::bigint || ' ' || n)::bytea), '', '{all}', now() - interval '1 day'
          from generate_series(1, 2) as n`;
      await atrium.instance.db.query(statement(expire), [id]);
      for (const name of ['a', 'b']) assert.equal((await create(name)).status, 201);
      assert.deepEqual(reasonOf(await create('c')), REACHED);
      const names = (await atrium.as()('GET', `/users/${user}/tokens`, undefined, basic(atrium, user))).body.map(
        (one: { name: string }) => one.name,
      );
      assert.deepEqual(names, ['test', 'a', 'b']);
    });

    it(`A sign-in beyond the limit ends the oldest session on ${driver}`, async () => {
      const { user } = await person(atrium);
      const password = 'correct horse battery';
      assert.equal((await atrium.as('root')('PATCH', `/admin/users/${user}`, { password })).status, 200);
      const signIn = async () => {
        const answer = await atrium.as()('POST', '/user/signin', { username: user, password });
        assert.equal(answer.status, 200, answer.text);
        return answer.headers
          .getSetCookie()
          .map((cookie) => cookie.split(';')[0])
          .join('; ');
      };
      const use = async (Cookie: string) => (await atrium.as()('GET', '/user', undefined, { Cookie })).status;
      const cookies: string[] = [];
      for (let time = 0; time < MAX; time++) cookies.push(await signIn());
      for (const cookie of cookies) assert.equal(await use(cookie), 200);
      cookies.push(await signIn());
      assert.deepEqual(await Promise.all(cookies.map(use)), [401, 200, 200, 200]);
      const last = await Promise.all([1, 2, 3, 4].map(signIn));
      assert.equal((await Promise.all(last.map(use))).filter((status) => status === 200).length, MAX);
    });

    it(`The bytes of all credentials together are limited, for new and for replaced ones, on ${driver}`, async () => {
      const { user } = await person(atrium);
      const put = (method: string, name: string, bytes: number) =>
        atrium.as(user)(method, '/user/credentials', { name, secret: 'x'.repeat(bytes) });
      assert.equal((await put('POST', 'a', BYTES / 2)).status, 201);
      const refused = await put('POST', 'b', BYTES / 2);
      assert.deepEqual(reasonOf(refused), REACHED);
      assert.match(refused.body.message, /^this user has \d+ of at most 4096 bytes of credentials/);
      assert.equal((await put('POST', 'b', BYTES / 4)).status, 201);
      assert.deepEqual(reasonOf(await put('PUT', 'b', BYTES / 2)), REACHED);
      assert.equal((await put('PUT', 'b', BYTES / 8)).status, 204);
      const both = await Promise.all(['a', 'b'].map((name) => put('PUT', name, BYTES - 1024)));
      assert.ok(both.every(({ status, body }) => status === 204 || body.reason === 'limit_reached'));
      const { text } = await atrium.as(user)('GET', '/user/credentials');
      assert.ok(text.length < BYTES, `${text.length} bytes`);
    });

    it(`The bytes of all orders together are limited on ${driver}`, async () => {
      const { user } = await person(atrium);
      // Random text, because the database compresses what it stores.
      const noise = () => randomBytes(1200).toString('base64');
      const order = () =>
        atrium.as(user)('POST', '/user/deploy/orders', {
          spec: { items: [{ chart: { ...chart, values: { noise: noise() } } }] },
        });
      assert.deepEqual([(await order()).status, (await order()).status], [200, 200]);
      assert.deepEqual(reasonOf(await order()), REACHED);
    });
  });
}
