import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Route } from 'playwright-core';
import { COUNTS } from '../../counts.ts';
import { until } from '../../support/checks/until.ts';
import { openBrowser, type TestBrowser, type Visit } from '../../support/server/browser.ts';
import { lacks } from '../../support/services/requirements.ts';
import { CONSOLE_ROUTES, pathsOf, personFor, spread } from '../../support/world/console-pages.ts';
import { type ConsoleWorld, openConsoleWorld } from '../../support/world/console-world.ts';

const DATA = '**/api/v1/**';
const EXPECTED = /^Failed to load resource: (the server responded with a status of [45]\d\d|net::ERR_)/;
/** Forms that work without loading anything first. */
const WITHOUT_DATA = [
  '/me',
  '/me/password',
  '/me/bus',
  '/me/device',
  '/orgs/new',
  '/orgs/:org/clusters/import',
  '/signin',
  '*',
];
/** It asks for nothing, so only the files of the console are loaded with it. */
const NEUTRAL = '/me/device';
const INSIDE = CONSOLE_ROUTES.filter((route) => personFor(route) !== undefined);
const LOADING = spread(
  INSIDE.filter((route) => !WITHOUT_DATA.includes(route)),
  COUNTS.troubledPages,
);

describe('The pages of the console when the server is slow, refuses or fails', { skip: lacks('chromium') }, () => {
  let world: ConsoleWorld;
  let browser: TestBrowser;
  const visits = new Map<string | undefined, Visit>();
  before(async () => {
    [world, browser] = await Promise.all([openConsoleWorld(), openBrowser()]);
    for (const name of ['ann', 'root']) {
      visits.set(name, await browser.visit(world.atrium, name, { expected: EXPECTED }));
    }
  });
  after(async () => {
    await browser?.close();
    await world?.atrium.close();
  });

  for (const route of LOADING) {
    it(`${route} waits quietly, says what went wrong, and recovers`, async () => {
      const visit = visits.get(personFor(route)) ?? assert.fail(route);
      const { page, faults } = visit;
      const path = pathsOf(route, world.ids).at(-1) ?? '';
      const notices = page.locator('.fault, .forbidden, .empty');

      let answer: (held: Route) => unknown = () => undefined;
      const held: Route[] = [];
      // Whoever the visitor is, is known: the states are those of the page.
      const isData = (url: string) => !/\/api\/v1\/(user\/context|events)$/.test(new URL(url).pathname);
      await page.route(DATA, (one) => (isData(one.request().url()) ? answer(one) : one.continue()));
      const refuse = (status: number) => (one: Route) =>
        one.fulfill({
          status,
          json: { message: 'said by a test', reason: 'test' },
          headers: { 'X-Request-Id': 'r-1' },
        });

      answer = (one) => held.push(one);
      await visit.go(NEUTRAL);
      await visit.follow(path);
      await page.getByRole('status').getByText('Loading').first().waitFor({ state: 'attached' });
      assert.equal(await page.locator('.fault').count(), 0);
      // Nothing is known yet, so each of these is the first answer that the page gets.
      answer = refuse(403);
      for (const one of held) await refuse(403)(one).catch(() => undefined);
      await notices.first().waitFor();

      answer = refuse(404);
      await visit.follow(NEUTRAL);
      await visit.settled();
      await visit.follow(path);
      await visit.settled();
      await notices.first().waitFor();

      answer = refuse(500);
      await visit.follow(NEUTRAL);
      await visit.settled();
      await visit.follow(path);
      await page.getByText('The server could not answer.').first().waitFor();
      assert.ok(await page.getByRole('button', { name: 'Copy the request ID' }).count(), 'no request ID');

      const again = page.getByRole('button', { name: 'Try again' });
      await again.first().waitFor();
      answer = (one) => one.continue();
      // It also goes on by itself, so the button may be gone before it is pressed.
      await again.first().dispatchEvent('click');
      await until(async () => (await again.count()) === 0);
      await visit.settled();
      assert.equal(await page.locator('.fault, .forbidden').count(), 0);
      await page.unroute(DATA);
      assert.deepEqual(faults, []);
    });
  }

  it('A page that meets a limit counts down, and goes on by itself', async () => {
    const visit = visits.get('ann') ?? assert.fail();
    let refused = 0;
    await visit.page.route('**/api/v1/orgs/acme/teams*', (one) => {
      refused += 1;
      return refused === 1 ? one.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json: {} }) : one.continue();
    });
    await visit.go('/orgs/acme/teams');
    await visit.page.getByText('There were too many requests. Continuing in 1 s.').waitFor();
    await visit.page.getByRole('link', { name: 'operators' }).waitFor();
    await visit.page.unroute('**/api/v1/orgs/acme/teams*');
    assert.deepEqual(visit.faults, []);
  });

  it('Without a network a page says so, keeps what was typed, and goes on when the network is back', async () => {
    const visit = await browser.visit(world.atrium, 'bob', { expected: EXPECTED });
    const { page, context } = visit;
    await visit.go('/me');
    await page.getByLabel('Location').fill('Bern');
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Save profile' }).click();
    await page.locator('.fault').waitFor();
    assert.equal(await page.getByLabel('Location').inputValue(), 'Bern');
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Save profile' }).click();
    await page.getByText('Your profile was saved.').waitFor();
    assert.equal((await world.atrium.as('bob')('GET', '/user')).body.location, 'Bern');

    await context.setOffline(true);
    const menu = page.getByRole('navigation', { name: 'Main' });
    await menu.getByRole('link', { name: 'Orders' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await menu.getByRole('link', { name: 'Profile' }).click();
    await page.getByLabel('Location').waitFor();
    await menu.getByRole('link', { name: 'Orders' }).click();
    await context.setOffline(false);
    // Without a click.
    await page.getByRole('heading', { name: 'Deploy orders', exact: true }).waitFor();
    assert.deepEqual(visit.faults, []);
  });

  it('If the server cannot say who the visitor is, the page says so, and goes on when it can', async () => {
    const visit = await browser.visit(world.atrium, 'cat', { expected: EXPECTED });
    await visit.page.route('**/api/v1/user/context*', (one) => one.fulfill({ status: 500, json: { message: 'no' } }));
    await visit.go('/orgs');
    await visit.page.getByText('The server could not answer.').waitFor();
    await visit.page.unroute('**/api/v1/user/context*');
    await visit.page.getByRole('button', { name: 'Try again' }).click();
    await visit.page.getByRole('heading', { name: 'Organizations' }).waitFor();
    assert.deepEqual(visit.faults, []);
  });
});
