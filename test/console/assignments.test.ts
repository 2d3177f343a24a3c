import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';
import { clusterPermission, makeRole, numbersOf, orgPermission } from '../support/world/authz.ts';
import { inHours } from '../support/world/expiry.ts';

describeLong('Assignments in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  let access: string;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
    access = `/orgs/acme/clusters/${atrium.world.clusters.prod?.id}?tab=access`;
    for (const [name, ...permissions] of [
      ['tuner', clusterPermission('reconfigure clusters')],
      ['remover', clusterPermission('remove clusters')],
      ['auditor', orgPermission('view audit log')],
      ['assigner', orgPermission('assign roles')],
    ] as const) {
      assert.equal((await makeRole(atrium, { name, permissions, teamIDs: [] })).status, 201);
    }
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  async function assign(role: string, to: object, on?: object, more: object = {}): Promise<number> {
    const body = { role: { name: role }, to, ...(on && { on }), ...more };
    const answer = await atrium.as('ann')('POST', '/authz/assignments?org=acme', body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body.id;
  }
  const end = async (id: number) =>
    assert.equal((await atrium.as('ann')('DELETE', `/authz/assignments/${id}?org=acme`)).status, 204);
  const user = (name: string) => ({ type: 'user', name });
  const prod = { type: 'cluster', name: 'prod' };
  /** The card with that heading. */
  const card = (page: Page, title: string) =>
    page.locator('section.card', { has: page.getByRole('heading', { name: title, exact: true }) });
  const previewed = (page: Page, action: string) =>
    page.waitForRequest(
      (request) => request.url().includes('/preview') && request.postData()?.includes(action) === true,
    );

  it('The page of a cluster assigns a role to a user, changes its end and ends it, and says who can through what', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const [here, who, dialog] = [
      card(page, 'Assigned here'),
      card(page, 'Who has access'),
      page.getByRole('dialog'),
    ] as const;
    await go(access);
    await here.getByText('No role is assigned on this cluster alone.').waitFor();
    await who.getByRole('row', { name: /^cat/ }).getByText('inherited').waitFor();
    const line = (name: string, hasText: RegExp) =>
      who
        .getByRole('row', { name: new RegExp(`^${name}`) })
        .getByRole('listitem')
        .filter({ hasText })
        .waitFor();
    await line('dan', /inherited\s*role\s*cluster-operator\s*of\s*team\s*operators\s*on the organization/);

    await page.getByRole('button', { name: 'Assign role' }).click();
    await dialog.getByText('Choose to whom first.').waitFor({ state: 'attached' });
    await dialog.getByLabel('Role').selectOption('tuner');
    await dialog.getByLabel('Expires').selectOption('in 4 hours');
    await dialog.getByLabel('Reason').fill('On call');
    const preview = previewed(page, '"assignment.create"');
    await dialog.getByRole('combobox', { name: 'To which person' }).fill('ca');
    await dialog.getByRole('option', { name: 'cat' }).click();
    const sent = JSON.parse((await preview).postData() ?? '{}').changes[0];
    assert.deepEqual(
      [sent.to, sent.on.type, Number(sent.on.id), typeof sent.expires_at],
      [{ type: 'user', name: 'cat' }, 'cluster', Number(atrium.world.clusters.prod?.id), 'string'],
    );
    await dialog.getByRole('button', { name: 'Assign role' }).click();
    await page.getByText('The role tuner was assigned to cat.').waitFor();
    const row = here.getByRole('row', { name: /^tuner cat/ });
    assert.match(await row.innerText(), /edit clusters\s+expires in 4 hours\s+On call\s+ann/);
    await line('cat', /assigned here\s*role\s*tuner\s*expires in 4 hours/);
    await who.getByRole('link', { name: 'Why may cat edit?' }).waitFor();

    await here.getByRole('button', { name: 'Change tuner for cat on cluster prod' }).click();
    await dialog.getByText('Nothing has changed.').waitFor({ state: 'attached' });
    assert.notEqual(await dialog.getByLabel('Exact time').inputValue(), '');
    const update = previewed(page, '"assignment.update"');
    await dialog.getByLabel('Expires').selectOption('never');
    await update;
    await dialog.getByRole('button', { name: 'Save assignment' }).click();
    await row.getByText('no end').waitFor();

    const removal = previewed(page, '"assignment.delete"');
    await here.getByRole('button', { name: 'End tuner for cat on cluster prod' }).click();
    await removal;
    await dialog.getByRole('button', { name: 'End assignment' }).click();
    await page.getByText('The assignment to cat was ended.').waitFor();
    await here.getByText('No role is assigned on this cluster alone.').waitFor();
    await who.getByText('assigned here').waitFor({ state: 'detached' });
    await who.getByRole('link', { name: 'Why does cat have access?' }).click();
    await page.locator('.verdict.yes').waitFor();
    assert.deepEqual(faults, []);
  });

  it('The dialog says at the field what is wrong with an assignment', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const dialog = page.getByRole('dialog');
    const rule = {
      name: 'cat removes nothing',
      never: {
        users: ['cat'],
        relation: 'can_remove',
        object: { type: 'cluster', id: Number(atrium.world.clusters.prod?.id) },
      },
    };
    assert.equal((await atrium.as('ann')('POST', '/authz/guardrails?org=acme', rule)).status, 201);
    const made = await assign('tuner', user('cat'), prod);
    await go(access);
    await page.keyboard.press('a');
    await dialog.getByRole('combobox', { name: 'To which person' }).fill('cat');
    const attempt = async (role: string) => {
      await dialog.getByLabel('Role').selectOption(role);
      await dialog.getByRole('button', { name: 'Assign role' }).click();
    };
    await attempt('auditor');
    await dialog.getByText('Nothing that this role permits concerns a cluster.').waitFor();
    assert.equal(await dialog.getByLabel('Role').getAttribute('aria-invalid'), 'true');
    await attempt('tuner');
    await dialog.getByText('This person has the role there already.').waitFor();
    assert.equal(await dialog.getByRole('combobox', { name: 'To which person' }).getAttribute('aria-invalid'), 'true');
    await attempt('remover');
    await dialog.getByText(/^Nothing was changed: the guardrail/).waitFor();
    await dialog.getByRole('combobox', { name: 'To which person' }).fill('nobody');
    await attempt('tuner');
    await dialog.getByText('No member of the organization has this name.').waitFor();
    await dialog.getByLabel('To', { exact: true }).selectOption('robot account');
    await dialog.getByRole('combobox', { name: 'To which robot account' }).fill('nobody');
    await attempt('tuner');
    await dialog.getByText('There is no robot account of this name, or you may not see it.').waitFor();
    await end(made);

    const right = await assign('assigner', user('dan'));
    const { page: other, go: goOther } = await browser.visit(atrium, 'dan');
    await goOther(access);
    await other.getByRole('button', { name: 'Assign role' }).click();
    const form = other.getByRole('dialog');
    await form.getByLabel('Role').selectOption('remover');
    // The members are hidden from dan.
    await form.getByRole('combobox', { name: 'To which person' }).fill('bob');
    await form.getByRole('button', { name: 'Assign role' }).click();
    await form.getByText(/^You cannot grant what you do not hold yourself.*remove clusters/).waitFor();
    assert.equal(await form.getByLabel('Role').getAttribute('aria-invalid'), 'true');
    await end(right);
    assert.deepEqual(faults, []);
  });

  it('The pages of a role, a team, a member and a robot list their assignments and assign', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const ids = numbersOf(atrium);
    const dialog = page.getByRole('dialog');
    const roles = (await atrium.as('ann')('GET', '/authz/roles?org=acme')).body as { id: number; name: string }[];
    await go(`/orgs/acme/roles/${roles.find(({ name }) => name === 'tuner')?.id}`);
    await page.getByText('This role is not assigned yet.').waitFor();
    await page.getByRole('button', { name: 'Assign role' }).click();
    await dialog.getByLabel('To', { exact: true }).selectOption('robot account');
    await dialog.getByRole('combobox', { name: 'To which robot account' }).fill('c');
    await dialog.getByRole('option', { name: 'ci' }).click();
    await dialog.getByLabel('On', { exact: true }).selectOption('cluster set');
    await dialog.getByRole('combobox', { name: 'On which cluster set' }).fill('eu');
    await dialog.getByRole('button', { name: 'Assign role' }).click();
    await page.getByText('The role tuner was assigned to ci.').waitFor();
    const row = card(page, 'Who has this role').getByRole('row', { name: /^ci/ });
    assert.match(await row.innerText(), /robot\s+cluster set eu \(0 clusters\)/);

    await row.getByRole('link', { name: 'ci' }).click();
    await page.getByRole('heading', { name: 'ci', exact: true }).waitFor();
    await card(page, 'Roles')
      .getByRole('row', { name: /^tuner cluster set eu/ })
      .waitFor();
    await page.getByRole('button', { name: 'Show what it may do, and why' }).click();
    await card(page, 'What it may do, and why')
      .getByRole('row', { name: /^the organization/ })
      .waitFor();
    await card(page, 'Roles').getByRole('button', { name: 'End tuner for ci' }).click();
    await dialog.getByRole('button', { name: 'End assignment' }).click();
    await page.getByText('No role is assigned to this robot.').waitFor();

    await go('/orgs/acme/members/cat');
    await page.getByText('No role is assigned to them directly.').waitFor();
    await page.getByRole('button', { name: 'Assign role' }).click();
    await dialog.getByLabel('Role').selectOption('tuner');
    await dialog.getByLabel('On', { exact: true }).selectOption('cluster');
    await dialog.getByRole('combobox', { name: 'On which cluster' }).fill('stag');
    await dialog.getByRole('option', { name: 'staging' }).click();
    await dialog.getByRole('button', { name: 'Assign role' }).click();
    const own = card(page, 'Roles of their own');
    await own.getByRole('row', { name: /^tuner cluster staging/ }).waitFor();
    await own.getByRole('button', { name: 'End tuner for cat' }).click();
    await dialog.getByRole('button', { name: 'End assignment' }).click();
    await page.getByText('No role is assigned to them directly.').waitFor();

    await go(`/orgs/acme/teams/${ids.team('operators')}`);
    const ofTeam = card(page, 'Roles');
    await ofTeam.getByRole('row', { name: /^cluster-operator the organization/ }).waitFor();
    await page.getByRole('button', { name: 'Assign role' }).click();
    await dialog.getByLabel('Role').selectOption('auditor');
    await dialog.getByText('gains view audit log').waitFor();
    await dialog.getByRole('button', { name: 'Assign role' }).click();
    await ofTeam.getByRole('row', { name: /^auditor the organization/ }).waitFor();
    await ofTeam.getByRole('button', { name: 'End auditor for operators' }).click();
    await dialog.getByText('loses view audit log').waitFor();
    await dialog.getByRole('button', { name: 'End assignment' }).click();
    await ofTeam.getByRole('row', { name: /^auditor/ }).waitFor({ state: 'detached' });
    assert.deepEqual(faults, []);
  });

  it('A role can be saved after it was assigned to a team on its own page', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const roles = (await atrium.as('ann')('GET', '/authz/roles?org=acme')).body as { id: number; name: string }[];
    await go(`/orgs/acme/roles/${roles.find(({ name }) => name === 'remover')?.id}`);
    await page.getByLabel('Description').fill('Removes clusters');
    await page.getByRole('button', { name: 'Assign role' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('To', { exact: true }).selectOption('team');
    await dialog.getByRole('combobox', { name: 'To which team' }).fill('operators');
    await dialog.getByRole('button', { name: 'Assign role' }).click();
    await card(page, 'Assigned to').getByRole('link', { name: 'All (1)' }).click();
    await card(page, 'Who has this role')
      .getByRole('row', { name: /^team operators the organization/ })
      .waitFor();
    await page.getByRole('button', { name: 'Save role' }).click();
    await page.getByText('The role remover was saved.').waitFor();
    await page.getByRole('button', { name: 'End remover for operators' }).click();
    await dialog.getByRole('button', { name: 'End assignment' }).click();
    await page.getByText('This role is not assigned yet.').waitFor();
    assert.equal(await page.getByLabel('Description').inputValue(), 'Removes clusters');
    assert.deepEqual(faults, []);
  });

  it('What is assigned in the meantime shows without a reload', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const listening = page.waitForRequest((request) => request.url().includes('/api/v1/events'));
    await go(access);
    await page.getByText('No role is assigned on this cluster alone.').waitFor();
    await listening;
    const made = await assign('tuner', { type: 'robot_ac', name: 'ci' }, prod, { expires_at: inHours(4) });
    const here = card(page, 'Assigned here').getByRole('row', { name: /^tuner ci/ });
    await here.waitFor();
    await card(page, 'Who has access')
      .getByRole('row', { name: /^ci robot/ })
      .getByText('assigned here')
      .waitFor();
    await end(made);
    await here.waitFor({ state: 'detached' });
    assert.deepEqual(faults, []);
  });

  it('A user who may not assign roles reads why, sees their own assignments, and may give them up', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'dan');
    const others = await assign('tuner', user('cat'), prod);
    await assign('tuner', user('dan'), prod);
    await go(access);
    const here = card(page, 'Assigned here');
    await here.getByRole('row', { name: /^tuner dan/ }).waitFor();
    assert.equal(await here.getByRole('row', { name: /^tuner cat/ }).count(), 0);
    await here.getByText('You see only what is assigned to you and to your teams.').waitFor();
    await page.getByRole('heading', { name: 'You cannot see this' }).waitFor();
    await page.locator('[aria-disabled="true"]', { hasText: 'Assign role' }).press('Enter');
    await page
      .getByRole('dialog', { name: 'You cannot assign roles' })
      .getByText(/dan cannot/)
      .waitFor();
    await page.keyboard.press('Escape');
    await here.getByRole('button', { name: 'End tuner for dan' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End assignment' }).click();
    await here.getByText('No role is assigned on this cluster alone.').waitFor();
    await end(others);
    assert.deepEqual(faults, []);
  });

  it('Pages that name a robot lead to its page, and questions find robots by name', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const robot = `/orgs/acme/robots/${atrium.world.robots.ci}`;
    const cluster = atrium.world.clusters.prod?.id;
    const made = await assign('tuner', { type: 'robot_ac', name: 'ci' }, prod);
    for (const path of [
      access,
      `/orgs/acme/access/who?relation=can_edit&type=cluster&id=${cluster}`,
      '/orgs/acme/access/matrix?robots=true',
    ]) {
      await go(path);
      await page.locator(`a[href="${robot}"]`, { hasText: 'ci' }).first().waitFor();
    }
    await go(`/orgs/acme/access/why?relation=can_edit&type=cluster&id=${cluster}`);
    await page.getByRole('combobox', { name: 'Person' }).fill('ci');
    await page.getByRole('option', { name: 'robot:ci' }).click();
    await page
      .locator('.verdict.yes')
      .getByText(/has the role tuner on prod/)
      .waitFor();
    await end(made);
    assert.deepEqual(faults, []);
  });
});
