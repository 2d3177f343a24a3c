import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser, type Visit } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';
import { makePerson } from '../support/world/people.ts';

describeLong('Erasure and export of people in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  const button = ({ page }: Visit, name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = ({ page }: Visit, name: string) => page.locator('dialog').getByRole('button', { name, exact: true });

  it('A legal hold prevents that a person is erased; after its release they are, with what stays and why', async () => {
    const person = await makePerson(atrium);
    const root = await browser.visit(atrium, 'root');
    await root.go(`/admin/users/${person.name}`);
    await button(root, 'Show legal hold').click();
    await root.page.getByText('There is no legal hold: they can be erased.').waitFor();
    await button(root, 'Begin legal hold').click();
    await root.page.getByLabel('Reason').fill('case 4711');
    await inDialog(root, 'Begin legal hold').click();
    await root.page.getByText('They cannot be erased: case 4711').waitFor();
    const holds = (await atrium.as('root')('GET', '/admin/holds')).body;
    assert.deepEqual(
      holds.map(({ user, reason }: { user: { username: string }; reason: string }) => [user.username, reason]),
      [[person.name, 'case 4711']],
    );
    await root.page.locator('[aria-disabled="true"]', { hasText: 'Erase person' }).press('Enter');
    await root.page.getByText('Release the legal hold first.').waitFor();
    assert.equal(await root.page.getByRole('dialog').count(), 0);

    await root.page.reload();
    await button(root, 'Show legal hold').click();
    await button(root, 'Release legal hold').click();
    await inDialog(root, 'Release legal hold').click();
    await button(root, 'Erase person').click();
    await root.page.getByText('Removed for good').waitFor();
    await root.page.getByText('The username, as reserved, for 90 days').waitFor();
    await root.page.getByLabel(`Type ${person.name} to confirm`).fill(person.name);
    await inDialog(root, 'Erase person').click();
    await root.page.getByText(`${person.name} was erased, and is shown as erased user ${person.id}.`).waitFor();
    await root.page.waitForURL('**/admin/users');
    assert.equal((await atrium.as('root')('GET', `/users/${person.name}`)).status, 404);
    const [entry] = (await atrium.as('root')('GET', '/admin/audit?action=user.erase')).body.items;
    assert.equal(entry.object.name, `erased user ${person.id}`);
    assert.deepEqual(root.faults, []);
  });

  it('A hold that another administrator has begun meanwhile is told when a person is erased', async () => {
    const person = await makePerson(atrium);
    const root = await browser.visit(atrium, 'root');
    await root.go(`/admin/users/${person.name}`);
    await button(root, 'Show legal hold').click();
    await button(root, 'Erase person').click();
    const held = await atrium.as('root')('PUT', `/admin/users/${person.name}/hold`, { reason: 'meanwhile' });
    assert.equal(held.status, 200);
    await root.page.getByLabel(`Type ${person.name} to confirm`).fill(person.name);
    await inDialog(root, 'Erase person').click();
    await root.page.getByText('there is a legal hold on this user: release it first').waitFor();
    assert.equal((await atrium.as('root')('GET', `/users/${person.name}`)).status, 200);
  });

  it('Users download everything about themselves from their profile', async () => {
    const cat = await browser.visit(atrium, 'cat');
    await cat.go('/me');
    const [download] = await Promise.all([cat.page.waitForEvent('download'), button(cat, 'Download my data').click()]);
    assert.equal(download.suggestedFilename(), 'atrium-cat.tar.gz');
    const archive = gunzipSync(readFileSync(await download.path())).toString('latin1');
    assert.match(archive, /"login":"cat"/);
    assert.match(archive, /audit\.ndjson/);
    assert.deepEqual(cat.faults, []);
  });
});
