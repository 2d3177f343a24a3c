import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

describe('What site administrators find out about people and organizations', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const loginsOf = async (query: string) => {
    const answer = await atrium.as('root')('GET', `/admin/users?${query}`);
    assert.equal(answer.status, 200, answer.text);
    const logins = answer.body.map(({ login }: { login: string }) => login).sort();
    assert.equal(Number(answer.headers.get('x-total-count')), logins.length, query);
    return logins;
  };

  it('Users are listed by whether they can sign in, and site administrators even if they cannot', async () => {
    const root = atrium.as('root');
    for (const [username, more] of [
      ['zed-idle', { active: false }],
      ['zed-barred', { prohibit_login: true }],
      ['zed-former', { admin: true, active: false }],
    ] as const) {
      const made = await root('POST', '/admin/users', { username, email: `${username}@example.com`, ...more });
      assert.equal(made.status, 201, made.text);
    }
    assert.deepEqual(await loginsOf('state=inactive&q=zed-'), ['zed-former', 'zed-idle']);
    assert.deepEqual(await loginsOf('state=prohibited&q=zed-'), ['zed-barred']);
    assert.deepEqual(await loginsOf('state=admin&q='), ['root', 'zed-former']);
    assert.deepEqual(await loginsOf('state=admin&q=root'), ['root']);
    assert.deepEqual(await loginsOf('state=active&q=zed-'), []);
    assert.deepEqual(await loginsOf('state=active&q=ann.archer@'), ['ann']);
    assert.equal((await root('GET', '/admin/users?state=asleep')).status, 400);
  });

  it('The teams of a user are listed with their organizations, the owners first', async () => {
    const { status, body } = await atrium.as('root')('GET', '/admin/users/ANN/teams');
    assert.equal(status, 200);
    assert.deepEqual(body, (await atrium.as('ann')('GET', '/user/teams')).body);
    const [first] = body;
    assert.deepEqual([first.organization.name, first.permission], ['acme', 'owner']);
    assert.deepEqual((await atrium.as('root')('GET', '/admin/users/zed-idle/teams')).body, []);
  });

  it('Organizations are found by any part of their name, whatever its letter case', async () => {
    const namesOf = async (query: string) => {
      const { status, body, headers } = await atrium.as('root')('GET', `/admin/orgs?limit=50&${query}`);
      assert.equal(status, 200);
      assert.equal(Number(headers.get('x-total-count')), body.length);
      return body.map(({ name }: { name: string }) => name);
    };
    assert.deepEqual(await namesOf('q=ACME%20corp'), ['acme']);
    assert.deepEqual(await namesOf('q=lobe'), ['globex']);
    assert.deepEqual(await namesOf('q=%25'), []);
    assert.deepEqual(await namesOf('q=acme&ownerless=true'), []);
    assert.ok((await namesOf('')).length >= 2);
    // The other lists do not take the text, and are whole.
    assert.ok((await atrium.as('root')('GET', '/orgs?q=acme')).body.length >= 2);
  });

  for (const [who, path, status] of [
    ['ann', '/admin/users/ann/teams', 403],
    ['ann', '/admin/users?state=admin', 403],
    ['ann', '/admin/orgs?q=acme', 403],
    [undefined, '/admin/users/ann/teams', 401],
    ['root', '/admin/users/nobody-at-all/teams', 404],
  ] as const) {
    it(`GET ${path} by ${who ?? 'nobody'} is answered with ${status}`, async () => {
      assert.equal((await atrium.as(who)('GET', path)).status, status);
    });
  }
});
