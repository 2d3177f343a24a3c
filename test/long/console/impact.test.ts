import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/server/browser.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { lacks } from '../../support/services/requirements.ts';
import { numbersOf } from '../../support/world/authz.ts';

describe('The impact that the console shows before a change', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  let ids: ReturnType<typeof numbersOf>;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
    ids = numbersOf(atrium);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  const impactOn = (page: Page) =>
    page.locator('section', { has: page.getByRole('heading', { name: 'Impact' }) }).last();

  it('The role editor asks while somebody clicks, and shows the answer to the last click only', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/authz/preview')) asked.push(request.postData() ?? '');
    });
    await go(`/orgs/acme/roles/${ids.role('cluster-operator')}`);
    await impactOn(page).getByText('Change something').waitFor();
    await page.getByLabel('connect to clusters').uncheck();
    await page.getByLabel('edit clusters').check();
    await impactOn(page).getByText('gains edit clusters').waitFor();
    await impactOn(page).getByText('loses connect to clusters').waitFor();
    assert.match(await impactOn(page).innerText(), /dan/);
    assert.ok(asked.length <= 2, `${asked.length} requests`);
    assert.match(asked.at(-1) ?? '', /"action":"role.update"/);
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await impactOn(page).getByText('Change something').waitFor();
    assert.deepEqual(faults, []);
  });

  it('A new role shows who would gain it, before it has a name', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/roles/new');
    await page.getByLabel('view audit log').check();
    await page.getByLabel('operators').check();
    await impactOn(page).getByText('gains view audit log').waitFor();
    assert.deepEqual(faults, []);
  });

  it('Deleting a role, deleting a team and revoking a role show what is lost before they ask', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const dialog = page.getByRole('dialog');
    await go(`/orgs/acme/roles/${ids.role('cluster-operator')}`);
    await page.getByRole('button', { name: 'Delete role' }).click();
    await impactOn(page).getByText('loses connect to clusters').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await go(`/orgs/acme/teams/${ids.team('operators')}`);
    await page.getByRole('button', { name: 'Delete team' }).click();
    await impactOn(page).getByText('loses leave: organization acme').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'End cluster-operator' }).click();
    await impactOn(page).getByText('loses connect to clusters').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove dan' }).click();
    await impactOn(page).getByText('loses view: team operators').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Edit team' }).click();
    await dialog.getByLabel('Permission').selectOption('read');
    await impactOn(page).getByText('gains view contracts').waitFor();
    assert.deepEqual(faults, []);
  });

  it('The last owner sees what no user could do any more, and that the server would refuse', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    await go('/orgs/acme/members/ann');
    await page.getByRole('button', { name: 'Remove from organization' }).click();
    await impactOn(page).getByText('No user could do this any more').waitFor();
    await impactOn(page).getByText('delete: organization acme').last().waitFor();
    await impactOn(page).getByText('The server would reject this').waitFor();
    assert.deepEqual(faults, []);
  });

  it('Whoever leaves sees what they lose', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'cat');
    await go('/orgs/acme/members/cat');
    await page.getByRole('button', { name: 'Leave organization' }).click();
    await impactOn(page).getByText('loses view members').waitFor();
    assert.deepEqual(faults, []);
  });

  it('A role document shows by person what it would change, after a review', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/roles/code');
    await impactOn(page).getByText('After a review').waitFor();
    await page.getByLabel('Delete roles that are not in the document').check();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await impactOn(page).getByText('No user gains or loses anything.').waitFor();
    assert.deepEqual(faults, []);
  });
});
