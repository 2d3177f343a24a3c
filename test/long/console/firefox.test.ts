import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { type Firefox, type FirefoxVisit, openFirefox } from '../../support/server/firefox.ts';
import { lacks } from '../../support/services/requirements.ts';
import { CONSOLE_ROUTES, pathsOf, personFor, spread } from '../../support/world/console-pages.ts';
import { type ConsoleWorld, openConsoleWorld } from '../../support/world/console-world.ts';

describe('The console in Firefox', { skip: lacks('firefox-esr') }, () => {
  let world: ConsoleWorld;
  let firefox: Firefox;
  const visits = new Map<string | undefined, FirefoxVisit>();
  before(async () => {
    [world, firefox] = await Promise.all([openConsoleWorld(), openFirefox()]);
    for (const name of [undefined, 'ann', 'root']) visits.set(name, await firefox.visit(world.atrium, name));
  });
  after(async () => {
    await firefox?.close();
    await world?.atrium.close();
  });

  for (const route of spread(CONSOLE_ROUTES, COUNTS.troubledPages)) {
    it(`${route} opens in Firefox with its heading, without an error`, async () => {
      const visit = visits.get(personFor(route)) ?? assert.fail(route);
      for (const path of pathsOf(route, world.ids)) {
        await visit.go(path);
        const heading = await visit.evaluate<string>(`document.querySelector('h1').innerText`);
        assert.ok(heading.trim().length > 0, `${path} has no heading`);
        assert.notEqual(heading, 'This page could not be loaded');
        // Without a code, the pages of links say that there is none.
        if (personFor(route) === undefined) continue;
        assert.equal(await visit.evaluate(`document.querySelectorAll('main .fault').length`), 0, path);
      }
      assert.deepEqual(visit.faults, []);
    });
  }

  it('In Firefox, a person signs in, and finds by the keyboard alone why dan may connect', async () => {
    const visit = await firefox.visit(world.atrium);
    await visit.go('/signin');
    await visit.fill('textbox', 'Username', 'ann');
    await visit.press('Tab');
    await visit.type(world.atrium.world.users.ann?.password ?? '');
    await visit.press('Enter');
    await visit.sees('Hello Ann');
    await visit.go('/orgs/acme/teams');
    await visit.press('Control', 'k');
    await visit.sees('recent');
    await visit.type('dan connect prod');
    await visit.sees(/May dan connect to the cluster: prod\?/);
    await visit.press('Enter');
    await visit.sees('Yes');
    await visit.sees('dan can connect to prod because dan is in the team operators');
    assert.deepEqual(visit.faults, []);
  });
});
