import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AccessMap, connected, layOut } from '../../console/src/pages/access/map-layout.ts';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

describe('The layout of an access map', () => {
  const map = {
    people: [
      { key: 'user:1', name: 'ann' },
      { key: 'user:2', name: 'bob' },
    ],
    teams: [
      { key: 'team:1', id: 1n, name: 'one', people: 1 },
      { key: 'team:2', id: 2n, name: 'two', people: 1 },
    ],
    grants: [
      { key: 'grant:0', role: { id: 1n, name: 'first' }, namespaces: [], relations: [], people: 1 },
      { key: 'grant:1', role: { id: 2n, name: 'second' }, namespaces: ['shop'], relations: [], people: 1 },
    ],
    places: [{ key: 'place:0', type: 'cluster_set', id: null, name: 'eu', people: 2 }],
    lines: [
      { from: 'user:1', to: 'team:2', why: null },
      { from: 'user:2', to: 'team:1', why: null },
      { from: 'team:1', to: 'grant:0', why: null },
      { from: 'team:2', to: 'grant:1', why: null },
      { from: 'grant:0', to: 'place:0', why: null },
      { from: 'grant:1', to: 'place:0', why: null },
    ],
    left_out: { people: 0, teams: 0, grants: 0, places: 0 },
  } as unknown as AccessMap;

  it('Boxes stand next to what they have lines to', () => {
    const { boxes } = layOut(map);
    assert.deepEqual(
      boxes.map(({ label }) => label),
      ['bob', 'ann', 'one', 'two', 'first', 'second', 'eu'],
    );
    const heights = new Map(boxes.map(({ label, y }) => [label, y]));
    assert.equal(heights.get('bob'), heights.get('first'));
    assert.equal(heights.get('ann'), heights.get('second'));
  });

  it('A box narrows the map to what it stands for, and a set of clusters to its name', () => {
    const { boxes } = layOut(map);
    const narrow = (label: string) => boxes.find((box) => box.label === label)?.narrow;
    assert.deepEqual(narrow('ann'), { to: 'user:ann' });
    assert.deepEqual(narrow('two'), { to: 'team:2' });
    assert.deepEqual(narrow('second'), { role: '2' });
    assert.deepEqual(narrow('eu'), { on: 'cluster_set:eu' });
  });

  it('What is on a way through a box is all that leads to it and all that it leads to', () => {
    const ends = [...connected(map.lines, 'team:2')].map(({ from, to }) => `${from} ${to}`);
    assert.deepEqual(ends.sort(), ['grant:1 place:0', 'team:2 grant:1', 'user:1 team:2']);
  });
});

describeLong('The map of access in the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('The map is narrowed by keys and clicks, and each line leads to why', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/access/map');
    const boxes = page.locator('.access-map-box bdi');
    await boxes.first().waitFor();
    const labels = await boxes.allInnerTexts();
    for (const label of ['ann', 'dan', 'operators', 'cluster-operator', 'owner permission', 'acme']) {
      assert.ok(labels.includes(label), `${label} in ${labels.join(', ')}`);
    }

    await page.getByRole('button', { name: /^ann/ }).focus();
    await page.keyboard.press('ArrowRight');
    assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^Owners/);
    await page.keyboard.press('ArrowRight');
    assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^owner permission/);

    await page.getByRole('button', { name: /^operators/ }).click();
    await page.getByRole('button', { name: /^team operators/ }).waitFor();
    await settled();
    assert.deepEqual((await boxes.allInnerTexts()).sort(), ['acme', 'cluster-operator', 'dan', 'operators']);
    assert.match(page.url(), /to=team/);

    await page.getByText('As a table').last().click();
    const rows = await page.locator('table').last().locator('tbody tr').allInnerTexts();
    assert.deepEqual(
      rows.map((row) => row.split('\t').slice(0, 2).join(' → ')),
      ['dan → operators', 'operators → cluster-operator', 'cluster-operator → acme'],
    );
    await page.locator('table').last().getByRole('link', { name: 'Why?' }).last().click();
    await page.getByRole('heading', { name: 'Why?' }).waitFor();
    await page.getByRole('status').getByText('Yes', { exact: true }).waitFor();
    assert.match(page.url(), /user=dan/);
    assert.deepEqual(faults, []);
  });

  it('The map shows another person, all again, and a past moment', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/access/map?to=user:cat');
    const boxes = page.locator('.access-map-box bdi');
    await boxes.first().waitFor();
    assert.deepEqual((await boxes.allInnerTexts()).sort(), ['Viewers', 'acme', 'cat', 'read permission']);
    await page.getByRole('combobox', { name: 'Person or robot' }).fill('bob');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('button', { name: /^write permission/ }).waitFor();
    await page.getByRole('button', { name: /^user bob/ }).click();
    await page.getByRole('button', { name: /^Owners/ }).waitFor();
    await settled();
    assert.ok((await boxes.allInnerTexts()).includes('dan'));
    assert.deepEqual(faults, []);
  });

  it('A member who may not see the members is told so', async () => {
    const { page, go } = await browser.visit(atrium, 'dan');
    await go('/orgs/acme/access/map');
    await page.getByRole('heading', { name: 'You cannot see this' }).waitFor();
  });
});
