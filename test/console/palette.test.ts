import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Route } from 'playwright-core';
import { readSentence, relationFor } from '../../console/src/shell/asked-sentence.ts';
import { describeLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { cliAs } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describe('A question that is typed', () => {
  it('A person, a verb and an object are found among small words, and fewer are no question', () => {
    const asked = { person: 'dan', verb: 'connect', object: 'prod' };
    assert.deepEqual(readSentence('dan connect prod'), asked);
    assert.deepEqual(readSentence(' May dan connect to the prod? '), asked);
    assert.deepEqual(readSentence('ann view config staging')?.verb, 'view config');
    for (const text of ['', 'dan', 'dan prod', 'may the prod']) assert.equal(readSentence(text), undefined, text);
  });

  it('A verb means the permission whose title begins with it, else one that contains it', () => {
    const relations = [
      { relation: 'editor', title: 'edit' },
      { relation: 'can_view_config', title: 'view the config' },
      { relation: 'can_edit', title: 'edit the cluster' },
    ];
    assert.equal(relationFor(relations, 'edit')?.relation, 'can_edit');
    assert.equal(relationFor(relations, 'config')?.relation, 'can_view_config');
    assert.equal(relationFor(relations, 'paint'), undefined);
  });
});

describeLong('The search of the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('It answers a typed question, offers actions and recent pages, and says when nothing matches', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/teams');
    await page.getByRole('link', { name: 'operators' }).first().waitFor();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    const search = page.getByRole('combobox', { name: 'Search' });
    await search.waitFor();
    await page.getByRole('option', { name: 'Teams · acme recent' }).waitFor();
    await search.fill('> import');
    await page.getByRole('option', { name: 'Import cluster action' }).waitFor();
    assert.equal(await page.locator('.palette').getByRole('option').count(), 1);
    await search.fill('zzzzzz');
    await page.getByText('Nothing matches.').waitFor();
    await search.fill('dan connect prod');
    await page.getByRole('option', { name: /^May dan connect to the cluster: prod\? question$/ }).waitFor();
    await search.press('Enter');
    await page.getByRole('heading', { name: 'Why?' }).waitFor();
    await page.getByRole('status').getByText('Yes', { exact: true }).waitFor();
    await page.locator('.proof').getByRole('link', { name: 'operators' }).first().waitFor();
    const command = await page.getByText(/^atrium can dan connect cluster:\d+ --why --org acme/).innerText();
    const { code, stdout } = await cliAs(atrium, 'ann')(command.replace(/^atrium /, ''));
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^yes/i);
    assert.deepEqual(faults, []);
  });

  it('Until the server has answered, it says that it searches, away from the edge, and not that nothing matches', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const held: Route[] = [];
    await page.route('**/api/v1/search?*', (route) => void held.push(route));
    await go('/orgs/acme/teams');
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Search and go anywhere' });
    const said: string[] = [];
    await page.exposeFunction('said', (text: string) => said.push(text));
    await page.evaluate(`new MutationObserver(() => said(document.querySelector('.palette')?.innerText ?? ''))
      .observe(document.querySelector('.palette'), { childList: true, subtree: true, characterData: true })`);
    await palette.getByRole('combobox').pressSequentially('zzz', { delay: 20 });
    await until(() => held.some((route) => route.request().url().includes('q=zzz')));
    const status = palette.getByRole('status');
    assert.equal(await status.innerText(), 'Searching …');
    assert.ok(said.length > 0 && said.every((text) => !text.includes('Nothing matches')), said.join('\n'));
    const gap = await page.evaluate<number>(
      `parseFloat(getComputedStyle(document.querySelector('.palette [role=status]')).paddingLeft)`,
    );
    assert.ok(gap >= 8, `${gap} px from the edge`);
    for (const route of held) await route.continue().catch(() => undefined);
    await status.getByText('Nothing matches.').waitFor();
    assert.deepEqual(faults, []);
  });

  it('The organization is chosen at the top left, and administration and the account have menus of their own', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    const menu = page.getByRole('navigation', { name: 'Main' });
    await go('/orgs/acme/teams');
    await menu.getByRole('button', { name: 'Organization acme. Choose another one' }).click();
    const dialog = page.getByRole('dialog', { name: 'Organizations' });
    await dialog.getByLabel('Search organizations').fill('glob');
    await dialog.getByRole('link', { name: /^globex/ }).click();
    await menu.getByRole('button', { name: 'Organization globex. Choose another one' }).waitFor();

    await menu.getByRole('link', { name: 'Administration' }).click();
    await menu.getByRole('link', { name: 'Sign-in providers' }).click();
    await page.getByRole('heading', { name: 'Sign-in providers' }).waitFor();
    assert.equal(await menu.getByRole('link', { name: 'Guardrails' }).count(), 0);
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Administration' }).waitFor();
    await menu.getByRole('link', { name: 'globex' }).click();
    await menu.getByRole('link', { name: 'My account' }).click();
    await menu.getByRole('link', { name: 'Tokens' }).click();
    await page.waitForURL(/\/me\/tokens$/);
    await menu.locator('[aria-current]', { hasText: 'Tokens' }).waitFor();
    assert.equal(await menu.locator('[aria-current]').count(), 1);
    assert.deepEqual(faults, []);
  });

  it('A change of a membership is taken back within ten seconds, and each entry of the audit log has an address', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const operators = atrium.world.orgs.acme?.teams.operators;
    const members = async () =>
      (await atrium.as('ann')('GET', `/teams/${operators}/members`)).body.map(({ login }: { login: string }) => login);
    await go(`/orgs/acme/teams/${operators}`);
    await page.getByRole('button', { name: 'Remove dan' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('dan was removed from operators.').waitFor();
    assert.deepEqual(await members(), []);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    assert.deepEqual(await members(), ['dan']);

    const { items } = (await atrium.as('ann')('GET', '/orgs/acme/audit?limit=1')).body;
    await go(`/orgs/acme/audit?entry=${items[0].id}`);
    await page.getByRole('heading', { name: items[0].summary }).waitFor();
    await page.getByRole('link', { name: 'Ask why just before this' }).click();
    await page.getByRole('heading', { name: 'Why?' }).waitFor();
    const asked = new URL(page.url()).searchParams;
    assert.deepEqual([asked.get('user'), asked.get('type'), asked.has('at')], ['dan', 'team', true]);
    assert.deepEqual(faults, []);
  });
});
