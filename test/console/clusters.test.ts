import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { sql } from '../../src/db/db.ts';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { cliAs } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { CERTIFICATE, sar } from '../support/services/kubernetes.ts';
import { lacks } from '../support/services/requirements.ts';

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>';
const RTL = 'אשכול הייצור \u202Egnikaerb';
const LONG = 'x'.repeat(255);
const LARGE_ID = 9007199254740993n;
const RESTART = sql('test.restartClusterIds', `select setval(pg_get_serial_sequence('cluster', 'id'), $1, false)`);

describeLong('The cluster pages of the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
    await atrium.instance.db.query(RESTART, [LARGE_ID]);
    for (const [name, displayName] of [
      ['markup', MARKUP],
      ['rtl', RTL],
      ['long', LONG],
    ]) {
      const cluster = { name, displayName, uid: randomUUID(), provider: 'AKS' };
      assert.equal((await atrium.as('ann')('POST', '/orgs/acme/clusters', cluster)).status, 201);
    }
    for (const name of ['prod', 'staging']) {
      const path = `/clusters/${atrium.world.clusters[name]?.id}/heartbeat`;
      // However slow the machine is, an inactive cluster does not fall silent.
      assert.equal((await atrium.as('ann')('POST', path, { phase: 'Inactive' })).status, 204);
    }
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('The cluster pages show names with markup, of any direction and length, as text, without breaking the page', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'cat', { viewport: { width: 360, height: 800 } });
    const isTooWide = () => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    await go('/orgs/acme/clusters');
    await page.getByRole('link', { name: RTL }).waitFor();
    assert.equal(await isTooWide(), false);
    await page.getByRole('link', { name: MARKUP }).click();
    await page.getByRole('heading', { name: MARKUP }).waitFor();
    assert.equal(new URL(page.url()).pathname, `/orgs/acme/clusters/${LARGE_ID}`);
    await page.getByText(String(LARGE_ID), { exact: true }).waitFor();
    assert.equal(await isTooWide(), false);
    await go(`/orgs/acme/clusters/${LARGE_ID + 2n}`);
    await page.getByRole('heading', { name: LONG }).waitFor();
    assert.equal(await isTooWide(), false);
    assert.deepEqual(faults, []);
  });

  it('The cluster pages keep the filter and the order in the address, so that they survive a reload', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/clusters');
    await page.getByLabel('Phase').selectOption('Inactive');
    await page.getByRole('button', { name: 'Nodes' }).click();
    await page.getByRole('button', { name: 'Nodes' }).click();
    await page.locator('tbody tr').nth(2).waitFor({ state: 'detached' });
    await page.waitForURL(/phase=Inactive&sort=nodes&order=desc/);
    await page.reload();
    await page.getByRole('link', { name: 'prod' }).waitFor();
    assert.equal(await page.getByLabel('Phase').inputValue(), 'Inactive');
    assert.match(await page.locator('tbody').innerText(), /prod.*staging/s);
    await page.getByLabel('Provider').selectOption('AKS');
    await page.getByText('No cluster matches the filter.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('link', { name: RTL }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The cluster pages let an owner import, edit and remove a cluster, and give its agent a token', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/clusters/import');
    await page.getByLabel('Name', { exact: true }).fill('edge');
    await page.getByLabel('UID', { exact: true }).fill('not a uuid');
    await page.getByRole('button', { name: 'Import cluster' }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    await page.getByLabel('UID', { exact: true }).fill(randomUUID());
    await page.getByRole('button', { name: 'Import cluster' }).click();
    await page.getByRole('heading', { name: 'edge' }).waitFor();
    await page.getByText('It is known, but its agent has never reported.').waitFor();

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Edit cluster' }).click();
    await dialog.getByLabel('Display name').fill('Edge of the world');
    await dialog.getByLabel('Nodes').fill('7');
    await dialog.getByRole('button', { name: 'Save cluster' }).click();
    await page.getByRole('heading', { name: 'Edge of the world' }).waitFor();

    const robots = (await atrium.as('ann')('GET', '/orgs/acme/robots')).body;
    await page.getByRole('button', { name: 'New robot token' }).click();
    await dialog.getByLabel('Name', { exact: true }).waitFor();
    // The token belongs to the robot that the field shows.
    assert.equal(await dialog.getByLabel('Robot').inputValue(), String(robots[0].id));
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await dialog.getByText('This is shown only once.').waitFor();
    const token = await dialog.locator('pre').first().innerText();
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const beat = await atrium.call('POST', `/api/v1/clusters/${id}/heartbeat`, {}, { Authorization: `token ${token}` });
    assert.equal(beat.status, 204);
    await dialog.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('button', { name: 'Remove cluster' }).click();
    await dialog.getByLabel('Type edge to confirm').fill('edge');
    await dialog.getByRole('button', { name: 'Remove cluster' }).click();
    await page.getByText('The cluster edge was removed.').waitFor();
    await page.getByRole('heading', { name: 'Clusters' }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The page of a cluster leads from its name to kubectl get pods in four steps, and shows what was asked there', async () => {
    const call = atrium.as('ann');
    const made = await call('POST', '/orgs/acme/clusters', { name: 'steps', uid: randomUUID() });
    // Longer than a number of JavaScript.
    const id = /"id":(\d+)/.exec(made.text)?.[1];
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go(`/orgs/acme/clusters/${id}`);
    const isDone = (title: string) =>
      page.locator('.cluster-steps li', { has: page.getByRole('heading', { name: title }) }).getByText('(done)');
    await page.getByText('1 of 4 steps done.').waitFor();
    await isDone('Registered').waitFor();
    await page.getByText(/atrium kube agent steps/).waitFor();

    // The robot of its agent, as the command line makes it.
    const cli = cliAs(atrium, 'ann');
    const { code, stdout } = await cli('kube agent steps --image registry.example.com/atrium:0.9.0');
    assert.equal(code, 0);
    const [token = ''] = /atr_\w+/.exec(stdout) ?? [];
    const beat = { phase: 'Active', reason: 'Agent', message: 'agent 0.9.0: created 3 bindings' };
    const robot = { Authorization: `token ${token}` };
    assert.equal((await atrium.call('POST', `/api/v1/clusters/${id}/heartbeat`, beat, robot)).status, 204);
    await isDone('Agent seen').waitFor();
    await page.getByText('agent 0.9.0: created 3 bindings', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Choose who decides' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Way').selectOption('webhook');
    await dialog.getByText(/will be able to connect: they may open shells in its pods/).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await isDone('Who may connect').waitFor();
    await page.getByText('atrium kube server-config steps').waitFor();

    const set = { endpoint: 'https://steps.example.com:6443', caBundle: CERTIFICATE };
    assert.equal((await call('PATCH', `/clusters/${id}`, set)).status, 200);
    await isDone('kubeconfig').waitFor();
    await page.getByText('All 4 steps are done.').waitFor();
    await page.getByText(/kubectl --context atrium-acme-steps get pods/).waitFor();

    const asked = { verb: 'list', resource: 'pods', namespace: 'web' };
    for (const user of ['ann', 'ann', 'dan']) {
      const review = sar({ user, resourceAttributes: asked });
      assert.equal((await atrium.call('POST', `/api/v1/clusters/${id}/access-review`, review, robot)).status, 200);
    }
    await page.reload();
    const rows = page.getByRole('table', { name: 'Who asked lately' }).getByRole('row');
    await rows.filter({ hasText: 'ann' }).getByRole('cell', { name: '2', exact: true }).first().waitFor();
    await rows.filter({ hasText: 'dan' }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The cluster pages show who can do what with a cluster, each answer with its reason', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go(`/orgs/acme/clusters/${atrium.world.clusters.prod?.id}?tab=access`);
    await page.getByRole('link', { name: 'Why may bob edit?' }).waitFor();
    await page.getByRole('link', { name: 'Why may not dan edit?' }).click();
    await page.locator('.verdict.no').waitFor();
    assert.match(await page.locator('.verdict').innerText(), /dan/);
    assert.deepEqual(faults, []);
  });

  it('The pages about access show who could do what with a cluster at a past moment, and lead back to now', async () => {
    const at = new Date().toISOString();
    const team = `/teams/${atrium.world.orgs.acme?.teams.operators}/members/dan`;
    while (Date.now() <= Date.parse(at)) await new Promise(setImmediate);
    assert.equal((await atrium.as('ann')('DELETE', team)).status, 204);
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const about = `relation=can_connect&type=cluster&id=${atrium.world.clusters.prod?.id}`;
    await go(`/orgs/acme/access/why?user=dan&${about}&at=${at}`);
    await page.locator('.verdict.yes').waitFor();
    await page.getByText(/^As of \d+ \w+ \d{4} \d\d:\d\d UTC\. 1 change since\.$/).waitFor();
    await page.getByText('Now the answer is no.').waitFor();
    await page.getByText('What has changed since').click();
    await page.getByText(/team\.remove_member/).waitFor();
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.locator('.verdict.no').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('at'), null);
    await go(`/orgs/acme/access/who?${about}&at=${at}`);
    await page.getByRole('link', { name: 'dan' }).waitFor();
    await page.getByText(/1 change since\.$/).waitFor();
    await page.getByLabel('As of (UTC)').fill('2020-01-01T10:00');
    await page.getByText(/^The audit log begins on .* Choose a later time\./).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('at'), '2020-01-01T10:00:00Z');
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByRole('link', { name: 'bob' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'dan' }).count(), 0);
    assert.equal((await atrium.as('ann')('PUT', team)).status, 204);
    assert.deepEqual(faults, []);
  });

  it('The access pages show ways to yes, do one, and show all paths and reasons then', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const prod = atrium.world.clusters.prod?.id;
    await go(`/orgs/acme/access/why?user=cat&relation=can_remove&type=cluster&id=${prod}`);
    await page.locator('.verdict.no').waitFor();
    const ways = page.getByRole('list', { name: 'How to allow it, the least first' });
    const least = ways.getByRole('listitem').first();
    assert.match(
      await least.innerText(),
      /only "remove clusters".*Viewers[\s\S]*no further permission for cat[\s\S]*no other user/,
    );
    assert.doesNotMatch(await ways.innerText(), /Owners/);
    await least.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('dialog', { name: 'Grant this?' }).getByRole('button', { name: 'Apply' }).click();
    await page.locator('.verdict.yes').waitFor();

    await go(`/orgs/acme/access/why?user=cat&relation=can_view&type=cluster&id=${prod}`);
    await page.getByRole('heading', { name: '2 ways' }).waitFor();
    assert.equal(await page.getByRole('list', { name: 'The path from the person to the object' }).count(), 2);
    await page.getByText('Without Viewers: then no').waitFor();

    await go(`/orgs/acme/access/who?relation=can_remove&type=cluster&id=${prod}`);
    await page.getByRole('button', { name: 'by team Viewers: 1' }).click();
    await page.getByRole('link', { name: 'ann', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'role remove clusters, team Viewers' }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The cluster pages explain to an operator why they cannot edit, and who can', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'dan');
    await go(`/orgs/acme/clusters/${atrium.world.clusters.prod?.id}`);
    await page.locator('[aria-disabled="true"]', { hasText: 'Edit cluster' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'You cannot change this cluster' });
    await dialog.getByText(/dan cannot/).waitFor();
    await dialog.getByText(/Ask an owner|Ask one of them/).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('link', { name: 'Audit log' }).filter({ hasText: 'Audit' }).count(), 1);
    assert.deepEqual(faults, []);
  });
});
