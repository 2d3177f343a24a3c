import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type Answer, type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { lastEntry, newUser } from '../../support/world/own-account.ts';

const SECOND = 1000;

describe('Signing in a program with a code', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { BASE_URL: 'https://atrium.example.com' } });
  });
  after(() => atrium.close());

  const begin = async (body: object = { name: 'laptop' }) => {
    const answer = await atrium.as()('POST', '/user/device', body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body as { device_code: string; user_code: string; interval: number; expires_in: number };
  };
  const poll = (device_code: string) => atrium.as()('POST', '/user/device/token', { device_code });
  const outcome = ({ status, body }: Answer) => [status, body?.reason];
  /** Polls as a program does, without waiting. */
  function clock(t: TestContext) {
    let now = Date.now();
    t.mock.timers.enable({ apis: ['Date'], now });
    return (seconds: number) => {
      now += seconds * SECOND;
      t.mock.timers.setTime(now);
    };
  }
  const decide = (call: Call, code: string, approve: boolean) => call('POST', `/user/device/${code}`, { approve });

  it('A program gets a token of whoever approves its code, once', async (t) => {
    const wait = clock(t);
    const { login, id, signIn } = await newUser(atrium);
    const browser = await signIn();
    const { user_code, device_code, interval, expires_in } = await begin({ name: 'laptop', scopes: ['read:user'] });
    assert.match(user_code, /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
    assert.deepEqual([interval, expires_in], [5, 600]);
    assert.deepEqual(outcome(await poll(device_code)), [400, 'authorization_pending']);
    // People type it as they like.
    const typed = user_code.toLowerCase().replace('-', '');
    const { body } = await browser('GET', `/user/device/${typed}`);
    assert.deepEqual([body.name, body.scopes, body.user_code], ['laptop', ['read:user'], user_code]);
    assert.equal((await decide(browser, user_code, true)).status, 200);
    wait(5);
    const made = await poll(device_code);
    assert.deepEqual([made.status, made.body.scopes], [200, ['read:user']], made.text);
    const used = await atrium.as()('GET', '/user', undefined, { Authorization: `token ${made.body.sha1}` });
    assert.equal(used.body.login, login);
    const entry = await lastEntry(atrium, id);
    assert.deepEqual([entry.action, entry.actor], ['token.create', login]);
    wait(5);
    assert.deepEqual(outcome(await poll(device_code)), [400, 'expired_token']);
    assert.equal((await decide(browser, user_code, true)).status, 404);
  });

  it('The addresses are those of the console, and the token may do everything unless the program asks for less', async () => {
    const answer = (await atrium.as()('POST', '/user/device', {})).body;
    assert.equal(answer.verification_uri, 'https://atrium.example.com/me/device');
    assert.equal(answer.verification_uri_complete, `https://atrium.example.com/me/device?code=${answer.user_code}`);
    const { body } = await atrium.as('ann')('GET', `/user/device/${answer.user_code}`);
    assert.deepEqual([body.name, body.scopes], ['a program', ['all']]);
  });

  it('A program that polls too soon has to wait longer each time', async (t) => {
    const wait = clock(t);
    const { device_code } = await begin();
    assert.deepEqual(outcome(await poll(device_code)), [400, 'authorization_pending']);
    wait(4);
    assert.deepEqual(outcome(await poll(device_code)), [400, 'slow_down']);
    wait(9);
    assert.deepEqual(outcome(await poll(device_code)), [400, 'slow_down']);
    wait(15);
    assert.deepEqual(outcome(await poll(device_code)), [400, 'authorization_pending']);
  });

  it('A denied request ends the polling', async (t) => {
    const wait = clock(t);
    const browser = await (await newUser(atrium)).signIn();
    const { device_code, user_code } = await begin();
    assert.equal((await decide(browser, user_code, false)).status, 200);
    wait(5);
    assert.deepEqual(outcome(await poll(device_code)), [400, 'access_denied']);
  });

  it('Codes expire after ten minutes', async (t) => {
    const browser = await (await newUser(atrium)).signIn();
    const wait = clock(t);
    const { device_code, user_code } = await begin();
    wait(601);
    assert.deepEqual(outcome(await poll(device_code)), [400, 'expired_token']);
    assert.equal((await browser('GET', `/user/device/${user_code}`)).status, 404);
    assert.equal((await decide(browser, user_code, true)).status, 404);
  });

  it('Only a browser session that was not opened with a token approves, and only for its own user', async () => {
    const { user_code } = await begin();
    const { token, signIn } = await newUser(atrium);
    const text = (await token()).text;
    assert.equal((await decide(await token(), user_code, true)).status, 403);
    assert.equal((await decide(await signIn({ token: text }), user_code, true)).status, 403);
    assert.equal((await decide(atrium.as(), user_code, true)).status, 401);
    const { body } = await atrium.as('root')('POST', '/admin/users', {
      username: 'boss',
      email: 'boss@example.com',
      password: 'long enough',
      admin: true,
    });
    assert.equal(body.login, 'boss');
    const boss = await signIn({ username: 'boss', password: 'long enough' });
    const forced = await boss('POST', `/user/device/${user_code}`, { approve: true }, { Sudo: 'ann' });
    assert.deepEqual(outcome(forced), [403, 'sudo_forbidden']);
  });

  it('A token with limits can neither look at a code nor approve it', async () => {
    const { user_code } = await begin();
    const { id } = await newUser(atrium);
    const acme = atrium.world.orgs.acme ?? assert.fail('no acme');
    const limits = { organizations: [{ id: acme.id, name: 'acme' }], objects: [] };
    const { text } = await atrium.instance.identity.tokens.issue({
      accountId: id,
      name: 'narrow',
      scopes: ['all'],
      limits,
    });
    const headers = { Authorization: `token ${text}` };
    const path = `/user/device/${user_code}`;
    assert.deepEqual(outcome(await atrium.as()('GET', path, undefined, headers)), [403, 'token_limited']);
    assert.deepEqual(outcome(await atrium.as()('POST', path, { approve: true }, headers)), [403, 'token_limited']);
  });

  it('The token ends when the token policy says so, and only those may approve who may create tokens', async (t) => {
    const wait = clock(t);
    const setPolicy = async (policy: object) => {
      const answer = await atrium.as('root')('PUT', '/admin/token_policy', policy);
      assert.equal(answer.status, 200, answer.text);
    };
    const free = { max_days: null, expiry_required: false, personal_tokens: 'everyone' };
    const { signIn } = await newUser(atrium);
    const browser = await signIn();
    const daysOf = async (policy: object) => {
      await setPolicy({ ...free, ...policy });
      const { device_code, user_code } = await begin();
      assert.equal((await decide(browser, user_code, true)).status, 200);
      wait(5);
      const { body, status, text } = await poll(device_code);
      assert.equal(status, 200, text);
      return body.expires_at && Math.round((Date.parse(body.expires_at) - Date.now()) / 86_400_000);
    };
    try {
      assert.equal(await daysOf({}), 90);
      assert.equal(await daysOf({ max_days: 7 }), 7);
      assert.equal(await daysOf({ max_days: 365, expiry_required: true }), 365);
      assert.equal(await daysOf({ expiry_required: true }), 90);
      await setPolicy({ ...free, personal_tokens: 'members' });
      const { device_code, user_code } = await begin();
      assert.deepEqual(outcome(await decide(browser, user_code, true)), [403, 'token_policy']);
      wait(5);
      assert.deepEqual(outcome(await poll(device_code)), [400, 'authorization_pending'], 'nothing was decided');
      assert.equal((await decide(browser, user_code, false)).status, 200, 'anybody may deny');
    } finally {
      await setPolicy(free);
    }
  });

  it('Whoever is deactivated after approving gets no token', async (t) => {
    const wait = clock(t);
    const { login, signIn } = await newUser(atrium);
    const { device_code, user_code } = await begin();
    assert.equal((await decide(await signIn(), user_code, true)).status, 200);
    assert.equal((await atrium.as('root')('PATCH', `/admin/users/${login}`, { active: false })).status, 200);
    wait(5);
    assert.deepEqual(outcome(await poll(device_code)), [400, 'access_denied']);
    // The request is gone: it does not wait until the account is active again.
    assert.equal((await atrium.as('root')('PATCH', `/admin/users/${login}`, { active: true })).status, 200);
    wait(5);
    assert.deepEqual(outcome(await poll(device_code)), [400, 'expired_token']);
  });

  it('Wrong codes, unknown scopes and wrong bodies are rejected, and guesses are counted', async () => {
    const browser = await (await newUser(atrium)).signIn();
    assert.deepEqual(outcome(await poll('nonsense')), [400, 'expired_token']);
    assert.equal((await atrium.as()('POST', '/user/device', { scopes: ['write:everything'] })).status, 400);
    for (const scopes of [['scim'], ['all', 'scim'], []]) {
      assert.equal((await atrium.as()('POST', '/user/device', { scopes })).status, 422, scopes.join());
    }
    assert.equal((await atrium.as()('POST', '/user/device', { name: 'x'.repeat(101) })).status, 422);
    assert.equal((await atrium.as()('POST', '/user/device/token', {})).status, 422);
    const { user_code } = await begin();
    assert.equal((await browser('GET', `/user/device/${user_code}`)).status, 200);
    for (let guess = 0; guess < 20; guess++) {
      assert.deepEqual(outcome(await browser('GET', '/user/device/BBBB-BBBB')), [404, 'device_not_found']);
    }
    assert.equal((await browser('GET', `/user/device/${user_code}`)).status, 429);
  });
});
