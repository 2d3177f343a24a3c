import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describeLong('The audit log in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
    const path = `/clusters/${atrium.world.clusters.prod?.id}/heartbeat`;
    assert.equal((await atrium.as('ann')('POST', path, { phase: 'Inactive' })).status, 204);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('Entries are found by person, object and time, with pickers and by looking, and what is shown is exported', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/audit');
    await settled();
    const today = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(new Date());
    await page.getByText(new RegExp(`^${today.replace(/,? /, ',? ')}$`)).waitFor();
    const rows = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr:not(.group-row)');
    const all = await rows.count();
    const query = () => new URL(page.url()).searchParams;

    await page.getByRole('combobox', { name: 'Who' }).fill('an');
    await page.getByRole('option', { name: 'ann' }).click();
    await page.getByLabel('Object', { exact: true }).selectOption('cluster');
    await page.getByRole('combobox', { name: 'Which one' }).fill('pro');
    await page.getByRole('option', { name: 'prod' }).click();
    await page.waitForURL(/object=cluster%3A\d+/);
    await until(async () => (await rows.filter({ hasText: 'staging' }).count()) === 0);
    await settled();
    assert.equal(query().get('actor'), 'ann');
    const some = await rows.count();
    assert.ok(some >= 2 && some < all, `${some} of ${all}`);
    for (const text of await rows.allInnerTexts()) assert.match(text, /prod/);
    const exported = await page.getByRole('link', { name: 'Export what is shown' }).getAttribute('href');
    const lines = (await (await page.context().request.get(atrium.url + exported)).text()).trim().split('\n');
    assert.equal(lines.length, some);
    await page.getByText(new RegExp(`: ${some} entries\\.`)).waitFor();

    // The last span, without a mouse.
    await page.getByRole('slider', { name: 'Entries by time' }).focus();
    await page.keyboard.press('Home');
    await page.getByText(/: 0 entries\./).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.waitForURL(/since=/);
    await settled();
    assert.deepEqual(
      [await rows.count(), await page.getByLabel('Time', { exact: true }).inputValue()],
      [some, 'chosen'],
    );
    const since = query().get('since') ?? '';
    assert.equal(await page.getByLabel('From (UTC)').inputValue(), since.slice(0, 16));

    // The table has the same numbers and leads to the same places.
    await page.getByText('As a table').click();
    const table = page.getByRole('table', { name: 'Entries by time' });
    const numbers = await table.locator('tbody td.number').allInnerTexts();
    const sum = numbers.reduce((before, text) => before + Number(text), 0);
    assert.equal(sum, some);
    await table.locator('tbody button').first().click();
    await page.waitForURL((url) => url.searchParams.get('since') !== since);

    await page.getByLabel('Time', { exact: true }).selectOption('');
    await page.getByLabel('Object', { exact: true }).selectOption('');
    await page.getByRole('combobox', { name: 'Who' }).fill('');
    await page.waitForURL((url) => url.search === '');
    await settled();
    await until(async () => (await rows.count()) === all);
    assert.deepEqual(faults, []);
  });

  it('Dragging over the bars chooses their time, and a time without entries offers the way back', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'root');
    await go('/admin/audit');
    await settled();
    const bars = await page.getByRole('slider', { name: 'Entries by time' }).boundingBox();
    assert.ok(bars);
    const y = bars.y + bars.height / 2;
    await page.mouse.move(bars.x + bars.width * 0.1, y);
    await page.mouse.down();
    await page.mouse.move(bars.x + bars.width * 0.3, y, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/since=.*until=/);
    const { searchParams } = new URL(page.url());
    const days =
      (Date.parse(searchParams.get('until') ?? '') - Date.parse(searchParams.get('since') ?? '')) / 86_400_000;
    assert.ok(days >= 6 && days <= 8, String(days));
    await page.getByText('Nothing matches these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByRole('table', { name: 'Audit log' }).waitFor();
    assert.deepEqual(faults, []);
  });
});
