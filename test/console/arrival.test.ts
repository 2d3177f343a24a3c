import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { migrated, newPlace } from '../support/server/db.ts';
import { type ServerProcess, startServer } from '../support/server/process.ts';
import { lacks } from '../support/services/requirements.ts';

const NOBODY = { users: {} };

/** What a person does who has read nothing: each step follows a link or a button of the page before. */
describeLong('The way from an empty server to a proof', { skip: lacks('chromium') }, () => {
  let server: ServerProcess;
  let url: string;
  let browser: TestBrowser;
  before(async () => {
    const { dataDir, databaseUrl = '' } = await newPlace(undefined, migrated());
    const env = { DATA_DIR: dataDir, ...(databaseUrl !== '' && { DATABASE_URL: databaseUrl }) };
    server = startServer({ env });
    [url, browser] = await Promise.all([server.listening(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    server?.kill('SIGTERM');
    await server?.ended;
  });

  const press = async (page: Page, name: string) =>
    await page.getByRole('button', { name, exact: true }).first().click();
  const follow = async (page: Page, name: string) =>
    await page.getByRole('main').getByRole('link', { name, exact: true }).first().click();
  const fill = async (page: Page, fields: Readonly<Record<string, string>>) => {
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
  };
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
  /** The steps of a checklist that are ticked. */
  const done = async (page: Page, title: string, count: string): Promise<readonly string[]> => {
    const card = page.locator('section.card', { has: page.getByRole('heading', { name: title, exact: true }) });
    await card.getByText(count, { exact: true }).waitFor();
    const ticked = await card.locator('li.done h3').allInnerTexts();
    return ticked.map((text) => text.replace(/\s*\(done\)$/, ''));
  };

  it('A new user comes to a second person, a cluster that reports, a role on it, and an answered why', async () => {
    const visited = { url, world: NOBODY as never };
    const { page, faults, go } = await browser.visit(visited);
    const link = /^ {2}(http:\S+\/welcome#token=\S+)$/m.exec(server.stdout())?.[1] ?? assert.fail(server.stdout());
    await page.goto(link);
    await fill(page, { 'New password': 'correct horse battery' });
    await press(page, 'Set password');
    // Before there is an organization, only that step leads anywhere.
    await page.getByRole('link', { name: 'Create an organization', exact: true }).waitFor();
    assert.equal(await page.getByText('Needs an organization.').count(), 3);
    assert.equal(await page.getByRole('link', { name: 'Import a cluster' }).count(), 0);
    await follow(page, 'Go to the start page');
    assert.deepEqual(await done(page, 'First steps of this deployment', '0 of 6 done.'), []);
    await follow(page, 'New organization');
    await fill(page, { Name: 'acme' });
    await press(page, 'Create organization');
    assert.deepEqual(await done(page, 'First steps', '0 of 7 done.'), []);

    // The step leads straight to the form.
    await follow(page, 'Invite people');
    await fill(page, { Addresses: 'zoe@acme.example' });
    await press(page, 'Invite');
    const invitation = await page.locator('dialog pre').first().innerText();
    const zoe = await browser.visit(visited);
    await zoe.page.goto(invitation);
    await fill(zoe.page, { Username: 'zoe', Password: 'correct horse battery' });
    await press(zoe.page, 'Create account and join');
    await zoe.page.waitForURL('**/orgs/acme');
    // Whoever cannot act on them is not shown the steps.
    await heading(zoe.page, 'acme');
    assert.equal(await zoe.page.getByRole('heading', { name: 'First steps' }).count(), 0);
    await press(page, 'Done');
    await follow(page, 'acme');
    assert.deepEqual(await done(page, 'First steps', '1 of 7 done.'), ['Invite a second person']);

    await follow(page, 'Import a cluster');
    await fill(page, { Name: 'prod', UID: '5f0c2a10-0000-4000-8000-000000000001' });
    await press(page, 'Import cluster');
    await heading(page, 'prod');
    await press(page, 'New robot token');
    await press(page, 'Create token');
    const token = await page.locator('dialog pre').first().innerText();
    const command = await page.locator('dialog pre').filter({ hasText: 'curl' }).innerText();
    // What is shown runs as it is.
    assert.ok(command.startsWith(`TOKEN=${token.trim()}\n`), command);
    const path = /\/api\/v1\/clusters\/\d+\/heartbeat/.exec(command)?.[0] ?? assert.fail(command);
    await press(page, 'Done');
    await follow(page, 'acme');
    assert.equal((await done(page, 'First steps', '2 of 7 done.')).at(-1), 'Import a cluster');
    const headers = { Authorization: `token ${token.trim()}`, 'Content-Type': 'application/json' };
    const beat = await fetch(url + path, { method: 'POST', headers, body: '{"phase":"Active"}' });
    assert.equal(beat.status, 204, await beat.text());
    // The open page ticks it by itself.
    assert.equal((await done(page, 'First steps', '3 of 7 done.')).at(-1), 'Have a cluster report');

    await follow(page, 'New role');
    await fill(page, { Name: 'operator' });
    await page.getByLabel('connect to clusters', { exact: true }).check();
    await press(page, 'Create role');
    await press(page, 'Assign role');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'To which person' }).fill('zo');
    await dialog.getByRole('option', { name: 'zoe' }).click();
    await dialog.getByLabel('On', { exact: true }).selectOption('cluster');
    await dialog.getByRole('combobox', { name: 'On which cluster' }).fill('pr');
    await dialog.getByRole('option', { name: 'prod' }).click();
    await dialog.getByRole('button', { name: 'Assign role' }).click();
    await page.getByText('The role operator was assigned to zoe.').waitFor();
    await follow(page, 'acme');
    assert.equal((await done(page, 'First steps', '4 of 7 done.')).at(-1), 'Give a role');

    await follow(page, 'Ask why');
    await page.getByRole('combobox', { name: 'Person' }).fill('zoe');
    await page.getByRole('option', { name: 'zoe' }).click();
    await page.getByLabel('Permission').selectOption('can_connect');
    await page.locator('.verdict.yes').waitFor();
    await follow(page, 'acme');
    assert.equal((await done(page, 'First steps', '5 of 7 done.')).at(-1), 'Ask why');

    await go('/admin');
    assert.deepEqual(await done(page, 'First steps of this deployment', '2 of 6 done.'), [
      'Create an organization',
      'Have a second person',
    ]);
    await press(page, 'Hide');
    await page.getByRole('heading', { name: 'First steps of this deployment' }).waitFor({ state: 'detached' });
    await go('/');
    await heading(page, 'Hello Administrator');
    assert.equal(await page.getByRole('heading', { name: 'First steps of this deployment' }).count(), 0);
    assert.deepEqual([...faults, ...zoe.faults], []);
  });
});
