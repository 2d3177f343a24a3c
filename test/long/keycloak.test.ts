import assert from 'node:assert/strict';
import { after, before, describe, type TestContext } from 'node:test';
import { itLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { openWebBrowser, type WebBrowser } from '../support/server/web-browser.ts';
import { type KeycloakProcess, lacksKeycloak, runKeycloak } from '../support/services/keycloak-process.ts';
import { BEARER, exchangeForm, makeFederatedRobot, postForm } from '../support/world/federation.ts';
import { callIn } from '../support/world/provider-visits.ts';
import { callWith } from '../support/world/robots.ts';

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

  itLong('A logout notice ends the session that it names, and no other one of the user', async () => {
    await keycloak.admin('PUT', `${REALM}/clients/${client.id}`, { ...client, frontchannelLogout: false });
    const id = await newUser('nora');
    const [one, other] = [await signIn('nora'), await signIn('nora')];
    const sessions = (await keycloak.admin('GET', `${REALM}/users/${id}/sessions`)).body as Named[];
    assert.equal(sessions.length, 2);
    await keycloak.admin('DELETE', `${REALM}/sessions/${sessions[0]?.id}`);
    const open = async () => [await status(one.browser), await status(other.browser)].sort();
    await until(async () => (await open()).includes(401));
    assert.deepEqual(await open(), [200, 401]);
  });

  itLong('Groups of Keycloak are teams here from the first sign-in on, and end with the next one', async () => {
    const mapper = { name: 'groups', protocol: 'openid-connect', protocolMapper: 'oidc-group-membership-mapper' };
    const config = { 'claim.name': 'groups', 'full.path': 'false', 'id.token.claim': 'true' };
    await keycloak.admin('POST', `${REALM}/clients/${client.id}/protocol-mappers/models`, { ...mapper, config });
    await keycloak.admin('POST', `${REALM}/groups`, { name: 'ops & on call' });
    const [group] = (await keycloak.admin('GET', `${REALM}/groups`)).body as Named[];
    const changed = await atrium.as('root')('PATCH', '/admin/providers/keycloak', {
      group_claim: 'groups',
      group_mappings: [{ group: 'ops & on call', organization: 'acme', team: 'operators' }],
    });
    assert.equal(changed.status, 200, changed.text);
    const teams = async () => {
      const found = await atrium.as('ann')('GET', '/orgs/acme/members?q=gus');
      return found.body.flatMap((one: { teams: { name: string }[] }) => one.teams.map(({ name }) => name));
    };
    const id = await newUser('gus');
    await keycloak.admin('PUT', `${REALM}/users/${id}/groups/${group?.id}`);
    await signIn('gus');
    assert.deepEqual(await teams(), ['operators']);
    await keycloak.admin('DELETE', `${REALM}/users/${id}/groups/${group?.id}`);
    assert.deepEqual(await teams(), ['operators'], 'until the next sign-in');
    await signIn('gus');
    assert.deepEqual(await teams(), []);
  });

  itLong(
    'After Keycloak has new keys and the old ones are gone, users sign in and logout notices are accepted',
    async (t) => {
      await keycloak.admin('PUT', `${REALM}/clients/${client.id}`, { ...client, frontchannelLogout: false });
      const id = await newUser('kira');
      await signIn('kira');
      await rotateKeys(keycloak);
      const { browser, page } = await signIn('kira');
      assert.equal(new URL(page.url).pathname, '/me', page.text);
      await rotateKeys(keycloak);
      const clock = clockOf(t);
      clock.pass(MINUTE);
      await keycloak.admin('POST', `${REALM}/users/${id}/logout`);
      await until(async () => (await status(browser)) === 401);
    },
  );

  itLong(
    'A robot signs in with the token of a service account of Keycloak, once, and only with that one',
    async (t) => {
      const issuer = `${keycloak.url}/realms/company`;
      const robot = await makeFederatedRobot(atrium);
      const [pipeline, stranger] = [
        await newServiceAccount(keycloak, 'pipeline', atrium.url),
        await newServiceAccount(keycloak, 'stranger', atrium.url),
      ];
      const rule = await atrium.as('ann')('POST', robot.rules, {
        ...{ name: 'keycloak', issuer, claims: { sub: pipeline.subject, azp: 'pipeline' }, scopes: ['read:user'] },
      });
      assert.equal(rule.status, 201, rule.text);
      const send = async (text: string) => await postForm(atrium, exchangeForm(robot.clientId, text));
      const explain = async (token: string) =>
        JSON.stringify((await atrium.as('ann')('POST', `${robot.rules}/explain`, { token })).body);
      const first = await pipeline.token();
      const answer = await send(first);
      assert.equal(answer.status, 200, `${JSON.stringify(answer.body)} ${await explain(first)}`);
      const user = await callWith(atrium, answer.body.access_token)('GET', '/user');
      assert.deepEqual([user.status, user.body.login], [200, robot.clientId]);
      assert.equal((await send(first)).status, 400, 'once');
      assert.equal((await send(await stranger.token())).status, 400, 'another service account');
      const elsewhere = await newServiceAccount(keycloak, 'elsewhere', 'https://elsewhere.example');
      assert.equal((await send(await elsewhere.token())).status, 400, 'for another server');
      const assertion = await pipeline.token();
      const form = { grant_type: BEARER, client_id: robot.clientId, assertion };
      assert.equal((await postForm(atrium, form)).status, 200);
      await rotateKeys(keycloak);
      const rotated = await pipeline.token();
      t.mock.method(performance, 'now', nowIn(11_000));
      const after = await send(rotated);
      assert.equal(after.status, 200, `${JSON.stringify(after.body)} ${await explain(rotated)}`);
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

/** The clock that keys are remembered by, some time later. */
function nowIn(ms: number): () => number {
  const now = performance.now.bind(performance);
  return () => now() + ms;
}

/** A new key with which everything is signed, in place of all others that sign. */
async function rotateKeys({ admin }: KeycloakProcess): Promise<void> {
  const { id: parentId } = (await admin('GET', REALM)).body as Named;
  const path = `${REALM}/components`;
  const type = 'org.keycloak.keys.KeyProvider';
  const all = (await admin('GET', `${path}?type=${type}`)).body as (Named & { providerId: string })[];
  const config = { priority: ['1000'], enabled: ['true'], active: ['true'], algorithm: ['RS256'] };
  const name = `key ${crypto.randomUUID()}`;
  await admin('POST', path, { name, parentId, providerId: 'rsa-generated', providerType: type, config });
  for (const { id, providerId } of all) {
    if (providerId === 'rsa-generated') await admin('DELETE', `${path}/${id}`);
  }
}

/** A client that signs in as itself, and whose tokens are for this audience. */
async function newServiceAccount({ admin, url }: KeycloakProcess, clientId: string, audience: string) {
  const config = { 'included.custom.audience': audience, 'access.token.claim': 'true' };
  const mapper = { name: 'audience', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper', config };
  const grants = { publicClient: false, serviceAccountsEnabled: true, standardFlowEnabled: false };
  await admin('POST', `${REALM}/clients`, { clientId, ...grants, protocolMappers: [mapper] });
  const [{ id } = { id: '' }] = (await admin('GET', `${REALM}/clients?clientId=${clientId}`)).body as Named[];
  const { value } = (await admin('GET', `${REALM}/clients/${id}/client-secret`)).body as { value: string };
  const subject = ((await admin('GET', `${REALM}/clients/${id}/service-account-user`)).body as Named).id;
  return { subject, token };

  async function token(): Promise<string> {
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: value });
    const answer = await fetch(`${url}/realms/company/protocol/openid-connect/token`, { method: 'POST', body });
    return ((await answer.json()) as { access_token: string }).access_token;
  }
}

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
