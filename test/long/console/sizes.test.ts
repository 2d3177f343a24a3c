import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { type CDPSession, openBrowser, type TestBrowser, type Visit } from '../../support/server/browser.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { lacks } from '../../support/services/requirements.ts';
import { BIG, makeBigOrganization } from '../../support/world/big-organization.ts';
import { CONSOLE_ROUTES, type Ids, NOUNS, pathsOf } from '../../support/world/console-pages.ts';
import { makeOrganization } from '../../support/world/people.ts';

const MAX_CALLS = 5;
/** A page that draws more is slow on the machine of its reader. */
const MAX_ELEMENTS = 6000;
/** With an empty cache, on the wire. */
const MAX_BYTES = 130 * 1024;
/** The pages with the editor, which is loaded nowhere else; one with all roles as they are, because of their ETag. */
const MORE_BYTES: Readonly<Record<string, number>> = {
  '/orgs/:org/roles/code': 180 * 1024,
  '/orgs/:org/requests/rules': 120 * 1024,
};
const ROUTES = CONSOLE_ROUTES.filter((route) => route.startsWith('/orgs/:org'));
const LISTS = ROUTES.filter((route) =>
  /^\/orgs\/:org\/(clusters|contracts|robots|guardrails|webhooks|invitations)$/.test(route),
);
/** Objects of the big organization. It has none of the other kinds. */
const BIG_NOUNS = ['clusters', 'teams', 'roles'] as const;
const FIRST = sql(
  'test.bigFirst',
  `select (select min(id) from cluster where owner_id = $1)::text as clusters,
          (select id from team where organization_id = $1 and name = 'team1')::text as teams,
          (select min(id) from role where organization_id = $1 and name = 'role1')::text as roles`,
);
const NO_IDS = Object.fromEntries(NOUNS.map((noun) => [noun, 'none'])) as Ids;

describe('The pages of the console in empty and in big organizations', { skip: lacks('chromium') }, () => {
  let atrium: TestServer;
  let browser: TestBrowser;
  let visit: Visit;
  let wire: CDPSession;
  let empty = '';
  let big = '';
  let ids: Ids;
  before(async () => {
    [atrium, browser] = await Promise.all([openTestServer(), openBrowser()]);
    empty = (await makeOrganization(atrium, 'ann')).name;
    const made = await makeBigOrganization(atrium, 'ann');
    big = made.name;
    const [first] = await atrium.instance.db.query<Record<(typeof BIG_NOUNS)[number], string>>(FIRST, [made.id]);
    ids = { ...NO_IDS, ...first };
    visit = await browser.visit(atrium, 'ann');
    await visit.go('/model');
    wire = await visit.context.newCDPSession(visit.page);
    await wire.send('Network.enable');
  });
  after(async () => {
    await browser?.close();
    await atrium?.close();
  });

  for (const route of ROUTES.filter((one) => !/:(id|login)$/.test(one))) {
    it(`${route} says what to do where there is nothing`, async () => {
      for (const path of pathsOf(route, NO_IDS)) {
        // Views of a path are about objects of the demo world.
        if (path.includes('=')) continue;
        await visit.follow(path.replace('/acme', `/${empty}`));
        await visit.settled();
        const { page } = visit;
        assert.equal(await page.locator('main :is(.fault, .forbidden)').count(), 0, path);
        const offers = await page.locator('main :is(a[href], button, input, select)').count();
        assert.ok(offers > 0, `${path} offers nothing`);
        if (!LISTS.includes(route)) continue;
        await page.locator('main .empty').first().waitFor();
        assert.ok(await page.locator('main :is(.empty, .page-head) .button').count(), `${path} has no next step`);
      }
      assert.deepEqual(visit.faults, []);
    });
  }

  const isFilled = (route: string) => {
    const noun = /\/([a-z_]+)\/:id$/.exec(route)?.[1];
    return noun === undefined || BIG_NOUNS.some((one) => one === noun);
  };
  for (const route of ROUTES.filter(isFilled)) {
    const maxBytes = MAX_BYTES + (MORE_BYTES[route] ?? 0);
    it(`With ${BIG.clusters} clusters and ${BIG.members} members, ${route} is light and makes few calls`, async () => {
      for (const demo of pathsOf(route, ids)) {
        const path = demo
          .replace('/acme', `/${big}`)
          .replaceAll(/\b(dan|bob)\b/g, 'crowd1')
          .replaceAll('cat', 'crowd2');
        const { calls, bytes } = await weightOf(path);
        assert.equal(await visit.page.locator('main .fault').count(), 0, path);
        const elements = await visit.page.evaluate<number>(`document.querySelectorAll('*').length`);
        assert.ok(elements <= MAX_ELEMENTS, `${path} has ${elements} elements`);
        assert.ok(bytes <= maxBytes, `${path} loads ${(bytes / 1024).toFixed(1)} KB`);
        assert.ok(calls.length <= MAX_CALLS, `${path} makes ${calls.length} calls: ${calls.join(', ')}`);
      }
      assert.deepEqual(visit.faults, []);
    });
  }

  it('The matrix of a big organization shows a part, and another one by the name of a team and of objects', async () => {
    const { page } = visit;
    await visit.go(`/orgs/${big}/access/matrix`);
    await page.getByText('Showing 50 of 5,001 people and 200 of 10,000 objects').waitFor();
    await page.getByRole('combobox', { name: 'People' }).fill('team777');
    await page.getByRole('option', { name: 'team777' }).click();
    await page.getByText('Showing 5 of 5 people and 200 of 10,000 objects').waitFor();
    await page.getByLabel('Object search').fill('many9999');
    await page.getByText(/^5 people × 1 object,/).waitFor();
    await page.reload();
    await page.getByText(/^5 people × 1 object,/).waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'People' }).inputValue(), 'team777');
    assert.deepEqual(visit.faults, []);
  });

  it('The access tab shows what is assigned on the cluster before everything that counts in the organization', async () => {
    const { page } = visit;
    const on = { type: 'cluster', id: Number(ids.clusters) };
    const body = { role: { id: Number(ids.roles) }, to: { type: 'user', name: 'crowd7' }, on };
    const made = await atrium.as('ann')('POST', `/authz/assignments?org=${big}`, body);
    assert.equal(made.status, 201, made.text);
    await visit.go(`/orgs/${big}/clusters/${ids.clusters}?tab=access`);
    const here = page.getByRole('table', { name: 'Assigned here' });
    await here.getByRole('link', { name: 'crowd7' }).waitFor();
    await here.getByText('role1', { exact: true }).waitFor();
    assert.deepEqual(visit.faults, []);
  });

  async function weightOf(path: string): Promise<{ calls: readonly string[]; bytes: number }> {
    const calls: string[] = [];
    let bytes = 0;
    const note = (request: { method(): string; url(): string }) => {
      const [, call] = request.url().split('/api/v1');
      // The stream of events begins when the page is there.
      if (call !== undefined && call !== '/events') calls.push(`${request.method()} ${call}`);
    };
    const weigh = ({ encodedDataLength }: { encodedDataLength: number }) => {
      bytes += encodedDataLength;
    };
    await wire.send('Network.clearBrowserCache');
    visit.page.on('request', note);
    wire.on('Network.loadingFinished', weigh);
    await visit.go(path);
    await visit.settled();
    visit.page.off('request', note);
    wire.off('Network.loadingFinished', weigh);
    return { calls, bytes };
  }
});
