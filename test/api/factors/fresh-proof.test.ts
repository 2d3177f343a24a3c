import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { proofNeeded } from '../../../src/http/admission/access.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { newUser, PASSWORD } from '../../support/world/own-account.ts';
import { addApp, createBrowser, firstStep, outcome } from '../../support/world/second-factors.ts';

const MINUTE = 60_000;
const NEEDED = [403, 'reauthentication_required'];
const PROVIDER = { issuer: 'https://login.example.com', client_id: 'atrium', client_secret: 'a secret' };
const FREE_POLICY = { max_days: null, expiry_required: false, personal_tokens: 'everyone' };

describe('A fresh proof before what is sensitive', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { REAUTHENTICATION_MINUTES: '1', DEPLOYMENT: 'marketplace' } });
  });
  after(() => atrium.close());

  /** A site administrator with a password. */
  const newAdmin = async (password: string | null = PASSWORD) => {
    const user = await newUser(atrium, password);
    const { status } = await atrium.as('root')('PATCH', `/admin/users/${user.login}`, { admin: true });
    assert.equal(status, 200);
    return user;
  };
  const later = (t: TestContext) => t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 62_000 });
  const providerNamed = (name: string) => ({ name, ...PROVIDER });
  const ownersOf = async (org: string) => {
    const { body } = await atrium.as('root')('GET', `/orgs/${org}/teams`);
    return (body as { id: number; name: string }[]).find(({ name }) => name === 'Owners')?.id ?? assert.fail('no team');
  };

  it('Every route that needs a proof rejects a session that was proven too long ago, whatever it sends', async (t) => {
    const { login } = await newAdmin();
    const { browser } = await firstStep(atrium, login);
    later(t);
    const routes = atrium.instance.routes.filter(({ access, method }) =>
      ['always', 'in person'].includes(proofNeeded(access, method)),
    );
    assert.ok(routes.length > 40, String(routes.length));
    for (const { method, path } of routes) {
      const place = path.replace('/api/v1', '').replace(':org', 'acme').replace(/:\w+/g, '1');
      assert.deepEqual(outcome(await browser(method, place)), NEEDED, `${method} ${path}`);
    }
  });

  it('Everything that changes something under /admin is among these routes', () => {
    const open = atrium.instance.routes.filter(
      ({ access, method, path }) =>
        path.startsWith('/api/v1/admin/') && method !== 'GET' && proofNeeded(access, method) === 'never',
    );
    assert.deepEqual(
      open.map(({ method, path }) => `${method} ${path}`),
      ['POST /api/v1/admin/providers/:provider/preview'],
      'which changes nothing',
    );
  });

  it('An old session of an administrator gives nobody more rights until it is proven again', async (t) => {
    const { login } = await newAdmin();
    const { browser } = await firstStep(atrium, login);
    later(t);
    const made = {
      username: `made-by-${login}`,
      email: `made-by-${login}@example.com`,
      password: PASSWORD,
      admin: true,
    };
    const requests = [
      ['POST', '/admin/providers', providerNamed(`of-${login}`)],
      ['PATCH', '/admin/users/cat', { full_name: 'Cat' }],
      ['PATCH', '/admin/users/cat', { password: 'another password' }],
      ['POST', '/admin/users', made],
      ['PUT', '/admin/token_policy', FREE_POLICY],
      ['PUT', '/orgs/acme/members/dan', { team: 'Owners' }],
      ['PUT', `/teams/${await ownersOf('acme')}/members/dan`, {}],
    ] as const;
    for (const [method, path, body] of requests) {
      assert.deepEqual(outcome(await browser(method, path, body)), NEEDED, `${method} ${path}`);
    }
    assert.equal((await browser('GET', '/admin/users')).status, 200, 'reading goes on');
    assert.equal((await browser('POST', '/user/reauthenticate', { password: PASSWORD })).status, 204);
    for (const [method, path, body] of requests) {
      const { status, text } = await browser(method, path, body);
      assert.ok(status < 300, `${method} ${path}: ${text}`);
    }
  });

  it('Owners are added with a fresh proof, also by owners, and other members without', async (t) => {
    const { login } = await newUser(atrium);
    const guest = await newUser(atrium);
    const { browser } = await firstStep(atrium, login);
    const org = `org-of-${login}`;
    assert.equal((await browser('POST', '/orgs', { username: org })).status, 201);
    const owners = await ownersOf(org);
    later(t);
    const add = (path: string, body: object = {}) => browser('PUT', path, body);
    assert.equal((await add(`/orgs/${org}/members/${guest.login}`)).status, 204);
    for (const team of ['Owners', 'owners']) {
      const answer = await add(`/orgs/${org}/members/${guest.login}`, { team });
      assert.ok(answer.status >= 400, answer.text);
    }
    assert.deepEqual(outcome(await add(`/orgs/${org}/members/${guest.login}`, { team: 'Owners' })), NEEDED);
    assert.deepEqual(outcome(await add(`/teams/${owners}/members/${guest.login}`)), NEEDED);
    const until = new Date(Date.now() + 60 * MINUTE).toISOString();
    assert.deepEqual(outcome(await add(`/teams/${owners}/members/${guest.login}`, { expires_at: until })), NEEDED);
    const program = await (await newUser(atrium)).token();
    assert.notEqual((await program('PUT', `/orgs/${org}/members/${guest.login}`)).body?.reason, NEEDED[1]);
    assert.equal((await browser('POST', '/user/reauthenticate', { password: PASSWORD })).status, 204);
    assert.equal((await add(`/teams/${owners}/members/${guest.login}`)).status, 204);
  });

  it('With a second factor, only that counts as a fresh proof, and the password does not remove it', async (t) => {
    const { login } = await newAdmin();
    const { browser } = await firstStep(atrium, login);
    const { app } = await addApp(browser);
    later(t);
    assert.deepEqual(outcome(await browser('DELETE', '/user/factors/totp')), NEEDED);
    for (const password of [PASSWORD, 'wrong password']) {
      const answer = await browser('POST', '/user/reauthenticate', { password });
      assert.deepEqual(outcome(answer), [403, 'second_factor_required'], 'right or wrong');
      assert.deepEqual(answer.body.second_factor, { methods: ['totp'] });
    }
    assert.deepEqual(outcome(await browser('DELETE', '/user/factors/totp')), NEEDED);
    assert.deepEqual(outcome(await browser('PUT', '/admin/token_policy', FREE_POLICY)), NEEDED);
    assert.equal((await browser('POST', '/user/reauthenticate', { code: app.code() })).status, 204);
    assert.equal((await browser('PUT', '/admin/token_policy', FREE_POLICY)).status, 200);
    assert.equal((await browser('DELETE', '/user/factors/totp')).status, 204);
  });

  it('A session that was opened with a token adds no provider, and with a second factor it changes nothing', async () => {
    const { login, token, signIn } = await newAdmin();
    const program = await token();
    const opened = await signIn({ token: program.text });
    assert.deepEqual(outcome(await opened('POST', '/admin/providers', providerNamed(`by-${login}`))), NEEDED);
    assert.equal((await program('POST', '/admin/providers', providerNamed(`by-${login}`))).status, 201, 'a token may');
    assert.deepEqual(outcome(await opened('PATCH', `/admin/providers/by-${login}`, { enabled: false })), NEEDED);
    assert.deepEqual(outcome(await opened('DELETE', `/admin/providers/by-${login}`)), NEEDED);
    assert.equal((await opened('PUT', '/admin/token_policy', FREE_POLICY)).status, 200);
    assert.equal((await opened('POST', '/user/reauthenticate', { password: PASSWORD })).status, 204);
    assert.equal((await opened('PATCH', `/admin/providers/by-${login}`, { enabled: false })).status, 200);
    const { app } = await addApp((await firstStep(atrium, login)).browser);
    const again = createBrowser(atrium);
    assert.equal((await again('POST', '/user/signin', { token: program.text })).status, 200);
    assert.deepEqual(outcome(await again('PUT', '/admin/token_policy', FREE_POLICY)), NEEDED);
    assert.equal((await program('PUT', '/admin/token_policy', FREE_POLICY)).status, 200, 'a token may');
    assert.equal((await again('POST', '/user/reauthenticate', { code: app.code() })).status, 204);
    assert.equal((await again('PUT', '/admin/token_policy', FREE_POLICY)).status, 200);
  });

  it('An administrator who has nothing but a token is not kept out of providers', async () => {
    const { login, token, signIn } = await newAdmin(null);
    const opened = await signIn({ token: (await token()).text });
    assert.equal((await opened('POST', '/admin/providers', providerNamed(`first-${login}`))).status, 201);
  });

  it('Changing something on behalf of another user needs a fresh proof, and looking does not', async (t) => {
    const { login } = await newAdmin();
    const { browser } = await firstStep(atrium, login);
    later(t);
    const profile = { description: 'hello' };
    assert.deepEqual(outcome(await browser('PATCH', '/user?sudo=dan', profile)), NEEDED);
    assert.deepEqual(outcome(await browser('PATCH', '/user', profile, { Sudo: 'dan' })), NEEDED);
    assert.equal((await browser('GET', '/user?sudo=dan')).status, 200);
    assert.equal((await browser('PATCH', '/user', profile)).status, 200, 'for themselves');
    assert.equal((await atrium.as('root')('PATCH', '/user?sudo=dan', profile)).status, 200, 'a token may');
  });

  it('Users who may not administer anything are not asked for a proof', async (t) => {
    const { login } = await newUser(atrium);
    const { browser } = await firstStep(atrium, login);
    later(t);
    assert.deepEqual(outcome(await browser('POST', '/admin/users', {})), [403, 'forbidden']);
  });
});
