import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { addressesIn } from '../../client/addresses.ts';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser, type Visit } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describeLong('Invitations in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  const button = ({ page }: Visit, name: string) => page.getByRole('button', { name, exact: true });
  const field = ({ page }: Visit, name: string) => page.getByLabel(name, { exact: true });

  it('A pasted list is invited, a new account and an account with another address join, and a link is revoked', async () => {
    const owner = await browser.visit(atrium, 'ann');
    await owner.go('/orgs/acme/invitations');
    await owner.page.getByText('No invitations yet.').waitFor();
    await button(owner, 'Invite people').first().click();
    await field(owner, 'Addresses').fill('Zoe <zoe@acme.example>, yan@acme.example;\nvic@acme.example');
    await owner.page.getByLabel('operators').check();
    await button(owner, 'Invite 3 people').click();
    const links = owner.page.locator('dialog pre');
    await links.nth(2).waitFor();
    const [toZoe = '', toYan = '', toVic = ''] = await links.allInnerTexts();
    await button(owner, 'Done').click();

    // What was sent by mistake is taken back, and so is what the log has.
    const states = async () =>
      (await atrium.as('ann')('GET', '/orgs/acme/invitations')).body.map((one: { email: string }) => one.email);
    await button(owner, 'Invite people').first().click();
    await field(owner, 'Addresses').fill('ida@acme.example, ivo@acme.example');
    await button(owner, 'Invite 2 people').click();
    await button(owner, 'Undo these invitations').click();
    await owner.page.getByText('Undone: no link of these works any more.').waitFor();
    assert.deepEqual(
      (await states()).filter((email: string) => email.startsWith('i')),
      [],
    );
    const body = { email: 'ira@acme.example', team_ids: [Number(atrium.world.orgs.acme?.teams.Viewers)] };
    assert.equal((await atrium.as('ann')('POST', '/orgs/acme/invitations', body)).status, 201);
    const log = await atrium.as('ann')('GET', '/orgs/acme/audit?action=invitation.create&limit=1');
    await owner.go(`/orgs/acme/audit?entry=${log.body.items[0].id}`);
    await button(owner, 'Undo this change …').click();
    const dialog = owner.page.getByRole('dialog');
    await dialog.getByText('The link of this invitation stops working.').waitFor();
    await dialog.getByRole('button', { name: 'Undo this change' }).click();
    await owner.page.getByText('Undone. The log has a new entry about it.').waitFor();
    assert.ok(!(await states()).includes('ira@acme.example'));
    await owner.go('/orgs/acme/invitations');
    await owner.page.locator('tbody tr', { hasText: 'zoe@acme.example' }).getByText('open').waitFor();

    const zoe = await browser.visit(atrium);
    await zoe.go(new URL(toZoe).pathname);
    await zoe.page.getByRole('heading', { name: 'Join acme' }).waitFor();
    await zoe.page.getByText('ann has invited zoe@acme.example to the organization acme').waitFor();
    await field(zoe, 'Username').fill('ann');
    await field(zoe, 'Password').fill('correct horse battery');
    await button(zoe, 'Create account and join').click();
    await zoe.page.getByText('name is taken: ann').waitFor();
    await field(zoe, 'Username').fill('zoe');
    await button(zoe, 'Create account and join').click();
    await zoe.page.waitForURL('**/orgs/acme');
    await zoe.page.getByRole('heading', { level: 1 }).waitFor();

    const eve = await browser.visit(atrium, 'eve');
    await eve.go(new URL(toYan).pathname);
    await button(eve, 'Join as eve').click();
    await eve.page.getByText('which is not a verified address of your account').waitFor();
    await button(eve, 'Join as eve anyway').click();
    await eve.page.waitForURL('**/orgs/acme');

    await button(owner, 'Revoke the invitation of vic@acme.example').click();
    await button(owner, 'Revoke').last().click();
    await owner.page.getByText('The invitation of vic@acme.example was revoked.').waitFor();
    const vic = await browser.visit(atrium);
    await vic.go(new URL(toVic).pathname);
    await vic.page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await vic.go(new URL(toZoe).pathname);
    await vic.page.getByRole('heading', { name: 'This invitation was accepted already' }).waitFor();
    const operators = await atrium.as('ann')('GET', '/orgs/acme/members?q=zoe');
    assert.equal(operators.body.length, 1);
    assert.deepEqual([...owner.faults, ...eve.faults], []);
  });
});

describe('Addresses in a pasted list', () => {
  it('Names, separators and repetitions do not matter', () => {
    assert.deepEqual(
      addressesIn('Zoe <zoe@a.example>, "Y, An" <yan@a.example>\nmailto:vic@a.example; ZOE@a.example. nobody'),
      ['zoe@a.example', 'yan@a.example', 'vic@a.example'],
    );
    assert.deepEqual(addressesIn(''), []);
  });
});
