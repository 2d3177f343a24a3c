import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { dotsOf, partsOf, placeAt, totalOf } from '../../console/src/pages/clusters/field-places.ts';
import { activeShare, healthSpans, lastOf } from '../../console/src/pages/clusters/health-spans.ts';
import { deliverySpans } from '../../console/src/pages/webhooks/delivery-hours.ts';
import { percentOf } from '../../console/src/parts/share.ts';
import { sql } from '../../src/db/db.ts';
import { describeLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { openBrowser, type TestBrowser } from '../support/server/browser.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LAST_HEARTBEAT = sql('test.lastHeartbeat', 'update cluster set heartbeat_at = $2 where id = $1');

describe('The phases of a cluster, as the audit log tells them', () => {
  const now = Date.parse('2026-11-20T00:00:00Z');
  const at = (hoursAgo: number) => new Date(now - hoursAgo * HOUR_MS).toISOString();
  const silentSince = (hoursAgo: number) => `no heartbeat since ${at(hoursAgo).slice(0, 19)}Z`;
  const turn = (hoursAgo: number, before: string, after: string, message = '') => ({
    at: at(hoursAgo),
    before: { phase: before, message },
    after: { phase: after, message: '' },
  });
  const told = (spans: ReturnType<typeof healthSpans>) =>
    spans.map(({ phase, from, until: end }) => `${phase} ${(now - from) / HOUR_MS} to ${(now - end) / HOUR_MS}`);
  const active = { createdAt: at(100), heartbeatAt: at(0), phase: 'Active', message: '' };

  it('Silence begins with the last heartbeat before it, and ends with the report that is on record', () => {
    const entries = [turn(10, 'NotConnected', 'Active', silentSince(12)), turn(90, 'Registered', 'Active')];
    assert.deepEqual(told(healthSpans(entries, active, now, true)), [
      'Registered 100 to 90',
      'Active 90 to 12',
      'NotConnected 12 to 10',
      'Active 10 to 0',
    ]);
  });

  it('A cluster that is silent now has been so since its last heartbeat', () => {
    const lost = { ...active, heartbeatAt: at(30), phase: 'Lost', message: silentSince(30) };
    assert.deepEqual(told(healthSpans([turn(90, 'Registered', 'Active')], lost, now, true)), [
      'Registered 100 to 90',
      'Active 90 to 30',
      'Lost 30 to 0',
    ]);
  });

  it('What is before the oldest entry that was loaded is not shown, and what no entry tells is not known', () => {
    const spans = healthSpans([turn(10, 'NotConnected', 'Active', silentSince(12))], active, now, true);
    assert.deepEqual(told(spans), ['undefined 100 to 12', 'NotConnected 12 to 10', 'Active 10 to 0']);
    assert.equal(activeShare(spans), 10 / 12);
    const cut = healthSpans([turn(10, 'NotReady', 'Active')], active, now, false);
    assert.deepEqual(told(cut), ['Active 10 to 0']);
  });

  it('A cluster that never changed its phase is in it since its import, and a window cuts off what is older', () => {
    const spans = healthSpans([], { ...active, phase: 'Registered' }, now, true);
    assert.deepEqual(told(spans), ['Registered 100 to 0']);
    assert.deepEqual(told(lastOf(spans, now, DAY_MS)), ['Registered 24 to 0']);
    assert.equal(activeShare(spans), 0);
    assert.equal(activeShare([]), undefined);
  });
});

describe('The field of clusters', () => {
  it('Each place is one cluster, by phase and rank, the worst first', () => {
    const parts = partsOf({ Active: 3, Lost: 2, NotReady: 0 });
    assert.deepEqual(parts, [
      { phase: 'Lost', count: 2 },
      { phase: 'Active', count: 3 },
    ]);
    const places = Array.from({ length: totalOf(parts) + 1 }, (_, place) => placeAt(parts, place));
    assert.deepEqual(
      places.map((place) => place && `${place.phase} ${place.rank}`),
      ['Lost 1', 'Lost 2', 'Active 1', 'Active 2', 'Active 3', undefined],
    );
    assert.equal(dotsOf(2, 3, 4).split('M').length - 1, 3);
    assert.match(dotsOf(3, 2, 4), /^M3 0.*M0 1/);
  });
});

describe('Deliveries by hour', () => {
  const now = Date.parse('2026-11-20T12:30:00Z');
  const sent = (hoursAgo: number, state: 'delivered' | 'failed') => ({
    state,
    created_at: new Date(now - hoursAgo * HOUR_MS).toISOString(),
  });

  it('Every delivery is in the hour in which it was created, and hours without any are there, too', () => {
    const spans = deliverySpans([sent(0, 'failed'), sent(0.1, 'delivered'), sent(2, 'delivered')], now);
    assert.deepEqual(
      spans
        .map(({ from, total, counts }) => [new Date(from).toISOString().slice(11, 13), total, counts.failed])
        .slice(-4),
      [
        ['09', 0, 0],
        ['10', 1, 0],
        ['11', 0, 0],
        ['12', 2, 1],
      ],
    );
    assert.equal(spans.length, 24);
    assert.deepEqual(deliverySpans([], now), []);
  });

  it('A month is not drawn by the hour', () => {
    const spans = deliverySpans([sent(30 * 24, 'delivered'), sent(1, 'delivered')], now);
    assert.equal(spans.length, 31);
    assert.ok(spans.every(({ from, until: end }) => end - from === DAY_MS));
  });
});

describe('Shares', () => {
  it('Nearly all is not all, and very little is not nothing', () => {
    assert.deepEqual(
      [percentOf(0, 5), percentOf(1, 5000), percentOf(4999, 5000), percentOf(5, 5), percentOf(0, 0)],
      ['0 %', '1 %', '99 %', '100 %', ''],
    );
  });
});

describeLong('The pictures of resources', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  it('The page of a cluster shows when it reported and when it was silent, and by keys which time that was', async () => {
    const id = atrium.world.clusters.prod?.id;
    const beat = () => atrium.as('ann')('POST', `/clusters/${id}/heartbeat`, { phase: 'Active' });
    assert.equal((await beat()).status, 204);
    await atrium.instance.db.query(LAST_HEARTBEAT, [id, new Date(Date.now() - 2 * HOUR_MS)]);
    assert.equal((await beat()).status, 204);

    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go(`/orgs/acme/clusters/${id}`);
    await page.getByRole('link', { name: 'Health' }).click();
    await settled();
    const strip = page.getByRole('slider', { name: 'Phases of the last 24 hours' });
    assert.match((await strip.getAttribute('aria-valuetext')) ?? '', /^Active: .* until now/);
    await strip.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('End');
    assert.match((await strip.getAttribute('aria-valuetext')) ?? '', /^Active: .* until now/);
    await page.getByRole('slider', { name: 'Phases of the last 30 days' }).waitFor();
    const card = page.locator('.card').filter({ has: strip });
    await card.getByText('As a table').click();
    const phases = await card.locator('tbody th').allInnerTexts();
    assert.equal(phases[0], 'Active');
    assert.ok(phases.includes('NotConnected'), String(phases));
    assert.deepEqual(faults, []);
  });

  it('Users who may not read the audit log see no picture of health, and no error', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'dan');
    await go(`/orgs/acme/clusters/${atrium.world.clusters.prod?.id}`);
    await settled();
    await page.getByText('Last heartbeat').first().waitFor();
    assert.equal(await page.getByRole('link', { name: 'Health' }).count(), 0);
    assert.deepEqual(faults, []);
  });

  it('The field of clusters names the dot that the arrow keys reach, and Enter opens its page', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme');
    await settled();
    const field = page.getByRole('slider', { name: 'Clusters, the worst first' });
    const total = Number(await field.getAttribute('aria-valuemax'));
    assert.equal(total, (await atrium.as('ann')('GET', '/orgs/acme/overview')).body.clusters.all);
    await field.focus();
    await page.keyboard.press('End');
    assert.equal(await field.getAttribute('aria-valuenow'), String(total));
    await until(async () => /: prod$/.test((await field.getAttribute('aria-valuetext')) ?? ''));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'prod', exact: true }).waitFor();
    assert.deepEqual(faults, []);
  });

  it('The calendar shows on which day what ends, and its table leads to the list', async () => {
    const team = atrium.world.orgs.acme?.teams.Editors;
    const ends = new Date(Date.now() + 5 * DAY_MS).toISOString();
    assert.equal((await atrium.as('ann')('PUT', `/teams/${team}/members/dan`, { expires_at: ends })).status, 204);
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme');
    await settled();
    const calendar = page.getByRole('slider', { name: 'What ends, by day' });
    // It begins at the first day with something; Home is today.
    assert.equal(await calendar.getAttribute('aria-valuenow'), '5');
    assert.match((await calendar.getAttribute('aria-valuetext')) ?? '', /: 1 membership\.$/);
    await calendar.focus();
    await page.keyboard.press('Home');
    assert.match((await calendar.getAttribute('aria-valuetext')) ?? '', /: nothing ends\.$/);
    const figure = page.locator('.ending-calendar');
    await figure.getByText('As a table').click();
    await figure.getByRole('table').getByRole('link', { name: '1' }).click();
    await page.waitForURL('**/orgs/acme/members');
    assert.equal((await atrium.as('ann')('DELETE', `/teams/${team}/members/dan`)).status, 204);
    assert.deepEqual(faults, []);
  });

  it('The settings show how many members have a second factor', async () => {
    const { page, go, settled, faults } = await browser.visit(atrium, 'ann');
    await go('/orgs/acme/settings');
    await settled();
    const table = page.getByRole('table', { name: 'Members by second factor' });
    const counts = await table.locator('tbody td').allInnerTexts();
    assert.deepEqual(counts, ['0', '4']);
    assert.equal(await page.locator('.share-ring').innerText(), '0 %');
    assert.deepEqual(faults, []);
  });
});
