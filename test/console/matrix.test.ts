import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { compared, type Matrix, ordered } from '../../console/src/pages/access/matrix-order.ts';
import { describeLong } from '../support/checks/long.ts';
import { openBrowser, type TestBrowser, type Visit } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

const PEOPLE = 200;
const CLUSTERS = 500;
/** Rows and columns in sight, and a few around them. */
const MAX_DRAWN = 1500;

describe('The order of a matrix', () => {
  const matrix = {
    type: 'cluster',
    at: '2026-01-01T00:00:00Z',
    relations: ['can_view', 'can_edit'],
    users: ['user10', 'user9', 'zoe'].map((name, at) => ({ id: BigInt(at), name, type: 'user' })),
    objects: [{ id: 1n, name: 'prod' }],
    cells: [[1], [3], [3]],
  } as unknown as Matrix;

  it('Rows are in order of names, numbers in them by value, or of how many rights there are', () => {
    const names = (order: 'name' | 'rights') => ordered(matrix, order).users.map(({ name }) => name);
    assert.deepEqual(names('name'), ['user9', 'user10', 'zoe']);
    assert.deepEqual(names('rights'), ['user9', 'zoe', 'user10']);
    assert.deepEqual(ordered(matrix, 'name').cells, [[3], [1], [3]]);
  });

  it('Of two people, each permission that only one of them has somewhere is named', () => {
    assert.deepEqual(compared({ ...matrix, cells: [[3], [1]] }), [[1], []]);
    assert.deepEqual(compared({ ...matrix, cells: [[2], [1]] }), [[1], [0]]);
  });
});

describeLong('The matrix of the console', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  const cell = ({ page }: Visit, row: number, column: number) =>
    page.locator(`[aria-rowindex="${row + 2}"] [aria-colindex="${column + 2}"]`);
  const focused = ({ page }: Visit) =>
    page.evaluate<string>(`(() => {
      const cell = document.activeElement?.closest('[aria-colindex]');
      return cell ? cell.closest('tr').getAttribute('aria-rowindex') + ' ' + cell.getAttribute('aria-colindex') : '';
    })()`);

  it('The matrix shows who may do what, goes from cell to cell by keys, and leads to why', async () => {
    const visit = await browser.visit(atrium, 'ann');
    const { page, go, settled, faults } = visit;
    await go('/orgs/acme/access/matrix');
    await page.getByRole('grid').waitFor();
    assert.deepEqual(await page.getByRole('rowheader').allInnerTexts(), ['ann', 'bob', 'cat', 'dan']);
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), ['Person', 'prod', 'staging']);
    const letters = (await page.getByRole('list', { name: 'Letters' }).innerText()).match(/\b[A-Z]\b/g) ?? [];
    assert.equal(await cell(visit, 0, 0).locator('[aria-hidden]').innerText(), letters.join(''));
    // Whatever a person lacks leaves its place empty, so that each letter is below the same one.
    const dans = await cell(visit, 3, 0).locator('[aria-hidden]').innerText();
    assert.equal(dans.length, letters.length);
    assert.match(dans, /^V.*·/);
    const cut = await page.evaluate<number>(
      `[...document.querySelectorAll('[data-matrix] td a')].filter((link) => link.scrollWidth > link.clientWidth).length`,
    );
    assert.equal(cut, 0);

    await page.getByLabel('Permission').selectOption('can_edit');
    await page.getByText('✓').first().waitFor();
    await settled();
    const marks = await page.locator('[data-matrix] td a [aria-hidden]').allInnerTexts();
    assert.deepEqual(marks, ['✓', '✓', '✓', '✓', '·', '·', '·', '·']);

    await cell(visit, 0, 0).locator('a').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    assert.equal(await focused(visit), '4 3');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Why?' }).waitFor();
    await page.getByRole('status').getByText('No', { exact: true }).waitFor();
    assert.match(page.url(), /user=cat&relation=can_edit/);

    await go('/orgs/acme/access/matrix?relation=can_edit&differences=true');
    await page.getByRole('grid').waitFor();
    assert.equal(await page.getByText('nobody is left out').count(), 0);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), 'acme-cluster-access.csv');
    assert.match(readFileSync(await file.path(), 'utf8'), /^user,prod,staging\r\nann,can_edit,can_edit\r\n/);
    assert.deepEqual(faults, []);
  });

  it('Of two people, the matrix marks what only one of them may do, and rows are in order of names or rights', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/access/matrix?users=bob,cat&differences=true');
    await page.getByText(/^bob has \d+ more: .*edit/).waitFor();
    await page.getByText('cat has nothing that the other has not.').waitFor();
    const row = (name: string) => page.locator('tbody tr', { hasText: name });
    assert.equal(await row('bob').locator('.only-here').count(), 2);
    assert.equal(await row('cat').locator('.only-here').count(), 0);

    await go('/orgs/acme/access/matrix?users=dan,cat,ann');
    await page.getByText(/^3 people × 2 objects/).waitFor();
    assert.deepEqual(await page.getByRole('rowheader').allInnerTexts(), ['ann', 'cat', 'dan']);
    await page.getByLabel('Order').selectOption('rights');
    await page.waitForURL(/order=rights/);
    await go('/orgs/acme/access/matrix?users=dan');
    await page.getByText(/^1 person × 2 objects/).waitFor();
    assert.deepEqual(faults, []);
  });

  it('If a matrix of everything would be too large, it shows the first people and objects, and finds others', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    const sent: { part?: boolean; ids?: unknown[] }[] = [];
    await page.route('**/authz/matrix?*', async (route) => {
      const asked = route.request().postDataJSON();
      sent.push(asked);
      const answer = await route.fetch();
      const whole = asked.ids ? {} : { whole: { users: 5001, objects: 10_000 } };
      await route.fulfill({ response: answer, json: { ...(await answer.json()), ...whole } });
    });
    await go('/orgs/acme/access/matrix');
    await page.getByText(/^Showing \d of 5,001 people and 2 of 10,000 objects/).waitFor();
    await page.getByRole('grid').waitFor();
    await page.getByLabel('Object search').fill('sta');
    await page.getByRole('columnheader', { name: 'prod' }).waitFor({ state: 'detached' });
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), ['Person', 'staging']);
    assert.ok(sent.every(({ part }) => part === true));
    assert.equal(sent.at(-1)?.ids?.length, 1);
    assert.deepEqual(faults, []);
  });

  it('A member page says what the person holds and why, and compares them with another user', async () => {
    const { page, go, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/members/dan');
    const row = page.locator('tr', { hasText: '2 clusters' });
    await row.waitFor();
    assert.match(await row.innerText(), /2 clusters: prod, staging.*view, connect.*role cluster-operator/s);
    await page.getByRole('button', { name: 'Compare with…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Person' }).fill('cat');
    await dialog.getByRole('option', { name: 'cat' }).first().click();
    await dialog.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('grid').waitFor();
    assert.deepEqual(await page.getByRole('rowheader').allInnerTexts(), ['cat', 'dan']);
    await page.getByRole('button', { name: 'Show all members' }).click();
    await page.getByLabel('People').waitFor();
    assert.deepEqual(faults, []);
  });

  it(`Of ${PEOPLE} people and ${CLUSTERS} clusters, only the cells in sight are drawn, and keys reach the last`, async () => {
    const visit = await browser.visit(atrium, 'ann');
    const { page, go, faults } = visit;
    await page.route('**/authz/matrix?*', (route) => route.fulfill({ json: largeMatrix() }));
    await go('/orgs/acme/access/matrix');
    await page.getByRole('grid').waitFor();
    const drawn = () => page.getByRole('gridcell').count();
    assert.ok((await drawn()) <= MAX_DRAWN, `${await drawn()} cells`);
    await page.locator('[data-matrix]').evaluate((box) => box.scrollTo(104 * 250, 32 * 100));
    await page.getByRole('columnheader', { name: 'cluster252', exact: true }).waitFor();
    await page.getByRole('rowheader', { name: 'person102', exact: true }).waitFor();
    // The head and the names stay where they are.
    const box = (await page.locator('[data-matrix]').boundingBox()) ?? assert.fail();
    const head =
      (await page.getByRole('columnheader', { name: 'cluster252', exact: true }).boundingBox()) ?? assert.fail();
    const name = (await page.getByRole('rowheader', { name: 'person102', exact: true }).boundingBox()) ?? assert.fail();
    assert.ok(Math.abs(head.y - box.y) < 3 && Math.abs(name.x - box.x) < 3, JSON.stringify({ box, head, name }));
    assert.ok((await drawn()) <= MAX_DRAWN, `${await drawn()} cells`);

    await page.locator('[data-matrix] a[tabindex="0"]').focus();
    await page.keyboard.press('Control+End');
    await page.getByRole('rowheader', { name: `person${PEOPLE}`, exact: true }).waitFor();
    assert.equal(await focused(visit), `${PEOPLE + 1} ${CLUSTERS + 1}`);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Home');
    assert.equal(await focused(visit), `${PEOPLE} 2`);
    const focusedBox = (await page.locator('[data-matrix] a:focus').boundingBox()) ?? assert.fail();
    assert.ok(focusedBox.x >= box.x + 119, 'the names cover the focused cell');
    assert.deepEqual(faults, []);
  });
});

function largeMatrix() {
  const numbered = (name: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ id: at + 1, name: `${name}${at + 1}` }));
  return {
    type: 'cluster',
    at: '2026-01-01T00:00:00Z',
    relations: [
      'can_view',
      'can_edit',
      'can_remove',
      'can_connect',
      'can_view_orchestratorconfig',
      'can_administer',
      'can_review',
    ],
    users: numbered('person', PEOPLE),
    objects: numbered('cluster', CLUSTERS),
    cells: Array.from({ length: PEOPLE }, (_, row) => Array.from({ length: CLUSTERS }, (_, at) => (row + at) % 32)),
  };
}
