import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Entry } from '../../bench/requests/entry.ts';
import { TABLE } from '../../bench/requests/table.ts';
import { sharedServer } from '../support/server/shared-server.ts';

const DEPLOYMENTS = ['standard', 'hosted', 'marketplace'] as const;

describe('The most expensive request of every route', () => {
  it('Every route is in the table that `npm run bench -- requests` measures, and nothing else is', async () => {
    const routes = new Set<string>();
    for (const deployment of DEPLOYMENTS) {
      const { instance } = await sharedServer(deployment);
      for (const { method, path } of instance.routes) routes.add(`${method} ${path}`);
    }
    const missing = [...routes].filter((route) => !Object.hasOwn(TABLE, route));
    assert.deepEqual(missing, [], 'add the most expensive request of these routes to bench/requests/');
    assert.deepEqual(
      Object.keys(TABLE).filter((route) => !routes.has(route)),
      [],
    );
  });

  it('A route that is not measured names one that is, and a reason', () => {
    for (const [route, entries] of Object.entries(TABLE)) {
      for (const entry of [entries].flat() as Entry[]) {
        if (!('as' in entry)) continue;
        assert.ok(entry.because.length > 10, `${route} gives no reason`);
        assert.ok(isMeasured(entry.as), `${route} names ${entry.as}, which is not measured`);
      }
    }
  });
});

function isMeasured(route: string, depth = 0): boolean {
  const entries = [TABLE[route] ?? []].flat() as Entry[];
  return entries.some((entry) => ('as' in entry ? depth < 3 && isMeasured(entry.as, depth + 1) : true));
}
