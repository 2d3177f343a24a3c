import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { edgesOf } from '../../console/src/pages/model/model-edges.ts';
import { describeLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describe('The lines of the map of the model', () => {
  it('Every type that a relation names directly is one line, with all of its relations', () => {
    const model = [
      'model',
      '  schema 1.1',
      'type user',
      '# A comment about type nothing',
      'type team',
      '  relations',
      '    define member: [user, team#member]',
      '    define built_in: [user:*]',
      '    define can_view: member or built_in',
    ].join('\n');
    assert.deepEqual(edgesOf(model), {
      names: ['user', 'team'],
      edges: [
        { from: 'user', to: 'team', relations: ['member', 'built_in'] },
        { from: 'team', to: 'team', relations: ['member'] },
      ],
    });
  });
});

describeLong('The pictures of access', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  const whyPath = (user: string, relation: string) => {
    const object = `cluster:${atrium.world.clusters.prod?.id}`;
    return `/orgs/acme/access/why?${new URLSearchParams({ user, relation, object })}`;
  };

  it('A no shows the missing link as a dashed line, and each remedy as a ghost line that leads to its words', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go(whyPath('cat', 'can_edit'));
    await page.getByRole('status').getByText('No', { exact: true }).waitFor();
    await settled();
    const chain = page.getByRole('list', { name: 'What is missing between the person and the object' });
    const boxes = (await chain.locator('.box .strong').allInnerTexts()).join(' → ');
    assert.equal(boxes, 'cat → Editors → acme → prod');
    assert.equal(await chain.locator('.link.missing').innerText(), 'is in');
    assert.equal(await chain.locator('.link').count(), 3);
    // What reads a page aloud says it, too.
    assert.match(await chain.locator('.box').nth(1).innerText(), /is missing: is in/);
    const dashes = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('.link.missing path')).strokeDasharray`,
    );
    assert.match(dashes, /5px, 4px|5, 4/);

    const ghosts = page.getByRole('list', { name: 'What would lead there, the least first' }).getByRole('listitem');
    const remedies = page.getByRole('list', { name: 'How to allow it, the least first' }).getByRole('listitem');
    assert.equal(await ghosts.count(), await remedies.count());
    assert.ok((await ghosts.count()) >= 2);
    await ghosts.last().getByRole('link').focus();
    await page.keyboard.press('Enter');
    assert.match(await page.evaluate<string>('document.activeElement.innerText'), /Add cat to the team Editors/);

    await page.getByText('As a table').last().click();
    const table = page.getByRole('table', { name: 'The relationships between the person and the object' });
    const states = await table.locator('tbody td:last-child').allInnerTexts();
    assert.deepEqual(states, ['is missing', 'exists', 'exists']);
    assert.deepEqual(faults, []);
  });

  it('The time strip is stepped with the arrow keys, and the answer is the one of that moment', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    const team = atrium.world.orgs.acme?.teams.Editors;
    assert.equal((await atrium.as('ann')('PUT', `/teams/${team}/members/dan`)).status, 204);
    await go(whyPath('dan', 'can_edit'));
    const verdict = (word: string) => page.getByRole('status').getByText(word, { exact: true }).waitFor();
    await verdict('Yes');
    await settled();
    const strip = page.getByRole('slider', { name: 'Moment' });
    assert.equal(await strip.getAttribute('aria-valuetext'), 'Now.');
    await strip.focus();
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL(/at=/);
    await verdict('No');
    assert.match(
      (await strip.getAttribute('aria-valuetext')) ?? '',
      /^Just before .*ann team add member Editors \(dan\)/,
    );
    await page.keyboard.press('End');
    await page.waitForURL((url) => !url.search.includes('at='));
    await verdict('Yes');

    // The table has the same moments.
    const steps = Number(await strip.getAttribute('aria-valuemax'));
    await page.locator('.time-strip summary').click();
    const rows = page.getByRole('table', { name: 'Changes of access' }).locator('tbody tr');
    assert.equal(await rows.count(), steps);
    await rows.first().getByRole('button').click();
    await verdict('No');

    for (const path of [`who?relation=can_edit&type=team&id=${team}`, 'matrix?type=team']) {
      await go(`/orgs/acme/access/${path}`);
      await strip.waitFor();
      await strip.focus();
      await page.keyboard.press('ArrowLeft');
      await page.waitForURL(/at=/);
      await page.getByRole('button', { name: 'Back to now' }).waitFor();
      await settled();
    }
    assert.equal((await atrium.as('ann')('DELETE', `/teams/${team}/members/dan`)).status, 204);
    assert.deepEqual(faults, []);
  });

  it('Without the right to read the audit log there is no time strip', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'dan');
    await go(whyPath('dan', 'can_connect'));
    await page.getByRole('status').getByText('Yes', { exact: true }).waitFor();
    await settled();
    assert.equal(await page.getByRole('slider', { name: 'Moment' }).count(), 0);
    assert.deepEqual(faults, []);
  });

  it('The map of the model shows the relations of one type, by mouse and by keys', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go('/model');
    await settled();
    const map = page.locator('.model-map');
    const type = (name: string) => map.getByRole('button', { name, exact: true });
    const all = await page.locator('.relations').count();
    await type('team').click();
    await until(async () => (await page.locator('.relations').count()) === 1);
    assert.match(await map.locator('figcaption').innerText(), /^team: it is pointed at by .*user \(member.*\)/);
    await type('team').focus();
    await page.keyboard.press('Enter');
    await until(async () => (await page.locator('.relations').count()) === all);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Space');
    assert.equal(await type('role').getAttribute('aria-pressed'), 'true');
    await map.getByText('As a table').click();
    const froms = await map.getByRole('table').locator('tbody tr').allInnerTexts();
    assert.ok(froms.length > 2 && froms.every((row) => /\brole\b/.test(row)), froms.join('\n'));
    assert.deepEqual(faults, []);
  });
});
