import assert from 'node:assert/strict';
import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { setActive } from '../../support/world/people.ts';

/** The server remembers the last credential of a connection. These tests notice if it uses that one wrongly. */
describe('Requests over one connection', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(async () => {
    agent.destroy();
    await atrium.close();
  });

  function ask(headers: IncomingHttpHeaders, path = '/user'): Promise<{ status: number; login: unknown }> {
    return new Promise((resolve, reject) => {
      get(`${atrium.url}/api/v1${path}`, { agent, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, login: JSON.parse(text).login }));
      }).on('error', reject);
    });
  }

  const tokenOf = (name: string) => `token ${atrium.world.users[name]?.token}`;

  it('Each request on a shared connection is authenticated by its own headers', async () => {
    for (const name of ['ann', 'bob', 'ann', 'root', 'bob']) {
      assert.deepEqual(await ask({ authorization: tokenOf(name) }), { status: 200, login: name });
      assert.deepEqual(await ask({}), { status: 401, login: undefined });
    }
    const basic = `Basic ${Buffer.from(`${atrium.world.users.eve?.token}:`).toString('base64')}`;
    assert.deepEqual(await ask({ authorization: basic }), { status: 200, login: 'eve' });
    assert.deepEqual(await ask({ authorization: tokenOf('root'), sudo: 'bob' }), { status: 200, login: 'bob' });
    assert.deepEqual(await ask({ authorization: tokenOf('root') }, '/user?sudo=ann'), { status: 200, login: 'ann' });
    assert.deepEqual(await ask({ authorization: tokenOf('ann'), sudo: 'bob' }), { status: 403, login: undefined });
    assert.deepEqual(await ask({ authorization: 'token nonsense' }), { status: 401, login: undefined });
  });

  it('A token already used on a connection is rejected once revoked, expired or its owner deactivated', async (t) => {
    const accountId = atrium.world.users.cat?.id ?? 0n;
    const { text } = await atrium.instance.identity.tokens.issue({ accountId, name: 'short', scopes: ['all'] });
    const authorization = `token ${text}`;
    assert.equal((await ask({ authorization })).status, 200);
    await setActive(atrium.instance, accountId, false);
    assert.equal((await ask({ authorization })).status, 403);
    await setActive(atrium.instance, accountId, true);
    assert.equal((await ask({ authorization })).status, 200);
    assert.equal((await atrium.as('root')('DELETE', '/users/cat/tokens/short')).status, 204);
    assert.equal((await ask({ authorization })).status, 401);

    const now = Date.now();
    t.mock.timers.enable({ apis: ['Date'], now });
    const expiresAt = new Date(now + 300);
    const brief = await atrium.instance.identity.tokens.issue({ accountId, name: 'brief', scopes: ['all'], expiresAt });
    const { status } = await ask({ authorization: `token ${brief.text}` });
    t.mock.timers.setTime(now + 300);
    assert.deepEqual([status, (await ask({ authorization: `token ${brief.text}` })).status], [200, 401]);
  });
});
