import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

/** What a browser does with cookies, and no more: stores what is set, sends it back, drops what has expired. */
class Browser {
  readonly #url: string;
  readonly jar = new Map<string, string>();

  constructor(url: string) {
    this.#url = url;
  }

  async send(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
    const Cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method,
      headers: { ...(Cookie && { Cookie }), ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.split(';', 1)[0]?.split('=') ?? [];
      if (/Max-Age=0/.test(cookie)) this.jar.delete(name);
      else this.jar.set(name, value);
    }
    return response;
  }
}

describe('Browser sessions', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const signIn = async (name: string) => {
    const browser = new Browser(atrium.url);
    const password = atrium.world.users[name]?.password;
    assert.equal(
      (await browser.send('POST', '/user/signin', { username: name, password, remember: true })).status,
      200,
    );
    return browser;
  };

  it('A browser session requires its CSRF token for writes and ends at sign-out', async () => {
    const browser = await signIn('ann');
    assert.deepEqual([...browser.jar.keys()].sort(), ['_csrf', 'atrium_session']);
    const kept = new Map(browser.jar);
    const me = await browser.send('GET', '/user');
    assert.equal(((await me.json()) as { login: string }).login, 'ann');
    const csrf = me.headers.get('x-csrf-token') ?? '';
    assert.equal(csrf, browser.jar.get('_csrf'));

    const follow = (headers = {}) => browser.send('PUT', '/user/following/cat', undefined, headers);
    const refused = await follow();
    assert.equal(refused.status, 403);
    assert.match(((await refused.json()) as { message: string }).message, /X-Csrf-Token/);
    assert.equal((await follow({ 'X-Csrf-Token': 'x' })).status, 403);
    assert.equal((await follow({ 'X-Csrf-Token': csrf })).status, 204);
    const added = await browser.send('POST', '/user/emails', { emails: ['ann@web.example'] }, { 'X-Csrf-Token': csrf });
    assert.equal(added.status, 201);

    assert.equal((await browser.send('GET', '/user/signout')).status, 200);
    assert.equal(browser.jar.size, 0);
    const stranger = await browser.send('GET', '/user');
    assert.deepEqual(
      [stranger.status, ((await stranger.json()) as { message: string }).message],
      [401, 'token is required'],
    );
    for (const [name, value] of kept) browser.jar.set(name, value);
    const ended = await browser.send('GET', '/user', undefined, { 'X-Csrf-Token': csrf });
    assert.equal(ended.status, 401);
    assert.equal(((await ended.json()) as { message: string }).message, 'invalid username, password or token');
  });

  it('Signing out of one browser session leaves the other sessions of the user signed in', async () => {
    const [one, other] = [await signIn('bob'), await signIn('bob')];
    await one.send('GET', '/user/signout');
    assert.equal((await other.send('GET', '/user')).status, 200);
  });

  it('A write with the CSRF token of another session is rejected with 403', async () => {
    const [one, other] = [await signIn('cat'), await signIn('cat')];
    const csrf = other.jar.get('_csrf') ?? '';
    const answer = await one.send('PUT', '/user/following/ann', undefined, { 'X-Csrf-Token': csrf });
    assert.equal(answer.status, 403);
  });

  /** Four kinds of rejected requests, each with its status and message. */
  const token = async (scopes: string[], expiresAt: Date | null = null) => {
    const accountId = atrium.world.users.ann?.id ?? 0n;
    return (await atrium.instance.identity.tokens.issue({ accountId, name: crypto.randomUUID(), scopes, expiresAt }))
      .text;
  };
  const table: readonly [
    what: string,
    status: number,
    message: string,
    headers: () => Promise<Record<string, string>>,
  ][] = [
    ['no credential', 401, 'token is required', async () => ({})],
    [
      'an expired token',
      401,
      'invalid username, password or token',
      async () => ({ Authorization: `token ${await token(['all'], new Date(Date.now() - 1))}` }),
    ],
    [
      'the cookie of a closed session',
      401,
      'invalid username, password or token',
      async () => {
        const id = atrium.world.users.ann?.id ?? 0n;
        const session = await atrium.instance.identity.sessions.open(id, false, new Date());
        await atrium.instance.identity.sessions.close(session.text);
        return { Cookie: `atrium_session=${session.text}; _csrf=${session.csrf}` };
      },
    ],
    [
      'a token without the required scope',
      403,
      'token does not have at least one of required scope(s), required=[read:user], token scope=write:authz',
      async () => ({ Authorization: `token ${await token(['write:authz'])}` }),
    ],
  ];
  for (const [what, status, message, headers] of table) {
    it(`Requests under /user with ${what} are answered with ${status}`, async () => {
      const shown = await headers();
      for (const path of ['/user', '/user/emails', '/user/followers', '/user/teams', '/user/clusters?all=true']) {
        const answer = await atrium.as()('GET', path, undefined, shown);
        assert.deepEqual([answer.status, answer.body.message], [status, message], path);
        assert.equal(answer.headers.get('www-authenticate'), status === 401 ? 'token' : null);
      }
    });
  }
});
