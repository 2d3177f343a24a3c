import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { lacks } from '../support/services/requirements.ts';
import { applicationId, openMarketplace, type TestMarketplace } from '../support/world/marketplace.ts';

describeLong('The administration pages of the console', { skip: lacks('chromium') }, () => {
  // It has everything that other deployments have too.
  let atrium: TestMarketplace;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openMarketplace(), openBrowser()]);
    const application = applicationId('shop');
    const event = { eventType: 'PUT', applicationId: application, eventTime: '2026-01-01T10:00:00Z' };
    assert.equal((await atrium.notify('B', { ...event, provisioningState: 'Succeeded' })).status, 200);
    const bind = { eventType: 'BIND', applicationId: application };
    const bindingInfo = { installerID: atrium.demo.installers.cloudB };
    assert.equal((await atrium.notify('B', { ...bind, bindingInfo: { installerID: 'nobodys' } })).status, 400);
    assert.equal((await atrium.notify('B', { ...bind, bindingInfo })).status, 200);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('The administration pages lead a site administrator from the numbers to a person, who is created, stopped and deleted', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    const dialog = page.getByRole('dialog');
    await go('/admin');
    await page.getByText('Email is not set up').waitFor();
    await page.getByRole('link', { name: /^\d+ People$/ }).click();
    await page.getByRole('button', { name: 'New person' }).click();
    await dialog.getByLabel('Username').fill('zoe');
    await dialog.getByLabel('Email').fill('ann@example.com');
    await dialog.getByLabel('Password').fill('a long enough password');
    await dialog.getByRole('button', { name: 'Create person' }).click();
    await dialog.getByText('email address is in use: ann@example.com').waitFor();
    await dialog.getByLabel('Email').fill('zoe@example.com');
    await dialog.getByRole('button', { name: 'Create person' }).click();
    await page.getByRole('heading', { name: 'zoe', level: 1 }).waitFor();
    await page.getByText('They are in no organization.').waitFor();

    const { status } = await atrium.as()('POST', '/user/signin', {
      username: 'zoe',
      password: 'a long enough password',
    });
    assert.equal(status, 200);
    await page.reload();
    await page.getByRole('button', { name: 'Show where they are signed in' }).click();
    await page.getByRole('table', { name: 'Sessions' }).waitFor();
    await page.getByRole('button', { name: 'End all sessions' }).click();
    await dialog.getByRole('button', { name: 'End all sessions' }).click();
    await page.getByText('They are signed in with no browser.').waitFor();
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText('zoe was deactivated.').waitFor();

    await go('/admin/users?state=inactive');
    await page.getByLabel('Search', { exact: true }).fill('zoe@');
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'zoe' }).click();
    await page.getByRole('button', { name: 'Delete person' }).click();
    await dialog.getByLabel('Type zoe to confirm').fill('zoe');
    await dialog.getByRole('button', { name: 'Delete person' }).click();
    await page.getByText('zoe was deleted.').waitFor();
    assert.equal((await atrium.as('root')('GET', '/users/zoe')).status, 404);
    assert.deepEqual(faults, []);
  });

  it('The administration pages show what a person holds, revoke a token, and warn before organizations lose their last owner', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    const dialog = page.getByRole('dialog');
    const accountId = (await atrium.as('ann')('GET', '/user')).body.id;
    await atrium.instance.identity.tokens.issue({ accountId, name: 'lost-laptop', scopes: ['read:user'] });
    await go('/admin/users/ann');
    await page.getByRole('link', { name: 'acme' }).waitFor();
    await page.getByRole('button', { name: 'Revoke lost-laptop' }).click();
    await dialog.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('The token lost-laptop was revoked.').waitFor();
    await page.getByRole('button', { name: 'Delete person' }).click();
    await dialog.getByText(/They own .*acme/).waitFor();
    await dialog.getByLabel('Type ann to confirm').fill('ann');
    await dialog.getByRole('button', { name: 'Delete person' }).click();
    await dialog.getByText(/last owner of an organization cannot be deleted: .*acme/).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The administration pages tell the last administrator why they cannot step down, also by keyboard', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    await go('/admin/users/root');
    for (const name of ['Deactivate', 'Prohibit sign-in', 'Remove as administrator']) {
      const button = page.locator('[aria-disabled="true"]', { hasText: name });
      await button.press('Enter');
      await page
        .locator('.explained', { has: button })
        .getByText('You are the last active site administrator.')
        .waitFor();
    }
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.locator('[aria-disabled="true"]', { hasText: 'Delete person' }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The administration pages find an organization by its full name, and filter the audit log by it', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    await go('/admin/orgs');
    await page.getByRole('link', { name: 'globex' }).waitFor();
    await page.getByLabel('Search', { exact: true }).fill('acme corp');
    await page.getByRole('link', { name: 'globex' }).waitFor({ state: 'detached' });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Audit log' }).last().click();
    await page.getByRole('cell', { name: 'deployment' }).first().waitFor();
    await page.getByLabel('Organization', { exact: true }).selectOption('globex');
    await page.getByRole('cell', { name: 'deployment' }).first().waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'globex' }).first().waitFor();
    assert.match(page.url(), /\/admin\/audit\?org=globex/);
    await page.getByLabel('Action').selectOption('organization.create');
    const entries = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr:not(.group-row)');
    await entries.nth(1).waitFor({ state: 'detached' });
    assert.match(await entries.first().innerText(), /organization\.create.*globex/s);
    // Objects of all organizations are found by name.
    await go('/admin/audit');
    await page.getByLabel('Object', { exact: true }).selectOption('cluster');
    await page.getByRole('combobox', { name: 'Which one' }).fill('stag');
    await page.getByRole('option', { name: /^staging\s*acme$/ }).click();
    await page.waitForURL(/object=cluster%3A\d+/);
    await entries.filter({ hasText: 'cluster globex' }).first().waitFor({ state: 'detached' });
    await entries.filter({ hasText: 'staging' }).first().waitFor();
    for (const text of await entries.allInnerTexts()) assert.match(text, /staging/);
    await page.getByLabel('Object', { exact: true }).selectOption('user');
    await page.getByRole('combobox', { name: 'Which one' }).fill('eve');
    await page.getByRole('option', { name: 'eve' }).click();
    await page.waitForURL(/object=user%3A\d+/);
    await go('/me/audit');
    await page.getByRole('heading', { name: 'My activity' }).waitFor();
    await page.getByRole('combobox', { name: 'Who' }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The administration pages explain themselves to other users, and are in no other user’s menu', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    for (const path of [
      '/admin',
      '/admin/users',
      '/admin/users/bob',
      '/admin/orgs',
      '/admin/audit',
      '/admin/deliveries',
    ]) {
      await go(path);
      await page.getByText('Only site administrators can.').waitFor();
    }
    assert.equal(await page.getByRole('heading', { name: 'Administration' }).count(), 0);
    assert.deepEqual(
      calls.filter((path) => path.startsWith('/api/v1/admin')),
      [],
    );
    assert.deepEqual(faults, []);
  });

  it('The administration pages lead from what needs attention to a delivery, say what to do, and redeliver it', async () => {
    // As if the server had failed to process it ten times.
    await atrium.rows(
      "update delivery set state = 'dead', reason = 'failed', attempts = 10, done_at = null where event_type = 'PUT'",
    );
    const { page, go, faults } = await browser.visit(atrium, 'root');
    await go('/admin');
    await page.getByRole('link', { name: 'The server gave up on one delivery.' }).click();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await page.getByLabel('Show').selectOption('attention');
    const rows = page.locator('tbody tr');
    await rows.nth(1).waitFor();
    assert.equal(await rows.count(), 2);
    assert.match(await rows.first().innerText(), /shop.*Refused.*No such installer exists/s);
    const calls: string[] = [];
    page.on('request', (request) => calls.push(request.url()));
    await rows.nth(1).getByRole('link').click();
    await page.getByText('The server gave up after ten attempts.').waitFor();
    await page.locator('.timeline li').nth(2).waitFor();
    assert.equal(await page.locator('.timeline li').count(), 3);
    await page.getByRole('link', { name: 'The subscription' }).waitFor();
    // The delivery itself says what it is about, so nothing is searched for.
    assert.ok(calls.some((url) => url.includes('/admin/marketplace/deliveries?subject=CloudB')));
    assert.ok(!calls.some((url) => /marketplace\/(subscriptions|installers)|[?&]search=/.test(url)), calls.join('\n'));
    await page.getByText('"provisioningState": "Succeeded"').waitFor();
    await page.getByRole('button', { name: 'Redeliver' }).click();
    await page.getByText('The delivery is done now.').waitFor();
    await page.locator('[aria-disabled="true"]', { hasText: 'Redeliver' }).waitFor();
    await page.getByRole('link', { name: 'The subscription' }).click();
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
    await page.getByText(atrium.demo.installers.cloudB).waitFor();
    const history = page.locator('.timeline');
    for (const text of ['Announced: Running', 'An installer was bound', 'already_bound|installer_unknown']) {
      await history.getByText(new RegExp(text)).first().waitFor();
    }
    await history.getByRole('button', { name: /^Redeliver BIND \d+$/ }).click();
    await page.getByText('It failed again.').waitFor();

    await atrium.rows("update delivery set state = 'dead', done_at = null where event_type = 'PUT'");
    await go('/admin/deliveries?q=shop');
    await page.getByRole('button', { name: 'Redeliver all that match' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 unfinished deliveries match.').waitFor();
    await dialog.getByRole('button', { name: 'Redeliver', exact: true }).click();
    await page.getByText('2 retried: 1 done, 1 refused again.').waitFor();
    await page.getByRole('link', { name: /^\d+: installer_unknown$/ }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The administration pages show a site administrator what another person sees, and change nothing before it is unlocked', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    const { id } = (await atrium.as('dan')('GET', '/user')).body;
    const changes: string[] = [];
    const calls: (string | undefined)[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/api/v1/')) return;
      if (request.method() === 'GET') calls.push(request.headers().sudo);
      else changes.push(`${request.method()} ${pathname.slice('/api/v1'.length)}`);
    });
    await go('/admin/users/dan');
    await page.getByRole('button', { name: 'View as', exact: true }).click();
    await page.getByText('Viewing as dan. Read-only.').waitFor();
    await page.getByRole('heading', { name: 'Administration' }).waitFor({ state: 'detached' });
    calls.length = 0;
    await go('/me');
    await page.getByLabel('Location').fill('Lisbon');
    const save = page.getByRole('button', { name: 'Save profile' });
    assert.equal(await save.getAttribute('aria-disabled'), 'true');
    await page.getByRole('tooltip').getByText('Unlock changes first.').waitFor({ state: 'attached' });
    await page.getByLabel('Location').press('Control+Enter');
    await page.getByText('You are viewing as dan, and can only read. Unlock changes first.').waitFor();
    assert.deepEqual(changes, ['POST /admin/users/dan/view-as']);
    assert.deepEqual([...new Set(calls)], ['dan']);
    await page.getByRole('button', { name: 'Unlock changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unlock changes' }).click();
    await page.getByText('Changes are made for them, and recorded under root.').waitFor();
    await save.click();
    await page.getByText('Your profile was saved.').waitFor();
    await page.getByRole('button', { name: 'Stop viewing' }).click();
    await page.getByRole('button', { name: 'View as', exact: true }).waitFor();
    assert.equal(await page.getByText('Viewing as').count(), 0);
    const { body } = await atrium.as('root')('GET', `/admin/audit?object=user:${id}&limit=2`);
    assert.deepEqual(
      body.items.map(({ action, actor, on_behalf_of: other }: Record<string, { name: string } | undefined>) => [
        action,
        actor?.name,
        other?.name,
      ]),
      [
        ['user.update', 'root', 'dan'],
        ['user.view_as', 'root', undefined],
      ],
    );
    await page.getByRole('button', { name: 'View as', exact: true }).click();
    await page.getByText('Viewing as dan. Read-only.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Password').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
    assert.deepEqual(faults, []);
  });

  it('The administration pages create an installer, show a new link once, and say why there is none', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'root');
    const dialog = page.getByRole('dialog');
    await go('/admin/installers?state=bound');
    await page.getByRole('link', { name: atrium.demo.installers.cloudB }).click();
    await page.getByRole('button', { name: 'New link' }).click();
    const link = await dialog.locator('pre').first().innerText();
    assert.equal((await fetch(link, { method: 'HEAD' })).status, 200);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Revoke all links' }).click();
    await dialog.getByRole('button', { name: 'Revoke all links' }).click();
    await page.getByText('All links that were issued so far are worthless now.').waitFor();
    assert.notEqual((await fetch(link, { method: 'HEAD' })).status, 200);

    await go('/admin/installers');
    await page.getByRole('button', { name: 'New installer' }).click();
    await dialog.getByLabel('Days to bind it').fill('0');
    await dialog.getByRole('button', { name: 'Create installer' }).click();
    await dialog.getByText(/1 to 3650 days/).waitFor();
    await dialog.getByLabel('Days to bind it').fill('7');
    await dialog.getByRole('button', { name: 'Create installer' }).click();
    await page.getByText('A customer can bind it once.').waitFor();
    await page.locator('[aria-disabled="true"]', { hasText: 'New link' }).press('Enter');
    await page.getByText('It is not bound yet.').waitFor();
    assert.deepEqual(faults, []);
  });

  it('The administration pages change a secret without a gap, and show who called without one', async () => {
    assert.equal((await atrium.notify('C', {}, '?secret=wrong')).status, 403);
    await atrium.instance.features.marketplace.deliveryLog.flush();
    const { page, go, faults } = await browser.visit(atrium, 'root');
    const dialog = page.getByRole('dialog');
    await go('/admin/marketplace');
    await page.getByText('secret_mismatch').waitFor();
    await page.getByRole('button', { name: 'Add secret' }).click();
    await dialog.getByLabel('Marketplace').selectOption('CloudC');
    await dialog.getByRole('button', { name: 'Add secret' }).click();
    const secret = await dialog.locator('pre').first().innerText();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('2 live secrets').waitFor();
    assert.notEqual((await atrium.notify('C', {}, `?secret=${secret}`)).status, 403);
    const old = page
      .getByRole('row', { name: /CloudC/ })
      .getByRole('button')
      .first();
    await old.click();
    await dialog.getByRole('button', { name: 'Retire secret' }).click();
    await page.getByText('The secret was retired.').waitFor();
    await page.getByText('2 live secrets').waitFor({ state: 'detached' });
    assert.deepEqual(faults, []);
  });
});
