import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/db.ts';
import { itLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describe('The organization pages of the console', { skip: lacks('chromium') }, () => {
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

  it('The organization pages show an owner the state, the counts and the latest changes, lead to the clusters of a phase, and find a forged entry of the audit log', async () => {
    const { page, context, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme');
    await page.getByText('1 of 2 clusters has never reported; the rest is well.').waitFor();
    for (const count of ['4 Members', '4 Teams', '1 Role', '2 Clusters', '1 Contract', '1 Robot']) {
      await page.getByRole('link', { name: count, exact: true }).waitFor();
    }
    await page.getByRole('heading', { name: 'Latest changes' }).waitFor();
    await page.getByText(/ann created the robot ci/).waitFor();
    await page.getByRole('link', { name: '1 Inactive' }).click();
    await page.getByRole('link', { name: 'prod', exact: true }).waitFor();
    assert.equal(await page.getByLabel('Phase').inputValue(), 'Inactive');

    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const { rows } = (await atrium.as('ann')('GET', '/orgs/acme/audit/verify')).body;
    await go('/orgs/acme/audit');
    await page.getByRole('button', { name: 'Verify integrity' }).click();
    await page.getByText(`All ${rows} entries are intact, checked by your browser.`).waitFor();
    await page.getByRole('button', { name: 'Copy the last hash' }).waitFor();
    const tamper = sql(
      'test.tamper',
      `update audit set actor_name = 'mallory' where action = 'robot.create' and organization_id = $1 returning id`,
    );
    const [forged] = await atrium.instance.db.query<{ id: bigint }>(tamper, [atrium.world.orgs.acme?.id]);
    await page.getByRole('button', { name: 'Verify integrity' }).click();
    await page.getByText(`Entry ${forged?.id} does not follow from the one before it.`).waitFor();
    assert.ok(!asked.some((path) => path.endsWith('/audit/verify')), 'the server was not asked for its opinion');
    assert.deepEqual(faults, []);
    await context.close();
  });

  itLong(
    'The organization pages show what others change without a reload, and say so, until one signs out',
    async () => {
      const { page, go, faults } = await browser.visit(atrium, 'cat');
      const { events } = atrium.instance.features;
      await until(() => events.count() === 0);
      await go('/orgs/acme/teams');
      await page.getByText('Exact as of now').waitFor();
      assert.equal(events.count(), 1);
      const { body: team } = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'live', permission: 'none' });
      await page.getByRole('link', { name: 'live', exact: true }).waitFor();
      assert.equal((await atrium.as('ann')('DELETE', `/teams/${team.id}`)).status, 204);
      await page.getByRole('link', { name: 'live', exact: true }).waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search' }).fill('oper');
      await page.getByRole('option', { name: /cluster-operator.*role of acme/ }).waitFor();
      await page.getByRole('option', { name: /operators.*team of acme/ }).click();
      await page.getByRole('heading', { name: 'operators' }).waitFor();
      assert.equal(events.count(), 1, 'all pages share the stream');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      await until(() => events.count() === 0);
      assert.deepEqual(faults, []);
    },
  );

  itLong('A session that ends on a page that only follows the stream shows the sign-in dialog', async () => {
    const { page, go, context } = await browser.visit(atrium, 'cat');
    await go('/model');
    await page.getByText('Exact as of now').waitFor();
    const sessions = (await atrium.as('cat')('GET', '/user/sessions')).body;
    for (const { id } of sessions) await atrium.as('cat')('DELETE', `/user/sessions/${id}`);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    assert.equal(await page.getByText(/reconnecting/).count(), 0);
    await dialog.getByLabel('Password').fill(atrium.world.users.cat?.password ?? '');
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Exact as of now').waitFor();
    await context.close();
  });

  itLong('The form of a new team has an address that can be opened, reloaded and left', async () => {
    const { page, go, context, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/teams/new');
    const form = page.getByRole('dialog', { name: 'New team' });
    await form.waitFor();
    await page.reload();
    await form.getByLabel('Name').fill('from a link');
    await form.getByRole('button', { name: 'Cancel' }).click();
    await form.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).pathname, '/orgs/acme/teams');
    await page.getByRole('button', { name: 'New team' }).click();
    await form.getByLabel('Name').fill('from a link');
    assert.equal(new URL(page.url()).pathname, '/orgs/acme/teams/new');
    await form.getByRole('button', { name: 'Create team' }).click();
    await page.getByRole('heading', { name: 'from a link' }).waitFor();
    assert.match(new URL(page.url()).pathname, /\/teams\/\d+$/);
    assert.deepEqual(faults, []);
    await context.close();
  });

  itLong(
    'Guardrails are created with a look at what they say, shown with their state, and named when they reject a change',
    async () => {
      const { page, go, faults } = await browser.visit(atrium, 'ann');
      await go('/orgs/acme/guardrails');
      const tried: string[] = [];
      page.on('request', (request) => request.method() === 'POST' && tried.push(request.url()));
      await page.getByRole('button', { name: 'New guardrail' }).first().click();
      await page.getByText('With a name and a subject, this shows what it says and whether it holds.').waitFor();
      await page.getByLabel('Permission').locator('option').first().waitFor({ state: 'attached' });
      await page.getByLabel('Description').fill('The server is not asked about half a guardrail.');
      await page.waitForTimeout(600);
      assert.deepEqual(tried, []);
      await page.getByLabel('Name', { exact: true }).fill('two owners');
      await page.getByLabel('Statement').selectOption('at_least');
      await page.getByLabel('Permission').selectOption('can_delete');
      await page.getByText('at least 2 people can delete acme').waitFor();
      await page.getByText('Only 1 can.').waitFor();
      await page.getByRole('button', { name: 'Create guardrail' }).click();
      await page.getByText(/Nothing was changed: the guardrail "two owners" says that/).waitFor();
      await page.getByLabel('Number of people').fill('1');
      await page.getByText('at least 1 person can delete acme').waitFor();
      await page.getByRole('button', { name: 'Create guardrail' }).click();
      await page.getByRole('table', { name: 'Guardrails' }).getByText('holds').waitFor();
      // Another user changes it while the form is open: the page shows it, and the form does not overwrite it unseen.
      await page.getByRole('button', { name: 'Edit two owners' }).click();
      await page.getByLabel('Description').fill('mine');
      const [stored] = (await atrium.as('ann')('GET', '/authz/guardrails?org=acme')).body;
      const path = `/authz/guardrails/${stored.id}?org=acme`;
      assert.equal((await atrium.as('ann')('PUT', path, { description: 'theirs' })).status, 200);
      await page.getByRole('button', { name: 'Save guardrail' }).click();
      await page.getByText('Another user changed this in the meantime.').waitFor();
      assert.equal((await atrium.as('ann')('GET', path)).body.description, 'theirs');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('table', { name: 'Guardrails' }).getByText('theirs').waitFor();
      await page.getByText('Exact as of now').waitFor();
      assert.equal((await atrium.as('ann')('PUT', path, { description: 'without a reload' })).status, 200);
      await page.getByRole('table', { name: 'Guardrails' }).getByText('without a reload').waitFor();
      const undo = async (done: string) => {
        await page.getByRole('status').filter({ hasText: done }).getByRole('button', { name: 'Undo' }).click();
        await page.getByText('Undone.', { exact: true }).waitFor();
        await page.getByRole('status').filter({ hasText: 'Undone.' }).getByRole('button', { name: 'Dismiss' }).click();
      };
      await go('/orgs/acme/guardrails');
      await page.getByRole('button', { name: 'Edit two owners' }).click();
      await page.getByLabel('Name', { exact: true }).fill('an owner');
      await page.getByLabel('Statement').selectOption('always');
      await page.getByLabel('Users').fill('ann');
      await page.getByRole('button', { name: 'Save guardrail' }).click();
      await undo('The guardrail an owner was changed.');
      const { state: _, updated_at: __, ...former } = (await atrium.as('ann')('GET', path)).body;
      assert.deepEqual(
        [former.name, former.at_least.count, former.at_least.relation, former.always],
        ['two owners', 1, 'can_delete', undefined],
      );
      await page.getByRole('button', { name: 'Delete two owners' }).click();
      await page.getByRole('button', { name: 'Delete guardrail' }).click();
      await undo('The guardrail two owners was deleted.');
      const [again] = (await atrium.as('ann')('GET', '/authz/guardrails?org=acme')).body;
      assert.deepEqual(
        [again.sentence, again.description, again.enforce],
        [former.sentence, former.description, former.enforce],
      );

      // The log takes back what it says without the names of users.
      const entryOf = async (action: string) => {
        const found = await atrium.as('ann')('GET', `/orgs/acme/audit?action=${action}&limit=1`);
        return found.body.items[0].id;
      };
      const undoEntry = async (action: string, effect: RegExp) => {
        await go(`/orgs/acme/audit?entry=${await entryOf(action)}`);
        await page.getByRole('button', { name: 'Undo this change …' }).click();
        await page.getByRole('dialog').getByText(effect).waitFor();
        await page.getByRole('dialog').getByRole('button', { name: 'Undo this change' }).click();
        await page.getByText('Undone. The log has a new entry about it.').waitFor();
      };
      const sentences = async () =>
        (await atrium.as('ann')('GET', '/authz/guardrails?org=acme')).body.map(
          (one: { sentence: string }) => one.sentence,
        );
      await undoEntry('guardrail.create', /^Nothing keeps it true any more that at least 1 person can delete acme/);
      assert.deepEqual(await sentences(), []);
      await undoEntry('guardrail.delete', /^Then it must be true again that at least 1 person/);
      assert.deepEqual(await sentences(), [former.sentence]);
      await go('/orgs/acme/guardrails');
      await page.getByRole('button', { name: 'Delete two owners' }).click();
      await page.getByRole('button', { name: 'Delete guardrail' }).click();
      await page.getByText('There are no guardrails.').waitFor();
      // The browser itself reports the change that was rejected.
      assert.deepEqual(
        faults.filter((fault) => !/409|412/.test(fault)),
        [],
      );
    },
  );

  itLong(
    'The organization pages ask the server about the audit log if the browser cannot hash, and say so',
    async () => {
      const { page, context, go, faults } = await browser.visit(atrium, 'eve');
      // As on a page that came by http from another machine.
      await context.addInitScript("Object.defineProperty(crypto, 'subtle', { value: undefined })");
      const { rows } = (await atrium.as('eve')('GET', '/orgs/globex/audit/verify')).body;
      await go('/orgs/globex/audit');
      await page.getByRole('button', { name: 'Verify integrity' }).click();
      await page.getByText(`All ${rows} entries are intact, says the server.`).waitFor();
      await page.getByText('Your browser can check it for itself only if the page came by https.').waitFor();
      await go('/me/audit');
      await page.locator('[aria-disabled="true"]', { hasText: 'Verify integrity' }).waitFor();
      assert.deepEqual(faults, []);
    },
  );

  itLong('The organization pages show members only what they may see', async () => {
    const cat = await browser.visit(atrium, 'cat');
    await cat.go('/orgs/acme');
    await cat.page.getByRole('link', { name: '4 Members' }).waitFor();
    assert.equal(await cat.page.getByRole('heading', { name: 'Latest changes' }).count(), 0);

    const dan = await browser.visit(atrium, 'dan');
    await dan.go('/orgs/acme');
    await dan.page.getByRole('link', { name: '2 Clusters' }).waitFor();
    assert.equal(await dan.page.locator('.overview-counts li').count(), 1);
    await dan.go('/orgs/globex');
    await dan.page.getByText('It does not exist, or you may not see it.').waitFor();
    assert.deepEqual([...cat.faults, ...dan.faults], []);
  });

  itLong(
    'The organization pages list every organization for a site administrator, and find one by its full name',
    async () => {
      const { page, go, faults } = await browser.visit(atrium, 'root');
      await go('/orgs');
      await page.getByRole('link', { name: 'globex' }).waitFor();
      await page.getByLabel('Search', { exact: true }).fill('acme corp');
      await page.getByRole('link', { name: 'globex' }).waitFor({ state: 'detached' });
      // The address follows what is shown.
      await page.waitForURL(/\/orgs\?q=acme/);
      await page.getByRole('link', { name: 'acme', exact: true }).click();
      await page.getByRole('heading', { name: 'Acme Corporation' }).waitFor();
      assert.deepEqual(faults, []);
    },
  );

  itLong('The organization pages find a person in the search while one types', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme');
    await page.keyboard.press('Control+k');
    const search = page.getByRole('combobox', { name: 'Search' });
    await search.fill('draper');
    await page.getByRole('option', { name: /dan \(Dan Draper\)/ }).click();
    await page.getByRole('heading', { name: 'Dan Draper' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/orgs/acme/members/dan');
    assert.deepEqual(faults, []);
  });
});
