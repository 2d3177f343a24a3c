import type { DemoWorld } from '../../src/operations/demo/world.ts';
import type { TestBrowser } from '../../test/support/server/browser.ts';
import { BIG } from '../../test/support/world/big-organization.ts';
import { CONSOLE_ROUTES, type Ids, pathsOf } from '../../test/support/world/console-pages.ts';
import { atMost, KB, kb, type Row } from './rows.ts';

export const MAX_CALLS = 5;
export const EVENTS = '/api/v1/events';

export interface Visited {
  readonly url: string;
  readonly world: DemoWorld;
}

/** What the pages of an organization with very much of everything load, with an empty cache. */
export async function bigPages(chromium: TestBrowser, visited: Visited, ids: Ids): Promise<Row[]> {
  const visit = await chromium.visit(visited, 'eve');
  const session = await visit.context.newCDPSession(visit.page);
  await session.send('Network.enable');
  let [bytes, calls] = [0, 0];
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  visit.page.on('request', (request) => {
    if (request.url().includes('/api/v1/') && !request.url().endsWith(EVENTS)) calls += 1;
  });
  const seen: { path: string; bytes: number; calls: number }[] = [];
  for (const route of CONSOLE_ROUTES) {
    const noun = /^\/orgs\/:org\/(?:.*\/)?(\w+)\/:id$/.exec(route)?.[1];
    const isThere = noun === undefined ? !route.includes('/:login') : ['clusters', 'teams', 'roles'].includes(noun);
    // The pages with the editor are heavy on purpose.
    if (!route.startsWith('/orgs/:org') || !isThere || /\/(code|rules)$/.test(route)) continue;
    for (const path of pathsOf(route, ids)) {
      await session.send('Network.clearBrowserCache');
      [bytes, calls] = [0, 0];
      await visit.go(path.replace('/acme', '/globex').replaceAll(/\b(dan|bob|cat)\b/g, 'eve'));
      await visit.settled();
      // The access of a cluster is one more: what is assigned on it, and what counts there.
      seen.push({ path, bytes, calls: calls - (path.endsWith('?tab=access') ? 1 : 0) });
    }
  }
  const heaviest = seen.toSorted((one, other) => other.bytes - one.bytes)[0];
  const busiest = seen.toSorted((one, other) => other.calls - one.calls)[0];
  const where = `${BIG.clusters} clusters, ${BIG.members} members, ${BIG.teams} teams, ${BIG.roles} roles`;
  return [
    atMost(`most of a page with ${where}: ${heaviest?.path}`, heaviest?.bytes ?? 0, 130 * KB, kb),
    atMost(`most calls of a page there: ${busiest?.path}`, busiest?.calls ?? 0, MAX_CALLS, String),
  ];
}
