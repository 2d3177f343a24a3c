import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { openWebBrowser, type WebBrowser } from '../../support/server/web-browser.ts';
import {
  type CrookedProvider,
  SECRET,
  startCrookedProvider,
  type TokenOptions,
} from '../../support/services/crooked-provider.ts';

const MINUTE_S = 60;

interface Started {
  readonly browser: WebBrowser;
  readonly state: string;
  readonly nonce: string;
}

/** Everything that a provider, a network or an attacker can get wrong: a page that says why, and nothing is created. */
describe('Sign-ins that must fail', () => {
  let atrium: TestServer;
  let crook: CrookedProvider;
  let other: CrookedProvider;
  before(async () => {
    [crook, other] = await Promise.all([startCrookedProvider(), startCrookedProvider()]);
    const env = { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8', AUTH_FAILURES: '1000', LIMIT_PROVIDERS: '1000' };
    atrium = await openTestServer({ env });
  });
  after(async () => {
    await atrium.close();
    await Promise.all([crook.close(), other.close()]);
  });

  // A provider is discovered once, so each test has one of its own.
  let name = '';
  let providers = 0;
  beforeEach(() => {
    crook.reset();
    other.reset();
    name = `crook${++providers}`;
  });

  async function add(issuer = crook.issuer, more: object = {}, as = name): Promise<void> {
    const body = { name: as, issuer, client_id: 'atrium', client_secret: SECRET, create_accounts: true, ...more };
    const made = await atrium.as('root')('POST', '/admin/providers', body);
    assert.equal(made.status, 201, made.text);
  }

  const at = (path: string) => `${atrium.url}/api/v1/user/signin/${path}`;

  /** As far as the provider, where the browser does not go. */
  async function begin(as = name, browser = openWebBrowser()): Promise<Started> {
    const left = await browser.visit(at(as), ({ origin }) => origin !== atrium.url);
    const { searchParams } = new URL(left.url);
    return { browser, state: searchParams.get('state') ?? '', nonce: searchParams.get('nonce') ?? '' };
  }

  const finish = ({ browser, state }: Started, query: Record<string, string> = {}, as = name) =>
    browser.visit(`${at(as)}/callback?${new URLSearchParams({ code: 'c', state, iss: crook.issuer, ...query })}`);

  const counts = async () => {
    const [row] = await atrium.instance.db.query(
      statement(`select (select count(*) from account)::integer as accounts, (select count(*) from session)::integer as sessions,
        (select count(*) from linked_account)::integer as links`),
    );
    return row;
  };
  const refusals = async () =>
    (await auditOf(atrium.instance.db, 0n)).filter(({ action }) => action === 'sign_in.refuse');

  /** The page, the audit row, and that nothing was created. */
  async function refused(
    work: () => Promise<{ status: number; text: string; headers: Headers }>,
    reason: string,
    status: number,
  ) {
    const [before, rows] = [await counts(), (await refusals()).length];
    const page = await work();
    assert.equal(page.status, status, page.text);
    assert.match(page.text, new RegExp(`Reason: <code>${reason}</code>`));
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.deepEqual(await counts(), before);
    const recorded = await refusals();
    assert.equal(recorded.length, rows + 1);
    const entry = JSON.parse(recorded.at(-1)?.after ?? '{}') as { reason: string; provider: string };
    assert.equal(entry.reason, reason);
    return page;
  }

  it('A right answer signs in, so the other tests fail for their own reasons', async () => {
    await add();
    const started = await begin();
    await crook.answer(started.nonce, { claims: { sub: 'right', email: 'right@example.com' } });
    const page = await finish(started);
    assert.equal(page.url, `${atrium.url}/`, page.text);
  });

  const WRONG: readonly (readonly [string, TokenOptions | ((issuer: string) => TokenOptions), string])[] = [
    ['has another issuer', { claims: { iss: 'https://elsewhere.example.com' } }, 'sign_in_rejected'],
    ['is for another client', { claims: { aud: 'somebody-else' } }, 'sign_in_rejected'],
    [
      'is for several clients, and was asked for by another',
      { claims: { aud: ['atrium', 'x'], azp: 'x' } },
      'sign_in_rejected',
    ],
    ['has the nonce of another request', { claims: { nonce: 'of another request' } }, 'sign_in_rejected'],
    ['is not signed', { alg: 'none' }, 'sign_in_rejected'],
    ['is signed with the secret of the client', { alg: 'HS256' }, 'sign_in_rejected'],
    ['is signed with a key that nobody publishes', { isForged: true }, 'sign_in_rejected'],
    ['is signed with a key that is published no longer', { kid: 'key 0' }, 'sign_in_rejected'],
    ['has no subject', { claims: { sub: '' } }, 'sign_in_rejected'],
    ['has a subject of a thousand characters', { claims: { sub: 'x'.repeat(1000) } }, 'sign_in_rejected'],
  ];
  const GARBLED = ['a\0b', '\0', '\ud800', 'x\udc00x', '\udc00\ud800'];
  for (const claim of ['sub', 'email', 'name', 'preferred_username', 'sid', 'groups', 'roles']) {
    it(`An ID token whose claim ${claim} is not text is rejected, so that no two subjects are one account`, async () => {
      await add(crook.issuer, { group_claim: claim === 'roles' ? 'roles' : 'groups' });
      for (const text of GARBLED) {
        const started = await begin();
        const value = ['groups', 'roles'].includes(claim) ? ['fine', text] : text;
        const claims = { sub: 'garbled', email: 'garbled@example.com', [claim]: value };
        await crook.answer(started.nonce, { claims });
        await refused(() => finish(started), 'sign_in_rejected', 403);
      }
    });
  }

  for (const [what, options, reason] of WRONG) {
    it(`An ID token that ${what} is rejected`, async () => {
      await add();
      const started = await begin();
      await crook.answer(started.nonce, typeof options === 'function' ? options(crook.issuer) : options);
      await refused(() => finish(started), reason, 403);
    });
  }

  it('A clock that is half a minute wrong is tolerated, and one that is ten minutes wrong is not', async () => {
    await add();
    const now = Math.floor(Date.now() / 1000);
    for (const [seconds, isTolerated] of [
      [-30, true],
      [30, true],
      [-10 * MINUTE_S, false],
      [10 * MINUTE_S, false],
    ] as const) {
      const started = await begin();
      const times =
        seconds < 0
          ? { iat: now + seconds - 300, exp: now + seconds }
          : { iat: now, nbf: now + seconds, exp: now + 3600 };
      await crook.answer(started.nonce, { claims: { ...times, sub: 'late', email: 'late@example.com' } });
      if (isTolerated) assert.equal((await finish(started)).url, `${atrium.url}/`);
      else await refused(() => finish(started), 'sign_in_rejected', 403);
    }
  });

  it('New keys are used at once, and a token with an old key is rejected', async () => {
    await add();
    const first = await begin();
    await crook.answer(first.nonce, { claims: { sub: 'turn', email: 'turn@example.com' } });
    assert.equal((await finish(first)).url, `${atrium.url}/`);
    const second = await begin();
    const old = await crook.idToken(second.nonce, { claims: { sub: 'turn', email: 'turn@example.com' } });
    await crook.rotate();
    const third = await begin();
    await crook.answer(third.nonce, { claims: { sub: 'turn', email: 'turn@example.com' } });
    assert.equal((await finish(third)).url, `${atrium.url}/`);
    crook.json('/token', { access_token: 'x', token_type: 'Bearer', id_token: old });
    await refused(() => finish(second), 'sign_in_rejected', 403);
  });

  it('A state can be used once, also after a failure', async () => {
    await add();
    const started = await begin();
    const cookies = started.browser.cookies(new URL(atrium.url).host);
    await crook.answer(started.nonce, { claims: { sub: 'once', email: 'once@example.com' } });
    assert.equal((await finish(started)).url, `${atrium.url}/`);
    // Somebody has copied the cookie and the address.
    const thief = openWebBrowser();
    const replay = async () => {
      const query = new URLSearchParams({ code: 'c', state: started.state, iss: crook.issuer });
      const answer = await thief.send('GET', `${at(name)}/callback?${query}`, undefined, { Cookie: cookies });
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    };
    await refused(replay, 'sign_in_expired', 400);
  });

  it('An answer is accepted only by the browser that asked, and for ten minutes', async (t: TestContext) => {
    await add();
    const started = await begin();
    await crook.answer(started.nonce);
    await refused(() => finish({ ...started, browser: openWebBrowser() }), 'sign_in_expired', 400);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * MINUTE_S * 1000 });
    await refused(() => finish(started), 'sign_in_expired', 400);
    await refused(() => finish(started, { state: 'x'.repeat(43) }), 'sign_in_expired', 400);
  });

  it('Two tabs of one browser can sign in at the same time', async () => {
    await add();
    const one = await begin();
    const two = await begin(name, one.browser);
    for (const started of [one, two]) {
      await crook.answer(started.nonce, { claims: { sub: 'tabs', email: 'tabs@example.com' } });
      assert.equal((await finish(started)).url, `${atrium.url}/`);
    }
  });

  it('The answer of one provider is not taken for that of another', async () => {
    await add();
    const twin = `${name}-twin`;
    await add(other.issuer, {}, twin);
    const started = await begin();
    await crook.answer(started.nonce);
    await other.answer(started.nonce);
    // The other provider sends the browser to its own address, with the state of the first.
    await refused(() => finish(started, { iss: other.issuer }, twin), 'sign_in_rejected', 403);
    // Or to the address of the first, but says who it is.
    const again = await begin();
    await refused(() => finish(again, { iss: other.issuer }), 'sign_in_rejected', 403);
    assert.deepEqual(crook.asked.filter((path) => path === '/token').length, 0);
  });

  it('An answer that does not say who it is from is rejected, because the provider says that it does', async () => {
    await add();
    const { browser, state, nonce } = await begin();
    await crook.answer(nonce);
    await refused(() => browser.visit(`${at(name)}/callback?code=c&state=${state}`), 'sign_in_rejected', 403);
  });

  it('A person who cancels at the provider is told so', async () => {
    await add();
    const { browser, state } = await begin();
    const query = new URLSearchParams({ error: 'access_denied', state, iss: crook.issuer });
    const page = await refused(() => browser.visit(`${at(name)}/callback?${query}`), 'provider_refused', 403);
    assert.match(page.text, /access_denied/);
  });

  it('A message of a provider cannot become a part of the page', async () => {
    await add();
    const { browser, state } = await begin();
    const query = new URLSearchParams({ error: '<script>alert(1)</script>', state, iss: crook.issuer });
    const page = await refused(() => browser.visit(`${at(name)}/callback?${query}`), 'provider_refused', 403);
    assert.doesNotMatch(page.text, /<script/);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  });

  const PAGES = ['/.well-known/openid-configuration', '/token', '/jwks'] as const;
  const DAMAGE: readonly (readonly [string, (path: string) => void])[] = [
    ['is not there', (path) => crook.pages.set(path, (_request, response) => response.writeHead(500).end())],
    ['is garbage', (path) => crook.pages.set(path, (_request, response) => response.end('<!doctype html>'))],
    ['hangs up', (path) => crook.pages.set(path, (request) => request.socket.destroy())],
    [
      'has a megabyte',
      (path) => crook.json(path, { issuer: crook.issuer, keys: [], padding: 'x'.repeat(1024 * 1024) }),
    ],
    [
      'leads elsewhere',
      (path) =>
        crook.pages.set(path, (_request, response) =>
          response.writeHead(302, { Location: `${other.issuer}${path}` }).end(),
        ),
    ],
  ];
  for (const page of PAGES) {
    for (const [what, damage] of DAMAGE) {
      it(`A provider whose page ${page} ${what} does not sign anybody in`, async () => {
        await add();
        if (page === PAGES[0]) {
          damage(page);
          await refused(() => openWebBrowser().visit(at(name)), 'provider_failed', 502);
          assert.deepEqual(other.asked, []);
          return;
        }
        const started = await begin();
        await crook.answer(started.nonce);
        damage(page);
        await refused(() => finish(started), 'provider_failed', 502);
        assert.deepEqual(other.asked, []);
      });
    }
  }

  it('A provider that never answers is given up after a few seconds', async () => {
    await add();
    crook.pages.set('/.well-known/openid-configuration', () => undefined);
    await refused(() => openWebBrowser().visit(at(name)), 'provider_failed', 502);
  });

  it('A provider that calls itself by another name is rejected', async () => {
    await add();
    crook.json('/.well-known/openid-configuration', {
      issuer: 'https://elsewhere.example.com',
      jwks_uri: `${crook.issuer}/jwks`,
    });
    await refused(() => openWebBrowser().visit(at(name)), 'sign_in_rejected', 403);
  });

  it('A provider that is back works again at once', async () => {
    await add();
    crook.pages.delete('/.well-known/openid-configuration');
    await refused(() => openWebBrowser().visit(at(name)), 'provider_failed', 502);
    crook.reset();
    assert.notEqual((await begin()).state, '');
  });

  it('A provider in a private network is not called unless a setting allows it', async () => {
    await add('http://10.0.0.1:9');
    await refused(() => openWebBrowser().visit(at(name)), 'provider_failed', 502);
    const plain = `${name}-plain`;
    // Without TLS, not even a public one.
    await add('http://192.0.2.1', {}, plain);
    await refused(() => openWebBrowser().visit(at(plain)), 'provider_failed', 502);
  });

  const EMAILS: readonly (readonly [string, TokenOptions['claims'], string, number])[] = [
    ['An address that the provider has not verified', { email_verified: false }, 'email_unverified', 403],
    [
      'An address of which the provider does not say whether it is verified',
      { email_verified: undefined },
      'email_unverified',
      403,
    ],
    ['No address', { email: undefined }, 'email_unverified', 403],
    ['A text that is no address', { email: 'nobody' }, 'email_unverified', 403],
    ['An address of a domain that is not allowed', { email: 'crook@elsewhere.example' }, 'domain_not_allowed', 403],
    ['The address of an account that has not confirmed it', { email: 'ann.archer@example.org' }, 'email_taken', 409],
  ];
  for (const [what, claims, reason, status] of EMAILS) {
    it(`${what} creates no account and links none`, async () => {
      await add(crook.issuer, { allowed_domains: ['example.com', 'example.org'] });
      const started = await begin();
      await crook.answer(started.nonce, { claims: { sub: what, ...claims } });
      await refused(() => finish(started), reason, status);
    });
  }

  it('Nobody gets an account if the provider must not create any', async () => {
    await add(crook.issuer, { create_accounts: false });
    const started = await begin();
    await crook.answer(started.nonce, { claims: { sub: 'uninvited', email: 'uninvited@example.com' } });
    await refused(() => finish(started), 'account_not_found', 403);
  });

  it('An unknown or disabled provider has no page to sign in, and is not in the list', async () => {
    const unknown = await openWebBrowser().visit(at('nobody'));
    assert.equal(unknown.status, 404);
    assert.match(unknown.text, /provider_not_found/);
    await add(crook.issuer, { enabled: false });
    assert.equal((await openWebBrowser().visit(at(name))).status, 404);
    const { body } = await atrium.as()('GET', '/user/providers');
    assert.ok(!body.some((one: { name: string }) => one.name === name));
  });
});
