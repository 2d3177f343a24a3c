import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describeLong('The page that says why', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('Ways that look alike are one picture, which says what else they rest on', async () => {
    const permissions = ['view clusters', 'connect to clusters', 'reconfigure clusters'].map((action) => ({
      namespace: 'cluster_mgmt',
      action,
    }));
    const role = {
      name: 'tuner',
      description: '',
      permissions,
      teamIDs: [Number(atrium.world.orgs.acme?.teams.operators)],
    };
    assert.equal((await atrium.as('ann')('POST', '/authz/roles?org=acme', role)).status, 201);
    const object = `cluster:${atrium.world.clusters.prod?.id}`;
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go(`/orgs/acme/access/why?${new URLSearchParams({ user: 'dan', relation: 'can_view', object })}`);
    await page.getByRole('status').getByText('Yes', { exact: true }).waitFor();
    await settled();
    const pictures = await page.locator('.ways .proof').allInnerTexts();
    assert.ok(pictures.length > 0);
    assert.equal(new Set(pictures).size, pictures.length, pictures.join('\n--\n'));
    assert.match(await page.locator('.ways').innerText(), /Also because .*connect/);
    assert.deepEqual(faults, []);
  });
});
