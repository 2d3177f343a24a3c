import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser, type Visit } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describeLong('Access reviews in the console', { skip: lacks('chromium') }, () => {
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

  it('ann reviews a team: she keeps one item, ends another, and gets a record that the audit log proves', async () => {
    const ann = await browser.visit(atrium, 'ann');
    await ann.go('/orgs/acme/reviews');
    await button(ann, 'Start a review').first().click();
    await field(ann, 'Question').selectOption('team');
    await field(ann, 'Team').selectOption('operators');
    await field(ann, 'Name').fill('Operators');
    await ann.page.locator('dialog').getByRole('button', { name: 'Start review' }).click();
    await ann.page.waitForURL('**/orgs/acme/reviews/*');
    await ann.page.getByRole('heading', { name: 'Operators' }).waitFor();
    const [review] = (await atrium.as('ann')('GET', '/authz/reviews?org=acme')).body;
    const before = await atrium.as('ann')('GET', `/authz/reviews/${review.id}?org=acme`);
    const member = before.body.items.find(
      ({ kind, principal }: { kind: string; principal: { name: string } }) =>
        kind === 'membership' && principal.name === 'dan',
    );
    const other = before.body.items.find(({ id }: { id: number }) => id !== member.id);

    await ann.go(`/orgs/acme/reviews/${review.id}?item=${other.id}`);
    await ann.page.getByText(other.sentence, { exact: true }).waitFor();
    await field(ann, 'Comment').fill('still needed');
    await button(ann, 'Keep').click();
    await ann.page.getByText('The access stays.').waitFor();
    await ann.page.getByText('still needed').waitFor();

    await ann.go(`/orgs/acme/reviews/${review.id}?item=${member.id}`);
    await ann.page.getByText('If it ends').waitFor();
    await button(ann, 'End').click();
    await ann.page.getByText('The access has ended.').waitFor();
    const team = before.body.question.team.id;
    const { status } = await atrium.as('ann')('GET', `/teams/${team}/members/dan`);
    assert.equal(status, 404);

    await button(ann, 'Close review').click();
    await ann.page.locator('dialog').getByRole('button', { name: 'Close review' }).click();
    await ann.page.getByText('The record has the hash that the audit log names.').waitFor();
    const saved = async (link: string) => {
      const download = ann.page.waitForEvent('download');
      await ann.page.getByRole('link', { name: link }).click();
      return readFileSync(await (await download).path());
    };
    const { record } = (await atrium.as('ann')('GET', `/authz/reviews/${review.id}?org=acme`)).body;
    assert.equal(
      createHash('sha256')
        .update(await saved('Download record'))
        .digest('hex'),
      record.sha256,
    );
    assert.match(String(await saved('Download CSV')), /still needed/);
    assert.deepEqual(ann.faults, []);
  });

  it('What was not used is a question of its own, and who may not start a review hears why', async () => {
    const ann = await browser.visit(atrium, 'ann');
    await ann.go('/orgs/acme/reviews?start=unused');
    await field(ann, 'Days').waitFor();
    assert.equal(await field(ann, 'Question').inputValue(), 'unused');
    assert.equal(await field(ann, 'Days').inputValue(), '90');
    await button(ann, 'Cancel').click();
    await ann.page.locator('dialog').waitFor({ state: 'detached' });

    const bob = await browser.visit(atrium, 'bob');
    await bob.go('/orgs/acme/reviews');
    await bob.page.getByTitle('You cannot start an access review. Why not?').first().waitFor();
  });
});
