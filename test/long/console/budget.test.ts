import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openBrowser, type TestBrowser, type Visit } from '../../support/server/browser.ts';
import { lacks } from '../../support/services/requirements.ts';
import { CONSOLE_ROUTES, pathsOf, personFor } from '../../support/world/console-pages.ts';
import { type ConsoleWorld, openConsoleWorld } from '../../support/world/console-world.ts';

const MAX_CALLS = 5;
/** Less than anybody sees. */
const MAX_SHIFT = 0.01;
/** The pages that wait for all of their answers, so that nothing moves, whichever comes first. */
const STEADY = ['/', '/orgs/:org', '/admin', '/admin/audit', '/admin/deliveries/:id'];

const SHIFT = `new Promise((done) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => done(shift)));
})`;

describe('The budgets of the pages of the console', { skip: lacks('chromium') }, () => {
  let world: ConsoleWorld;
  let browser: TestBrowser;
  const visits = new Map<string | undefined, Visit>();
  before(async () => {
    [world, browser] = await Promise.all([openConsoleWorld(), openBrowser()]);
    for (const name of [undefined, 'ann', 'root']) visits.set(name, await browser.visit(world.atrium, name));
  });
  after(async () => {
    await browser?.close();
    await world?.atrium.close();
  });

  for (const route of CONSOLE_ROUTES) {
    it(`Opened by its address, ${route} makes at most ${MAX_CALLS} calls${STEADY.includes(route) ? ', and nothing on it moves' : ''}`, async () => {
      const visit = visits.get(personFor(route)) ?? assert.fail(route);
      const calls: string[] = [];
      const note = (request: { method(): string; url(): string }) => {
        const [, path] = request.url().split('/api/v1');
        // The stream of events begins when the page is there.
        if (path !== undefined && path !== '/events') calls.push(`${request.method()} ${path}`);
      };
      visit.page.on('request', note);
      for (const path of pathsOf(route, world.ids)) {
        calls.length = 0;
        await visit.go(path);
        await visit.settled();
        assert.ok(calls.length <= MAX_CALLS, `${path} makes ${calls.length} calls:\n${calls.join('\n')}`);
        if (!STEADY.includes(route)) continue;
        const shift = await visit.page.evaluate<number>(SHIFT);
        assert.ok(shift < MAX_SHIFT, `${path} moves by ${shift.toFixed(3)}`);
      }
      visit.page.off('request', note);
      assert.deepEqual(visit.faults, []);
    });
  }
});
