import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openQuietly, openTestServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { openWebBrowser, type WebBrowser } from '../../support/server/web-browser.ts';
import { type RealProvider, startRealProvider } from '../../support/services/real-provider.ts';
import { addProvider, callIn } from '../../support/world/provider-visits.ts';
import { appWith } from '../../support/world/second-factors.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NETWORK = { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8', AUTH_FAILURES: '1000' };

/** How long sessions of a provider last, and that it is asked again about their users. */
describe('Sessions that were opened with a provider', () => {
  let atrium: TestServer;
  let asking: RealProvider;
  let silent: RealProvider;
  before(async () => {
    [asking, silent] = await Promise.all([startRealProvider(), startRealProvider()]);
    atrium = await openTestServer({ env: NETWORK });
    await asking.serveWith(atrium.url, ['company', 'strict', 'lasting'], { refreshes: true });
    await silent.serve(atrium.url, 'mute');
    const create_accounts = true;
    await addProvider(atrium, asking, 'company', { create_accounts });
    await addProvider(atrium, asking, 'strict', {
      ...{ create_accounts, allow_remember: true },
      ...{ session_hours: 8, session_idle_minutes: 30 },
    });
    await addProvider(atrium, asking, 'lasting', { create_accounts, allow_remember: true, recheck_minutes: 0 });
    await addProvider(atrium, silent, 'mute', { create_accounts, display_name: 'Mute' });
  });
  after(async () => {
    await atrium.close();
    await Promise.all([asking.close(), silent.close()]);
  });

  const person = (name: string) =>
    [name, { email: `${name}@example.com`, email_verified: true, preferred_username: name }] as const;
  const status = async (browser: WebBrowser, base = atrium.url) => (await callIn(browser, base, 'GET', '/user')).status;
  const enter = async (provider: string, name: string, query = '', browser = openWebBrowser()) => {
    const real = provider === 'mute' ? silent : asking;
    real.signInAs(...person(name));
    await browser.visit(`${atrium.url}/api/v1/user/signin/${provider}?return_to=/me${query}`);
    return browser;
  };
  const ends = async (browser: WebBrowser) => {
    const { body } = await callIn(browser, atrium.url, 'GET', '/user/sessions');
    const current = body.find((one: { current: boolean }) => one.current);
    return Math.round((Date.parse(current.expires_at) - Date.parse(current.created_at)) / MINUTE);
  };
  /** Only Date: the timers of the test and of the servers go on. */
  const clockOf = (t: TestContext) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    return { pass: (ms: number) => t.mock.timers.setTime(Date.now() + ms) };
  };
  const refreshes = () => asking.asked.filter((path) => path === '/token').length;

  it('They last as long as the provider says, and are remembered only if it allows that', async () => {
    for (const [provider, name, minutes] of [
      ['company', 'pat', 24 * 60],
      ['strict', 'stu', 8 * 60],
      ['lasting', 'lea', 31 * 24 * 60],
      // Nothing to ask it with, so the session ends when its word no longer counts.
      ['mute', 'max', 60],
    ] as const) {
      assert.equal(await ends(await enter(provider, name, '&remember=true')), minutes, provider);
    }
    const { body } = await atrium.as()('GET', '/user/providers');
    const remembering = body.filter((one: { remember: boolean }) => one.remember);
    assert.deepEqual(
      remembering.map((one: { name: string }) => one.name),
      ['strict', 'lasting'],
    );
  });

  it('A session that is not used ends, and one that is used goes on', async (t) => {
    const clock = clockOf(t);
    const [used, unused] = [await enter('strict', 'ida'), await enter('strict', 'ida')];
    for (let minutes = 0; minutes < 60; minutes += 20) {
      clock.pass(20 * MINUTE);
      assert.equal(await status(used), 200);
    }
    assert.equal(await status(unused), 401);
    const { body } = await callIn(used, atrium.url, 'GET', '/user/sessions');
    assert.equal(body.length, 1, 'it is not listed either');
  });

  it('The provider is asked once an hour at most, and an account that it has disabled loses its sessions here', async (t) => {
    const clock = clockOf(t);
    const browser = await enter('company', 'dora');
    const { id } = (await callIn(browser, atrium.url, 'GET', '/user')).body;
    const before = refreshes();
    assert.equal(await status(browser), 200);
    assert.equal(refreshes(), before, 'nothing is asked while its word counts');
    clock.pass(HOUR);
    const answers = await Promise.all([1, 2, 3, 4].map(() => status(browser)));
    assert.deepEqual(answers, [200, 200, 200, 200]);
    assert.equal(refreshes(), before + 1, 'requests at the same moment ask once');
    asking.disabled.add('dora');
    clock.pass(30 * MINUTE);
    assert.equal(await status(browser), 200);
    clock.pass(30 * MINUTE);
    assert.equal(await status(browser), 401);
    const entry = (await auditOf(atrium.instance.db, BigInt(id))).findLast(
      ({ action }) => action === 'session.end_by_provider',
    );
    assert.equal(entry?.actor_name, 'provider company');
    assert.match(entry?.after ?? '', /invalid_grant/);
    assert.doesNotMatch(atrium.logged(), /refresh_token=/);
  });

  it('Two replicas ask once, and both know the answer', async (t) => {
    const clock = clockOf(t);
    const { config } = atrium.instance;
    if (config.DATABASE_URL === undefined) return t.skip('the built-in database has one replica');
    const lines: string[] = [];
    const second = await openQuietly(
      { ...NETWORK, DATABASE_URL: config.DATABASE_URL, ATRIUM_KEY: TEST_KEY, BASE_URL: atrium.url, PORT: '0' },
      lines,
    );
    try {
      const url = await second.listen();
      const browser = await enter('company', 'rex');
      const cookies = { Cookie: browser.cookies(new URL(atrium.url).host) };
      const at = async (base: string) => (await fetch(`${base}/api/v1/user`, { headers: cookies })).status;
      const before = refreshes();
      clock.pass(HOUR);
      assert.deepEqual(await Promise.all([at(atrium.url), at(url), at(atrium.url), at(url)]), [200, 200, 200, 200]);
      assert.equal(refreshes(), before + 1);
      asking.disabled.add('rex');
      clock.pass(HOUR);
      assert.equal(await at(url), 401);
      assert.equal(await at(atrium.url), 401);
    } finally {
      await second.close();
    }
  });

  it('A provider that is away does not end sessions, unless it stays away, and its return brings them back', async (t) => {
    const clock = clockOf(t);
    const browser = await enter('company', 'gus');
    asking.state.isAway = true;
    try {
      clock.pass(HOUR);
      assert.equal(await status(browser), 200, 'within the grace');
      const before = refreshes();
      assert.equal(await status(browser), 200);
      assert.equal(refreshes(), before, 'it is not asked with every request');
      const { body } = await atrium.as('root')('GET', '/admin/providers/company');
      assert.match(body.last_fault, /a session could not be checked/);
      clock.pass(HOUR + MINUTE);
      assert.equal(await status(browser), 401, 'after the grace');
      assert.equal(await status(browser), 401);
    } finally {
      asking.state.isAway = false;
    }
    clock.pass(2 * MINUTE);
    assert.equal(await status(browser), 200);
  });

  it('A provider that is disabled ends its sessions when their word no longer counts', async (t) => {
    const clock = clockOf(t);
    const browser = await enter('company', 'fay2');
    const change = (enabled: boolean) => atrium.as('root')('PATCH', '/admin/providers/company', { enabled });
    await change(false);
    clock.pass(HOUR);
    assert.equal(await status(browser), 401);
    await change(true);
  });

  it('What an administrator makes stricter counts for sessions that are open', async (t) => {
    const clock = clockOf(t);
    const browser = await enter('lasting', 'moe', '&remember=true');
    const change = (fields: object) => atrium.as('root')('PATCH', '/admin/providers/lasting', fields);
    assert.equal((await change({ session_hours: 2 })).status, 200);
    assert.equal(await ends(browser), 120);
    clock.pass(3 * HOUR);
    assert.equal(await status(browser), 401);
    assert.equal((await change({ session_hours: null })).body.session_hours, null);
    for (const [field, value] of [
      ['session_hours', 0],
      ['session_hours', 8761],
      ['session_idle_minutes', -1],
      ['recheck_minutes', 525_601],
    ] as const) {
      const answer = await change({ [field]: value });
      assert.deepEqual([answer.status, answer.body.errors?.[0]?.field], [422, field], answer.text);
    }
  });

  it('Tokens of a provider wait for the second factor, sealed, and a logout meanwhile ends the sign-in', async (t) => {
    const clock = clockOf(t);
    const first = await enter('company', 'tess');
    const call = (browser: WebBrowser, method: string, path: string, body?: unknown) =>
      callIn(browser, atrium.url, method, path, body);
    const { body: proposed } = await call(first, 'POST', '/user/factors/totp');
    const app = appWith(proposed.secret);
    await call(first, 'PUT', '/user/factors/totp', { enrollment: proposed.enrollment, code: app.code(-1) });
    const browser = await enter('company', 'tess');
    assert.equal(await status(browser), 401);
    const sealed = await atrium.instance.db.query<{ refresh_token: Buffer }>(
      statement("select refresh_token from parked_sign_in where subject = 'tess'"),
    );
    assert.equal(sealed.length, 1);
    assert.equal((await call(browser, 'POST', '/user/signin/factor', { code: app.code() })).status, 200);
    const before = refreshes();
    clock.pass(HOUR);
    assert.equal(await status(browser), 200);
    assert.equal(refreshes(), before + 1, 'the refresh token was kept');
    const signedOut = await call(browser, 'POST', '/user/signout');
    assert.match(signedOut.body.url, /id_token_hint=/);
    const late = await enter('company', 'tess');
    await atrium.instance.db.query(statement('delete from parked_sign_in'));
    const { status: code, body } = await call(late, 'POST', '/user/signin/factor', { code: app.code(1) });
    assert.deepEqual([code, body.reason], [401, 'sign_in_expired']);
  });

  it('A browser signs in again without a question if the provider still knows it, and sees the sign-in page if not', async () => {
    const browser = await enter('mute', 'quin');
    const first = await browser.visit(`${atrium.url}/api/v1/user/signin/mute?silent=true&return_to=/me`);
    assert.equal(new URL(first.url).pathname, '/me');
    assert.equal(await status(browser), 200);
    const { body } = await callIn(browser, atrium.url, 'GET', '/user/sessions');
    assert.equal(body.length, 1, 'the session that it replaces has ended');
    const stranger = openWebBrowser();
    for (const name of ['mute', 'nothing']) {
      const page = await stranger.visit(`${atrium.url}/api/v1/user/signin/${name}?silent=true&return_to=/me/tokens`);
      const url = new URL(page.url);
      assert.deepEqual(
        [url.pathname, url.searchParams.get('silent'), url.searchParams.get('return_to')],
        ['/signin', 'failed', '/me/tokens'],
      );
    }
    const refused = (await auditOf(atrium.instance.db, 0n)).filter(({ action }) => action === 'sign_in.refuse');
    assert.deepEqual(refused, [], 'nobody was refused');
  });
});

describe('Sessions by the settings', () => {
  it('Sessions last as long as the settings say, and end when they are not used', async (t) => {
    const env = { SESSION_HOURS: '2', SESSION_REMEMBERED_DAYS: '0', SESSION_IDLE_MINUTES: '10' };
    const atrium = await openTestServer({ env });
    try {
      const browser = openWebBrowser();
      const { password } = atrium.world.users.ann ?? assert.fail('no ann');
      const signIn = { username: 'ann', password, remember: true };
      const answer = await browser.send('POST', `${atrium.url}/api/v1/user/signin`, signIn);
      assert.equal(answer.status, 200);
      assert.doesNotMatch(answer.headers.getSetCookie().join('\n'), /Expires=/, 'the browser forgets it');
      const { body } = await callIn(browser, atrium.url, 'GET', '/user/sessions');
      assert.equal(Date.parse(body[0].expires_at) - Date.parse(body[0].created_at), 2 * HOUR);
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 13 * MINUTE });
      assert.equal((await callIn(browser, atrium.url, 'GET', '/user')).status, 401);
    } finally {
      await atrium.close();
    }
  });
});
