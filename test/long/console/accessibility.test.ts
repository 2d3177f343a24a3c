import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { until } from '../../support/checks/until.ts';
import { openBrowser, type TestBrowser, type Visit } from '../../support/server/browser.ts';
import { axeFindings } from '../../support/services/axe.ts';
import { lacks } from '../../support/services/requirements.ts';
import { CONSOLE_ROUTES, pathsOf, personFor, spread } from '../../support/world/console-pages.ts';
import { addHardNames, type ConsoleWorld, openConsoleWorld } from '../../support/world/console-world.ts';

const CLOSED = CONSOLE_ROUTES.filter((route) => /^\/(admin|orgs\/:org)/.test(route));
/** They all look alike, so CI tries some that are spread over all of them. */
const DENIED = spread(CLOSED, COUNTS.closedPages);

describe('The pages of the console according to axe', { skip: lacks('chromium') }, () => {
  let world: ConsoleWorld;
  let browser: TestBrowser;
  const visits = new Map<string | undefined, Visit>();
  before(async () => {
    [world, browser] = await Promise.all([openConsoleWorld(), openBrowser()]);
    await addHardNames(world);
    for (const name of [undefined, 'ann', 'root', 'dan']) visits.set(name, await browser.visit(world.atrium, name));
  });
  after(async () => {
    await browser?.close();
    await world?.atrium.close();
  });

  for (const route of CONSOLE_ROUTES) {
    it(`Axe finds nothing on ${route}, in light and in dark`, async () => {
      const visit = visits.get(personFor(route)) ?? assert.fail(route);
      for (const path of pathsOf(route, world.ids)) {
        await visit.go(path);
        assert.deepEqual(await findings(visit), []);
        const page = visit.page.url();
        for (const key of await keysOf(visit)) {
          await visit.page.keyboard.press(key);
          // It opens a dialog, or leads to another page.
          await until(async () => visit.page.url() !== page || (await visit.page.getByRole('dialog').count()) > 0);
          await visit.settled();
          assert.deepEqual(await findings(visit), [], `after the key ${key}`);
          await visit.go(path);
          await visit.settled();
        }
      }
      assert.deepEqual(visit.faults, []);
    });
  }

  for (const route of DENIED) {
    it(`Axe finds nothing on ${route} if the page is closed to the visitor`, async () => {
      const visit = visits.get('dan') ?? assert.fail();
      await visit.go(pathsOf(route, world.ids)[0]);
      assert.deepEqual(await findings(visit), []);
      assert.deepEqual(visit.faults, []);
    });
  }
});

async function findings({ page, settled }: Visit): Promise<readonly string[]> {
  await settled();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await axeFindings(page)).map((finding) => `${colorScheme}: ${finding}`));
  }
  return found;
}

/** The keys that open what this page offers, such as "new" and "edit". */
async function keysOf({ page }: Visit): Promise<readonly string[]> {
  return await page.evaluate<string[]>(
    `[...document.querySelectorAll('[data-key]:has(.button:not([aria-disabled]))')].map(({ dataset }) => dataset.key)`,
  );
}
