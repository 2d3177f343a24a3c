import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { newDemoPlace, openQuietly, openTestServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { openWebBrowser } from '../../support/server/web-browser.ts';
import { CLIENT, type RealProvider, startRealProvider } from '../../support/services/real-provider.ts';
import { addProvider, callIn, signInWith } from '../../support/world/provider-visits.ts';

const NETWORK = { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8', AUTH_FAILURES: '1000' };

/** What administrators and users are told if a provider does not work, and what they can do then. */
describe('Help with providers', () => {
  let atrium: TestServer;
  let provider: RealProvider;
  before(async () => {
    provider = await startRealProvider();
    atrium = await openTestServer({ env: NETWORK });
    await provider.serve(atrium.url, 'company', 'wrong');
    await addProvider(atrium, provider, 'company', { create_accounts: true, display_name: 'Company' });
    await addProvider(atrium, provider, 'wrong', { client_secret: 'not the secret', display_name: 'Wrong' });
  });
  after(async () => {
    await atrium.close();
    await provider.close();
  });

  const root = (method: string, path: string, body?: unknown) => atrium.as('root')(method, path, body);
  const verified = (email: string) => ({ email, email_verified: true });

  it('A wrong client secret is reported on the page, in the log, in the audit log and to administrators', async () => {
    const { page } = await signInWith(atrium, provider, 'wrong', ['wanda', verified('wanda@example.com')]);
    assert.equal(page.status, 502);
    const words = /Wrong does not accept this server as its client: it says .*invalid_client/;
    assert.match(page.text.replaceAll('&quot;', '"'), words);
    assert.match(page.text, /client_rejected/);
    assert.match(atrium.logged(), /"reason":"client_rejected"/);
    assert.match(atrium.logged(), /invalid_client/);
    const entry = (await auditOf(atrium.instance.db, 0n)).findLast(({ action }) => action === 'sign_in.refuse');
    assert.match(JSON.parse(entry?.after ?? '{}').message, words);
    const { body } = await root('GET', '/admin/providers/wrong');
    assert.match(body.last_fault, words);
    assert.ok(Date.parse(body.last_fault_at) > 0);
    assert.doesNotMatch(`${atrium.logged()}${page.text}`, /not the secret/);
  });

  it('A test of a provider says which step fails, with the words of the provider', async () => {
    const test = async (name: string) => (await root('POST', `/admin/providers/${name}/test`)).body;
    const good = await test('company');
    assert.deepEqual(
      [good.ok, good.steps.map((one: { step: string; result: string }) => `${one.step} ${one.result}`)],
      [true, ['discovery ok', 'keys ok', 'client ok']],
    );
    const wrong = await test('wrong');
    assert.equal(wrong.ok, false);
    assert.equal(wrong.steps[2].result, 'failed');
    assert.match(wrong.steps[2].message, /does not accept the client and its secret: it says "invalid_client"/);
    const nowhere = { name: 'nowhere', issuer: 'http://127.0.0.1:1', client_id: 'x', enabled: false };
    assert.equal((await root('POST', '/admin/providers', nowhere)).status, 201);
    const { ok, steps } = await test('nowhere');
    assert.deepEqual([ok, steps.length, steps[0].result], [false, 1, 'failed']);
    assert.match(steps[0].message, /ECONNREFUSED/);
    assert.equal((await root('POST', '/admin/providers/absent/test')).status, 404);
  });

  it('Whoever is refused can choose another account', async () => {
    const { page } = await signInWith(atrium, provider, 'company', ['yan', { email: 'yan@example.com' }]);
    assert.equal(page.status, 403);
    const link = /href="([^"]*another=true[^"]*)"/.exec(page.text)?.[1] ?? assert.fail(page.text);
    assert.match(page.text, /Use another account of Company/);
    const begun = await openWebBrowser().send('GET', `${atrium.url}${link.replaceAll('&amp;', '&')}`);
    const prompt = new URL(begun.headers.get('location') ?? '').searchParams.get('prompt');
    assert.match(prompt ?? '', /^(?:login|select_account)$/);
  });

  it('An administrator sees and removes links, and somebody who was made again at the provider gets in', async () => {
    const person = verified('zoe@example.com');
    const { browser } = await signInWith(atrium, provider, 'company', ['zoe', person]);
    const { login } = (await callIn(browser, atrium.url, 'GET', '/user')).body;
    const again = await signInWith(atrium, provider, 'company', ['zoe-again', person]);
    assert.equal(new URL(again.page.url).pathname, '/signin/link', 'they cannot sign in to confirm it');
    const path = `/admin/users/${login}/linked_accounts`;
    const [link] = (await root('GET', path)).body;
    assert.deepEqual([link.provider_display_name, link.subject], ['Company', 'zoe']);
    assert.equal((await root('DELETE', `${path}/999999`)).body.reason, 'linked_account_not_found');
    assert.equal((await atrium.as('ann')('GET', path)).status, 403);
    assert.equal((await atrium.as('ann')('DELETE', `${path}/${link.id}`)).status, 403);
    assert.equal((await root('DELETE', `${path}/${link.id}`)).status, 204);
    assert.equal((await callIn(browser, atrium.url, 'GET', '/user')).status, 401, 'the sessions end');
    const { browser: next } = await signInWith(atrium, provider, 'company', ['zoe-again', person]);
    const { body: user } = await callIn(next, atrium.url, 'GET', '/user');
    assert.equal(user.login, login);
    const actions = (await auditOf(atrium.instance.db, BigInt(user.id))).map(({ action }) => action);
    assert.ok(actions.includes('linked_account.delete'));
    // What was allowed counts once.
    const third = await signInWith(atrium, provider, 'company', ['zoe-third', person]);
    assert.equal(new URL(third.page.url).pathname, '/signin/link');
  });

  it('A link of somebody who can sign in otherwise is removed without letting the next one in', async () => {
    const { email } = (await atrium.as('cat')('GET', '/user')).body;
    await root('PUT', '/admin/users/cat/link_permission');
    const { browser } = await signInWith(atrium, provider, 'company', ['cat-1', verified(email)]);
    assert.equal((await callIn(browser, atrium.url, 'GET', '/user')).body.login, 'cat', 'it was allowed');
    const [link] = (await root('GET', '/admin/users/cat/linked_accounts')).body;
    assert.equal((await root('DELETE', `/admin/users/cat/linked_accounts/${link.id}`)).status, 204);
    const { page } = await signInWith(atrium, provider, 'company', ['cat-2', verified(email)]);
    assert.equal(new URL(page.url).pathname, '/signin/link');
    const { body } = await root('PUT', '/admin/users/cat/link_permission');
    assert.ok(Date.parse(body.until) > Date.now());
    assert.equal((await root('PUT', '/admin/users/nobody/link_permission')).status, 404);
  });
});

describe('The last provider without passwords', () => {
  const made = (name: string, more: object = {}) => ({
    ...{ name, issuer: 'https://login.example.com', client_id: CLIENT.id },
    ...more,
  });

  it('It can be neither disabled nor removed, in any order, until another one is enabled', async () => {
    const { place, world } = await newDemoPlace();
    const open = async (more: Readonly<Record<string, string>>) => {
      const { dataDir, databaseUrl = '' } = place;
      const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY };
      // One of the settings that is disabled, and one that hides one of the database, do not count.
      const settings = [made('fixed', { enabled: false }), made('hidden', { enabled: false })];
      const instance = await openQuietly({ ...env, OIDC_PROVIDERS: JSON.stringify(settings), ...more }, []);
      const url = await instance.listen();
      const headers = { Authorization: `token ${world.users.root?.token}`, 'Content-Type': 'application/json' };
      const call = async (method: string, path: string, body?: object) => {
        const answer = await fetch(`${url}/api/v1/admin/providers${path}`, {
          ...{ method, headers },
          ...(body && { body: JSON.stringify(body) }),
        });
        const text = await answer.text();
        return [answer.status, text === '' ? undefined : JSON.parse(text).reason] as const;
      };
      return { instance, call };
    };
    const before = await open({ OIDC_PROVIDERS: '[]' });
    for (const provider of [made('one'), made('two'), made('hidden'), made('off', { enabled: false })]) {
      assert.equal((await before.call('POST', '', provider))[0], 201);
    }
    await before.instance.close();
    const { instance, call } = await open({ PASSWORDS: 'off' });
    try {
      const outcomes = await Promise.all([
        call('PATCH', '/one', { enabled: false }),
        call('PATCH', '/two', { enabled: false }),
      ]);
      assert.deepEqual(outcomes.map(([status]) => status).sort(), [200, 409], 'one of two at the same moment');
      const last = outcomes[0][0] === 409 ? 'one' : 'two';
      const refused = [409, 'last_provider'];
      assert.deepEqual(await call('PATCH', `/${last}`, { enabled: false }), refused);
      assert.deepEqual(await call('PATCH', `/${last}`, { enabled: false, display_name: 'x' }), refused);
      assert.deepEqual(await call('DELETE', `/${last}`), refused);
      assert.equal((await call('PATCH', `/${last}`, { display_name: 'Last' }))[0], 200);
      assert.equal((await call('DELETE', '/off'))[0], 204, 'one that is disabled can go');
      assert.equal((await call('PATCH', `/${last === 'one' ? 'two' : 'one'}`, { enabled: true }))[0], 200);
      assert.equal((await call('DELETE', `/${last}`))[0], 204);
    } finally {
      await instance.close();
    }
  });
});
