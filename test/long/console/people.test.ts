import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openBrowser, type TestBrowser, type Visit } from '../../support/server/browser.ts';
import { lacks } from '../../support/services/requirements.ts';
import { CONSOLE_ROUTES, pathsOf, personFor } from '../../support/world/console-pages.ts';
import { type ConsoleWorld, openConsoleWorld } from '../../support/world/console-world.ts';

const INSIDE = CONSOLE_ROUTES.filter((route) => personFor(route) !== undefined && route !== '*');
const OF_ORGANIZATION = INSIDE.filter((route) => route.startsWith('/orgs/:org'));
const OF_SITE = INSIDE.filter((route) => route.startsWith('/admin'));
const OF_ALL = INSIDE.filter((route) => !OF_ORGANIZATION.includes(route) && !OF_SITE.includes(route));
/** What only members of acme know: its clusters, a team, a robot, a role and a contract. */
const SECRETS = /\b(prod|staging|billing|checkout|payments|deploy|cluster-operator|tuner|support|Acme Corporation)\b/;
/** A page that is closed says so in a sentence, and never with a code alone. */
const CLOSED = '.forbidden, .empty';

interface Seen {
  readonly faults: number;
  readonly closed: string;
  readonly text: string;
  readonly actions: number;
}

const LOOK = `({
  faults: document.querySelectorAll('.fault').length,
  closed: document.querySelector('main :is(${CLOSED})')?.innerText ?? '',
  text: document.querySelector('main').innerText,
  actions: document.querySelectorAll('.page-head .button').length,
})`;

describe('The pages of the console for owners, members and strangers', { skip: lacks('chromium') }, () => {
  let world: ConsoleWorld;
  let browser: TestBrowser;
  let [owner, member, stranger]: Visit[] = [];
  /** Pages of the owner that have one of the secrets, so that a stranger could have seen it. */
  let told = 0;
  before(async () => {
    [world, browser] = await Promise.all([openConsoleWorld(), openBrowser()]);
    [owner, member, stranger] = await Promise.all(
      ['ann', 'dan', 'eve'].map(async (name) => {
        const visit = await browser.visit(world.atrium, name);
        await visit.go('/model');
        return visit;
      }),
    );
  });
  after(async () => {
    await browser?.close();
    await world?.atrium.close();
  });

  async function look(visit: Visit | undefined, path: string): Promise<Seen> {
    assert.ok(visit);
    await visit.follow(path);
    await visit.settled();
    const seen = await visit.page.evaluate<Seen>(LOOK);
    assert.equal(seen.faults, 0, `${path} shows a failure`);
    assert.ok(seen.text.trim().length > 20, `${path} is blank`);
    assert.doesNotMatch(seen.text, /\b(undefined|NaN|null|\[object)\b/, path);
    return seen;
  }

  for (const route of OF_ORGANIZATION) {
    it(`${route} is open to an owner, explains itself to a member, and tells a stranger nothing`, async () => {
      for (const path of pathsOf(route, world.ids)) {
        const { text } = await look(owner, path);
        if (SECRETS.test(text)) told += 1;
        assert.doesNotMatch(text, /You cannot see this/, path);
        const seen = await look(member, path);
        if (/You cannot see this/.test(seen.text)) assert.match(seen.closed, /\b(owner|may|can|needs?|ask)\b/i, path);
        const strange = await look(stranger, path);
        assert.doesNotMatch(strange.text, SECRETS, path);
        assert.equal(strange.actions, 0, `${path} offers a stranger something to do`);
      }
      assert.deepEqual([owner?.faults, member?.faults, stranger?.faults], [[], [], []]);
    });
  }

  it('Most pages of the organization have something that a stranger must not see', () => {
    assert.ok(told > OF_ORGANIZATION.length / 2, `${told} of ${OF_ORGANIZATION.length}`);
  });

  for (const route of OF_SITE) {
    it(`${route} is closed to everyone but site administrators, and says so`, async () => {
      const path = pathsOf(route, world.ids)[0];
      for (const visit of [owner, member, stranger]) {
        const { text, actions } = await look(visit, path);
        assert.match(text, /site administrator/i, path);
        assert.equal(actions, 0, path);
      }
      assert.deepEqual([owner?.faults, member?.faults, stranger?.faults], [[], [], []]);
    });
  }

  for (const route of OF_ALL) {
    it(`${route} is open to everyone who has signed in`, async () => {
      for (const visit of [member, stranger]) await look(visit, pathsOf(route, world.ids)[0]);
      assert.deepEqual([member?.faults, stranger?.faults], [[], []]);
    });
  }
});
