import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';

const KEYS = [
  ...['id', 'login', 'username', 'full_name', 'email', 'avatar_url', 'language', 'is_admin', 'last_login', 'created'],
  ...['type', 'active', 'prohibit_login', 'location', 'website', 'description', 'orgAdmin'],
];
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const NEVER = '1970-01-01T00:00:00Z';

describe('The account of the caller', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const self = async (name: string, query = '') => (await atrium.as(name)('GET', `/user${query}`)).body;

  it('GET /user returns every field with the correct type', async () => {
    const user = await self('ann');
    assert.deepEqual(Object.keys(user).sort(), [...KEYS].sort());
    const { created, ...rest } = user;
    assert.match(created, MOMENT);
    assert.deepEqual(rest, {
      id: Number(atrium.world.users.ann?.id),
      login: 'ann',
      username: 'ann',
      full_name: 'Ann Archer',
      email: 'ann@example.com',
      avatar_url: `${atrium.url}/avatars/ann`,
      language: '',
      is_admin: false,
      last_login: NEVER,
      type: 0,
      active: true,
      prohibit_login: false,
      location: '',
      website: '',
      description: '',
      orgAdmin: true,
    });
  });

  it('GET /user reports whether the caller administers the site or an organization', async () => {
    const seen: Record<string, [boolean, boolean]> = {};
    for (const name of ['root', 'ann', 'bob', 'cat', 'dan', 'eve']) {
      const { is_admin, orgAdmin } = await self(name);
      seen[name] = [is_admin, orgAdmin];
    }
    assert.deepEqual(seen, {
      root: [true, false],
      ann: [false, true],
      bob: [false, false],
      cat: [false, false],
      dan: [false, false],
      eve: [false, true],
    });
  });

  it('GET /user returns clientOrgUser only with check_client_org=true', async () => {
    for (const query of ['', '?check_client_org=', '?check_client_org=false', '?check_client_org=1', '?other=true']) {
      assert.equal('clientOrgUser' in (await self('ann', query)), false, query);
    }
    assert.equal((await self('ann', '?check_client_org=true')).clientOrgUser, false);
    const client = await atrium.instance.features.organizations.create({
      name: 'customer',
      founderId: atrium.world.users.bob?.id ?? 0n,
    });
    await atrium.instance.revisions.write(async (query, touch) => {
      await query(statement(`update account set org_type = 'client' where id = ${client.id}`));
      touch({ kind: 'account', id: atrium.world.users.bob?.id ?? 0n });
    });
    assert.equal((await self('bob', '?check_client_org=true')).clientOrgUser, true);
    assert.equal((await self('ann', '?check_client_org=true')).clientOrgUser, false);
  });

  it('GET /user ignores a trailing slash, and HEAD /user returns no body', async () => {
    assert.deepEqual(await self('ann'), (await atrium.as('ann')('GET', '/user/')).body);
    const head = await atrium.as('ann')('HEAD', '/user');
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  it('An avatar is public at the absolute avatar_url of its user', async () => {
    const { avatar_url } = (await atrium.as('ann')('GET', '/user')).body;
    const picture = await fetch(avatar_url);
    assert.equal(picture.status, 200);
    assert.equal(picture.headers.get('content-type'), 'image/svg+xml');
    assert.match(await picture.text(), /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*<\/svg>$/);
  });

  it('Avatars differ between names, ignore letter case, and contain no markup from the name', async () => {
    const draw = async (name: string) => (await atrium.call('GET', `/avatars/${name}`)).text;
    assert.equal(await draw('ann'), await draw('ANN'));
    assert.notEqual(await draw('ann'), await draw('bob'));
    const odd = await draw(encodeURIComponent('"><script>alert(1)</script>'));
    assert.doesNotMatch(odd, /script/);
  });

  it('Avatar URLs and page links start with BASE_URL', async () => {
    const behind = await openTestServer({ env: { BASE_URL: 'https://atrium.example.com/api-server' } });
    const { body } = await behind.as('ann')('GET', '/user');
    assert.equal(body.avatar_url, 'https://atrium.example.com/api-server/avatars/ann');
    const page = await behind.as('root')('GET', '/user/followers?limit=40');
    assert.match(page.headers.get('link') ?? '', /^<https:\/\/atrium\.example\.com\/api-server\/api\/v1\/user\/foll/);
    await behind.close();
  });
});
