import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Entry } from '../../bench/requests/entry.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { NOUNS, ROUTES } from './routes/table.ts';

const DEPLOYMENTS = ['standard', 'hosted', 'marketplace'] as const;

describe('The most expensive request of every route', () => {
  it('Every route is in exactly one table of test/contract/routes/, and nothing else is', async () => {
    const routes = new Set<string>();
    for (const deployment of DEPLOYMENTS) {
      const { instance } = await sharedServer(deployment);
      for (const { method, path } of instance.routes) routes.add(`${method} ${path}`);
    }
    const missing = [...routes].filter((route) => !Object.hasOwn(ROUTES, route));
    assert.deepEqual(missing, [], 'add these routes to the table of their noun in test/contract/routes/');
    assert.deepEqual(
      Object.keys(ROUTES).filter((route) => !routes.has(route)),
      [],
    );
    const declared = NOUNS.flatMap((noun) => Object.keys(noun));
    assert.deepEqual(declared.sort(), Object.keys(ROUTES).sort());
  });

  it('A route that is not measured names one that is, and a reason', () => {
    for (const [route, { cost }] of Object.entries(ROUTES)) {
      for (const entry of [cost].flat() as Entry[]) {
        if (!('as' in entry)) continue;
        assert.ok(entry.because.length > 10, `${route} gives no reason`);
        assert.ok(isMeasured(entry.as), `${route} names ${entry.as}, which is not measured`);
      }
    }
  });
});

function isMeasured(route: string, depth = 0): boolean {
  const entries = [ROUTES[route]?.cost ?? []].flat() as Entry[];
  return entries.some((entry) => ('as' in entry ? depth < 3 && isMeasured(entry.as, depth + 1) : true));
}
