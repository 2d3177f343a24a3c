import assert from 'node:assert/strict';
import { after, before, describe, type TestContext } from 'node:test';
import { itLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { openWebBrowser, type WebBrowser } from '../support/server/web-browser.ts';
import { type KeycloakProcess, lacksKeycloak, runKeycloak } from '../support/services/keycloak-process.ts';
import { callIn } from '../support/world/provider-visits.ts';

const REALM = '/company';
const PASSWORD = 'a password of Keycloak';
const MINUTE = 60_000;

interface Named {
  readonly id: string;
}

/** A real Keycloak, with a client that is made as docs/sign-in.md says. */
describe('A real Keycloak', { skip: lacksKeycloak() }, () => {
  let atrium: TestServer;
  let keycloak: KeycloakProcess;
  let client: Record<string, unknown>;
  before(async () => {
    [keycloak, atrium] = await Promise.all([
      runKeycloak(),
      openTestServer({ env: { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8', AUTH_FAILURES: '1000' } }),
    ]);
    await keycloak.admin('POST', '', { realm: 'company', enabled: true });
    client = newClient(`${atrium.url}/api/v1/user/signin/keycloak`, `${atrium.url}/signin`);
    await keycloak.admin('POST', `${REALM}/clients`, client);
    const [{ id } = { id: '' }] = (await keycloak.admin('GET', `${REALM}/clients?clientId=atrium`)).body as Named[];
    client = { ...client, id };
    const { value } = (await keycloak.admin('GET', `${REALM}/clients/${id}/client-secret`)).body as { value: string };
    const made = await atrium.as('root')('POST', '/admin/providers', {
      ...{ name: 'keycloak', display_name: 'Company', issuer: `${keycloak.url}/realms/company` },
      ...{ client_id: 'atrium', client_secret: value, create_accounts: true, recheck_minutes: 1 },
    });
    assert.equal(made.status, 201, made.text);
  });
  after(async () => {
    keycloak?.stop();
    await atrium?.close();
  });

  const status = async (browser: WebBrowser) => (await callIn(browser, atrium.url, 'GET', '/user')).status;
  const newUser = async (username: string, more: object = {}): Promise<string> => {
    const credentials = [{ type: 'password', value: PASSWORD, temporary: false }];
    const names = { firstName: username, lastName: 'Keycloak', email: `${username}@example.com` };
    const user = { username, enabled: true, emailVerified: true, credentials, ...names, ...more };
    await keycloak.admin('POST', `${REALM}/users`, user);
    const [found] = (await keycloak.admin('GET', `${REALM}/users?username=${username}&exact=true`)).body as Named[];
    return found?.id ?? assert.fail(`no ${username}`);
  };
  const signIn = async (username: string) => {
    const browser = openWebBrowser();
    const form = await browser.visit(`${atrium.url}/api/v1/user/signin/keycloak?return_to=/me`);
    const action = /action="([^"]+)"/.exec(form.text)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail(form.text);
    const page = await browser.submit(action, { username, password: PASSWORD });
    return { browser, page };
  };
  /** Only our clock: Keycloak has its own, and tokens of both may differ by a minute. */
  const clockOf = (t: TestContext) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    return { pass: (ms: number) => t.mock.timers.setTime(Date.now() + ms) };
  };

  itLong(
    'The client that the page describes passes the test of the provider, and a wrong secret does not',
    async () => {
      const good = (await atrium.as('root')('POST', '/admin/providers/keycloak/test')).body;
      assert.equal(good.ok, true, JSON.stringify(good));
      const { issuer } = (await atrium.as('root')('GET', '/admin/providers/keycloak')).body;
      const wrong = { name: 'wrong', issuer, client_id: 'atrium', client_secret: 'wrong', enabled: false };
      await atrium.as('root')('POST', '/admin/providers', wrong);
      const { ok, steps } = (await atrium.as('root')('POST', '/admin/providers/wrong/test')).body;
      assert.equal(ok, false);
      assert.match(steps[2].message, /does not accept the client and its secret: it says "(?:un|in)/);
    },
  );

  itLong('A user whose address is not verified is refused, and one whose address is gets an account', async () => {
    const id = await newUser('vera', { emailVerified: false });
    assert.match((await signIn('vera')).page.text, /email_unverified/);
    await keycloak.admin('PUT', `${REALM}/users/${id}`, { emailVerified: true });
    const { browser, page } = await signIn('vera');
    assert.equal(new URL(page.url).pathname, '/me', page.text);
    assert.equal((await callIn(browser, atrium.url, 'GET', '/user')).body.login, 'vera');
  });

  itLong(
    'Keycloak sends logout notices only after front-channel logout is switched off, as the page says',
    async () => {
      const id = await newUser('lola');
      const { browser: kept } = await signIn('lola');
      await keycloak.admin('POST', `${REALM}/users/${id}/logout`);
      assert.equal(await status(kept), 200, 'with the defaults of the admin console, nothing arrives');
      const notice = async () =>
        (await atrium.as('root')('GET', '/admin/providers/keycloak')).body.last_logout_notice_at;
      assert.equal(await notice(), null);
      await keycloak.admin('PUT', `${REALM}/clients/${client.id}`, { ...client, frontchannelLogout: false });
      const { browser } = await signIn('lola');
      await keycloak.admin('POST', `${REALM}/users/${id}/logout`);
      await until(async () => (await status(browser)) === 401);
      assert.ok(Date.parse(await notice()) > 0);
    },
  );

  itLong('A user who is disabled in Keycloak is out here within the time that the provider sets', async (t) => {
    const id = await newUser('dina');
    const { browser } = await signIn('dina');
    const clock = clockOf(t);
    clock.pass(MINUTE);
    assert.equal(await status(browser), 200, 'Keycloak still vouches');
    await keycloak.admin('PUT', `${REALM}/users/${id}`, { enabled: false });
    clock.pass(MINUTE);
    assert.equal(await status(browser), 401);
  });

  itLong('A user who is deleted and made again gets their account back once the old link is removed', async (t) => {
    const id = await newUser('rhea');
    const { browser } = await signIn('rhea');
    await keycloak.admin('DELETE', `${REALM}/users/${id}`);
    const clock = clockOf(t);
    clock.pass(MINUTE);
    assert.equal(await status(browser), 401, 'deleted');
    await newUser('rhea');
    const { page } = await signIn('rhea');
    assert.equal(new URL(page.url).pathname, '/signin/link');
    const [link] = (await atrium.as('root')('GET', '/admin/users/rhea/linked_accounts')).body;
    await atrium.as('root')('DELETE', `/admin/users/rhea/linked_accounts/${link.id}`);
    const { browser: again } = await signIn('rhea');
    assert.equal((await callIn(again, atrium.url, 'GET', '/user')).body.login, 'rhea');
  });
});

/** What the admin console sends for a new client with client authentication and the standard flow, and nothing else changed. */
function newClient(at: string, returnTo: string): Record<string, unknown> {
  return {
    protocol: 'openid-connect',
    clientId: 'atrium',
    publicClient: false,
    standardFlowEnabled: true,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: false,
    serviceAccountsEnabled: false,
    authorizationServicesEnabled: false,
    // The admin console switches it on.
    frontchannelLogout: true,
    redirectUris: [`${at}/callback`],
    attributes: {
      'post.logout.redirect.uris': returnTo,
      'backchannel.logout.url': `${at}/backchannel_logout`,
      'backchannel.logout.session.required': 'true',
      'oauth2.device.authorization.grant.enabled': 'false',
      'oidc.ciba.grant.enabled': 'false',
    },
  };
}
