import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { openBrowser, type TestBrowser, type Visit } from '../../support/server/browser.ts';
import { reopen } from '../../support/server/reopen.ts';
import { newDemoPlace, TEST_KEY } from '../../support/server/server.ts';
import { lacks } from '../../support/services/requirements.ts';
import { addHardNames, type ConsoleWorld, HARD_NAMES, openConsoleWorld } from '../../support/world/console-world.ts';

const DAY_MS = 86_400_000;
const LARGE_ID = 9007199254740993n;
const LARGE_ROLE = sql('test.largeRole', `select setval(pg_get_serial_sequence('role', 'id'), $1, false)`);
const OUTAGE = /^Failed to load resource: (net::ERR_|the server responded with a status of [45]\d\d)/;

describe('The console and what people, clocks and servers do to it', { skip: lacks('chromium') }, () => {
  let world: ConsoleWorld;
  let browser: TestBrowser;
  before(async () => {
    [world, browser] = await Promise.all([openConsoleWorld(), openBrowser()]);
    await addHardNames(world);
  });
  after(async () => {
    await browser?.close();
    await world?.atrium.close();
  });
  const save = ({ page }: Visit) => page.getByRole('button', { name: 'Save role' });

  it('Names of any kind are text wherever they show', async () => {
    const visit = await browser.visit(world.atrium, 'ann');
    for (const path of ['/', '/orgs/acme', '/orgs/acme/clusters', '/orgs/acme/roles', '/orgs/acme/robots']) {
      await visit.go(path);
      await visit.settled();
      assert.equal(await visit.page.locator('img[src="x"], main b').count(), 0, path);
      assert.match(await visit.page.title(), /Atrium$/);
    }
    await visit.go('/orgs/acme/roles');
    for (const name of HARD_NAMES) await visit.page.getByText(name.slice(0, 100)).first().waitFor();
    await visit.page.keyboard.press('Control+k');
    await visit.page.getByRole('combobox').fill('onerror');
    await visit.page
      .getByRole('option')
      .getByText(HARD_NAMES[0] ?? '')
      .first()
      .waitFor();
    assert.deepEqual(visit.faults, []);
  });

  it('An ID beyond 2^53 stays exact in addresses, questions and changes', async () => {
    await world.atrium.instance.db.query(LARGE_ROLE, [LARGE_ID]);
    const visit = await browser.visit(world.atrium, 'ann');
    const { page } = visit;
    await visit.go('/orgs/acme/roles/new');
    await page.getByLabel('Name', { exact: true }).fill('exact');
    await page.getByLabel('view clusters', { exact: true }).check();
    await page.getByRole('button', { name: 'Create role' }).click();
    await page.waitForURL(`**/orgs/acme/roles/${LARGE_ID}`);
    await page.getByLabel('Description').fill('changed');
    await save(visit).click();
    await page.getByText('The role exact was saved.').waitFor();
    const { body } = await world.atrium.as('ann')('GET', '/authz/roles?org=acme');
    assert.match(JSON.stringify(body), /"description":"changed"/);
    assert.deepEqual(visit.faults, []);
  });

  it('Two people who edit one role see each other’s change, and neither is lost without a decision', async () => {
    const path = `/orgs/acme/roles/${world.ids.roles}`;
    const description = async () =>
      (await world.atrium.as('ann')('GET', `/authz/roles/${world.ids.roles}?org=acme`)).body.description;
    const [ann, root] = [await browser.visit(world.atrium, 'ann'), await browser.visit(world.atrium, 'root')];
    for (const visit of [ann, root]) {
      await visit.go(path);
      await visit.settled();
    }
    await ann.page.getByLabel('Description').fill('by ann');
    await root.page.getByLabel('Description').fill('by root');
    await save(root).click();
    await root.page.getByText('was saved.').waitFor();
    await save(ann).click();
    const conflict = ann.page.getByRole('alert', { name: 'Another user changed this role' });
    await conflict.getByText('by root').waitFor();
    await conflict.getByText('by ann').waitFor();
    assert.equal(await description(), 'by root');
    // Before the next change: a form in which nothing is typed shows that change by itself.
    await root.page.getByLabel('Description').fill('by root again');
    await conflict.getByRole('button', { name: 'Save mine over theirs' }).click();
    await ann.page.getByText('was saved.').waitFor();
    assert.equal(await description(), 'by ann');

    await save(root).click();
    await root.page.getByRole('button', { name: 'Take theirs' }).click();
    assert.equal(await root.page.getByLabel('Description').inputValue(), 'by ann');
    assert.equal(await description(), 'by ann');
    assert.deepEqual([...ann.faults, ...root.faults], []);
  });

  it('A form that was open while somebody else saved is refused once, and keeps what was typed', async () => {
    const visit = await browser.visit(world.atrium, 'ann');
    const { page } = visit;
    await visit.go(`/orgs/acme/teams/${world.ids.teams}`);
    await page.getByRole('button', { name: 'Edit team' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill('typed by ann');
    const theirs = { description: 'typed by root' };
    assert.equal((await world.atrium.as('root')('PATCH', `/teams/${world.ids.teams}`, theirs)).status, 200);
    // What a look at another window does: the page loads the newer version behind the dialog.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByText('typed by root').waitFor();
    await dialog.getByRole('button', { name: 'Save team' }).click();
    await dialog.getByText('Another user changed this in the meantime.').waitFor();
    assert.equal(await dialog.getByLabel('Description').inputValue(), 'typed by ann');
    const read = async () => (await world.atrium.as('ann')('GET', `/teams/${world.ids.teams}`)).body.description;
    assert.equal(await read(), 'typed by root');
    await visit.settled();
    await dialog.getByRole('button', { name: 'Save team' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await read(), 'typed by ann');
    assert.deepEqual(visit.faults, []);
  });

  it('A session that ends under an open dialog is renewed over it, and nothing typed is lost', async () => {
    const visit = await browser.visit(world.atrium, 'ann');
    const { page } = visit;
    await visit.go('/orgs/acme/teams');
    await page.getByRole('button', { name: 'New team' }).click();
    const form = page.getByRole('dialog', { name: 'New team' });
    await form.getByLabel('Name', { exact: true }).fill('night-shift');
    await form.getByLabel('Description').fill('Watches while others sleep.');
    assert.equal((await world.atrium.as('ann')('DELETE', '/user/sessions')).status, 204);
    await form.getByRole('button', { name: 'Create team' }).click();
    const door = page.getByRole('dialog', { name: 'Your session has ended' });
    await page.keyboard.press('Escape');
    await door.getByLabel('Password', { exact: true }).fill(world.atrium.world.users.ann?.password ?? '');
    await door.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('night-shift').first().waitFor();
    const { body } = await world.atrium.as('ann')('GET', '/orgs/acme/teams?limit=50');
    const made = body.find(({ name }: { name: string }) => name === 'night-shift');
    assert.equal(made?.description, 'Watches while others sleep.');
    assert.deepEqual(visit.faults, []);
  });

  for (const [words, shift] of [
    ['three days behind', -3 * DAY_MS],
    ['three days ahead', 3 * DAY_MS],
  ] as const) {
    it(`A browser whose clock is ${words} shows the ages that the server means`, async () => {
      const visit = await browser.visit(world.atrium, 'ann');
      await visit.context.addInitScript(`{
        const { now } = Date;
        Date.now = () => now() + ${shift};
      }`);
      await visit.go('/orgs/acme/clusters?sort=heartbeat');
      await visit.settled();
      const row = visit.page.getByRole('row').filter({ hasText: 'search' });
      assert.match(await row.innerText(), /2 days ago/);
      await visit.go('/me/tokens');
      await visit.page.getByRole('button', { name: 'New token' }).first().click();
      assert.equal(await visit.page.getByText(/in 3 days|3 days ago/).count(), 0);
      assert.deepEqual(visit.faults, []);
    });
  }

  it('Pages that are open while the server restarts say so, keep what was typed, and go on', async () => {
    const { place, world: people } = await newDemoPlace();
    let instance = await reopen(place, { ATRIUM_KEY: TEST_KEY });
    const url = await instance.listen();
    const visit = await browser.visit({ url, world: people }, 'bob', { expected: OUTAGE });
    const { page } = visit;
    await visit.go('/me');
    await page.getByLabel('Location').fill('Basel');
    await instance.close();
    await page.getByRole('button', { name: 'Save profile' }).click();
    await page.locator('.fault').waitFor();
    assert.equal(await page.getByLabel('Location').inputValue(), 'Basel');
    instance = await reopen(place, { ATRIUM_KEY: TEST_KEY, PORT: new URL(url).port });
    try {
      await instance.listen();
      await page.getByRole('button', { name: 'Save profile' }).click();
      await page.getByText('Your profile was saved.').waitFor();
      assert.deepEqual(visit.faults, []);
    } finally {
      await visit.context.close();
      await instance.close();
    }
  });
});
