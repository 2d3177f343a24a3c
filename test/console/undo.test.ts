import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';
import { clusterPermission, makeRole, numbersOf } from '../support/world/authz.ts';
import { inHours } from '../support/world/expiry.ts';

const VIEW = clusterPermission('view clusters');
const EDIT = clusterPermission('reconfigure clusters');
const REMOVE = clusterPermission('remove clusters');

describeLong('Undo in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  const did = async (method: string, path: string, body?: object) => {
    const answer = await atrium.as('ann')(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const memberOf = async (team: number, name: string) => {
    const answer = await atrium.as('ann')('GET', `/teams/${team}/members/${name}`);
    return answer.status === 404 ? undefined : answer.body;
  };
  const actionsOf = async (role: number): Promise<string[]> =>
    (await did('GET', `/authz/roles/${role}?org=acme`)).permissions.map((one: { action: string }) => one.action);
  const assignmentsOf = async (role: number) => await did('GET', `/authz/assignments?org=acme&role=${role}`);
  const undo = async (page: Page, text: RegExp | string) => {
    await page.getByRole('status').filter({ hasText: text }).getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.', { exact: true }).waitFor();
    await page.getByRole('status').filter({ hasText: 'Undone.' }).getByRole('button', { name: 'Dismiss' }).click();
  };

  it('For ten seconds, the end of an assignment, its other expiry and its other reason are undone', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const dialog = page.getByRole('dialog');
    const prod = numbersOf(atrium).cluster('prod');
    const [end, role] = [inHours(5), (await makeRole(atrium, { permissions: [EDIT] })).body];
    await did('POST', '/authz/assignments?org=acme', {
      role: { id: role.id },
      to: { type: 'user', name: 'cat' },
      on: { type: 'cluster', id: prod },
      reason: 'On call',
      expires_at: end,
    });
    await go(`/orgs/acme/roles/${role.id}`);
    const name = `${role.name} for cat on cluster prod`;
    await page.getByRole('button', { name: `End ${name}` }).click();
    await dialog.getByRole('button', { name: 'End assignment' }).click();
    await page.getByText('The assignment to cat was ended.').waitFor();
    assert.deepEqual(await assignmentsOf(role.id), []);
    await undo(page, 'was ended');
    const [again] = await assignmentsOf(role.id);
    assert.deepEqual(
      [again.to.name, again.on.type, again.on.name, again.reason, again.expires_at],
      ['cat', 'cluster', 'prod', 'On call', end],
    );

    await page.getByRole('button', { name: `Change ${name}` }).click();
    await dialog.getByLabel('Expires').selectOption('never');
    await dialog.getByLabel('Reason').fill('For good');
    await dialog.getByRole('button', { name: 'Save assignment' }).click();
    await page.getByText('The assignment was changed.').waitFor();
    assert.equal((await assignmentsOf(role.id))[0].expires_at, null);
    await undo(page, 'was changed');
    const [former] = await assignmentsOf(role.id);
    assert.deepEqual([former.id, former.reason, former.expires_at], [again.id, 'On call', end]);
    assert.deepEqual(faults, []);
  });

  it('For ten seconds, a renewed membership, another permission of a team and a repeated addition are undone', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const dialog = page.getByRole('dialog');
    const end = inHours(5);
    const { id } = await did('POST', '/orgs/acme/teams', { name: 'night', permission: 'none' });
    await did('PUT', `/teams/${id}/members/cat`, { expires_at: end });
    await go(`/orgs/acme/teams/${id}`);
    await page.getByRole('button', { name: 'Renew the membership of cat' }).click();
    await dialog.getByRole('button', { name: 'Renew' }).click();
    await page.getByText('The membership of cat was renewed.').waitFor();
    assert.notEqual((await memberOf(id, 'cat')).expires_at, end);
    await undo(page, 'was renewed');
    assert.equal((await memberOf(id, 'cat')).expires_at, end);

    await page.getByRole('button', { name: 'Make the membership of cat permanent' }).click();
    await dialog.getByRole('button', { name: 'Make permanent' }).click();
    await page.getByText('no longer expires').waitFor();
    assert.equal((await memberOf(id, 'cat')).expires_at, undefined);
    await undo(page, 'no longer expires');
    assert.equal((await memberOf(id, 'cat')).expires_at, end);

    // A member who was there before is not removed by the undo.
    await page.getByRole('button', { name: 'Add member' }).click();
    await dialog.getByRole('combobox', { name: 'User' }).fill('cat');
    await dialog.getByLabel('Expires').selectOption('in 30 days');
    await dialog.getByRole('button', { name: 'Add member' }).click();
    await page.getByText('cat was added to night.').waitFor();
    assert.notEqual((await memberOf(id, 'cat')).expires_at, end);
    await undo(page, 'was added');
    assert.equal((await memberOf(id, 'cat')).expires_at, end);

    await page.getByRole('button', { name: 'Edit team' }).click();
    await dialog.getByLabel('Name').fill('day');
    await dialog.getByLabel('Permission').selectOption('admin');
    await dialog.getByRole('button', { name: 'Save team' }).click();
    await page.getByText('The team day was saved.').waitFor();
    assert.equal((await did('GET', `/teams/${id}`)).permission, 'admin');
    await undo(page, 'was saved');
    const { name, permission } = await did('GET', `/teams/${id}`);
    assert.deepEqual([name, permission], ['night', 'none']);
    assert.deepEqual(faults, []);
  });

  it('For ten seconds, the edit of a role is undone, unless it was saved again meanwhile', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const { id, name } = (await makeRole(atrium, { permissions: [VIEW] })).body;
    await go(`/orgs/acme/roles/${id}`);
    const box = page.getByRole('checkbox', { name: /remove clusters/i });
    const save = async () => {
      await box.click();
      await page.getByRole('button', { name: 'Save role' }).click();
      await page.getByText(`The role ${name} was saved.`).waitFor();
    };
    await save();
    assert.ok((await actionsOf(id)).includes('remove clusters'));
    await undo(page, 'was saved');
    assert.deepEqual(await actionsOf(id), ['view clusters']);
    await page.getByRole('checkbox', { name: /remove clusters/i, checked: false }).waitFor();

    await save();
    await did('PUT', `/authz/roles/${id}?org=acme`, { description: 'Edited elsewhere' });
    await page.getByRole('status').filter({ hasText: 'was saved' }).getByRole('button', { name: 'Undo' }).click();
    await page.getByText(/^It could not be undone\./).waitFor();
    assert.ok((await actionsOf(id)).includes('remove clusters'));
    assert.deepEqual(faults, []);
  });

  it('For ten seconds, a remedy that changed a role is undone', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const { cluster, role } = numbersOf(atrium);
    const before = await actionsOf(role('cluster-operator'));
    const query = new URLSearchParams({
      user: 'dan',
      relation: 'can_remove',
      type: 'cluster',
      id: `${cluster('prod')}`,
    });
    await go(`/orgs/acme/access/why?${query}`);
    const remedies = page.getByRole('list', { name: 'How to allow it, the least first' });
    await remedies.getByRole('button', { name: /^Apply: .*add.* to the role cluster-operator/i }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await page.locator('.verdict.yes').waitFor();
    assert.ok((await actionsOf(role('cluster-operator'))).includes('remove clusters'));
    await undo(page, 'Done.');
    await page.locator('.verdict.no').waitFor();
    assert.deepEqual(await actionsOf(role('cluster-operator')), before);
    assert.deepEqual(faults, []);
  });

  it('From the audit log, a change of access is undone later, after its preview, and later changes stay', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    const dialog = page.getByRole('dialog');
    const { team, cluster } = numbersOf(atrium);
    const operators = team('operators');
    const end = inHours(9);
    const latest = async (action: string) =>
      (await did('GET', `/orgs/acme/audit?action=${action}&limit=1`)).items[0].id;
    const open = async (entry: number) => {
      await go(`/orgs/acme/audit?entry=${entry}`);
      await settled();
      await page.getByRole('button', { name: 'Undo this change …' }).click();
    };
    const confirm = async () => {
      await dialog.getByRole('button', { name: 'Undo this change' }).click();
      await page.getByText('Undone. The log has a new entry about it.').waitFor();
    };

    await did('PUT', `/teams/${operators}/members/eve`, { expires_at: end });
    await did('DELETE', `/teams/${operators}/members/eve`);
    await open(await latest('team.remove_member'));
    await dialog.getByText('ann removed eve from the team operators').waitFor();
    await dialog
      .getByText(/gains.*connect/)
      .first()
      .waitFor();
    assert.equal(await memberOf(operators, 'eve'), undefined);
    await confirm();
    assert.equal((await memberOf(operators, 'eve')).expires_at, end);

    await did('PUT', `/teams/${operators}/members/eve`, { expires_at: null });
    await open(await latest('team.update_member'));
    await confirm();
    assert.equal((await memberOf(operators, 'eve')).expires_at, end);

    await open(await latest('team.add_member'));
    await dialog
      .getByText(/loses.*connect/)
      .first()
      .waitFor();
    await confirm();
    assert.equal(await memberOf(operators, 'eve'), undefined);
    // What is undone already cannot be undone again, and the preview says so.
    await open(await latest('team.add_member'));
    await dialog.getByText('The server would reject this: user is not in this team.').waitFor();

    const role = (await makeRole(atrium, { permissions: [VIEW, EDIT] })).body;
    await did('PUT', `/authz/roles/${role.id}?org=acme`, { permissions: [VIEW] });
    const edit = await latest('role.update');
    await did('PUT', `/authz/roles/${role.id}?org=acme`, { permissions: [VIEW, REMOVE] });
    await open(edit);
    await confirm();
    assert.deepEqual((await actionsOf(role.id)).sort(), ['reconfigure clusters', 'remove clusters', 'view clusters']);
    await open(edit);
    await page.getByText('The role does not have this change any more.').waitFor();

    const made = await did('POST', '/authz/assignments?org=acme', {
      role: { id: role.id },
      to: { type: 'user', name: 'cat' },
      on: { type: 'cluster', id: cluster('prod') },
      reason: 'On call',
      namespaces: ['web'],
    });
    await did('DELETE', `/authz/assignments/${made.id}?org=acme`);
    await open(await latest('assignment.delete'));
    await confirm();
    const [again] = await assignmentsOf(role.id);
    assert.deepEqual(
      [again.to.name, again.on.name, again.namespaces, again.reason],
      ['cat', 'prod', ['web'], 'On call'],
    );
    await open(await latest('assignment.create'));
    await confirm();
    assert.deepEqual(await assignmentsOf(role.id), []);

    const { id } = await did('POST', '/orgs/acme/teams', { name: 'guests', permission: 'none' });
    await did('PATCH', `/teams/${id}`, { permission: 'write' });
    await open(await latest('team.update'));
    await confirm();
    assert.equal((await did('GET', `/teams/${id}`)).permission, 'none');

    await did('PATCH', `/clusters/${cluster('prod')}`, { displayName: 'Production' });
    await open(await latest('cluster.update'));
    await page.getByText('It did not change who reaches the cluster.').waitFor();
    await did('DELETE', `/teams/${id}`);
    await go(`/orgs/acme/audit?entry=${await latest('team.delete')}`);
    await page.getByRole('link', { name: 'Ask why just before this' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Undo this change …' }).count(), 0);
    assert.deepEqual(faults, []);
  });
});
