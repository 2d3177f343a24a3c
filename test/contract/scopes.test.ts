import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SCOPES } from '../../src/directory/scopes.ts';
import { neededScope, type SignedAccess } from '../../src/http/access.ts';
import type { BookedRoute } from '../../src/http/route-book.ts';
import { openTestHouse, type TestHouse } from '../support/house.ts';

const NARROW = 'token does not have at least one of required scope(s), required=';

/** Everything that a token can hold and still not do this: of the same area it may read where writing is asked. */
function allBut(needed: string): string[] {
  const including = [needed, needed.replace('read:', 'write:'), 'all'];
  return SCOPES.filter((scope) => !including.includes(scope));
}

/** Calls the route with a token of the site administrator, whom nothing but a scope can keep out. */
async function call(house: TestHouse, route: BookedRoute, scopes: readonly string[]) {
  const accountId = house.world.users.root?.id ?? 0n;
  const { text } = await house.house.tokens.issue({ accountId, name: crypto.randomUUID(), scopes });
  const access = route.access as SignedAccess;
  const path = route.path.replace(/:\w+|\*/g, '999999');
  const query = access.about === 'query' ? '?org=acme' : '';
  const credential = access.basic ? `Basic ${Buffer.from(`root:${text}`).toString('base64')}` : `token ${text}`;
  const hasBody = route.method !== 'GET' && route.method !== 'HEAD';
  const answer = await house.call(route.method, `${path}${query}`, hasBody ? {} : undefined, {
    Authorization: credential,
  });
  return { status: answer.status, message: String(answer.body?.message ?? '') };
}

for (const deployment of ['standard', 'hosted', 'marketplace']) {
  describe(`Scopes on ${deployment} deployments`, () => {
    it(`Every authenticated route on ${deployment} deployments requires and names its token scope`, async () => {
      const house = await openTestHouse({ env: { DEPLOYMENT: deployment } });
      const routes = house.house.routes.filter(({ access }) => access.who !== 'anyone' && access.who !== 'webhook');
      assert.ok(routes.length >= 30);
      for (const route of routes) {
        const needed = neededScope(route.access as SignedAccess, route.method);
        const what = `${route.method} ${route.path} with ${needed}`;
        const others = allBut(needed);
        const refused = await call(house, route, others);
        const message = `${NARROW}[${needed}], token scope=${others.join(',')}`;
        assert.deepEqual(refused, { status: 403, message }, what);
        for (const scope of [needed, needed.replace('read:', 'write:'), 'all']) {
          const answer = await call(house, route, [scope]);
          assert.notEqual(answer.status, 401, `${what}: ${answer.message}`);
          assert.ok(!answer.message.startsWith(NARROW), `${what}: ${answer.message}`);
        }
      }
      await house.close();
    });
  });
}
