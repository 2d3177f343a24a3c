import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describeLong('The forms of the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('A role with unsaved changes is left only after a question', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const questions: string[] = [];
    let isAccepted = false;
    page.on('dialog', async (dialog) => {
      questions.push(dialog.message());
      await (isAccepted ? dialog.accept() : dialog.dismiss());
    });
    const menu = page.getByRole('navigation', { name: 'Main' });
    await go('/orgs/acme/roles/new');
    await page.getByLabel('Name', { exact: true }).fill('auditor');
    await menu.getByRole('link', { name: 'Teams' }).click();
    assert.deepEqual(questions, ['Leave without saving? What you changed here will be lost.']);
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'auditor');
    isAccepted = true;
    await menu.getByRole('link', { name: 'Teams' }).click();
    await page.getByRole('heading', { name: 'Teams', exact: true }).waitFor();

    await go('/orgs/acme/roles/new');
    await page.getByLabel('Name', { exact: true }).fill('auditor');
    await page.getByLabel('view audit log').check();
    await page.getByRole('button', { name: 'Create role' }).click();
    await page.getByRole('heading', { name: 'auditor', exact: true }).waitFor();
    await menu.getByRole('link', { name: 'Teams' }).click();
    await page.getByRole('heading', { name: 'Teams', exact: true }).waitFor();
    assert.equal(questions.length, 2);
    assert.deepEqual(faults, []);
  });

  it('Adding a person begins in the field, says there that nobody has the name, and previews known people only', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const previews: string[] = [];
    page.on('request', (request) => request.url().includes('/authz/preview') && previews.push(request.url()));
    await go('/orgs/acme/members');
    await page.getByRole('link', { name: 'dan' }).waitFor();
    await page.getByRole('button', { name: 'Add person' }).click();
    const dialog = page.getByRole('dialog');
    const person = dialog.getByRole('combobox', { name: 'Person' });
    await person.waitFor();
    assert.equal(await person.evaluate((field) => field === field.ownerDocument.activeElement), true);
    await page.keyboard.type('nobody-at-all');
    await dialog.locator('.picker').getByText('No user has this name.').waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Add person' }).getAttribute('aria-disabled'), 'true');
    assert.deepEqual(previews, []);
    await person.fill('eve');
    await dialog.getByText('gains').first().waitFor();
    assert.deepEqual(faults, []);
  });

  it('Forms of pages that the user may not change are read-only, and say why', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'dan');
    await go('/orgs/acme/settings');
    await page.getByText('You cannot change the organization, so these fields are read-only.').waitFor();
    assert.equal(await page.getByLabel('Full name').isDisabled(), true);
    assert.deepEqual(faults, []);
  });

  it('An organization that the user may not see has no menu and no action', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'eve');
    await go('/orgs/acme/members');
    await page.getByRole('heading', { name: 'You cannot see this' }).waitFor();
    await settled();
    assert.equal(await page.getByRole('button', { name: 'Add person' }).count(), 0);
    assert.equal(await page.locator('nav a[href^="/orgs/acme/"]').count(), 0);
    assert.deepEqual(faults, []);
  });
});
