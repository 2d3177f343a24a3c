import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser, type Visit } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';
import { newUser, PASSWORD } from '../support/world/own-account.ts';
import { addApp, appWith, firstStep, originOf } from '../support/world/second-factors.ts';

describeLong('Second factors in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser.close();
    await atrium.close();
  });

  /** Browsers have passkeys for localhost, and none for an address. */
  const visitor = () => browser.visit({ url: originOf(atrium), world: atrium.world });
  const button = ({ page }: Visit, name: string) => page.getByRole('button', { name, exact: true });
  const heading = ({ page }: Visit, name: string | RegExp) => page.getByRole('heading', { name, level: 1 });
  const fill = async ({ page }: Visit, fields: Readonly<Record<string, string>>) => {
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
  };
  const signIn = async (visit: Visit, login: string) => {
    await visit.page.getByLabel('Username').waitFor();
    await fill(visit, { Username: login, Password: PASSWORD });
    await button(visit, 'Sign in').click();
  };
  const signOut = async (visit: Visit) => {
    await button(visit, 'Sign out').click();
    await visit.page.getByLabel('Username').waitFor();
  };
  /** Chromium's own authenticator, which unlocks itself. */
  const plugIn = async ({ page, context }: Visit) => {
    const devtools = await context.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    } as const;
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options });
    return { devtools, authenticatorId };
  };

  it('A passkey is created in the browser, signs in alone and after the password, and is removed', async () => {
    const { login } = await newUser(atrium);
    const visit = await visitor();
    await plugIn(visit);
    await visit.go('/me/security');
    await signIn(visit, login);
    await heading(visit, 'Second factors').waitFor();
    await button(visit, 'Add passkey').click();
    await fill(visit, { Name: 'Chromium' });
    await button(visit, 'Create passkey').click();
    const codes = visit.page.getByRole('dialog', { name: 'Your recovery codes' });
    assert.equal((await codes.locator('pre').innerText()).split('\n').length, 10);
    await button(visit, 'I have kept them').click();
    await visit.page.getByRole('row').filter({ hasText: 'Chromium' }).waitFor();
    await signOut(visit);
    await button(visit, 'Sign in with a passkey').click();
    await heading(visit, /^Hello/).waitFor();
    await signOut(visit);
    await signIn(visit, login);
    await button(visit, 'Use a passkey').click();
    await heading(visit, /^Hello/).waitFor();
    await visit.go('/me/security');
    await button(visit, 'Remove Chromium').click();
    await button(visit, 'Remove passkey').click();
    await visit.page.getByText('The passkey Chromium was removed.').waitFor();
    assert.deepEqual(visit.faults, []);
  });

  it('An app is added with the key of its QR code, and its code is the second step', async () => {
    const { login } = await newUser(atrium);
    const visit = await visitor();
    await visit.go('/me/security');
    await signIn(visit, login);
    await button(visit, 'Add app').click();
    await visit.page.getByRole('img', { name: 'QR code with the key for the authenticator app' }).waitFor();
    const app = appWith(await visit.page.locator('.copy code').innerText());
    const dialog = visit.page.getByRole('dialog', { name: 'Add an authenticator app' });
    await dialog.getByLabel('Code', { exact: true }).fill(app.wrong());
    await dialog.getByRole('button', { name: 'Add app' }).click();
    await dialog.getByText('is the clock of the app right', { exact: false }).waitFor();
    await dialog.getByLabel('Code', { exact: true }).fill(app.code(-1));
    await dialog.getByRole('button', { name: 'Add app' }).click();
    const codes = await visit.page.getByRole('dialog', { name: 'Your recovery codes' }).locator('pre').innerText();
    await button(visit, 'I have kept them').click();
    await signOut(visit);
    await signIn(visit, login);
    await fill(visit, { 'Code of your authenticator app': app.wrong() });
    await button(visit, 'Sign in').click();
    await visit.page.getByText('This code is wrong, or it was used before.').waitFor();
    await fill(visit, { 'Code of your authenticator app': app.code() });
    await button(visit, 'Sign in').click();
    await heading(visit, /^Hello/).waitFor();
    await signOut(visit);
    await signIn(visit, login);
    await button(visit, 'Use a recovery code instead').click();
    await fill(visit, { 'Recovery code': codes.split('\n')[0] ?? '' });
    await button(visit, 'Sign in').click();
    await heading(visit, /^Hello/).waitFor();
    await visit.go('/me/security');
    await visit.page.getByText('You have 9 of 10 left.', { exact: false }).waitFor();
    assert.deepEqual(visit.faults, []);
  });

  it('A sign-in that is too long ago is proven again in a dialog, and the request goes on', async () => {
    const { login, id } = await newUser(atrium);
    const visit = await visitor();
    await visit.go('/me/tokens');
    await signIn(visit, login);
    await heading(visit, 'Access tokens').waitFor();
    const { sessions } = atrium.instance.identity;
    const { items } = await sessions.list(id, new Date(), { offset: 0, limit: 1 });
    await sessions.prove(id, items[0]?.id ?? 0n, 'password', new Date(Date.now() - 3_600_000));
    await button(visit, 'New token').first().click();
    await fill(visit, { Name: 'laptop' });
    await visit.page.getByLabel('Everything that you may do').check();
    await button(visit, 'Create token').click();
    const dialog = visit.page.getByRole('dialog', { name: 'Is it still you?' });
    await dialog.getByLabel('Your password').fill('a guess');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText('password is wrong', { exact: false }).waitFor();
    await dialog.getByLabel('Your password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await visit.page.getByRole('dialog', { name: 'The new token' }).waitFor();
    assert.deepEqual(visit.faults, []);
  });

  it('With a second factor, the dialog asks for that, and not for the password', async () => {
    const { login, id } = await newUser(atrium);
    const { app } = await addApp((await firstStep(atrium, login)).browser);
    const visit = await visitor();
    await visit.go('/me/tokens');
    await signIn(visit, login);
    await fill(visit, { 'Code of your authenticator app': app.code() });
    await button(visit, 'Sign in').click();
    await heading(visit, 'Access tokens').waitFor();
    const { sessions } = atrium.instance.identity;
    const { items } = await sessions.list(id, new Date(), { offset: 0, limit: 1 });
    await sessions.prove(id, items[0]?.id ?? 0n, 'totp', new Date(Date.now() - 3_600_000));
    await button(visit, 'New token').first().click();
    await fill(visit, { Name: 'laptop' });
    await visit.page.getByLabel('Everything that you may do').check();
    await button(visit, 'Create token').click();
    const dialog = visit.page.getByRole('dialog', { name: 'Is it still you?' });
    await dialog.getByLabel('The code of your authenticator app').fill(app.code(1));
    assert.equal(await dialog.getByLabel('Your password').count(), 0);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await visit.page.getByRole('dialog', { name: 'The new token' }).waitFor();
    assert.deepEqual(visit.faults, []);
  });

  it('A user who must have a second factor adds one before anything else', async () => {
    const [owner, member] = [await newUser(atrium), await newUser(atrium)];
    const { browser: session } = await firstStep(atrium, owner.login);
    await addApp(session);
    const org = `org-of-${owner.login}`;
    assert.equal((await session('POST', '/orgs', { username: org })).status, 201);
    const [team] = (await session('GET', `/orgs/${org}/teams`)).body;
    await session('PUT', `/teams/${team.id}/members/${member.login}`);
    await session('PUT', `/orgs/${org}/second_factor`, { required: true });
    const visit = await visitor();
    await plugIn(visit);
    await visit.go('/');
    await signIn(visit, member.login);
    await visit.page.getByText('One more step before you can go on.').waitFor();
    await button(visit, 'Add a passkey').click();
    await button(visit, 'Create passkey').click();
    await button(visit, 'I have kept them').click();
    await heading(visit, /^Hello/).waitFor();
    assert.deepEqual(visit.faults, []);
  });

  it('Administrators see who has which factor, and remove those that were lost', async () => {
    const { login } = await newUser(atrium);
    const { browser: session } = await firstStep(atrium, login);
    await addApp(session);
    const root = await browser.visit(atrium, 'root');
    await root.go(`/admin/users/${login}`);
    await button(root, 'Show second factors').click();
    await button(root, 'Remove all factors').click();
    await root.page.getByRole('dialog').getByRole('button', { name: 'Remove all factors' }).click();
    await root.page.getByText(`The second factors of ${login} were removed.`).waitFor();
    assert.equal((await firstStep(atrium, login)).answer.status, 200);
    assert.deepEqual(root.faults, []);
  });

  it('Without passwords, the sign-in page still takes passkeys', async () => {
    const company = { name: 'company', issuer: 'https://login.example.com', client_id: 'atrium' };
    const env = { PASSWORDS: 'off', OIDC_PROVIDERS: JSON.stringify([company]) };
    const bare = await openTestServer({ env });
    try {
      const visit = await browser.visit({ url: originOf(bare), world: bare.world });
      await visit.go('/signin');
      await button(visit, 'Sign in with a passkey').waitFor();
      await visit.page.getByRole('link', { name: 'Sign in with company' }).waitFor();
      assert.equal(await visit.page.getByLabel('Username').count(), 0);
      assert.deepEqual(visit.faults, []);
    } finally {
      await bare.close();
    }
  });
});
