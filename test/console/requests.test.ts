import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser, type Visit } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describeLong('Access requests in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
    const { status } = await atrium.as('ann')('POST', '/authz/roles?org=acme', {
      name: 'tuner',
      permissions: [{ namespace: 'cluster_mgmt', action: 'reconfigure clusters' }],
    });
    assert.equal(status, 201);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  const button = ({ page }: Visit, name: string) => page.getByRole('button', { name, exact: true });
  const field = ({ page }: Visit, name: string) => page.getByLabel(name, { exact: true });
  const why = () => `/orgs/acme/access/why?user=dan&relation=can_edit&object=cluster:${atrium.world.clusters.prod?.id}`;

  it('dan asks from a Why, the count of ann changes live, she approves what she sees, and dan gives it back', async () => {
    const ann = await browser.visit(atrium, 'ann');
    await ann.go('/me/requests');
    await ann.page.getByText('Nothing waits for you.').waitFor();
    await ann.page.getByText('Exact as of now').waitFor();
    assert.equal(await ann.page.locator('nav .count').count(), 0);

    const dan = await browser.visit(atrium, 'dan');
    await dan.go(why());
    await dan.page.getByRole('status').getByText('No', { exact: true }).waitFor();
    await button(dan, 'Ask for it').click();
    await field(dan, 'Why').fill('INC-1234');
    await dan.page.locator('dialog').getByRole('button', { name: 'Ask for it' }).click();
    await dan.page.waitForURL('**/orgs/acme/requests/req_*');
    await dan.page.getByRole('heading', { name: 'dan asks for access' }).waitFor();
    assert.equal(await button(dan, 'Approve').count(), 0);
    await button(dan, 'Cancel request').waitFor();
    await dan.page.getByText('Exact as of now').waitFor();

    await ann.page.locator('nav .count').getByText('1').waitFor();
    await ann.page.getByRole('link', { name: 'edit: cluster prod' }).first().click();
    await ann.page.getByText('dan gets the role tuner on cluster prod').waitFor();
    await ann.page.getByText('INC-1234').waitFor();
    // The request became different between the answer and the click.
    const stale = { data: JSON.stringify({ digest: 'sha256:0' }) };
    await ann.page.route('**/approve?*', (route) => route.continue({ postData: stale.data }), { times: 1 });
    await button(ann, 'Approve').click();
    await ann.page.getByText('What an approval would do has changed').waitFor();
    assert.equal(await dan.page.getByText('approved', { exact: true }).count(), 0);
    await field(ann, 'Comment').fill('call me');
    await button(ann, 'Approve').click();
    await ann.page.getByText('The request was approved.').waitFor();
    await ann.page.locator('nav .count').waitFor({ state: 'detached' });

    await button(dan, 'Give back').waitFor();
    await dan.page.getByText('call me').waitFor();
    await dan.page.locator('.verdict.yes').waitFor();
    await button(dan, 'Give back').click();
    await dan.page.locator('dialog').getByRole('button', { name: 'Give back' }).click();
    await dan.page.getByText('The access has ended.').waitFor();
    await dan.page.locator('.verdict.no').waitFor();
    await ann.go('/orgs/acme/requests?state=ended');
    await ann.page.getByRole('link', { name: 'edit: cluster prod' }).waitFor();
    // The browser reports the answer 409 that this test has asked for.
    assert.deepEqual([...ann.faults.filter((text) => !text.includes('409')), ...dan.faults], []);
  });

  it('Disabled buttons, rejections and the matrix lead to where the user can ask, and nothing else does', async () => {
    const { clusters } = atrium.world;
    const dan = await browser.visit(atrium, 'dan');
    const asksFor = async (name: string, id: bigint | undefined) => {
      await dan.page.getByRole('heading', { name: 'Ask for access' }).waitFor();
      await dan.page.waitForURL(`**/requests/new?relation=${name}&type=cluster&id=${id}`);
      await button(dan, 'Ask for it').waitFor();
    };
    await dan.go(`/orgs/acme/clusters/${clusters.prod?.id}`);
    // It is marked as disabled, and says why when it is pressed.
    await button(dan, 'Edit cluster').press('Enter');
    await dan.page.locator('dialog').getByRole('link', { name: 'Ask for it' }).click();
    await asksFor('can_edit', clusters.prod?.id);

    const ann = await browser.visit(atrium, 'ann');
    // The server rejects what the page allowed.
    const rejection = {
      message: 'missing relation edit:cluster',
      reason: 'missing_relation',
      relation: 'edit:cluster',
    };
    let isRequestable = false;
    await ann.page.route(`**/api/v1/**/clusters/${clusters.prod?.id}*`, (route) =>
      route.request().method() === 'GET'
        ? route.fallback()
        : route.fulfill({ status: 403, json: { ...rejection, ...(isRequestable && { requestable: true }) } }),
    );
    await ann.go(`/orgs/acme/clusters/${clusters.prod?.id}`);
    await button(ann, 'Edit cluster').click();
    const dialog = ann.page.locator('dialog');
    await dialog.getByRole('button', { name: 'Save cluster' }).click();
    await dialog.getByText('Missing relation edit:cluster.').waitFor();
    assert.equal(await dialog.getByRole('link', { name: 'Ask for it' }).count(), 0);
    isRequestable = true;
    await dialog.getByRole('button', { name: 'Save cluster' }).click();
    await dialog.getByRole('link', { name: 'Ask for it' }).click();
    await ann.page.waitForURL(`**/requests/new?relation=can_edit&type=cluster&id=${clusters.prod?.id}`);
    await ann.page.getByText('You have it already.').waitFor();
    await ann.page.unrouteAll();

    await ann.go('/orgs/acme/access/matrix');
    await ann.page.getByRole('link', { name: 'ask for it' }).click();
    await ann.page.getByText('You have it already.').waitFor();
    assert.equal(await button(ann, 'Ask for it').count(), 0);
    assert.deepEqual([...ann.faults.filter((text) => !text.includes('403')), ...dan.faults], []);
  });

  it('An owner writes the rules, a wrong one is named, and break glass waits for an acknowledgement', async () => {
    const ann = await browser.visit(atrium, 'ann');
    await ann.go('/orgs/acme/requests/rules');
    await ann.page.getByText('No rules yet').waitFor();
    await button(ann, 'Edit as JSON').click();
    const editor = ann.page.getByRole('textbox', { name: 'Request rules' });
    const write = async (text: string) => {
      await editor.click();
      await ann.page.keyboard.press('Control+a');
      await ann.page.keyboard.insertText(text);
    };
    await write('[{"name": "all", "longest": "PT8H", "approvals": 9}]');
    await button(ann, 'Save rules').click();
    await ann.page.getByText('Approvals must be a number').waitFor();
    await write('[{"name": "all", "longest": "PT8H", "break_glass": true}]');
    await button(ann, 'Save rules').click();
    await ann.page.getByText('1 rule was saved.').waitFor();

    const dan = await browser.visit(atrium, 'dan');
    await dan.go(`/orgs/acme/requests/new?object=cluster:${atrium.world.clusters.prod?.id}&relation=can_edit`);
    await field(dan, 'Why').fill('prod is down');
    await dan.page.getByLabel('Break glass').check();
    await button(dan, 'Take access now').click();
    await dan.page.getByText('break glass, not acknowledged').waitFor();
    await ann.go('/orgs/acme/requests?state=approved');
    await ann.page.getByRole('link', { name: 'edit: cluster prod' }).click();
    await button(ann, 'Acknowledge').click();
    await ann.page.getByText('The use of break glass was acknowledged.').waitFor();
    await button(ann, 'Acknowledge').waitFor({ state: 'detached' });
    await button(ann, 'End access').waitFor();
  });

  it('An owner writes rules with a form: every part of a rule, their order, and what is wrong', async () => {
    const ann = await browser.visit(atrium, 'ann');
    const rules = async () => (await atrium.as('ann')('GET', '/orgs/acme/request_rules')).body;
    const cleared = await atrium.as('ann')('PUT', '/orgs/acme/request_rules', [{ name: 'the rest', approvals: 0 }]);
    assert.equal(cleared.status, 200);
    await ann.go('/orgs/acme/requests/rules');
    await ann.page.getByText('granted without an approval').waitFor();
    await button(ann, 'Add rule').click();
    await field(ann, 'Name').fill('production');
    await field(ann, 'Who may ask').selectOption({ label: 'Members of the team operators' });
    await field(ann, 'Permissions').selectOption({ label: 'connect' });
    await field(ann, 'Permissions').selectOption({ label: 'edit' });
    await field(ann, 'Permissions').selectOption({ label: 'view' });
    await button(ann, 'Remove view').click();
    await field(ann, 'Objects').fill('cluster:prod\ncluster:nowhere');
    await field(ann, 'Sets of clusters').fill('europe\n\n');
    await field(ann, 'Roles').fill('tuner');
    await field(ann, 'At most for').selectOption({ label: '8 hours' });
    await field(ann, 'Approvals needed').selectOption('2');
    await field(ann, 'Who approves').selectOption({ label: 'Only members of the team operators' });
    await ann.page.getByLabel('Break glass').check();
    await button(ann, 'Save rule').click();
    await ann.page.getByText('cluster does not exist in this organization').waitFor();
    await field(ann, 'Objects').fill('cluster:prod');
    await button(ann, 'Save rule').click();
    await ann.page.getByText('The rule production was saved.').waitFor();
    await button(ann, 'Move production up').click();
    await ann.page.getByRole('heading', { name: '1. production' }).waitFor();
    const rest = { name: 'the rest', match: {}, longest: 'P7D', approvals: 0, allow: true };
    const production = {
      name: 'production',
      match: {
        relations: ['can_connect', 'can_edit'],
        objects: [{ type: 'cluster', id: Number(atrium.world.clusters.prod?.id), name: 'prod' }],
        cluster_sets: ['europe'],
        roles: ['tuner'],
        requesters: 'operators',
      },
      ...{ longest: 'PT8H', approvals: 2, allow: true, approvers: { team: 'operators' }, break_glass: true },
    };
    assert.deepEqual(await rules(), [production, rest]);

    // A form that is opened and saved changes nothing, and each part can be taken away again.
    await button(ann, 'Edit production').click();
    await button(ann, 'Save rule').click();
    await ann.page.locator('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(await rules(), [production, rest]);
    await button(ann, 'Edit production').click();
    await field(ann, 'Who may ask').selectOption('');
    await button(ann, 'Remove connect').click();
    await button(ann, 'Remove edit').click();
    for (const name of ['Objects', 'Sets of clusters', 'Roles']) await field(ann, name).fill('');
    await field(ann, 'Who approves').selectOption('manager');
    await ann.page.getByLabel('Break glass').uncheck();
    await button(ann, 'Save rule').click();
    await ann.page.getByText('2 approvals of the manager').waitFor();
    const bare = { name: 'production', match: {}, longest: 'PT8H', approvals: 2, allow: true, approvers: 'manager' };
    assert.deepEqual(await rules(), [bare, rest]);
    await button(ann, 'Edit the rest').click();
    await field(ann, 'Requests that match').selectOption('false');
    await button(ann, 'Save rule').click();
    await ann.page.getByText('rejected', { exact: true }).waitFor();
    await button(ann, 'Remove production').click();
    await button(ann, 'Remove rule').click();
    await ann.page.getByText('The rule was removed.').waitFor();
    assert.deepEqual(await rules(), [{ ...rest, allow: false }]);
    assert.deepEqual(
      ann.faults.filter((text) => !text.includes('422')),
      [],
    );
  });
});
