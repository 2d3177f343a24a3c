import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

/** The browser reports each file and call that it cannot load. */
const AWAY = /ERR_|Failed to load|Failed to fetch/;

describeLong('A page whose file cannot be loaded', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('It says so, does not claim to be exact, and loads by itself when the server is back', async () => {
    const { page, context, go, faults } = await browser.visit(atrium, 'ann', { expected: AWAY });
    await go('/orgs/acme/teams');
    await page.getByText('Exact as of now').waitFor();
    await context.setOffline(true);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await page.getByText('Not loaded, trying again…').waitFor();
    assert.equal(await page.getByText('Exact as of now').count(), 0);

    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
    await page.getByRole('link', { name: 'dan' }).waitFor();
    assert.equal(await page.getByRole('heading', { name: 'This page could not be loaded' }).count(), 0);
    assert.deepEqual(faults, []);
  });

  it('The same holds for an area whose pages were not needed before', async () => {
    const { page, context, go, faults } = await browser.visit(atrium, 'ann', { expected: AWAY });
    await go('/orgs/acme/teams');
    await page.getByText('Exact as of now').waitFor();
    await context.setOffline(true);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'My account' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();

    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    assert.equal(await page.getByRole('heading', { name: 'This page could not be loaded' }).count(), 0);
    assert.deepEqual(faults, []);
  });

  it('If the file has gone with an update of the server, the page is loaded anew, once', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann', { expected: AWAY });
    await go('/orgs/acme/teams');
    let isGone = true;
    await page.route(/\/assets\/guardrails-[^/]*\.js$/, async (route) => {
      await (isGone ? route.fulfill({ status: 404, body: '' }) : route.continue());
    });
    const reloaded = page.waitForEvent('load');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Guardrails' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await reloaded;
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    isGone = false;
    await page.getByRole('heading', { name: 'Guardrails', exact: true }).waitFor();
    assert.deepEqual(faults, []);
  });
});
