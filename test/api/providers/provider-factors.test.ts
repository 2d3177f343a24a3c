import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { addProvider, callIn, signInWith } from '../../support/provider-visits.ts';
import { type RealProvider, startRealProvider } from '../../support/real-provider.ts';
import { appWith } from '../../support/second-factors.ts';
import { openTestServer, type TestServer } from '../../support/server.ts';
import { openWebBrowser, type WebBrowser } from '../../support/web-browser.ts';

describe('Second factors of people who sign in with a provider', () => {
  let atrium: TestServer;
  let provider: RealProvider;
  before(async () => {
    provider = await startRealProvider();
    const env = { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8', SECOND_FACTOR: 'everyone' };
    atrium = await openTestServer({ env });
    await provider.serve(atrium.url, 'plain', 'trusted');
    await addProvider(atrium, provider, 'plain', { create_accounts: true });
    await addProvider(atrium, provider, 'trusted', { create_accounts: true, trust_second_factor: true });
  });
  after(async () => {
    await atrium.close();
    await provider.close();
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

  it('Whoever proves again who they are is asked by the provider, also if it knows them', async () => {
    const { browser } = await signIn('trusted', 'wim');
    const begin = (query: string) => browser.send('GET', `${atrium.url}/api/v1/user/signin/trusted?${query}`);
    const promptOf = (answer: Response) =>
      new URL(answer.headers.get('location') ?? '').searchParams.get('prompt') ?? undefined;
    assert.equal(promptOf(await begin('return_to=/me')), undefined);
    assert.equal(promptOf(await begin('return_to=/me&again=true')), 'login');
  });

  it('A program is approved, and an account linked, only by whoever has lately proven who they are', async (t) => {
    const { browser } = await signIn('trusted', 'xena');
    const { body: started } = await call(openWebBrowser(), 'POST', '/user/device', { name: 'a program' });
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_600_000 });
    const linking = await call(browser, 'POST', '/user/linked_accounts', { provider: 'plain' });
    const approving = await call(browser, 'POST', `/user/device/${started.user_code}`, { approve: true });
    for (const { status, body } of [linking, approving]) {
      assert.deepEqual([status, body.reason], [403, 'reauthentication_required']);
    }
  });
});
