import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { itLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser, type Visit } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { startRealProvider } from '../support/services/real-provider.ts';
import { lacks } from '../support/services/requirements.ts';
import { addProvider, callIn, signInWith } from '../support/world/provider-visits.ts';
import { appWith } from '../support/world/second-factors.ts';

describe('The doors of the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([
      openTestServer({ env: { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8' } }),
      openBrowser(),
    ]);
  });
  after(async () => {
    await browser.close();
    await atrium.close();
  });

  const secretsOf = (name: string) => atrium.world.users[name] ?? assert.fail(name);
  const button = ({ page }: Visit, name: string) => page.getByRole('button', { name, exact: true });
  const heading = ({ page }: Visit, name: string) => page.getByRole('heading', { name, level: 1, exact: true });
  const fill = async ({ page }: Visit, fields: Readonly<Record<string, string>>) => {
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
  };

  it('A wrong password is refused in words, the right one opens the page that was asked for, and out is out', async () => {
    const visit = await browser.visit(atrium);
    await visit.go('/me/password');
    await fill(visit, { Username: 'ann', Password: 'a guess' });
    await button(visit, 'Sign in').click();
    await visit.page.getByText('The username or the password is wrong.').waitFor();
    await fill(visit, { Password: secretsOf('ann').password ?? '' });
    await button(visit, 'Sign in').click();
    await heading(visit, 'Password').waitFor();
    await button(visit, 'Sign out').click();
    await visit.page.waitForURL('**/signin');
    await visit.page.getByLabel('Username').waitFor();
    await visit.go('/me');
    await visit.page.getByLabel('Username').waitFor();
    assert.deepEqual(visit.faults, []);
  });

  itLong(
    'A provider has a button, a first sign-in asks before it links an account, and signing out leads there',
    async () => {
      const provider = await startRealProvider();
      try {
        await provider.serve(atrium.url, 'company');
        await addProvider(atrium, provider, 'company', { display_name: 'Company' });
        const { email } = (await atrium.as('bob')('GET', '/user')).body;
        provider.signInAs('bob-at-company', { email, email_verified: true });
        const visit = await browser.visit(atrium);
        await visit.go('/me/sessions');
        const enter = visit.page.getByRole('link', { name: 'Sign in with Company', exact: true });
        await enter.click();
        await visit.page.getByRole('heading', { name: 'Link to the account bob?' }).waitFor();
        await fill(visit, { Password: secretsOf('bob').password ?? '' });
        await button(visit, 'Sign in').click();
        await button(visit, 'Link account').click();
        // The page that was asked for before all this.
        await heading(visit, 'Sessions').waitFor();
        await button(visit, 'Sign out').click();
        await visit.page.waitForURL('**/signin');
        // The provider still knows who it is, and from now on that is enough.
        await enter.click();
        await heading(visit, 'Hello Bob Baker').waitFor();
        await button(visit, 'Sign out').click();
        await visit.page.waitForURL(`${provider.issuer}/**`);
        const faults = visit.faults.filter((fault) => !fault.startsWith(`another origin: ${provider.issuer}`));
        assert.deepEqual(faults, []);
      } finally {
        await provider.close();
      }
    },
  );

  itLong('A second factor comes after the provider, and whoever has none can be asked by it again', async () => {
    const provider = await startRealProvider();
    try {
      await provider.serve(atrium.url, 'office');
      await addProvider(atrium, provider, 'office', { display_name: 'Office', create_accounts: true });
      const person = (name: string) => ({
        email: `${name}@example.com`,
        email_verified: true,
        preferred_username: name,
      });
      const { browser: first } = await signInWith(atrium, provider, 'office', ['olga', person('olga')]);
      const call = (method: string, path: string, body?: unknown) => callIn(first, atrium.url, method, path, body);
      const { body: proposed } = await call('POST', '/user/factors/totp');
      const app = appWith(proposed.secret);
      await call('PUT', '/user/factors/totp', { enrollment: proposed.enrollment, code: app.code(-1) });
      const visit = await browser.visit(atrium);
      const enter = visit.page.getByRole('link', { name: 'Sign in with Office', exact: true });
      await visit.go('/me/tokens');
      await enter.click();
      await fill(visit, { 'Code of your authenticator app': app.code() });
      await button(visit, 'Sign in').click();
      await heading(visit, 'Access tokens').waitFor();
      await visit.context.clearCookies();
      provider.signInAs('pia', person('pia'));
      await visit.go('/me/tokens');
      await enter.click();
      await heading(visit, 'Access tokens').waitFor();
      const { sessions, callers } = atrium.instance.identity;
      const { id } = (await callers.personSigningIn('pia')) ?? assert.fail('no pia');
      const { items } = await sessions.list(id, new Date(), { offset: 0, limit: 1 });
      await sessions.prove(id, items[0]?.id ?? 0n, 'provider', new Date(Date.now() - 3_600_000));
      const create = async () => {
        await button(visit, 'New token').first().click();
        await fill(visit, { Name: 'laptop' });
        await visit.page.getByLabel('Everything that you may do').check();
        await button(visit, 'Create token').click();
      };
      await create();
      await visit.page.getByRole('button', { name: 'Or sign in again with Office' }).click();
      // In a window of its own: what was typed is still there, and the request goes on.
      await visit.page.getByRole('dialog', { name: 'The new token' }).waitFor();
      const { items: open } = await sessions.list(id, new Date(), { offset: 0, limit: 5 });
      assert.equal(open.length, 1, 'the session that was replaced has ended');
    } finally {
      await provider.close();
    }
  });

  itLong('An account is linked also if its session is old, and with another provider', async () => {
    const [company, partner] = await Promise.all([startRealProvider(), startRealProvider()]);
    try {
      await company.serve(atrium.url, 'linker');
      await partner.serve(atrium.url, 'partner');
      await addProvider(atrium, company, 'linker', { display_name: 'Linker' });
      await addProvider(atrium, partner, 'partner', { display_name: 'Partner', create_accounts: true });
      const person = { email: 'lou@example.com', email_verified: true, preferred_username: 'lou' };
      partner.signInAs('lou-at-partner', person);
      company.signInAs('lou-at-linker', person);
      const visit = await browser.visit(atrium);
      const enter = (name: string) => visit.page.getByRole('link', { name: `Sign in with ${name}`, exact: true });
      await visit.go('/me');
      await enter('Partner').click();
      await heading(visit, 'Profile').waitFor();
      const { sessions, callers } = atrium.instance.identity;
      const { id } = (await callers.personSigningIn('lou')) ?? assert.fail('no lou');
      await visit.context.clearCookies();
      await visit.go('/me/sessions');
      await enter('Linker').click();
      await visit.page.getByRole('heading', { name: 'Link to the account lou?' }).waitFor();
      await visit.page.getByText('Linker says that lou@example.com is yours.').waitFor();
      assert.equal(await enter('Linker').count(), 0, 'that is the one that is to be linked');
      // Both providers of this test are on one host, and would take the cookies of each other for their own.
      await visit.context.clearCookies({ name: /^_/ });
      await enter('Partner').click();
      await button(visit, 'Link account').waitFor();
      const { items } = await sessions.list(id, new Date(), { offset: 0, limit: 1 });
      await sessions.prove(id, items[0]?.id ?? 0n, 'provider', new Date(Date.now() - 3_600_000));
      await button(visit, 'Link account').click();
      await visit.page.getByRole('button', { name: 'Or sign in again with Partner' }).click();
      await heading(visit, 'Sessions').waitFor();
      const links = (await atrium.as('root')('GET', '/admin/users/lou/linked_accounts')).body;
      assert.equal(links.length, 2);
    } finally {
      await Promise.all([company.close(), partner.close()]);
    }
  });

  itLong('A token opens the console too, and a wrong one does not', async () => {
    const visit = await browser.visit(atrium);
    await visit.go('/signin');
    await button(visit, 'Use a token instead').click();
    await fill(visit, { 'Access token': 'atr_nonsense' });
    await button(visit, 'Sign in').click();
    await visit.page.getByText('This token does not exist, or it has expired.').waitFor();
    await fill(visit, { 'Access token': secretsOf('bob').token ?? '' });
    await button(visit, 'Sign in').click();
    await heading(visit, 'Hello Bob Baker').waitFor();
    assert.equal(new URL(visit.page.url()).pathname, '/');
    assert.deepEqual(visit.faults, []);
  });

  itLong('A session that ends in the middle of a form costs nothing that was typed', async () => {
    const visit = await browser.visit(atrium, 'cat');
    await visit.go('/me');
    await fill(visit, { Location: 'Zurich', 'About you': 'Keeps an eye on things.' });
    assert.equal((await atrium.as('cat')('DELETE', '/user/sessions')).status, 204);
    await button(visit, 'Save profile').click();
    const dialog = visit.page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password', { exact: true }).fill(secretsOf('cat').password ?? '');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await visit.page.getByText('Your profile was saved.').waitFor();
    assert.equal(await visit.page.getByLabel('Location').inputValue(), 'Zurich');
    const { body } = await atrium.as('cat')('GET', '/user');
    assert.deepEqual([body.location, body.description], ['Zurich', 'Keeps an eye on things.']);
    assert.deepEqual(visit.faults, []);
  });

  itLong('The link of a first start signs in, leaves no token in the address, and has a password set', async () => {
    const made = { name: 'boss', email: 'boss@example.com', isAdmin: true };
    const accountId = await atrium.instance.features.users.create(made);
    const { text } = await atrium.instance.identity.tokens.issue({ accountId, name: 'first', scopes: ['all'] });
    const visit = await browser.visit(atrium);
    await visit.page.goto(`${atrium.url}/welcome#token=${text}`);
    await visit.page.getByText('You are signed in as boss.').waitFor();
    assert.equal(visit.page.url(), `${atrium.url}/welcome`);
    await fill(visit, { 'New password': 'short' });
    await button(visit, 'Set password').click();
    await visit.page.getByText('Password must have 8 to 255 characters.').waitFor();
    await fill(visit, { 'New password': 'a long enough password' });
    await button(visit, 'Set password').click();
    for (const card of ['Create an organization', 'Import a cluster', 'Ask why']) {
      await visit.page.getByRole('link', { name: card }).waitFor();
    }
    await visit.page.getByRole('link', { name: 'Create an organization' }).click();
    await heading(visit, 'New organization').waitFor();
    const signIn = { username: 'boss', password: 'a long enough password' };
    assert.equal((await atrium.as()('POST', '/user/signin', signIn)).status, 200);
    assert.deepEqual(visit.faults, []);
  });

  itLong('The welcome page without a token leads to the sign-in, and one that does not work says so', async () => {
    const visit = await browser.visit(atrium);
    await visit.page.goto(`${atrium.url}/welcome`);
    await visit.page.getByLabel('Username').waitFor();
    assert.equal(new URL(visit.page.url()).pathname, '/signin');
    await visit.page.goto(`${atrium.url}/welcome#token=atr_nonsense`);
    await visit.page.getByText('This link does not work.').waitFor();
    assert.equal(visit.page.url(), `${atrium.url}/welcome`);
    assert.deepEqual(visit.faults, []);
  });

  itLong('A link does not replace the session of somebody who is signed in without asking', async () => {
    const visit = await browser.visit(atrium, 'ann');
    await visit.page.goto(`${atrium.url}/welcome#token=${secretsOf('bob').token}`);
    await visit.page.getByText('You are signed in already.').waitFor();
    assert.equal(visit.page.url(), `${atrium.url}/welcome`);
    await visit.page.getByRole('link', { name: 'Stay signed in' }).click();
    await heading(visit, 'Hello Ann Archer').waitFor();
    assert.deepEqual(visit.faults, []);
  });
});
