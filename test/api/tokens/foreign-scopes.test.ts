import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const USUAL = ['activitypub', 'issue', 'misc', 'notification', 'package', 'repository'];
const PUBLIC_ONLY = 'this endpoint is not available for public-only tokens';

describe('Scopes of other servers of the family', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const create = (scopes: readonly string[], name: string, by = `ann:${atrium.world.users.ann?.password}`) =>
    atrium.call(
      'POST',
      '/api/v1/users/ann/tokens',
      { name, scopes },
      { Authorization: `Basic ${Buffer.from(by).toString('base64')}` },
    );
  const withToken = (token: string) => (method: string, path: string, body?: unknown) =>
    atrium.call(method, `/api/v1${path}`, body, { Authorization: `token ${token}` });

  it('The usual scopes of a Gitea client are accepted, kept and shown, and allow nothing here', async () => {
    const scopes = USUAL.flatMap((area) => [`read:${area}`, `write:${area}`]);
    const made = await create(scopes, 'usual');
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(
      made.body.scopes,
      USUAL.map((area) => `write:${area}`),
    );
    const call = withToken(made.body.sha1);
    for (const [method, path] of [
      ['GET', '/user'],
      ['GET', '/orgs/acme'],
      ['GET', '/user/credentials'],
      ['PUT', '/user/following/cat'],
    ] as const) {
      const { status, body } = await call(method, path);
      assert.equal(status, 403, path);
      assert.match(body.message, /^token does not have at least one of required scope/, path);
    }
  });

  it('Beside a scope that means something, they change nothing', async () => {
    const made = await create(['read:repository', 'write:issue', 'read:user'], 'mixed');
    assert.deepEqual(made.body.scopes, ['read:user', 'write:issue', 'read:repository']);
    const call = withToken(made.body.sha1);
    assert.equal((await call('GET', '/user')).status, 200);
    assert.equal((await call('PUT', '/user/following/cat')).status, 403);
  });

  it('Scopes that nobody knows are rejected as before', async () => {
    for (const scope of ['read:everything', 'sudo', 'repo', 'public_only', 'write:public-only', 'READ:USER']) {
      const { status, body } = await create(['read:user', scope], 'odd');
      assert.deepEqual([status, body.message], [400, `invalid access token scope provided: ${scope}`]);
    }
  });

  it('A public-only token sees what every signed-in user sees, and nothing of its own user', async () => {
    const made = await create(['public-only', 'all', 'read:user'], 'public');
    assert.deepEqual(made.body.scopes, ['all', 'public-only']);
    const call = withToken(made.body.sha1);
    // Twice: a remembered token takes another path through admission.
    for (const round of [1, 2]) {
      assert.equal((await call('GET', '/version')).status, 200, `round ${round}`);
      assert.equal((await call('GET', '/users/root/followers')).status, 200, `round ${round}`);
      for (const [method, path] of [
        ['GET', '/user'],
        ['GET', '/user/followers'],
        ['GET', '/user/orgs'],
        ['GET', '/orgs/acme'],
        ['GET', '/user/credentials'],
        ['GET', '/user/bus/credentials'],
        ['GET', '/users/ann/orgs'],
        ['PUT', '/user/following/cat'],
      ] as const) {
        const { status, body } = await call(method, path);
        assert.deepEqual([status, body.message], [403, PUBLIC_ONLY], `${method} ${path}`);
      }
      const self = (await call('GET', '/users/ann')).body;
      assert.deepEqual([self.login, self.active, self.last_login], ['ann', undefined, undefined]);
      assert.equal((await call('GET', '/users/search?q=archer')).body.data[0].email, '');
      assert.equal((await call('GET', '/users/ann/followers')).body[0].email, '');
    }
    const signIn = await atrium.call('POST', '/api/v1/user/signin', { token: made.body.sha1 });
    assert.equal(signIn.status, 403);
  });

  it('The public-only token of a site administrator does not see what administrators see', async () => {
    const accountId = atrium.world.users.root?.id ?? 0n;
    const { text } = await atrium.instance.identity.tokens.issue({
      accountId,
      name: 'public',
      scopes: ['all', 'public-only'],
    });
    const call = withToken(text);
    assert.equal((await call('GET', '/admin/users')).body.message, PUBLIC_ONLY);
    assert.equal((await call('GET', '/users/ann')).body.active, undefined);
    assert.equal((await call('GET', '/users/search?q=archer')).body.data[0].email, '');
  });

  it('A token creates no token that may do more than itself, whatever the scopes are called', async () => {
    const by = async (scopes: readonly string[], name: string) => {
      const made = await create(scopes, name);
      assert.equal(made.status, 201, made.text);
      return (wanted: readonly string[]) => create(wanted, `${name} child`, `ann:${made.body.sha1}`);
    };
    const narrow = await by(['write:user', 'read:repository'], 'narrow');
    assert.equal((await narrow(['read:user', 'write:repository'])).status, 403);
    assert.equal((await narrow(['read:user', 'read:issue'])).status, 403);
    assert.equal((await narrow(['read:user', 'read:repository', 'public-only'])).status, 201);
    const open = await by(['all', 'public-only'], 'closed');
    const refused = await open(['all']);
    assert.deepEqual([refused.status, refused.body.message], [403, PUBLIC_ONLY]);
  });
});
