import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describeLong('Roles as code in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('A mistake is marked in its line, without images that the policy forbids', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/roles/code');
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('nonsense: [');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.locator('.cm-lint-marker-error').waitFor();
    await page.locator('.fault').waitFor();
    assert.deepEqual(faults, []);
  });

  it('A document that could not be loaded appears without a click when the server answers again', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann', { expected: /Failed to load/ });
    const isExport = /\/authz\/roles\/export\?/;
    const body = JSON.stringify({ message: 'the database does not answer' });
    await page.route(isExport, (route) => route.fulfill({ status: 503, contentType: 'application/json', body }));
    await go('/orgs/acme/roles/code');
    await page.locator('main .fault').waitFor();
    await page.getByText('Not loaded, trying again…').waitFor();
    await page.unroute(isExport);
    await page.locator('.cm-content').waitFor();
    await page.getByText('Exact as of now').waitFor();
    assert.equal(await page.locator('main .fault').count(), 0);
    assert.deepEqual(faults, []);
  });

  it('A user who may not see the roles is told why, and who can help', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'dan');
    await go('/orgs/acme/roles/code');
    await page.getByRole('heading', { name: 'You cannot see this' }).waitFor();
    await page.getByRole('link', { name: 'Ways to get it' }).waitFor();
    assert.equal(await page.getByText('Missing relation').count(), 0);
    assert.deepEqual(faults, []);
  });
});
