import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { numbersOf } from '../../support/world/authz.ts';

describe('Tokens in the query string', () => {
  let atrium: TestServer;
  let single: string;
  before(async () => {
    atrium = await openTestServer();
    single = `/authz/objects/cluster/${numbersOf(atrium).cluster('prod')}/allowed-permissions?org=acme`;
  });
  after(() => atrium.close());

  const tokenOf = (name: string) => atrium.world.users[name]?.token ?? '';
  const whoIs = async (query: string, headers: Record<string, string> = {}) => {
    const answer = await atrium.as()('GET', `${single}${query}`, undefined, headers);
    if (answer.status !== 200) return `${answer.status} ${answer.body.message}`;
    return answer.body.allowedPermissions.length;
  };

  it('The permission check of a single object accepts a query token as token or access_token', async () => {
    assert.equal(await whoIs(`&token=${tokenOf('dan')}`), 2);
    assert.equal(await whoIs(`&access_token=${tokenOf('ann')}`), 7);
  });

  it('The token parameter takes precedence over access_token, and both over the Authorization header', async () => {
    const header = { Authorization: `token ${tokenOf('cat')}` };
    assert.equal(await whoIs('', header), 3);
    assert.equal(await whoIs(`&access_token=${tokenOf('ann')}`, header), 7);
    assert.equal(await whoIs(`&token=${tokenOf('dan')}`, header), 2);
    assert.equal(await whoIs(`&token=${tokenOf('dan')}&access_token=${tokenOf('ann')}`, header), 2);
    assert.equal(await whoIs(`&access_token=${tokenOf('ann')}&token=${tokenOf('dan')}`), 2);
  });

  it('An invalid query token is rejected with 401, even beside a valid credential', async () => {
    const refused = '401 invalid username, password or token';
    assert.equal(await whoIs('&token=nonsense', { Authorization: `token ${tokenOf('ann')}` }), refused);
    assert.equal(await whoIs(`&token=nonsense&access_token=${tokenOf('ann')}`), refused);
    assert.equal(await whoIs(`&token=${tokenOf('ann')}&token=${tokenOf('dan')}`), refused);
  });

  it('Query tokens are ignored on all other authorization endpoints', async () => {
    const query = `?org=acme&token=${tokenOf('ann')}&access_token=${tokenOf('ann')}`;
    for (const [method, path, body] of [
      ['POST', '/authz/objects/allowed-permissions', []],
      ['GET', '/authz/roles/available_permissions'],
      ['GET', '/authz/roles'],
      ['POST', '/authz/roles', { name: 'x', permissions: [] }],
      ['GET', '/authz/roles/1'],
      ['PUT', '/authz/roles/1', {}],
      ['DELETE', '/authz/roles/1'],
      ['GET', '/authz/roles/1/principals'],
    ] as const) {
      const answer = await atrium.as()(method, `${path}${query}`, body);
      assert.deepEqual([answer.status, answer.body.message], [401, 'token is required'], `${method} ${path}`);
    }
  });

  it('Query tokens are never logged', () => {
    for (const name of ['ann', 'dan', 'cat']) assert.doesNotMatch(atrium.logged(), new RegExp(tokenOf(name)));
  });
});
