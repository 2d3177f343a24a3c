import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { openWebBrowser, type WebBrowser } from '../../support/server/web-browser.ts';
import { type CrookedProvider, startCrookedProvider } from '../../support/services/crooked-provider.ts';
import { type RealProvider, startRealProvider } from '../../support/services/real-provider.ts';
import { newUser } from '../../support/world/own-account.ts';
import { addProvider, callIn, signInWith } from '../../support/world/provider-visits.ts';
import { addApp, appWith, firstStep } from '../../support/world/second-factors.ts';

const NO_TOKENS = {
  sealedIdToken: undefined,
  sealedRefreshToken: undefined,
  refreshMs: undefined,
  canBeAsked: false,
  terms: { hours: null, idleMinutes: null, mayRemember: false, recheckMs: 0, graceMs: 0 },
} as const;

describe('Second factors of people who sign in with a provider', () => {
  let atrium: TestServer;
  let provider: RealProvider;
  let crook: CrookedProvider;
  before(async () => {
    [provider, crook] = await Promise.all([startRealProvider(), startCrookedProvider()]);
    const env = { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8', SECOND_FACTOR: 'everyone' };
    atrium = await openTestServer({ env });
    await provider.serve(atrium.url, 'plain', 'trusted', 'doubted', 'automatic');
    await addProvider(atrium, provider, 'plain', { create_accounts: true });
    const crooked = { name: 'crook', issuer: crook.issuer, client_id: 'atrium', client_secret: 'a secret' };
    const more = { create_accounts: true, trust_second_factor: true };
    assert.equal((await atrium.as('root')('POST', '/admin/providers', { ...crooked, ...more })).status, 201);
    await addProvider(atrium, provider, 'automatic', { linking: 'automatic', trust_second_factor: true });
    for (const name of ['trusted', 'doubted'])
      await addProvider(atrium, provider, name, { create_accounts: true, trust_second_factor: true });
  });
  after(async () => {
    await atrium.close();
    await Promise.all([provider.close(), crook.close()]);
  });

  const call = (browser: WebBrowser, method: string, path: string, body?: unknown) =>
    callIn(browser, atrium.url, method, path, body);
  const signIn = (name: string, who: string) =>
    signInWith(atrium, provider, name, [
      who,
      { email: `${who}@example.com`, email_verified: true, preferred_username: who },
    ]);
  const reasonOf = async (browser: WebBrowser, path: string) => {
    const { status, body } = await call(browser, 'GET', path);
    return [status, body?.reason];
  };
  /** Signs in for the first time, and adds an authenticator app. */
  const enroll = async (who: string) => {
    const { browser } = await signIn('plain', who);
    assert.deepEqual(await reasonOf(browser, '/user/orgs'), [403, 'second_factor_enrollment']);
    const { body: proposed } = await call(browser, 'POST', '/user/factors/totp');
    const app = appWith(proposed.secret);
    const added = await call(browser, 'PUT', '/user/factors/totp', {
      enrollment: proposed.enrollment,
      code: app.code(-1),
    });
    assert.equal(added.status, 200);
    assert.deepEqual(await reasonOf(browser, '/user/orgs'), [200, undefined]);
    return app;
  };

  it('Whoever has a second factor is asked for it after the provider', async () => {
    const app = await enroll('tina');
    const { browser, page } = await signIn('plain', 'tina');
    assert.equal(page.url, `${atrium.url}/signin?methods=totp%2Crecovery_code&return_to=%2Fme`, page.text);
    assert.equal((await call(browser, 'GET', '/user')).status, 401);
    const wrong = await call(browser, 'POST', '/user/signin/factor', { code: app.wrong() });
    assert.deepEqual([wrong.status, wrong.body.reason], [401, 'wrong_code']);
    const { status, body } = await call(browser, 'POST', '/user/signin/factor', { code: app.code() });
    assert.deepEqual([status, body.login], [200, 'tina']);
    assert.equal((await call(browser, 'GET', '/user/orgs')).status, 200);
    const out = await call(browser, 'POST', '/user/signout');
    assert.match(out.body.url, new RegExp(`^${provider.issuer}/`), 'the session is one of the provider');
  });

  it('A sign-in that waits for its second factor cannot be finished twice, nor in another browser', async () => {
    const app = await enroll('twice');
    const { browser } = await signIn('plain', 'twice');
    const other = await call(openWebBrowser(), 'POST', '/user/signin/factor', { code: app.code() });
    assert.deepEqual([other.status, other.body.reason], [401, 'sign_in_expired']);
    const ticket = browser.cookies(new URL(atrium.url).host);
    assert.equal((await call(browser, 'POST', '/user/signin/factor', { code: app.code() })).status, 200);
    const again = await atrium.as()('POST', '/user/signin/factor', { code: app.code(1) }, { Cookie: ticket });
    assert.deepEqual([again.status, again.body.reason], [401, 'sign_in_expired']);
  });

  it('A provider that asks for a second factor itself is enough', async () => {
    const { browser, page } = await signIn('trusted', 'uma');
    assert.equal(page.url, `${atrium.url}/me`, page.text);
    assert.equal((await call(browser, 'GET', '/user/orgs')).status, 200, 'nothing has to be added here');
    await enroll('vera');
    const second = await signIn('trusted', 'vera');
    assert.equal(second.page.url, `${atrium.url}/me`, 'nor is a factor asked for that exists');
  });

  it('An account that was found by its address needs its second factor once, however trusted the provider is', async () => {
    const { login, id } = await newUser(atrium);
    const own = await firstStep(atrium, login);
    const { app } = await addApp(own.browser);
    const visit = async () => await signIn('automatic', login);
    for (let attempt = 0; attempt < 2; attempt++) {
      const { browser, page } = await visit();
      assert.match(page.url, /\/signin\?methods=totp/, 'also the second time');
      assert.equal((await call(browser, 'GET', '/user')).status, 401);
    }
    const change = (fields: object) => atrium.as('root')('PATCH', '/admin/providers/automatic', fields);
    await change({ trust_second_factor: false });
    assert.match((await visit()).page.url, /\/signin\?methods=totp/);
    await change({ trust_second_factor: true });
    const { browser, page } = await visit();
    assert.match(page.url, /\/signin\?methods=totp/, 'trust that comes later does not help');
    const { status, body } = await call(browser, 'POST', '/user/signin/factor', { code: app.code() });
    assert.deepEqual([status, BigInt(body.id)], [200, id]);
    assert.equal((await visit()).page.url, `${atrium.url}/me`, 'the provider is enough from now on');
  });

  it('A second factor that is added after an account was found by its address is asked for once', async () => {
    const { login } = await newUser(atrium);
    const first = await signIn('automatic', login);
    assert.equal(first.page.url, `${atrium.url}/me`, first.page.text);
    assert.equal((await call(first.browser, 'GET', '/user/orgs')).status, 200, 'nothing has to be added here');
    await addApp((await firstStep(atrium, login)).browser);
    assert.match((await signIn('automatic', login)).page.url, /\/signin\?methods=totp/);
  });

  it('A provider that is no longer trusted to ask for one ends the sessions that went by its word', async () => {
    const { browser } = await signIn('doubted', 'yves');
    const { browser: other } = await signIn('trusted', 'yves');
    assert.equal((await call(browser, 'GET', '/user/orgs')).status, 200);
    const change = (fields: object) => atrium.as('root')('PATCH', '/admin/providers/doubted', fields);
    await change({ display_name: 'Doubted' });
    assert.equal((await call(browser, 'GET', '/user')).status, 200);
    await change({ trust_second_factor: false });
    assert.equal((await call(browser, 'GET', '/user')).status, 401);
    assert.equal((await call(other, 'GET', '/user')).status, 200, 'others go on');
    const entry = (await auditOf(atrium.instance.db, 0n)).findLast((one) => one.action === 'provider.update');
    assert.equal(JSON.parse(entry?.after ?? '{}').endedSessions, 1);
  });

  it('A sign-in that waits for its second factor ends with the provider, and with the linked account', async () => {
    const app = await enroll('zita');
    const finish = async (browser: WebBrowser, code: string) => {
      const { status, body } = await call(browser, 'POST', '/user/signin/factor', { code });
      return [status, body.reason];
    };
    const { browser } = await signIn('plain', 'zita');
    const change = (fields: object) => atrium.as('root')('PATCH', '/admin/providers/plain', fields);
    await change({ enabled: false });
    assert.deepEqual(await finish(browser, app.code()), [401, 'sign_in_expired']);
    await change({ enabled: true });
    await atrium.instance.db.query(statement("delete from linked_account where subject = 'zita'"));
    assert.deepEqual(await finish(browser, app.code()), [401, 'sign_in_expired']);
  });

  it('A second factor that is added while somebody signs in counts for them, too', async () => {
    const { browser } = await signIn('plain', 'adam');
    const adam = (await call(browser, 'GET', '/user')).body;
    const { sessions } = atrium.instance.identity;
    const subject = { provider: 'plain', issuer: provider.issuer, subject: 'adam', sid: undefined };
    const opening = { method: 'provider', provider: { ...subject, ...NO_TOKENS } } as const;
    const open = () => sessions.open(BigInt(adam.id), false, new Date(), opening);
    await open();
    await enroll('adam');
    await assert.rejects(open(), { kind: 'unauthenticated' });
    await assert.rejects(sessions.open(BigInt(adam.id), false, new Date()), { kind: 'unauthenticated' });
    await sessions.open(BigInt(adam.id), false, new Date(), { ...opening, method: 'totp' });
  });

  it('A token does not become a password or a second factor of somebody who can sign in with a provider', async (t) => {
    const { browser } = await signIn('plain', 'cleo');
    const { body: cleo } = await call(browser, 'GET', '/user');
    const issued = { accountId: BigInt(cleo.id), name: 'stolen', scopes: ['all'] };
    const { text } = await atrium.instance.identity.tokens.issue(issued);
    const inSession = openWebBrowser();
    await call(inSession, 'POST', '/user/signin', { token: text });
    const refused = [403, 'reauthentication_required'];
    const wanted = { new: 'a first password' };
    const byToken = await atrium.as()('PUT', '/user/password', wanted, { Authorization: `token ${text}` });
    assert.deepEqual([byToken.status, byToken.body.reason], refused);
    const set = async (by: WebBrowser) => {
      const { status, body } = await call(by, 'PUT', '/user/password', wanted);
      return [status, body?.reason];
    };
    assert.deepEqual(await set(inSession), refused);
    const app = await call(inSession, 'POST', '/user/factors/totp');
    assert.deepEqual([app.status, app.body.reason], refused);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 });
    assert.deepEqual(await set(browser), refused, 'nor does a session that somebody has left open');
    t.mock.timers.reset();
    assert.deepEqual(await set((await signIn('plain', 'cleo')).browser), [204, undefined]);
  });

  it('Whoever proves again who they are is asked by the provider, also if it knows them', async () => {
    const { browser } = await signIn('trusted', 'wim');
    const begin = (query: string) => browser.send('GET', `${atrium.url}/api/v1/user/signin/trusted?${query}`);
    const promptOf = (answer: Response) =>
      new URL(answer.headers.get('location') ?? '').searchParams.get('prompt') ?? undefined;
    const plain = await begin('return_to=/me');
    assert.equal(new URL(plain.headers.get('location') ?? '').searchParams.get('max_age'), String(31 * 86_400));
    assert.equal(promptOf(plain), undefined);
    assert.equal(promptOf(await begin('return_to=/me&again=true')), 'login');
  });

  it('Only a provider that says when it last asked who it is, or was told to ask, has proven something', async () => {
    const signInAfter = async (claims: object, way = '') => {
      const browser = openWebBrowser();
      const at = `${atrium.url}/api/v1/user/signin/crook`;
      const left = await browser.visit(`${at}${way}`, ({ origin }) => origin !== atrium.url);
      const { searchParams } = new URL(left.url);
      await crook.answer(searchParams.get('nonce') ?? '', {
        claims: { sub: 'boris', email: 'boris@example.com', ...claims },
      });
      const query = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '', iss: crook.issuer });
      const page = await browser.visit(`${at}/callback?${query}`);
      assert.equal(page.url, `${atrium.url}/`, page.text);
      const { status, body } = await call(browser, 'POST', '/user/linked_accounts', { provider: 'plain' });
      return [status, body.reason];
    };
    const seconds = Math.floor(Date.now() / 1000);
    assert.deepEqual(await signInAfter({ auth_time: seconds - 3600 }), [403, 'reauthentication_required']);
    assert.deepEqual(await signInAfter({ auth_time: undefined }), [403, 'reauthentication_required'], 'not said');
    const asked = '?return_to=/&again=true';
    assert.deepEqual(await signInAfter({ auth_time: undefined }, asked), [200, undefined], 'it was told to ask');
    const old = await signInAfter({ auth_time: seconds - 3600 }, asked);
    assert.deepEqual(old, [403, 'reauthentication_required'], 'it says that it did not');
    for (const auth_time of [seconds - 30, seconds + 30]) {
      assert.deepEqual(await signInAfter({ auth_time }), [200, undefined], String(auth_time));
    }
  });

  it('A program is approved, and an account linked, only by whoever has lately proven who they are', async (t) => {
    const { browser } = await signIn('trusted', 'xena');
    const { body: started } = await call(openWebBrowser(), 'POST', '/user/device', { name: 'a program' });
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 1_800_000 });
    const linking = await call(browser, 'POST', '/user/linked_accounts', { provider: 'plain' });
    const approving = await call(browser, 'POST', `/user/device/${started.user_code}`, { approve: true });
    for (const { status, body } of [linking, approving]) {
      assert.deepEqual([status, body.reason], [403, 'reauthentication_required']);
    }
  });
});
