import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { itLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describe('The members page of the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  itLong('Teams and roles are listed with how many people they have, for those who may see all teams', async () => {
    const owner = await browser.visit(atrium, 'ann');
    const row = (page: typeof owner.page, name: string) => page.locator('tbody tr', { hasText: name }).first();
    await owner.go('/orgs/acme/teams');
    await owner.page.getByRole('columnheader', { name: 'Members' }).waitFor();
    assert.match(await row(owner.page, 'operators').innerText(), /^operators\s+\S+.*?\s1\s+1\s/s);
    await owner.go('/orgs/acme/roles');
    await owner.page.getByRole('columnheader', { name: 'People' }).waitFor();
    assert.match(await row(owner.page, 'cluster-operator').innerText(), /\s1\s+1\s/);

    const operator = await browser.visit(atrium, 'dan');
    await operator.go('/orgs/acme/roles');
    await row(operator.page, 'cluster-operator').waitFor();
    assert.equal(await operator.page.getByRole('columnheader', { name: 'Teams' }).count(), 1);
    assert.equal(await operator.page.getByRole('columnheader', { name: 'People' }).count(), 0);
    assert.deepEqual([...owner.faults, ...operator.faults], []);
  });

  it('The members page lets an owner find, add and remove people, and keeps the filter on reload', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/members');
    const rows = page.locator('tbody tr');
    await page.getByRole('link', { name: 'dan' }).waitFor();
    assert.equal(await rows.count(), 4);

    await page.getByLabel('Search', { exact: true }).fill('draper');
    await rows.nth(1).waitFor({ state: 'detached' });
    assert.match(await rows.first().innerText(), /dan.*operators/s);
    await page.reload();
    await page.getByRole('link', { name: 'dan' }).waitFor();
    assert.equal(await rows.count(), 1);
    assert.equal(await page.getByLabel('Search', { exact: true }).inputValue(), 'draper');
    // The same page without a query, from the menu, shows everybody again.
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Members' }).click();
    await rows.nth(3).waitFor();

    await page.getByRole('button', { name: 'Add person' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Person' }).fill('eve');
    await dialog.getByLabel('Team').selectOption('operators');
    await dialog.getByLabel('Expires').selectOption('in 7 days');
    const impact = dialog.locator('section', { has: page.getByRole('heading', { name: 'Impact' }) });
    await impact.getByText('gains connect to clusters, which ends in 7 days').waitFor();
    await dialog.getByRole('button', { name: 'Add person' }).click();
    await page.getByText('eve was added to operators.').waitFor();
    assert.match(await rows.filter({ hasText: 'eve' }).innerText(), /expires in 7 days/);
    await page.getByRole('button', { name: 'Remove eve' }).click();
    await impact.getByText('loses connect to clusters, which would have ended in 7 days').waitFor();
    await dialog.getByRole('button', { name: 'Remove from organization' }).click();
    await page.getByText('eve was removed from acme.').waitFor();
    await rows.nth(4).waitFor({ state: 'detached' });
    assert.deepEqual(faults, []);
  });

  itLong('The members page shows what a member holds through which team, and changes it', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/members/dan');
    await page.getByRole('link', { name: 'cluster-operator', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show when they joined and left teams' }).click();
    await page.getByText('added dan to').waitFor();
    await page.getByRole('button', { name: 'Add to a team' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Team').selectOption({ label: 'Viewers: view everything' });
    await dialog.getByRole('button', { name: 'Add to team' }).click();
    await page.getByRole('button', { name: 'Remove from Viewers' }).click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('dan was removed from Viewers.').waitFor();
    await page.getByRole('link', { name: 'Why may they …?' }).click();
    await page.getByRole('heading', { name: 'Why?' }).waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Person' }).inputValue(), 'dan');
    assert.deepEqual(faults, []);
  });

  itLong('Memberships and roles of a team can end, be renewed and be made permanent in the console', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const viewers = atrium.world.orgs.acme?.teams.Viewers;
    await go(`/orgs/acme/teams/${viewers}`);
    const dialog = page.getByRole('dialog');
    const row = (name: string) => page.locator('tbody tr', { hasText: name });
    await page.getByRole('button', { name: 'Add member' }).click();
    await dialog.getByRole('combobox', { name: 'User' }).fill('bob');
    await dialog.getByLabel('Expires').selectOption('in a day');
    await dialog.getByRole('button', { name: 'Add member' }).click();
    await row('bob').getByText('expires tomorrow').waitFor();
    const exact = await row('bob').locator('time').getAttribute('title');
    assert.ok(Math.abs(Date.parse(exact ?? '') - Date.now() - 86_400_000) < 600_000, String(exact));
    await page.getByRole('button', { name: 'Renew the membership of bob' }).click();
    await dialog.getByLabel('Expires').selectOption('at an exact time …');
    await dialog.getByLabel('Exact time').fill('2020-01-01T00:00');
    await dialog.getByRole('button', { name: 'Renew' }).click();
    await dialog.getByText('expires_at must be in the future').waitFor();
    await dialog.getByText('This is not an end that can be chosen.').waitFor();
    await dialog.getByLabel('Expires').selectOption('in 90 days');
    await dialog.getByRole('button', { name: 'Renew' }).click();
    await row('bob').getByText('expires in 3 months').waitFor();
    await page.getByRole('button', { name: 'Make the membership of bob permanent' }).click();
    await dialog.getByText('No user gains or loses anything.').waitFor();
    await dialog.getByRole('button', { name: 'Make permanent' }).click();
    await page.getByText('The membership of bob no longer expires.').waitFor();
    await page.getByRole('columnheader', { name: 'Expires' }).waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Assign role' }).click();
    await dialog.getByLabel('Expires').selectOption('in 7 days');
    await dialog.getByRole('button', { name: 'Assign role' }).click();
    await row('cluster-operator').getByText('expires in 7 days').waitFor();
    await page.getByRole('button', { name: 'Change cluster-operator for Viewers' }).click();
    await dialog.getByLabel('Expires').selectOption('never');
    await dialog.getByText('No user gains or loses anything.').waitFor();
    await dialog.getByRole('button', { name: 'Save assignment' }).click();
    await row('cluster-operator').getByText('no end').waitFor();
    assert.deepEqual(faults, []);
  });

  itLong('The members page tells the last owner why they cannot leave', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/members/ann');
    const leave = page.getByRole('button', { name: 'Leave organization' });
    await page.locator('[aria-disabled="true"]', { hasText: 'Leave' }).waitFor();
    await leave.hover();
    await page.getByText('You are the last owner. Make another user an owner first.').waitFor();
    await leave.press('Enter');
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.deepEqual(faults, []);
  });

  itLong('The members page explains to a viewer why they cannot add or remove people, and who can', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'cat');
    await go('/orgs/acme/members');
    // It is disabled but answers, also to the keyboard.
    await page.locator('[aria-disabled="true"][aria-label="Remove ann"]').press('Enter');
    const dialog = page.getByRole('dialog', { name: 'You cannot remove people from the organization' });
    await dialog.getByRole('heading', { name: 'Who can' }).waitFor();
    await dialog.getByRole('listitem').filter({ hasText: 'ann' }).waitFor();
    assert.deepEqual(faults, []);
  });

  itLong(
    'The members page explains to somebody without that permission why the list is closed, and lets them leave all the same',
    async () => {
      const { page, go, faults } = await browser.visit(atrium, 'dan');
      await go('/orgs/acme/members');
      await page.getByRole('heading', { name: 'You cannot see this' }).waitFor();
      await page.getByText(/dan cannot view the members of acme/).waitFor();
      await go('/orgs/acme/members/dan');
      await page.getByRole('table', { name: 'Teams' }).getByRole('link', { name: 'operators' }).waitFor();
      await page.getByRole('button', { name: 'Leave organization' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Leave organization' }).click();
      await page.getByText('You left acme.').waitFor();
      assert.equal((await atrium.as('dan')('GET', '/orgs/acme')).status, 404);
      assert.deepEqual(faults, []);
    },
  );
});
