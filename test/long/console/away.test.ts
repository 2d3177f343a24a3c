import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { until } from '../../support/checks/until.ts';
import { openWire } from '../../support/faults/wire.ts';
import { openBrowser, type TestBrowser, type Visit } from '../../support/server/browser.ts';
import { lacks } from '../../support/services/requirements.ts';
import { CONSOLE_ROUTES, pathsOf, personFor, spread } from '../../support/world/console-pages.ts';
import { type ConsoleWorld, openConsoleWorld } from '../../support/world/console-world.ts';

/** The browser reports each file and call that it cannot load. */
const AWAY = /ERR_|Failed to load|Failed to fetch/;
const INSIDE = spread(
  CONSOLE_ROUTES.filter((route) => personFor(route) !== undefined),
  COUNTS.troubledPages,
);
const OUTSIDE = CONSOLE_ROUTES.filter((route) => personFor(route) === undefined);
/** Pages that ask the server for nothing before something is done on them. */
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
/** It asks for little, and has files of its own. */
const NEUTRAL = '/model';
/** Pages wait for the server next to each other, because they wait most of the time. */
const AT_ONCE = 3;
const BROKEN = 'This page could not be loaded';

/** Notes whenever the foot of the menu says that the page is exact while something on it is missing. */
const WATCH = `{
  window.lies = [];
  const look = () => {
    const isClaimed = document.querySelector('nav')?.innerText.includes('Exact as of now');
    const isBroken = document.querySelector('.fault') !== null || document.querySelector('h1')?.innerText === '${BROKEN}';
    if (isClaimed && isBroken) window.lies.push(location.pathname + ': ' + document.querySelector('main').innerText.slice(0, 200));
  };
  addEventListener('DOMContentLoaded', () => {
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}`;

describe('The pages of the console while the server is away', { skip: lacks('chromium'), concurrency: AT_ONCE }, () => {
  let world: ConsoleWorld;
  let browser: TestBrowser;
  before(async () => {
    [world, browser] = await Promise.all([openConsoleWorld(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await world?.atrium.close();
  });

  const heading = (visit: Visit) => visit.page.locator('h1').first().innerText();
  const shown = (visit: Visit) => visit.page.getByRole('heading', { name: BROKEN });

  for (const route of INSIDE) {
    it(`${route} says that its file or its data is missing, and recovers without a click`, async () => {
      const wire = await openWire(new URL(world.atrium.url));
      const near = { url: wire.url.replace(/\/$/, ''), world: world.atrium.world };
      const visit = await browser.visit(near, personFor(route), { expected: AWAY });
      const { page, context, faults } = visit;
      page.setDefaultTimeout(0);
      await page.addInitScript(WATCH);
      const path = pathsOf(route, world.ids).at(-1) ?? '';
      const isLive = page.getByText('Exact as of now');
      await visit.go(route === NEUTRAL ? '/orgs/new' : NEUTRAL);
      await isLive.waitFor();

      // Its file cannot be loaded, and the server answers otherwise.
      await page.route('**/assets/*.js', (one) => one.abort());
      await visit.follow(path);
      await shown(visit).waitFor();
      await page.getByText('Not loaded, trying again…').waitFor();
      await page.unroute('**/assets/*.js');
      await shown(visit).waitFor({ state: 'detached' });
      await visit.settled();
      assert.notEqual(await heading(visit), BROKEN);
      assert.equal(await page.locator('main :is(.fault, .forbidden)').count(), 0);
      await isLive.waitFor();

      // Its file is there, and its data is not.
      await visit.follow(route === NEUTRAL ? '/orgs/new' : NEUTRAL);
      await visit.settled();
      await wire.cut();
      await visit.follow(path);
      await page.getByText(/^Not live since/).waitFor();
      if (!WITHOUT_DATA.includes(route)) await page.locator('main .fault').first().waitFor();
      await wire.mend();
      await isLive.waitFor();
      await until(async () => (await page.locator('main .fault').count()) === 0);
      await visit.settled();
      assert.equal(await page.locator('main :is(.fault, .forbidden)').count(), 0);
      assert.deepEqual(await page.evaluate('window.lies'), []);
      assert.deepEqual(faults, []);
      await context.close();
      await wire.cut();
    });
  }

  for (const route of OUTSIDE.filter((one) => one !== '/signin')) {
    it(`${route} says that its file is missing, and recovers without a click`, async () => {
      const visit = await browser.visit(world.atrium, undefined, { expected: AWAY });
      const { page, context, faults } = visit;
      page.setDefaultTimeout(0);
      // The first files of the console are there.
      const isFile = /\/assets\/(?!index|rolldown-runtime)[^/]*\.js$/;
      await page.route(isFile, (one) => one.abort());
      await visit.go(pathsOf(route, world.ids)[0]);
      await page.getByText(BROKEN).waitFor();
      await page.unroute(isFile);
      await page.getByText(BROKEN).waitFor({ state: 'detached' });
      await visit.settled();
      assert.ok((await page.locator('main').innerText()).length > 40);
      assert.deepEqual(faults, []);
      await context.close();
    });
  }
});
