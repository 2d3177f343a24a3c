import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser, type Visit } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describeLong('My account in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  let ann: Visit;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
    ann = await browser.visit(atrium, 'ann', { acceptDownloads: true });
  });
  after(async () => {
    await browser.close();
    await atrium.close();
  });

  const password = () => atrium.world.users.ann?.password ?? '';
  const button = (name: string | RegExp) => ann.page.getByRole('button', { name, exact: true });
  const dialog = (name: string) => ann.page.getByRole('dialog', { name });
  const shown = async (text: string) => await ann.page.getByText(text).first().waitFor();
  const row = (text: string) => ann.page.getByRole('row').filter({ hasText: text });

  it('The start page shows what needs attention, my organizations and my clusters', async () => {
    const soon = new Date(Date.now() + 3 * 86_400_000);
    const accountId = atrium.world.users.ann?.id ?? 0n;
    await atrium.instance.identity.tokens.issue({ accountId, name: 'ending', scopes: ['read:user'], expiresAt: soon });
    await ann.go('/');
    const attention = ann.page.locator('section').filter({ hasText: 'Needs attention' });
    await attention.getByRole('link', { name: 'The token ending' }).waitFor();
    await attention.getByRole('link', { name: 'ann.archer@example.org' }).waitFor();
    await ann.page.getByRole('link', { name: 'acme', exact: true }).waitFor();
    await row('prod').getByText('GKE').waitFor();
    assert.deepEqual(ann.faults, []);
  });

  it('A credential has a page that can be opened and reloaded, and one that is not there says so', async () => {
    const body = { name: 'by-address', type: 'Aws', text: 'hidden' };
    const made = await atrium.as('ann')('POST', '/user/credentials', body);
    assert.ok(made.status < 300, made.text);
    await ann.go('/me/credentials');
    await ann.page.getByRole('link', { name: 'by-address' }).click();
    await ann.page.getByRole('heading', { name: 'by-address' }).waitFor();
    assert.equal(new URL(ann.page.url()).pathname, '/me/credentials/by-address');
    await ann.page.reload();
    await button('Delete by-address').click();
    await button('Delete credential').click();
    await shown('The credential by-address was deleted.');
    await ann.page.getByRole('heading', { name: 'Cloud credentials' }).waitFor();
    await ann.go('/me/credentials/by-address');
    await shown('You have no cloud credential of this name.');
    assert.deepEqual(ann.faults, []);
  });

  it('The profile is saved, and what the server rejects is said at the field', async () => {
    await ann.go('/me');
    await ann.page.getByLabel('Full name').fill('Ann Miller');
    await ann.page.getByLabel('Website').fill('javascript:alert(1)');
    await button('Save profile').click();
    await shown('This must be an http or https URL.');
    await ann.page.getByLabel('Website').fill('https://ann.example');
    await button('Save profile').click();
    await shown('Your profile was saved.');
    const { body } = await atrium.as('ann')('GET', '/user');
    assert.deepEqual([body.full_name, body.website], ['Ann Miller', 'https://ann.example']);
    assert.deepEqual(ann.faults, []);
  });

  it('Addresses are added and removed, and the primary one says why it stays', async () => {
    await ann.go('/me/emails');
    await button('Remove ann@example.com').focus();
    await shown('The primary address cannot be removed.');
    await button('Add addresses').click();
    await dialog('Add email addresses').getByLabel('Email addresses').fill('a@work.example\nb@work.example');
    await button('Add').click();
    await row('b@work.example').getByText('verified').waitFor();
    await button('Remove a@work.example').click();
    await button('Remove address').click();
    await shown('The address a@work.example was removed.');
    assert.equal((await atrium.as('ann')('GET', '/user/emails')).body.length, 3);
    assert.deepEqual(ann.faults, []);
  });

  it('Other sessions are listed and ended, and this one stays', async () => {
    const other = await browser.visit(atrium, 'ann', { userAgent: 'Mozilla/5.0 (X11; Linux) Gecko Firefox/150.0' });
    await ann.go('/me/sessions');
    await button('End the session of Firefox on Linux').click();
    await button('End session').click();
    await shown('The session was ended.');
    await other.page.goto(`${atrium.url}/me`);
    await other.page.getByLabel('Username').waitFor();
    await row('this one').waitFor();
    await other.context.close();
    assert.deepEqual(ann.faults, []);
  });

  it('A token is created with the scopes of the matrix, shown once, and revoked', async () => {
    await ann.go('/me/tokens');
    await button('New token').click();
    const form = dialog('New access token');
    await form.getByLabel('Name').fill('pipeline');
    await form.getByLabel('Account: Read', { exact: true }).check();
    await form.getByLabel('Organizations: Read and write').check();
    await button('Create token').click();
    const text = await dialog('The new token').locator('pre').first().textContent();
    const as = (method: string, path: string, body?: object) =>
      atrium.as()(method, path, body, { Authorization: `token ${text}` });
    assert.equal((await as('GET', '/user')).status, 200);
    assert.equal((await as('PATCH', '/user', {})).status, 403);
    await button('Done').click();
    assert.equal(await ann.page.getByText(text ?? '').count(), 0);
    await row('pipeline').getByText('write organizations').waitFor();
    await row('pipeline').getByText('in 30 days').waitFor();
    await button('Revoke pipeline').click();
    await button('Revoke token').click();
    await shown('The token pipeline was revoked.');
    assert.equal((await as('GET', '/user')).status, 401);
    assert.deepEqual(ann.faults, []);
  });

  it('An agent gets a token for an hour, which one click ends', async () => {
    await ann.go('/me/agents');
    await ann.page.getByRole('button', { name: 'New agent' }).first().click();
    const form = dialog('New agent');
    await form.getByLabel('Name of the agent').fill('assistant');
    await form.getByLabel('Organization').selectOption('acme');
    await button('Create token').click();
    const text = await dialog('The token of the agent').locator('pre').first().textContent();
    const read = () => atrium.as()('GET', '/orgs/acme/teams', undefined, { Authorization: `token ${text}` });
    assert.equal((await read()).status, 200);
    await button('Done').click();
    await row('assistant').getByText('acme').waitFor();
    await button('End assistant').click();
    await shown('The token of assistant has ended.');
    assert.equal((await read()).status, 401);
    await ann.page.getByText('No agent acts for you at the moment.').waitFor();
    assert.deepEqual(ann.faults, []);
  });

  it('A credential is stored by a form or as raw JSON, replaced and deleted, and no secret is loaded', async () => {
    const secrets: string[] = [];
    ann.page.on('response', async (response) => {
      if (response.url().includes('/user/credentials')) secrets.push(await response.text().catch(() => ''));
    });
    await ann.go('/me/credentials');
    await button('New credential').click();
    const form = dialog('New cloud credential');
    await form.getByLabel('Provider').selectOption('S3-compatible storage');
    await form.getByLabel('Name').fill('minio');
    await form.getByLabel('Endpoint').fill('https://storage.example');
    await form.getByLabel('Access key ID').fill('AKIA');
    await form.getByLabel('Secret access key').fill('canary-1');
    await button('Store credential').click();
    await row('minio').waitFor();
    const { body } = await atrium.as('ann')('GET', '/user/credentials/minio');
    assert.deepEqual(
      [body.type, body.s3],
      ['S3', { endpoint: 'https://storage.example', accessKeyID: 'AKIA', secretAccessKey: 'canary-1' }],
    );
    await button('New credential').click();
    await form.getByLabel('Provider').selectOption('Raw JSON');
    await form.getByLabel('Credential').fill('{"name": "exact", "number": 9007199254740993');
    await button('Store credential').click();
    await shown('This is not JSON');
    await form.getByLabel('Credential').fill('{"name": "exact", "number": 9007199254740993}');
    await button('Store credential').click();
    await row('exact').waitFor();
    assert.match((await atrium.as('ann')('GET', '/user/credentials/exact')).text, /9007199254740993/);
    await button('Delete exact').click();
    await button('Delete credential').click();
    await shown('The credential exact was deleted.');
    assert.ok(secrets.length > 0);
    assert.doesNotMatch(secrets.join(), /canary|AKIA|serviceAccount/);
    assert.deepEqual(ann.faults, []);
  });

  it('Clusters of my own are imported and removed after their name was typed', async () => {
    await ann.go('/me/clusters');
    await button('Import a cluster').click();
    const form = dialog('Import a cluster');
    await form.getByLabel('Name', { exact: true }).fill('attic');
    await form.getByLabel('UID').fill(crypto.randomUUID());
    await button('Import cluster').click();
    await button('Remove attic').click();
    await ann.page.getByLabel('Type attic to confirm').fill('attic');
    await button('Remove cluster').click();
    await shown('The cluster attic was removed.');
    assert.deepEqual(ann.faults, []);
  });

  it('People are followed and unfollowed, with a way back', async () => {
    await ann.go('/me/following');
    await button('Follow a user').first().click();
    const name = ann.page.getByRole('combobox', { name: 'Username' });
    await name.fill('da');
    await ann.page.getByRole('option', { name: 'dan' }).click();
    await button('Follow').click();
    await button('Unfollow dan').click();
    await button('Undo').click();
    await row('dan').waitFor();
    assert.equal((await atrium.as('ann')('GET', '/user/following/dan')).status, 204);
    assert.deepEqual(ann.faults, []);
  });

  it('Credentials of the bus come as a file', async () => {
    await ann.go('/me/bus');
    await button('Get credentials').click();
    await shown('They expire in');
    const [download] = await Promise.all([ann.page.waitForEvent('download'), button('Download credentials').click()]);
    assert.equal(download.suggestedFilename(), 'atrium.creds');
    assert.deepEqual(ann.faults, []);
  });

  it('An order is listed, rendered and deleted', async () => {
    const chart = {
      name: 'redis',
      sourceRef: { name: 'charts' },
      version: '1.2.3',
      releaseName: 'cache',
      namespace: 'x',
    };
    const made = await atrium.as('ann')('POST', '/user/deploy/orders', { spec: { items: [{ chart }] } });
    assert.equal(made.status, 200, made.text);
    await ann.go('/me/orders');
    await button('cache').click();
    await dialog('Manifests of cache').getByText('kind: HelmRelease').waitFor();
    await button('Close').click();
    await button('Delete cache').click();
    await button('Delete order').click();
    await shown('You have no orders.');
    assert.deepEqual(ann.faults, []);
  });

  it('A new password needs the current one only if the session is old, and ends the other sessions', async () => {
    await ann.go('/me/password');
    await ann.page.getByLabel('Current password').fill('a guess');
    for (const label of ['New password', 'New password again']) {
      await ann.page.getByLabel(label, { exact: true }).fill('another password');
    }
    await button('Change password').click();
    await shown('the current password is wrong');
    await ann.page.getByLabel('Current password').fill(password());
    await button('Change password').click();
    await shown('The password was changed. All your other sessions have ended.');
    const signIn = { username: 'ann', password: 'another password' };
    assert.equal((await atrium.as()('POST', '/user/signin', signIn)).status, 200);
    assert.deepEqual(ann.faults, []);
  });
});
