import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { lacks } from '../support/requirements.ts';
import { openTestServer, type TestServer } from '../support/server.ts';

describe('the administration pages of the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('lead a site administrator from the numbers to a person, who is created, stopped and deleted', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    const dialog = page.getByRole('dialog');
    await go('/admin');
    await page.getByText('Nothing needs attention.').waitFor();
    await page.getByRole('link', { name: /^\d+ People$/ }).click();
    await page.getByRole('button', { name: 'New person' }).click();
    await dialog.getByLabel('Username').fill('zoe');
    await dialog.getByLabel('Email').fill('ann@example.com');
    await dialog.getByLabel('Password').fill('a long enough password');
    await dialog.getByRole('button', { name: 'Create person' }).click();
    await dialog.getByText('email address is in use: ann@example.com').waitFor();
    await dialog.getByLabel('Email').fill('zoe@example.com');
    await dialog.getByRole('button', { name: 'Create person' }).click();
    await page.getByRole('heading', { name: 'zoe', level: 1 }).waitFor();
    await page.getByText('They are in no organization.').waitFor();

    const { status } = await atrium.as()('POST', '/user/signin', {
      username: 'zoe',
      password: 'a long enough password',
    });
    assert.equal(status, 200);
    await page.reload();
    await page.getByRole('button', { name: 'End all sessions' }).click();
    await dialog.getByRole('button', { name: 'End all sessions' }).click();
    await page.getByText('They are signed in with no browser.').waitFor();
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText('zoe was deactivated.').waitFor();

    await go('/admin/users?state=inactive');
    await page.getByLabel('Search', { exact: true }).fill('zoe@');
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'zoe' }).click();
    await page.getByRole('button', { name: 'Delete person' }).click();
    await dialog.getByLabel('Type zoe to confirm').fill('zoe');
    await dialog.getByRole('button', { name: 'Delete person' }).click();
    await page.getByText('zoe was deleted.').waitFor();
    assert.equal((await atrium.as('root')('GET', '/users/zoe')).status, 404);
    assert.deepEqual(faults, []);
  });

  it('show what a person holds, revoke a token, and warn before organizations lose their last owner', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    const dialog = page.getByRole('dialog');
    const accountId = (await atrium.as('ann')('GET', '/user')).body.id;
    await atrium.instance.identity.tokens.issue({ accountId, name: 'lost-laptop', scopes: ['read:user'] });
    await go('/admin/users/ann');
    await page.getByRole('link', { name: 'acme' }).waitFor();
    await page.getByRole('button', { name: 'Revoke lost-laptop' }).click();
    await dialog.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('The token lost-laptop was revoked.').waitFor();
    await page.getByRole('button', { name: 'Delete person' }).click();
    await dialog.getByText(/They own .*acme/).waitFor();
    await dialog.getByLabel('Type ann to confirm').fill('ann');
    await dialog.getByRole('button', { name: 'Delete person' }).click();
    await dialog.getByText(/last owner of an organization cannot be deleted: .*acme/).waitFor();
    assert.deepEqual(faults, []);
  });

  it('tell the last administrator why they cannot step down, also by keyboard', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    await go('/admin/users/root');
    for (const name of ['Deactivate', 'Prohibit sign-in', 'Remove as administrator']) {
      const button = page.locator('[aria-disabled="true"]', { hasText: name });
      await button.press('Enter');
      await page
        .locator('.explained', { has: button })
        .getByText('You are the last active site administrator.')
        .waitFor();
    }
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.locator('[aria-disabled="true"]', { hasText: 'Delete person' }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('find an organization by its full name, and filter the audit log by it', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    await go('/admin/orgs');
    await page.getByRole('link', { name: 'globex' }).waitFor();
    await page.getByLabel('Search', { exact: true }).fill('acme corp');
    await page.getByRole('link', { name: 'globex' }).waitFor({ state: 'detached' });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Audit log' }).last().click();
    await page.getByRole('cell', { name: 'deployment' }).first().waitFor();
    await page.getByLabel('Organization').selectOption('globex');
    await page.getByRole('cell', { name: 'deployment' }).first().waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'globex' }).first().waitFor();
    assert.match(page.url(), /\/admin\/audit\?org=globex/);
    assert.deepEqual(faults, []);
  });

  it('explain themselves to everybody else, and are in nobody else’s menu', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    for (const path of [
      '/admin',
      '/admin/users',
      '/admin/users/bob',
      '/admin/orgs',
      '/admin/audit',
      '/admin/deliveries',
    ]) {
      await go(path);
      await page.getByText('Only site administrators can.').waitFor();
    }
    assert.equal(await page.getByRole('heading', { name: 'Administration' }).count(), 0);
    assert.deepEqual(
      calls.filter((path) => path.startsWith('/api/v1/admin')),
      [],
    );
    assert.deepEqual(faults, []);
  });
});
