import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JWTPayload } from 'jose';
import type { Instance } from '../../../src/instance.ts';
import { auditOf } from '../../support/checks/audit.ts';
import { ANY_DRIVER } from '../../support/server/db.ts';
import { openQuietly, openTestServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { openWebBrowser, type WebBrowser } from '../../support/server/web-browser.ts';
import {
  type CrookedProvider,
  SECRET,
  startCrookedProvider,
  type TokenOptions,
} from '../../support/services/crooked-provider.ts';
import { type RealProvider, startRealProvider } from '../../support/services/real-provider.ts';
import { addProvider, callIn, signInWith } from '../../support/world/provider-visits.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Signing out at the provider, and being signed out by it. */
describe('Signing out with a provider', () => {
  let atrium: TestServer;
  let provider: RealProvider;
  let crook: CrookedProvider;
  before(async () => {
    [provider, crook] = await Promise.all([startRealProvider(), startCrookedProvider()]);
    atrium = await openTestServer({ env: { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8', AUTH_FAILURES: '1000' } });
    await provider.serve(atrium.url, 'company');
    await addProvider(atrium, provider, 'company', { create_accounts: true });
    const client = { name: 'crook', issuer: crook.issuer, client_id: 'atrium', client_secret: SECRET };
    const made = await atrium.as('root')('POST', '/admin/providers', { ...client, create_accounts: true });
    assert.equal(made.status, 201, made.text);
  });
  after(async () => {
    await atrium.close();
    await Promise.all([provider.close(), crook.close()]);
  });

  const status = async (browser: WebBrowser, base = atrium.url) => (await callIn(browser, base, 'GET', '/user')).status;
  const person = (name: string) =>
    [name, { email: `${name}@example.com`, email_verified: true, preferred_username: name }] as const;

  it('Signing out ends the session here, and says where to sign out at the provider', async () => {
    const { browser } = await signInWith(atrium, provider, 'company', person('leaver'));
    const { status: code, body } = await callIn(browser, atrium.url, 'POST', '/user/signout');
    assert.equal(code, 200);
    const url = new URL(body.url);
    assert.equal(url.origin, provider.issuer);
    assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${atrium.url}/signin`);
    assert.match(url.searchParams.get('id_token_hint') ?? '', /^eyJ/);
    assert.equal(await status(browser), 401);
    const page = await browser.visit(url.href);
    assert.equal(page.status, 200, page.text);
    assert.doesNotMatch(atrium.logged(), /eyJ/);
  });

  it('Signing out of a session that was opened otherwise, or while the provider is away, leads nowhere else', async () => {
    const { browser } = await signInWith(atrium, provider, 'company', person('stayer'));
    const token = atrium.as('ann');
    assert.deepEqual((await token('POST', '/user/signout')).body, { url: null });
    await atrium.as('root')('PATCH', '/admin/providers/company', { enabled: false });
    const { body } = await callIn(browser, atrium.url, 'POST', '/user/signout');
    assert.deepEqual(body, { url: null });
    assert.equal(await status(browser), 401);
    await atrium.as('root')('PATCH', '/admin/providers/company', { enabled: true });
  });

  it('A provider that ends its session ends ours, and only the one that belongs to it', async () => {
    const [one, two] = [
      await signInWith(atrium, provider, 'company', person('ended')),
      await signInWith(atrium, provider, 'company', person('ended')),
    ];
    const { body } = await callIn(two.browser, atrium.url, 'GET', '/user');
    // The browser confirms at the provider, which then calls the server, as the protocol says.
    await signOutAtProvider(one.browser);
    assert.deepEqual(provider.faults, []);
    assert.deepEqual([await status(one.browser), await status(two.browser)], [401, 200]);
    const entry = (await auditOf(atrium.instance.db, BigInt(body.id))).findLast(
      ({ action }) => action === 'session.end_by_provider',
    );
    assert.equal(entry?.actor_name, 'provider company');
    assert.deepEqual(JSON.parse(entry?.before ?? '{}'), { sessions: 1, provider: 'company' });
  });

  /** Without a hint from us, so that our own session is ended by the provider alone. */
  async function signOutAtProvider(browser: WebBrowser): Promise<void> {
    const form = await browser.visit(`${provider.issuer}/session/end?client_id=atrium`);
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(form.text)?.[1] ?? assert.fail(form.text);
    const { host } = new URL(provider.issuer);
    const answer = await fetch(`${provider.issuer}/session/end/confirm`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Cookie: browser.cookies(host), 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
    });
    assert.ok(answer.status < 400, `${answer.status} ${await answer.text()}`);
  }

  const send = async (token: string, base = atrium.url, name = 'crook') => {
    const answer = await fetch(`${base}/api/v1/user/signin/${name}/backchannel_logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    });
    return { status: answer.status, text: await answer.text(), cache: answer.headers.get('cache-control') };
  };
  let tokens = 0;
  const claims = (more: JWTPayload = {}): JWTPayload => {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: crook.issuer,
      aud: 'atrium',
      iat: now,
      exp: now + 120,
      jti: `jti ${++tokens}`,
      events: { [EVENT]: {} },
      ...more,
    };
  };

  /** A session that was opened with the crooked provider. */
  async function crooked(subject: string, sid?: string): Promise<WebBrowser> {
    const browser = openWebBrowser();
    const left = await browser.visit(`${atrium.url}/api/v1/user/signin/crook`, ({ origin }) => origin !== atrium.url);
    const { searchParams } = new URL(left.url);
    const about = { sub: subject, ...(sid !== undefined && { sid }), email: `${subject}@example.com` };
    await crook.answer(searchParams.get('nonce') ?? '', { claims: about });
    const query = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '', iss: crook.issuer });
    const page = await browser.visit(`${atrium.url}/api/v1/user/signin/crook/callback?${query}`);
    assert.equal(page.url, `${atrium.url}/`, page.text);
    return browser;
  }

  it('A logout token ends the sessions of a subject, of a session, or of both', async () => {
    const [a, b, c] = [await crooked('many', 's1'), await crooked('many', 's2'), await crooked('many', 's3')];
    const other = await crooked('other', 's4');
    const all = async () => await Promise.all([a, b, c, other].map((one) => status(one)));
    assert.equal((await send(await crook.sign(claims({ sid: 's1' })))).status, 200);
    assert.deepEqual(await all(), [401, 200, 200, 200]);
    assert.equal((await send(await crook.sign(claims({ sid: 's4', sub: 'many' })))).status, 200);
    assert.deepEqual(await all(), [401, 200, 200, 200]);
    const answer = await send(await crook.sign(claims({ sub: 'many' })));
    assert.deepEqual([answer.status, answer.cache], [200, 'no-store']);
    assert.deepEqual(await all(), [401, 401, 401, 200]);
    // Nobody has a session any more, which is nothing that is wrong.
    assert.equal((await send(await crook.sign(claims({ sub: 'many' })))).status, 200);
  });

  it('A session of which the provider told no ID ends with any session of its subject', async () => {
    const [unknown, named] = [await crooked('vague'), await crooked('vague', 's7')];
    assert.equal((await send(await crook.sign(claims({ sid: 's8' })))).status, 200);
    assert.deepEqual([await status(unknown), await status(named)], [200, 200]);
    assert.equal((await send(await crook.sign(claims({ sub: 'vague', sid: 's8' })))).status, 200);
    assert.deepEqual([await status(unknown), await status(named)], [401, 200]);
  });

  it('A logout token can be used once', async () => {
    const token = await crook.sign(claims({ sub: 'once' }));
    assert.equal((await send(token)).status, 200);
    const again = await send(token);
    assert.deepEqual([again.status, JSON.parse(again.text).reason], [400, 'sign_in_rejected']);
  });

  const minutes = (count: number) => Math.floor(Date.now() / 1000) + count * 60;
  const WRONG: readonly (readonly [string, () => Record<string, unknown>, TokenOptions?])[] = [
    ['is signed with a key that nobody publishes', () => ({}), { isForged: true }],
    ['is signed with the secret of the client', () => ({}), { alg: 'HS256' }],
    ['is not signed', () => ({}), { alg: 'none' }],
    ['is for another client', () => ({ aud: 'other' })],
    ['has another issuer', () => ({ iss: 'https://elsewhere.example.com' })],
    ['has expired', () => ({ iat: minutes(-20), exp: minutes(-10) })],
    ['is ten minutes old', () => ({ iat: minutes(-10), exp: minutes(10) })],
    ['comes from the future', () => ({ iat: minutes(10), exp: minutes(20) })],
    ['has a nonce, like an ID token', () => ({ nonce: 'n' })],
    ['has no event', () => ({ events: {} })],
    ['has no ID', () => ({ jti: undefined })],
    ['names nobody', () => ({ sub: undefined })],
    ['has NUL in its subject', () => ({ sub: 'vic\0tim' })],
    ['has half a surrogate pair in its subject', () => ({ sub: '\ud800' })],
    ['has NUL in its session', () => ({ sid: '\0' })],
    ['has half a surrogate pair in its session', () => ({ sid: 's9\udfff' })],
    ['has NUL in its ID', () => ({ jti: 'a\0b' })],
  ];
  for (const [what, change, options] of WRONG) {
    it(`A logout token that ${what} ends no session`, async () => {
      const browser = await crooked('victim', 's9');
      const payload = { ...claims({ sub: 'victim' }), ...change() } as JWTPayload;
      const answer = await send(await crook.sign(payload, options));
      assert.equal(answer.status, 400, answer.text);
      assert.equal(await status(browser), 200);
    });
  }

  it('A request without a logout token, or for an unknown provider, is rejected', async () => {
    const url = `${atrium.url}/api/v1/user/signin/crook/backchannel_logout`;
    assert.equal((await fetch(url, { method: 'POST', body: new URLSearchParams({ x: 'y' }) })).status, 400);
    assert.equal((await fetch(url, { method: 'POST' })).status, 400);
    assert.equal(
      (await fetch(url, { method: 'POST', body: new URLSearchParams({ logout_token: 'x'.repeat(70_000) }) })).status,
      413,
    );
    assert.equal((await send('x')).status, 400);
    assert.equal((await send('x', atrium.url, 'nobody')).status, 404);
  });

  it('Every replica knows at once, and can finish what another has begun', {
    skip: ANY_DRIVER !== 'postgres',
  }, async () => {
    const { DATABASE_URL = '' } = atrium.instance.config;
    const shared = { DATABASE_URL, ATRIUM_KEY: TEST_KEY, BASE_URL: atrium.url, OIDC_ALLOWED_NETWORKS: '127.0.0.0/8' };
    const second: Instance = await openQuietly(shared, []);
    const base = await second.listen();
    try {
      // Begun here, finished there: the cookies of one host are those of the other.
      const browser = openWebBrowser();
      const left = await browser.visit(`${atrium.url}/api/v1/user/signin/crook`, ({ origin }) => origin !== atrium.url);
      const { searchParams } = new URL(left.url);
      await crook.answer(searchParams.get('nonce') ?? '', { claims: { sub: 'roamer', email: 'roamer@example.com' } });
      const query = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '', iss: crook.issuer });
      const cookie = { Cookie: browser.cookies(new URL(atrium.url).host) };
      const finish = (at: string) =>
        fetch(`${at}/api/v1/user/signin/crook/callback?${query}`, { headers: cookie, redirect: 'manual' });
      const done = await finish(base);
      assert.equal(done.headers.get('location'), '/');
      assert.equal((await finish(atrium.url)).status, 400);
      const session = {
        Cookie: done.headers
          .getSetCookie()
          .map((line) => line.split(';')[0])
          .join('; '),
      };
      const seen = async (at: string) => (await fetch(`${at}/api/v1/user`, { headers: session })).status;
      assert.deepEqual([await seen(atrium.url), await seen(base)], [200, 200]);
      assert.equal((await send(await crook.sign(claims({ sub: 'roamer' })), atrium.url)).status, 200);
      assert.deepEqual([await seen(base), await seen(atrium.url)], [401, 401]);
    } finally {
      await second.close();
    }
  });

  it('The rows of a sign-in go with its session', async () => {
    const browser = await crooked('tidy', 's10');
    const rows = () => atrium.instance.db.query(statement("select id from session_provider where subject = 'tidy'"));
    assert.equal((await rows()).length, 1);
    await callIn(browser, atrium.url, 'POST', '/user/signout');
    assert.equal((await rows()).length, 0);
  });
});
