import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mintToken } from '../../../src/identity/tokens/token-text.ts';
import { type BrowserSession, sessionOf } from '../../support/server/browser-session.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { setActive } from '../../support/world/people.ts';

const WRONG = 'user does not exist, or the password is wrong';

describe('Signing in', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const secret = (name: string) => atrium.world.users[name]?.password;
  const signIn = (body: object) => atrium.as()('POST', '/user/signin', body);
  const open = async (name = 'ann') => sessionOf(await signIn({ username: name, password: secret(name) }));

  it('Sign-in returns the user and sets two HttpOnly cookies', async () => {
    const answer = await signIn({ username: 'ann', password: secret('ann') });
    assert.equal(answer.status, 200);
    assert.equal(answer.body.login, 'ann');
    assert.notEqual(answer.body.last_login, '1970-01-01T00:00:00Z');
    const cookies = answer.headers.getSetCookie();
    assert.deepEqual(cookies.map((cookie) => cookie.split('=', 1)[0]).sort(), ['_csrf', 'atrium_session']);
    for (const cookie of cookies) assert.match(cookie, /^[^;]{20,}; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.equal(answer.headers.get('x-csrf-token'), sessionOf(answer).csrf);
  });

  it('Sign-in with remember sets cookies that last a month', async () => {
    const answer = await signIn({ username: 'ann', password: secret('ann'), remember: true });
    for (const cookie of answer.headers.getSetCookie()) {
      const expires = new Date(/Expires=([^;]+)/.exec(cookie)?.[1] ?? 0).getTime();
      assert.ok(expires > Date.now() + 30 * 86_400_000 && expires < Date.now() + 32 * 86_400_000);
    }
  });

  it('Sign-in treats a null remember as not set', async () => {
    const answer = await signIn({ username: 'ann', password: secret('ann'), remember: null });
    assert.equal(answer.status, 200, answer.text);
    for (const cookie of answer.headers.getSetCookie()) assert.doesNotMatch(cookie, /Expires/);
  });

  it('Sign-in accepts any spelling of the name, and the email address', async () => {
    for (const username of ['ANN', ' ann ', 'Ann@Example.com']) {
      assert.equal((await signIn({ username, password: secret('ann') })).body?.login, 'ann', username);
    }
  });

  it('Sign-in updates the time of the last login', async () => {
    const before = Date.now() - 1000;
    await open('bob');
    const { body } = await atrium.as('bob')('GET', '/user');
    assert.ok(Date.parse(body.last_login) >= before - 1000);
  });

  const refusals: readonly [string, () => object, number, string][] = [
    ['a wrong password', () => ({ username: 'ann', password: 'x' }), 404, WRONG],
    ['an unknown name', () => ({ username: 'nobody', password: 'x' }), 404, WRONG],
    ['an empty name', () => ({ username: '', password: 'x' }), 404, WRONG],
    ['an empty password', () => ({ username: 'ann', password: '' }), 404, WRONG],
    ['the name of an organization', () => ({ username: 'acme', password: 'x' }), 404, WRONG],
    ['the name of a user without a password', () => ({ username: 'fan01', password: '' }), 404, WRONG],
    ['a token as the password', () => ({ username: 'ann', password: atrium.world.users.ann?.token }), 404, WRONG],
    [
      'an inactive account',
      () => ({ username: 'mia', password: secret('mia') }),
      403,
      'This account is not activated.',
    ],
    [
      'a prohibited account',
      () => ({ username: 'zed', password: secret('zed') }),
      403,
      'This account is prohibited from signing in, please contact your site administrator.',
    ],
    ['an inactive account and a wrong password', () => ({ username: 'mia', password: 'x' }), 404, WRONG],
    ['no password', () => ({ username: 'ann' }), 422, 'password is required'],
    ['no name', () => ({ password: 'x' }), 422, 'username is required'],
  ];
  for (const [name, body, status, message] of refusals) {
    it(`Sign-in with ${name} is rejected with ${status} and sets no cookie`, async () => {
      const answer = await signIn(body());
      assert.deepEqual([answer.status, answer.body.message], [status, message]);
      assert.deepEqual(answer.headers.getSetCookie(), []);
    });
  }

  const tokenOf = async (name: string, token: { scopes?: string[]; expiresAt?: Date } = {}) => {
    const accountId = atrium.world.users[name]?.id ?? 0n;
    const made = { accountId, name: crypto.randomUUID(), scopes: ['all'], ...token };
    return await atrium.instance.identity.tokens.issue(made);
  };
  const whoIs = async ({ headers }: BrowserSession) =>
    (await atrium.as()('GET', '/user', undefined, headers)).body.login;

  it('Sign-in with a personal token opens a session for its owner, who may do everything in it', async () => {
    const { text } = await tokenOf('ann');
    const answer = await signIn({ token: text });
    assert.deepEqual([answer.status, answer.body.login], [200, 'ann']);
    for (const cookie of answer.headers.getSetCookie()) assert.doesNotMatch(cookie, /Expires/);
    const { headers, csrf } = sessionOf(answer);
    const change = await atrium.as()('PUT', '/user/following/bob', undefined, { ...headers, 'X-Csrf-Token': csrf });
    assert.equal(change.status, 204);
    const remembered = await signIn({ token: text, remember: true });
    for (const cookie of remembered.headers.getSetCookie()) assert.match(cookie, /Expires/);
  });

  it('A session opened with a token ends with it: when it is revoked, and when it expires', async (t) => {
    const token = await tokenOf('bob');
    const [session, other] = [sessionOf(await signIn({ token: token.text })), await open('bob')];
    assert.deepEqual([await whoIs(session), await whoIs(other)], ['bob', 'bob']);
    assert.equal((await atrium.as('bob')('DELETE', `/users/bob/tokens/${token.id}`)).status, 204);
    assert.deepEqual([await whoIs(session), await whoIs(other)], [undefined, 'bob']);

    const now = Date.now();
    const brief = await tokenOf('bob', { expiresAt: new Date(now + 60_000) });
    const answer = await signIn({ token: brief.text, remember: true });
    for (const cookie of answer.headers.getSetCookie()) {
      const expires = Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? '');
      assert.ok(expires <= now + 60_000, cookie);
    }
    assert.equal(await whoIs(sessionOf(answer)), 'bob');
    t.mock.timers.enable({ apis: ['Date'], now: now + 60_000 });
    assert.equal(await whoIs(sessionOf(answer)), undefined);
  });

  it('A token that is revoked while it signs in leaves no session', async () => {
    for (let round = 0; round < 5; round++) {
      const token = await tokenOf('cat');
      const [answer] = await Promise.all([
        signIn({ token: token.text }),
        atrium.instance.identity.tokens.revoke(token.id),
      ]);
      if (answer.status === 200) assert.equal(await whoIs(sessionOf(answer)), undefined);
      else assert.equal(answer.status, 404, answer.text);
    }
  });

  const GONE = 'the token does not exist, or it has expired';
  const tokenRefusals: readonly [string, () => Promise<object>, number, string][] = [
    ['an unknown token', async () => ({ token: mintToken() }), 404, GONE],
    ['a text that is no token', async () => ({ token: 'x' }), 404, GONE],
    ['an empty token', async () => ({ token: '' }), 404, GONE],
    ['an expired token', async () => ({ token: (await tokenOf('ann', { expiresAt: new Date(0) })).text }), 404, GONE],
    [
      'a narrower token',
      async () => ({ token: (await tokenOf('ann', { scopes: ['write:user', 'write:admin'] })).text }),
      403,
      'signing in requires a token with the scope all, token scope=write:user,write:admin',
    ],
    ['the token of a robot', async () => ({ token: await robotToken() }), 403, 'robot accounts cannot sign in'],
    [
      'the token of an inactive account',
      async () => ({ token: atrium.world.users.mia?.token }),
      403,
      'This account is not activated.',
    ],
    [
      'a token and a password',
      async () => ({ token: 'x', username: 'ann', password: 'x' }),
      422,
      'username cannot be combined with token',
    ],
    [
      'a token and a name',
      async () => ({ token: 'x', username: 'ann' }),
      422,
      'username cannot be combined with token',
    ],
    ['nothing', async () => ({}), 422, 'username is required'],
    ['null', async () => ({ token: null }), 422, 'username is required'],
  ];
  const robotToken = async () => {
    const accountId = atrium.world.orgs.acme?.id ?? 0n;
    const robotId = atrium.world.robots.ci ?? 0n;
    const token = { accountId, robotId, name: crypto.randomUUID(), scopes: ['all'] };
    return (await atrium.instance.identity.tokens.issue(token)).text;
  };
  for (const [name, body, status, message] of tokenRefusals) {
    it(`Sign-in by token with ${name} is rejected with ${status} and sets no cookie`, async () => {
      const answer = await signIn(await body());
      assert.deepEqual([answer.status, answer.body.message], [status, message]);
      assert.deepEqual(answer.headers.getSetCookie(), []);
    });
  }

  it('The session cookies suffice for reading, and the answer carries the CSRF token', async () => {
    const { headers, csrf } = await open();
    const answer = await atrium.as()('GET', '/user', undefined, headers);
    assert.equal(answer.body.login, 'ann');
    assert.equal(answer.headers.get('x-csrf-token'), csrf);
    assert.equal((await atrium.as('ann')('GET', '/user')).headers.get('x-csrf-token'), null);
    assert.equal((await atrium.as()('HEAD', '/user', undefined, headers)).status, 200);
  });

  it('The session cookies permit a change only together with the CSRF token', async () => {
    const { headers, csrf } = await open();
    const ask = (more: object) =>
      atrium.as()('POST', '/authz/objects/allowed-permissions?org=acme', [], { ...headers, ...more });
    for (const more of [{}, { 'X-Csrf-Token': 'guess' }]) assert.equal((await ask(more)).status, 403);
    assert.equal((await ask({ 'X-Csrf-Token': csrf })).status, 200);
  });

  it('Sign-out ends the session, clears the cookies and returns no body', async () => {
    const { headers } = await open();
    const answer = await atrium.as()('GET', '/user/signout', undefined, headers);
    assert.deepEqual([answer.status, answer.text], [200, '']);
    for (const cookie of answer.headers.getSetCookie()) assert.match(cookie, /^(atrium_session|_csrf)=; .*Max-Age=0$/);
    assert.equal(answer.headers.getSetCookie().length, 2);
    const again = await atrium.as()('GET', '/user', undefined, headers);
    assert.deepEqual([again.status, again.body.message], [401, 'invalid username, password or token']);
    assert.equal((await atrium.as()('GET', '/user/signout', undefined, headers)).status, 401);
  });

  it('Sign-out ends only the current session', async () => {
    const [here, there] = [await open(), await open()];
    await atrium.as()('GET', '/user/signout', undefined, here.headers);
    assert.equal((await atrium.as()('GET', '/user', undefined, there.headers)).status, 200);
  });

  it('Sign-out with a token and no session succeeds, and the token stays valid', async () => {
    assert.equal((await atrium.as('ann')('GET', '/user/signout')).status, 200);
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
    assert.equal((await atrium.as()('GET', '/user/signout')).status, 401);
  });

  it('Sign-out by a cross-site request is rejected with 403', async () => {
    const { headers } = await open();
    const out = (site: string) =>
      atrium.as()('GET', '/user/signout', undefined, { ...headers, 'Sec-Fetch-Site': site });
    assert.deepEqual(
      [(await out('cross-site')).status, (await out('cross-site')).body.message],
      [403, 'cross-site request rejected'],
    );
    assert.equal((await atrium.as()('GET', '/user', undefined, headers)).status, 200);
    assert.equal((await out('same-origin')).status, 200);
  });

  it('A session is rejected with 403 once its account is deactivated', async () => {
    const { headers } = await open('cat');
    const id = atrium.world.users.cat?.id ?? 0n;
    await setActive(atrium.instance, id, false);
    assert.equal((await atrium.as()('GET', '/user', undefined, headers)).status, 403);
    await setActive(atrium.instance, id, true);
  });

  it('Sign-in accepts only JSON, so another site cannot submit a form', async () => {
    const type = { 'Content-Type': 'text/plain' };
    const body = JSON.stringify({ username: 'ann', password: secret('ann') });
    assert.equal((await atrium.as()('POST', '/user/signin', body, type)).status, 422);
  });
});

describe('Signing in over https', () => {
  it('Sign-in sets Secure cookies when BASE_URL uses https', async (t) => {
    const atrium = await openTestServer({ env: { BASE_URL: 'https://atrium.test' } });
    t.after(() => atrium.close());
    const answer = await atrium.as()('POST', '/user/signin', {
      username: 'ann',
      password: atrium.world.users.ann?.password,
    });
    for (const cookie of answer.headers.getSetCookie()) assert.match(cookie, /; HttpOnly; SameSite=Lax; Secure$/);
    assert.match(answer.headers.get('strict-transport-security') ?? '', /^max-age=\d+/);
    assert.equal((await atrium.as()('GET', '/nope')).body.url, 'https://atrium.test/api/v1/docs');
  });
});
