import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openBrowser, type TestBrowser, type Visit } from '../../support/server/browser.ts';
import { lacks } from '../../support/services/requirements.ts';
import { type ConsoleWorld, openConsoleWorld } from '../../support/world/console-world.ts';

describe('The keys of the console', { skip: lacks('chromium') }, () => {
  let world: ConsoleWorld;
  let browser: TestBrowser;
  let visit: Visit;
  before(async () => {
    [world, browser] = await Promise.all([openConsoleWorld(), openBrowser()]);
    visit = await browser.visit(world.atrium, 'ann');
  });
  after(async () => {
    await browser?.close();
    await world?.atrium.close();
  });
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await visit.page.keyboard.press(key);
  };
  const heading = (name: string) => visit.page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
  const focused = () =>
    visit.page.evaluate<string>(`document.activeElement.getAttribute('aria-label') ??
    document.activeElement.textContent`);

  it('Each of the keys that open something is undone by Escape, and the focus goes back to where it was', async () => {
    await visit.go('/orgs/acme/teams');
    await visit.settled();
    const { page } = visit;
    const opener = page.getByRole('button', { name: 'API calls' });
    for (const [key, dialog] of [
      ['Control+k', 'Search and go anywhere'],
      ['?', 'Keys'],
      ['n', 'New team'],
    ] as const) {
      await opener.focus();
      await press(key);
      await page.getByRole('dialog', { name: dialog }).waitFor();
      assert.equal(await page.evaluate(`document.activeElement.closest('dialog') !== null`), true, `${key}: focus`);
      await press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      assert.equal(await focused(), 'API calls', `${key}: focus afterwards`);
    }
    await press('`');
    const drawer = page.getByRole('region', { name: 'API calls' });
    await drawer.getByText('GET /api/v1/orgs/acme/teams').first().waitFor();
    await press('Escape');
    await drawer.waitFor({ state: 'detached' });
    assert.deepEqual(visit.faults, []);
  });

  it('A person can go everywhere, filter and open a row without a pointer', async () => {
    await visit.go('/orgs/acme');
    await visit.settled();
    for (const [letter, title] of [
      ['m', 'Members'],
      ['t', 'Teams'],
      ['r', 'Roles'],
      ['c', 'Clusters'],
      ['a', 'Audit log'],
      ['w', 'Why?'],
      ['o', 'Acme Corporation'],
    ] as const) {
      await visit.page.evaluate(`document.activeElement.blur()`);
      await press('g', letter);
      await heading(title);
    }
    await press('g', 'c');
    await heading('Clusters');
    await visit.settled();
    await press('/');
    await visit.page.keyboard.type('prod');
    await visit.page.getByText('Total: 1').waitFor();
    await visit.page.evaluate(`document.activeElement.blur()`);
    await press('j', 'Enter');
    await heading('prod');
    await visit.settled();
    await press('e');
    await visit.page.getByRole('dialog', { name: 'Edit prod' }).waitFor();
    await press('Escape', 'Control+k');
    await visit.page.keyboard.type('audit');
    await visit.page.getByRole('option', { name: 'Audit log' }).first().waitFor();
    await press('Enter');
    await heading('Audit log');
    assert.deepEqual(visit.faults, []);
  });

  it('Letters are text inside a field, and can be turned off', async () => {
    await visit.go('/orgs/acme/teams');
    await visit.settled();
    await press('?');
    const { page } = visit;
    await page.getByLabel('Use single-letter keys').uncheck();
    await press('Escape', 'n', '?');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').pressSequentially('gn?');
    assert.equal(await page.getByRole('dialog').getByRole('combobox').inputValue(), 'gn?');
    assert.equal(await page.getByRole('dialog').count(), 1);
    assert.deepEqual(visit.faults, []);
  });
});
