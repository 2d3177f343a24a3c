import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { sql } from '../../src/db/db.ts';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

const MANY = sql(
  'test.manyOwnClusters',
  `insert into cluster (name, uid, owner_id, display_name)
   select 'own-' || n, gen_random_uuid()::text, $1, repeat('x', 200) from generate_series(1, 700) n`,
);
const SILENT = sql(
  'test.silentCluster',
  `update cluster set phase = 'Active', heartbeat_at = now() - interval '3 hours' where id = $1`,
);

describeLong('What needs attention', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
    const { prod, staging } = atrium.world.clusters;
    await atrium.as('ann')('POST', `/clusters/${staging?.id}/heartbeat`, { phase: 'NotReady', message: 'disk full' });
    await atrium.instance.db.query(SILENT, [prod?.id]);
    await atrium.instance.db.query(MANY, [atrium.world.users.root?.id]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('Home, the overview and the page of the deployment agree on the clusters that need attention', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    await go('/');
    const card = page.locator('section', { has: page.getByRole('heading', { name: 'Needs attention' }) });
    await card.getByRole('link', { name: 'staging' }).waitFor();
    assert.match(await card.innerText(), /prod\s.*Last heartbeat 3 hours ago/s);
    assert.match(await card.innerText(), /staging\s.*NotReady\s.*disk full/s);

    await go('/orgs/acme');
    await page.getByRole('link', { name: '2 of 2 clusters need attention.' }).click();
    await page.getByRole('link', { name: 'staging', exact: true }).waitFor();
    assert.equal(await page.getByLabel('Phase').inputValue(), 'attention');

    await go('/admin');
    await page.getByRole('link', { name: '2 clusters need attention.' }).waitFor();
    await page.getByText(/Email is not set up/).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The menu keeps the way out in sight, and marks no page for an address that has none', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root', { viewport: { width: 1280, height: 720 } });
    const menu = page.getByRole('navigation', { name: 'Main' });
    await go('/orgs/acme');
    const box = await page.getByRole('button', { name: 'Sign out' }).boundingBox();
    assert.ok(box && box.y + box.height <= 720, JSON.stringify(box));
    assert.equal(await menu.locator('[aria-current]').innerText(), 'Overview');
    await go('/orgs/acme/nothing/like/this');
    assert.equal(await menu.locator('[aria-current]').count(), 0);
    assert.deepEqual(faults, []);
  });

  it('The latest changes are told in the sentences of the audit log', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    await go('/orgs/acme');
    const card = page.locator('section', { has: page.getByRole('heading', { name: 'Latest changes' }) });
    const latest = await card.locator('li a').allInnerTexts();
    const { body } = await atrium.as('root')('GET', '/orgs/acme/audit?limit=8');
    assert.deepEqual(
      latest,
      body.items.map(({ summary }: { summary: string }) => summary),
    );
    assert.deepEqual(faults, []);
  });

  it('The log of the deployment names the people whose things were changed', async () => {
    const uid = '5f0c2a10-0000-4000-8000-0000000000aa';
    assert.equal((await atrium.as('dan')('POST', '/user/clusters', { name: 'desk-of-dan', uid })).status, 201);
    const { page, go, faults } = await browser.visit(atrium, 'root');
    await go('/admin/audit');
    const log = page.getByRole('table', { name: 'Audit log' });
    const row = log.locator('tbody tr', { hasText: 'desk-of-dan' });
    await row.waitFor();
    assert.equal(await row.locator('td').first().innerText(), 'dan');
    assert.doesNotMatch(await log.locator('tbody').innerText(), /account \d+/);
    assert.deepEqual(faults, []);
  });

  it('Home loads the rows that it shows, however many clusters there are', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'root');
    const sizes: number[] = [];
    const lists: string[] = [];
    page.on('response', async (response) => {
      const path = new URL(response.url()).pathname;
      if (!path.startsWith('/api/') || path.endsWith('/events')) return;
      lists.push(path);
      sizes.push((await response.body()).length);
    });
    await go('/');
    await page.getByText('The first 10 of 703 by name.').waitFor();
    await settled();
    assert.ok(lists.length <= 5, String(lists));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes < 32 * 1024, `${bytes} bytes`);
    assert.deepEqual(faults, []);
  });
});
