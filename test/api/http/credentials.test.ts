import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { mintToken } from '../../../src/identity/tokens/token-text.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const NO_TOKEN = 'token is required';
const WRONG = 'invalid username, password or token';
const NARROW = 'token does not have at least one of required scope(s), required=[read:user], token scope=';

describe('Caller authentication', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const user = (name: string) => atrium.world.users[name] ?? assert.fail(`nobody is called ${name}`);
  const get = (authorization: string | undefined, path = '/user') =>
    atrium.as()('GET', path, undefined, authorization === undefined ? {} : { Authorization: authorization });
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
  const issue = async (name: string, scopes: string[], more: { expiresAt?: Date; robotId?: bigint } = {}) =>
    await atrium.instance.identity.tokens.issue({
      accountId: user(name).id,
      name: crypto.randomUUID(),
      scopes,
      ...more,
    });
  const refused = async (authorization: string | undefined, status: number, message: string, path = '/user') => {
    const answer = await get(authorization, path);
    assert.deepEqual([answer.status, answer.body.message], [status, message]);
    assert.equal(answer.headers.get('www-authenticate'), status === 401 ? 'token' : null);
    assert.equal(answer.body.url, `${atrium.url}/api/v1/docs`);
  };

  it('A caller is identified by a token or a password in every supported form', async () => {
    const { token = '', password = '', email = '' } = user('ann');
    const forms = [
      `token ${token}`,
      `TOKEN ${token}`,
      `Bearer ${token}`,
      `bearer ${token}`,
      basic(`ann:${token}`),
      basic(`${token}:`),
      basic(`${token}:x-oauth-basic`),
      basic(`ann:${password}`),
      basic(`ANN:${password}`),
      basic(` ann :${password}`),
      basic(`${email}:${password}`),
      basic(`ann:${password}`).replace('Basic', 'bAsIc'),
    ];
    for (const form of forms) {
      const answer = await get(form);
      assert.deepEqual([answer.status, answer.body?.login], [200, 'ann'], form);
    }
  });

  it('A password may start with the token prefix', async () => {
    const password = 'atr_ium is my favourite atrium';
    const made = await atrium.as('root')('POST', '/admin/users', {
      username: 'pat',
      email: 'pat@example.com',
      password,
    });
    assert.equal(made.status, 201, made.text);
    assert.equal((await get(basic(`pat:${password}`))).body.login, 'pat');
    await refused(basic('pat:atr_ium'), 401, WRONG);
  });

  it('A token in the query is ignored on a route that does not allow it', async () => {
    const { token } = user('ann');
    for (const name of ['token', 'access_token']) await refused(undefined, 401, NO_TOKEN, `/user?${name}=${token}`);
    const eve = await get(`token ${user('eve').token}`, `/user?token=${token}`);
    assert.equal(eve.body.login, 'eve');
  });

  it('Malformed, unknown, expired and revoked tokens are rejected with the same 401', async () => {
    const expired = await issue('ann', ['all'], { expiresAt: new Date(Date.now() - 1) });
    const revoked = await issue('ann', ['all']);
    assert.equal((await get(`token ${revoked.text}`)).status, 200);
    await atrium.instance.identity.tokens.revoke(revoked.id);
    for (const text of ['nonsense', mintToken(), expired.text, revoked.text])
      await refused(`token ${text}`, 401, WRONG);
  });

  it('A token is accepted until it expires and rejected afterwards', async (t) => {
    const now = Date.now();
    t.mock.timers.enable({ apis: ['Date'], now });
    const brief = await issue('ann', ['all'], { expiresAt: new Date(now + 400) });
    t.mock.timers.setTime(now + 399);
    assert.equal((await get(`token ${brief.text}`)).status, 200);
    t.mock.timers.setTime(now + 400);
    await refused(`token ${brief.text}`, 401, WRONG);
  });

  it('An inactive or prohibited account is rejected with 403 and the reason', async () => {
    const inactive = 'This account is not activated.';
    const prohibited = 'This account is prohibited from signing in, please contact your site administrator.';
    for (const [name, message] of [
      ['mia', inactive],
      ['zed', prohibited],
    ] as const) {
      const { token, password } = user(name);
      await refused(`token ${token}`, 403, message);
      await refused(basic(`${name}:${password}`), 403, message);
      await refused(basic(`${name}:wrong`), 401, WRONG);
    }
  });

  it('A token grants only what its scopes allow', async () => {
    for (const scopes of [['read:user'], ['write:user'], ['all'], ['read:authz', 'read:user']]) {
      assert.equal((await get(`token ${(await issue('ann', scopes)).text}`)).status, 200, scopes.join());
    }
    for (const scopes of [['read:authz'], ['write:admin', 'read:credential'], []]) {
      await refused(`token ${(await issue('ann', scopes)).text}`, 403, `${NARROW}${scopes.join()}`);
    }
  });

  it('A robot account is rejected with 403 on routes for people', async () => {
    const [acme, ci] = [atrium.world.orgs.acme?.id ?? 0n, atrium.world.robots.ci ?? 0n];
    const { text } = await atrium.instance.identity.tokens.issue({
      accountId: acme,
      robotId: ci,
      name: 'x',
      scopes: ['all'],
    });
    const { status, body } = await get(`token ${text}`, '/user/emails');
    assert.deepEqual([status, body.message], [403, 'robot accounts cannot call this route']);
  });

  it('A wrong token does not block a public route', async () => {
    assert.equal((await get('token nonsense', '/version')).status, 200);
  });
});
