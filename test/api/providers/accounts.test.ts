import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { openWebBrowser, type WebBrowser } from '../../support/server/web-browser.ts';
import {
  CLIENT,
  type ProviderPerson,
  type RealProvider,
  startRealProvider,
} from '../../support/services/real-provider.ts';
import { newUser, PASSWORD } from '../../support/world/own-account.ts';
import { addProvider, callIn, signInWith } from '../../support/world/provider-visits.ts';

/** Which account somebody gets who signs in at a provider, which is a real one. */
describe('Accounts of people who sign in with a provider', () => {
  let atrium: TestServer;
  let provider: RealProvider;
  before(async () => {
    provider = await startRealProvider();
    atrium = await openTestServer({
      env: {
        OIDC_ALLOWED_NETWORKS: '127.0.0.0/8',
        OIDC_PROVIDERS: JSON.stringify([
          {
            name: 'fixed',
            display_name: 'Of the settings',
            issuer: provider.issuer,
            client_id: CLIENT.id,
            client_secret: CLIENT.secret,
            create_accounts: true,
            allow_remember: true,
            recheck_minutes: 0,
            linking: 'off',
          },
        ]),
      },
    });
    await provider.serve(atrium.url, 'fixed', 'ask', 'auto', 'narrow');
    await add('ask', { create_accounts: true });
    await add('auto', { linking: 'automatic' });
  });
  after(async () => {
    await atrium.close();
    await provider.close();
  });

  const add = (name: string, more: object) => addProvider(atrium, provider, name, more);

  let subjects = 0;
  /** Signs in at the provider as somebody, by default somebody new. */
  async function signIn(name: string, person: ProviderPerson, subject = `subject-${++subjects}`) {
    return { ...(await signInWith(atrium, provider, name, [subject, person])), subject };
  }
  const call = (browser: WebBrowser, method: string, path: string, body?: unknown) =>
    callIn(browser, atrium.url, method, path, body);
  const login = async (browser: WebBrowser) => (await call(browser, 'GET', '/user')).body?.login;
  const verified = (email: string, more: ProviderPerson = {}) => ({ email, email_verified: true, ...more });
  const count = async (table: string) =>
    (await atrium.instance.db.query<{ n: number }>(statement(`select count(*)::integer as n from ${table}`)))[0]?.n;
  const lastOf = async (chain: bigint, action: string) =>
    (await auditOf(atrium.instance.db, chain)).findLast((entry) => entry.action === action);

  it('The sign-in page learns of every provider, those of the settings first', async () => {
    const { body } = await atrium.as()('GET', '/user/providers');
    assert.deepEqual(body, [
      { name: 'fixed', display_name: 'Of the settings', url: '/api/v1/user/signin/fixed', remember: true },
      { name: 'ask', display_name: 'ask', url: '/api/v1/user/signin/ask', remember: false },
      { name: 'auto', display_name: 'auto', url: '/api/v1/user/signin/auto', remember: false },
    ]);
  });

  it('Somebody new gets an account, and finds it again when they sign in again', async () => {
    const person = verified('zoe@example.com', { name: 'Zoe Example', preferred_username: 'zoe' });
    const { browser, page, subject } = await signIn('fixed', person);
    assert.equal(page.url, `${atrium.url}/me`, page.text);
    const { body } = await call(browser, 'GET', '/user');
    assert.deepEqual([body.login, body.full_name, body.email], ['zoe', 'Zoe Example', 'zoe@example.com']);
    assert.equal((await lastOf(0n, 'user.create'))?.actor_name, 'provider fixed');
    // They have another name and address there by now, which changes nothing here.
    const again = await signIn('fixed', verified('zoe@other.example', { preferred_username: 'zz' }), subject);
    assert.equal(await login(again.browser), 'zoe');
  });

  it('A name that is taken, reserved or impossible gets the next free one', async () => {
    const names: (readonly [ProviderPerson, string])[] = [
      [verified('ann2@example.com', { preferred_username: 'ann' }), 'ann-2'],
      [verified('ann3@example.com', { preferred_username: 'ANN' }), 'ANN-3'],
      [verified('b.o..b@example.com'.replace('..', '.'), { preferred_username: 'admin' }), 'b.o.b'],
      [verified('çelik@example.com'.replace('ç', 'c'), { preferred_username: '///' }), 'celik'],
      [verified('one@example.com', { preferred_username: 'One Two@example.com' }), 'One-Two'],
      [verified('long@example.com', { preferred_username: 'l'.repeat(90) }), 'l'.repeat(32)],
    ];
    for (const [person, expected] of names) {
      const { browser, page } = await signIn('fixed', person);
      assert.equal(page.url, `${atrium.url}/me`, page.text);
      assert.equal(await login(browser), expected);
    }
  });

  it('Two first sign-ins of one person at once create one account', async () => {
    const before = await count('account');
    const person = verified('twins@example.com', { preferred_username: 'twins' });
    provider.signInAs('twins', person);
    const browsers = Array.from({ length: 6 }, () => openWebBrowser());
    const pages = await Promise.all(
      browsers.map((one) => one.visit(`${atrium.url}/api/v1/user/signin/fixed?return_to=/me`)),
    );
    for (const page of pages) assert.equal(page.url, `${atrium.url}/me`, page.text);
    assert.deepEqual(new Set(await Promise.all(browsers.map(login))), new Set(['twins']));
    assert.equal(await count('account'), (before ?? 0) + 1);
  });

  it('An address that a local account has verified needs the consent of its owner, who signs in to it', async () => {
    const alice = await newUser(atrium);
    const { browser, page, subject } = await signIn('ask', verified(`${alice.login}@example.com`));
    assert.equal(page.url, `${atrium.url}/signin/link`);
    assert.equal(await count(`linked_account where subject = '${subject}'`), 0);
    assert.deepEqual((await call(browser, 'GET', '/user/link_request')).body, {
      provider: 'ask',
      provider_display_name: 'ask',
      email: `${alice.login}@example.com`,
      username: alice.login,
      return_to: '/me',
    });
    // Nobody is signed in yet, and somebody else cannot consent.
    assert.equal((await call(browser, 'POST', '/user/link_request')).status, 401);
    const mallory = await newUser(atrium);
    await call(browser, 'POST', '/user/signin', { username: mallory.login, password: PASSWORD });
    assert.equal((await call(browser, 'POST', '/user/link_request')).status, 403);
    await call(browser, 'POST', '/user/signin', { username: alice.login, password: PASSWORD });
    assert.equal((await call(browser, 'POST', '/user/link_request')).status, 200);
    assert.equal((await call(browser, 'GET', '/user/link_request')).status, 404);
    const entry = await lastOf(alice.id, 'linked_account.create');
    assert.equal(entry?.actor_name, alice.login);
    const again = await signIn('ask', verified('renamed@example.com'), subject);
    assert.equal(await login(again.browser), alice.login);
  });

  it('A request to link that was changed, or is too old, links nothing', async (t) => {
    const alice = await newUser(atrium);
    const { browser } = await signIn('ask', verified(`${alice.login}@example.com`));
    const { host } = new URL(atrium.url);
    const [, ticket = ''] = /atrium_link=([^;]+)/.exec(browser.cookies(host)) ?? [];
    const changed = `${ticket.slice(0, -4)}AAAA`;
    const send = (text: string) =>
      atrium.as()('GET', '/user/link_request', undefined, { Cookie: `atrium_link=${text}` });
    assert.equal((await send(ticket)).status, 200);
    for (const text of [changed, '', 'x', 'x'.repeat(9000)]) assert.equal((await send(text)).status, 404);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 });
    assert.equal((await send(ticket)).status, 404);
  });

  it('A rule of the administrator links at once, but never a site administrator', async () => {
    const alice = await newUser(atrium);
    const { browser } = await signIn('auto', verified(`${alice.login}@example.com`));
    assert.equal(await login(browser), alice.login);
    assert.equal((await lastOf(alice.id, 'linked_account.create'))?.actor_name, 'provider auto');
    const admin = await newUser(atrium);
    await atrium.as('root')('PATCH', `/admin/users/${admin.login}`, { admin: true });
    const { page } = await signIn('auto', verified(`${admin.login}@example.com`));
    assert.equal(page.url, `${atrium.url}/signin/link`);
  });

  it('An address that users have added themselves is not linked without their consent', async () => {
    const mallory = await newUser(atrium);
    const added = await (await mallory.token())('POST', '/user/emails', { emails: ['chief@example.com'] });
    assert.deepEqual([added.status, added.body.at(-1)?.verified], [201, true], 'nobody has to confirm addresses here');
    const { browser, page, subject } = await signIn('auto', verified('chief@example.com'));
    assert.equal(page.url, `${atrium.url}/signin/link`, page.text);
    assert.equal(await login(browser), undefined);
    assert.equal(await count(`linked_account where subject = '${subject}'`), 0);
  });

  it('What an administrator has forbidden since is not linked, although the provider was asked before', async () => {
    const alice = await newUser(atrium);
    await add('narrow', {});
    const { browser } = await signIn('narrow', verified(`${alice.login}@example.com`));
    await call(browser, 'POST', '/user/signin', { username: alice.login, password: PASSWORD });
    const change = (fields: object) => atrium.as('root')('PATCH', '/admin/providers/narrow', fields);
    const link = async () => {
      const { status, body } = await call(browser, 'POST', '/user/link_request');
      return [status, body.reason];
    };
    assert.equal((await change({ linking: 'off' })).status, 200);
    assert.deepEqual(await link(), [409, 'linking_off']);
    await change({ linking: 'consent', enabled: false });
    assert.deepEqual(await link(), [404, 'provider_not_found']);
    await change({ enabled: true });
    assert.deepEqual(await link(), [200, undefined]);
  });

  it('Only addresses of the allowed domains are linked, also by a user who is signed in', async () => {
    const change = (fields: object) => atrium.as('root')('PATCH', '/admin/providers/narrow', fields);
    assert.equal((await change({ allowed_domains: ['example.com'] })).status, 200);
    const alice = await newUser(atrium);
    const browser = openWebBrowser();
    await call(browser, 'POST', '/user/signin', { username: alice.login, password: PASSWORD });
    const link = async (person: ProviderPerson) => {
      const { body } = await call(browser, 'POST', '/user/linked_accounts', { provider: 'narrow' });
      provider.signInAs(`subject-${++subjects}`, person);
      const back = await openWebBrowser().visit(body.url, ({ origin }) => origin === atrium.url);
      return await browser.visit(back.url);
    };
    assert.match((await link(verified('alice@private.example'))).text, /domain_not_allowed/);
    assert.match((await link({ email: 'alice@example.com', email_verified: false })).text, /email_unverified/);
    assert.equal(await count(`linked_account where account_id = ${alice.id}`), 0);
    assert.equal((await link(verified('alice.work@example.com'))).url, `${atrium.url}/me/linked-accounts`);
  });

  it('A session that was opened with a token links nothing until its user has proven more', async () => {
    const alice = await newUser(atrium);
    const browser = openWebBrowser();
    await call(browser, 'POST', '/user/signin', { token: (await alice.token()).text });
    const begin = async () => {
      const { status, body } = await call(browser, 'POST', '/user/linked_accounts', { provider: 'ask' });
      return [status, body.reason];
    };
    assert.deepEqual(await begin(), [403, 'reauthentication_required']);
    const consent = await call(browser, 'POST', '/user/link_request');
    assert.deepEqual([consent.status, consent.body.reason], [403, 'reauthentication_required']);
    await call(browser, 'POST', '/user/reauthenticate', { password: PASSWORD });
    assert.deepEqual(await begin(), [200, undefined]);
  });

  it('With linking off, an account with the same address is not touched', async () => {
    const alice = await newUser(atrium);
    const { page, subject } = await signIn('fixed', verified(`${alice.login}@example.com`));
    assert.equal(page.status, 409);
    assert.match(page.text, /linking_off/);
    assert.equal(await count(`linked_account where subject = '${subject}'`), 0);
  });

  it('An account that may not be used is not signed in, although the provider has proven who it is', async () => {
    const { browser, subject } = await signIn('fixed', verified('gone@example.com', { preferred_username: 'gone' }));
    for (const change of [{ active: false }, { active: true, prohibit_login: true }]) {
      await atrium.as('root')('PATCH', '/admin/users/gone', change);
      const { page } = await signIn('fixed', verified('gone@example.com'), subject);
      assert.equal(page.status, 403, page.text);
      assert.equal((await call(browser, 'GET', '/user')).status, 403);
    }
  });

  it('Users link and unlink accounts, but not the last way to sign in', async () => {
    const alice = await newUser(atrium);
    const browser = openWebBrowser();
    await call(browser, 'POST', '/user/signin', { username: alice.login, password: PASSWORD });
    const link = async (subject: string) => {
      const { status, body } = await call(browser, 'POST', '/user/linked_accounts', { provider: 'ask' });
      assert.equal(status, 200, body?.message);
      provider.signInAs(subject, verified('work@example.com'));
      const atProvider = openWebBrowser();
      const back = await atProvider.visit(body.url, ({ origin }) => origin === atrium.url);
      return await browser.visit(back.url);
    };
    const first = await link('work-1');
    assert.equal(first.url, `${atrium.url}/me/linked-accounts`, first.text);
    const { body: linked } = await call(browser, 'GET', '/user/linked_accounts');
    assert.deepEqual([linked.length, linked[0].subject, linked[0].provider], [1, 'work-1', 'ask']);
    const { browser: other } = await signIn('ask', {}, 'work-1');
    assert.equal(await login(other), alice.login);

    // Without a password it is the last one.
    await atrium.instance.db.query(statement('update account set password_hash = null where id = $1'), [alice.id]);
    const unlink = (id: number) => call(browser, 'DELETE', `/user/linked_accounts/${id}`);
    const refused = await unlink(linked[0].id);
    assert.deepEqual([refused.status, refused.body.reason], [409, 'last_sign_in']);
    assert.equal((await link('work-2')).status, 200);
    assert.equal((await unlink(linked[0].id)).status, 204);
    assert.equal((await unlink(linked[0].id)).status, 404);
    // The session that it opened has ended.
    assert.equal((await call(other, 'GET', '/user')).status, 401);
    assert.equal((await lastOf(alice.id, 'linked_account.delete'))?.actor_name, alice.login);
  });

  it('An account at a provider belongs to one user', async () => {
    await signIn('fixed', verified('owner@example.com', { preferred_username: 'owner' }), 'owned');
    const alice = await newUser(atrium);
    const browser = openWebBrowser();
    await call(browser, 'POST', '/user/signin', { username: alice.login, password: PASSWORD });
    const { body } = await call(browser, 'POST', '/user/linked_accounts', { provider: 'ask' });
    provider.signInAs('owned');
    const back = await openWebBrowser().visit(body.url, ({ origin }) => origin === atrium.url);
    const page = await browser.visit(back.url);
    assert.deepEqual([page.status, /already_linked/.test(page.text)], [409, true]);
  });

  it('Linking needs a session of the user, to begin and to finish', async () => {
    const alice = await newUser(atrium);
    const token = await alice.token();
    assert.equal((await token('POST', '/user/linked_accounts', { provider: 'ask' })).status, 403);
    assert.equal((await token('POST', '/user/link_request')).status, 403);
    const acme = { id: atrium.world.orgs.acme?.id ?? 0n, name: 'acme' };
    const { text } = await atrium.instance.identity.tokens.issue({
      accountId: alice.id,
      name: 'narrow',
      scopes: ['all'],
      limits: { organizations: [acme], objects: [] },
    });
    for (const [method, path] of [
      ['GET', '/user/linked_accounts'],
      ['POST', '/user/linked_accounts'],
      ['DELETE', '/user/linked_accounts/1'],
    ] as const) {
      const body = method === 'POST' ? { provider: 'ask' } : undefined;
      const answer = await atrium.as()(method, path, body, { Authorization: `token ${text}` });
      assert.deepEqual([answer.status, answer.body.reason], [403, 'token_limited'], answer.text);
    }
    const browser = openWebBrowser();
    await call(browser, 'POST', '/user/signin', { username: alice.login, password: PASSWORD });
    assert.equal((await call(browser, 'POST', '/user/linked_accounts', { provider: 'nobody' })).status, 404);
    const { body } = await call(browser, 'POST', '/user/linked_accounts', { provider: 'ask' });
    provider.signInAs('late', verified('late@example.com'));
    const back = await openWebBrowser().visit(body.url, ({ origin }) => origin === atrium.url);
    assert.equal((await call(browser, 'POST', '/user/signout')).status, 200);
    const page = await browser.visit(back.url);
    assert.deepEqual([page.status, /sign_in_expired/.test(page.text)], [400, true]);
    assert.equal(await count("linked_account where subject = 'late'"), 0);
  });

  it('A sign-in leads back to a path of this server only', async () => {
    for (const path of [
      '//evil.example',
      'https://evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      '/.//evil.example',
      'x',
      `/${'x'.repeat(2000)}`,
      `/${'水'.repeat(900)}`,
    ]) {
      provider.signInAs('wanderer', verified('wanderer@example.com'));
      const query = new URLSearchParams({ return_to: path });
      const page = await openWebBrowser().visit(`${atrium.url}/api/v1/user/signin/fixed?${query}`);
      assert.equal(page.url, `${atrium.url}/`, path);
    }
  });

  it('A remembered session lasts a month, and others end with the browser', async () => {
    provider.signInAs('wanderer', verified('wanderer@example.com'));
    const until = ({ pathname }: URL) => pathname === '/';
    for (const remember of [true, false]) {
      const browser = openWebBrowser();
      const page = await browser.visit(`${atrium.url}/api/v1/user/signin/fixed?remember=${remember}`, until);
      const cookie = page.headers.getSetCookie().find((line) => line.startsWith('atrium_session=')) ?? '';
      assert.match(cookie, /HttpOnly; SameSite=Lax/);
      assert.equal(/Expires=/.test(cookie), remember);
    }
  });
});
