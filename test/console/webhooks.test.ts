import assert from 'node:assert/strict';
import { after, afterEach, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { openBrowser, type TestBrowser, type Visit } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';
import { startReceiver, type WebhookReceiver } from '../support/services/webhook-receiver.ts';
import { type MailBox, openMailBox } from '../support/world/mail-box.ts';

describeLong('Webhooks in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  let mail: MailBox;
  let receiver: WebhookReceiver;
  let status = 204;
  before(async () => {
    mail = await openMailBox();
    receiver = await startReceiver(() => status);
    const env = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', SMTP_URL: mail.smtp.url };
    [atrium, browser] = await Promise.all([openTestServer({ env }), openBrowser()]);
  });
  afterEach(async () => {
    const all = (await atrium.as('ann')('GET', '/orgs/acme/webhooks')).body;
    for (const { id } of all) await atrium.as('ann')('DELETE', `/orgs/acme/webhooks/${id}`);
    status = 204;
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
    await receiver?.close();
    await mail?.smtp.close();
  });

  const button = ({ page }: Visit, name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = ({ page }: Visit, name: string) => page.locator('dialog').getByRole('button', { name, exact: true });
  const field = ({ page }: Visit, name: string) => page.getByLabel(name, { exact: true });
  const shownSecret = async ({ page }: Visit) =>
    await page
      .locator('dialog pre')
      .getByText(/^whsec_/)
      .innerText();
  const createRole = async (name: string) => {
    const body = { name, permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] };
    const { status, text } = await atrium.as('ann')('POST', '/authz/roles?org=acme', body);
    assert.equal(status, 201, text);
  };

  it('ann creates a webhook whose secret is shown once, tests, pauses and activates it', async () => {
    const ann = await browser.visit(atrium, 'ann');
    await ann.go('/orgs/acme');
    await ann.page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
    await ann.page.waitForURL('**/orgs/acme/webhooks');
    await button(ann, 'New webhook').first().click();
    await field(ann, 'URL').fill(receiver.url);
    await field(ann, 'Name').fill('siem');
    await field(ann, 'Types').fill('nonsense');
    await inDialog(ann, 'Create webhook').click();
    await ann.page.getByText(/got "nonsense"/).waitFor();
    await field(ann, 'Types').fill('role.*, team.create');
    await inDialog(ann, 'Create webhook').click();
    const first = await shownSecret(ann);
    await button(ann, 'Done').click();
    await ann.page.getByRole('heading', { name: 'siem' }).waitFor();
    const [{ id, types }] = (await atrium.as('ann')('GET', '/orgs/acme/webhooks')).body;
    assert.deepEqual(types, ['role.*', 'team.create']);
    await ann.page.waitForURL(`**/orgs/acme/webhooks/${id}`);

    await button(ann, 'Send a test').click();
    await ann.page.getByText(/^Accepted: answered 204, in \d+ ms\.$/).waitFor();
    assert.equal(receiver.received.at(-1)?.json.type, 'webhook.test');
    status = 500;
    await button(ann, 'Send a test').click();
    await ann.page.getByText(/^Not accepted: answered 500/).waitFor();
    status = 204;

    await button(ann, 'Rotate secret').click();
    await inDialog(ann, 'Rotate secret').click();
    const second = await shownSecret(ann);
    assert.notEqual(second, first);
    await button(ann, 'Done').click();
    assert.ok(!(await ann.page.content()).includes(second), 'it is not shown again');

    await button(ann, 'Pause').click();
    await inDialog(ann, 'Pause webhook').click();
    await ann.page.getByText('paused', { exact: true }).waitFor();
    assert.equal(await button(ann, 'Redeliver since').getAttribute('aria-disabled'), 'true');
    await createRole('while-paused');
    await button(ann, 'Activate').click();
    await ann.page.getByText('active', { exact: true }).waitFor();
    await button(ann, 'Redeliver since').click();
    await inDialog(ann, 'Redeliver').click();
    await ann.page.getByText('One event is sent again.').waitFor();
    await receiver.find(({ json }) => json.type === 'role.create');
    assert.deepEqual(ann.faults, []);
  });

  it('A delivery has its attempts, and is sent again', async () => {
    status = 503;
    const made = await atrium.as('ann')('POST', '/orgs/acme/webhooks', { url: receiver.url, types: ['role.create'] });
    const path = `/orgs/acme/webhooks/${made.body.id}`;
    const latest = async () => (await atrium.as('ann')('GET', `${path}/deliveries`)).body[0];
    await createRole('fails-first');
    await until(async () => (await latest())?.attempts.length === 1);
    const ann = await browser.visit(atrium, 'ann');
    await ann.go(path);
    const picture = ann.page.getByRole('slider', { name: 'Deliveries per hour' });
    assert.match((await picture.getAttribute('aria-valuetext')) ?? '', /: 1 (pending|failed)\.$/);
    await picture.focus();
    await ann.page.keyboard.press('Home');
    await ann.page.locator('.delivery-picture').getByText('As a table').click();
    await ann.page.getByRole('table', { name: 'Deliveries per hour' }).getByText('1', { exact: true }).waitFor();
    await button(ann, 'role.create').click();
    await ann.page.getByText('answered 503').last().waitFor();
    status = 204;
    await inDialog(ann, 'Redeliver').click();
    await until(async () => (await latest())?.state === 'delivered');
    await ann.go(`${path}?state=delivered`);
    await button(ann, 'role.create').click();
    await ann.page.locator('dialog').getByText('answered 204').waitFor();
    await ann.page.locator('dialog').getByText('answered 503').first().waitFor();
    await inDialog(ann, 'Close').last().click();
    await ann.go(`${path}?state=failed`);
    await ann.page.getByText('No delivery is in this state.').waitFor();
    assert.deepEqual(ann.faults, []);
  });

  it('The email about a disabled webhook leads to the list, whose page says why', async () => {
    status = 410;
    const made = await atrium.as('ann')('POST', '/orgs/acme/webhooks', { url: receiver.url, types: ['role.create'] });
    await createRole('gone');
    const emails: string[] = [];
    await until(async () => {
      emails.push(...(await mail.take(atrium)).map(({ text }) => text));
      return emails.some((text) => text.includes('/orgs/acme/webhooks'));
    });
    const link = /http:\S+\/webhooks/.exec(emails.join('\n'))?.[0] ?? '';
    const ann = await browser.visit(atrium, 'ann');
    await ann.go(new URL(link).pathname);
    await ann.page.getByRole('row').filter({ hasText: 'disabled' }).getByRole('link').click();
    await ann.page.waitForURL(`**/orgs/acme/webhooks/${made.body.id}`);
    await ann.page.getByText(/answered 410, which means/).waitFor();
    await button(ann, 'Delete webhook').click();
    await field(ann, `Type ${made.body.name} to confirm`).fill(made.body.name);
    await inDialog(ann, 'Delete webhook').click();
    await ann.page.waitForURL('**/orgs/acme/webhooks');
    assert.equal((await atrium.as('ann')('GET', `/orgs/acme/webhooks/${made.body.id}`)).status, 404);
    assert.deepEqual(ann.faults, []);
  });

  it('Site administrators have those of the deployment; members without the permission hear why not', async () => {
    const root = await browser.visit(atrium, 'root');
    await root.go('/admin/webhooks');
    await button(root, 'New webhook').first().click();
    await field(root, 'URL').fill(receiver.url);
    await inDialog(root, 'Create webhook').click();
    await shownSecret(root);
    await button(root, 'Done').click();
    await root.page.waitForURL('**/admin/webhooks/*');
    await button(root, 'Send a test').click();
    await root.page.getByText(/^Accepted: answered 204/).waitFor();
    assert.equal(receiver.received.at(-1)?.json.data.organization, null);

    const dan = await browser.visit(atrium, 'dan');
    await dan.go('/orgs/acme/webhooks');
    await dan.page.getByRole('heading', { name: 'You cannot see this' }).waitFor();
    await dan.go('/admin/webhooks');
    await dan.page.getByText(/Only site administrators can/).waitFor();
    assert.deepEqual([root.faults, dan.faults], [[], []]);
  });
});
