import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { neededScope, type SignedAccess } from '../../src/http/admission/access.ts';
import type { BookedRoute } from '../../src/http/admission/route-book.ts';
import { SCOPES } from '../../src/identity/scopes.ts';
import { IS_LONG } from '../counts.ts';
import type { TestServer } from '../support/server/server.ts';
import { sharedServer } from '../support/server/shared-server.ts';

const PUBLIC_ONLY = 'this endpoint is not available for public-only tokens';
const NARROW = 'token does not have at least one of required scope(s), required=';

/** Every scope that is not enough. If writing is needed, this includes reading in the same area. */
function allBut(needed: string): string[] {
  const including = [needed, needed.replace('read:', 'write:'), 'all'];
  return SCOPES.filter((scope) => !including.includes(scope));
}

/** Calls a route with a token of the site administrator, whom only a scope can keep out. */
function callerOf(atrium: TestServer) {
  const tokens = new Map<string, string>();
  const tokenWith = async (scopes: readonly string[]) => {
    const key = scopes.join();
    const accountId = atrium.world.users.root?.id ?? 0n;
    const text =
      tokens.get(key) ??
      (await atrium.instance.identity.tokens.issue({ accountId, name: `scopes ${key}`, scopes })).text;
    tokens.set(key, text);
    return text;
  };
  return async (route: BookedRoute, scopes: readonly string[]) => {
    const text = await tokenWith(scopes);
    const access = route.access as SignedAccess;
    const path = route.path.replace(/:\w+|\*/g, '999999');
    const query = access.about === 'query' ? '?org=acme' : '';
    const credential = access.basic ? `Basic ${Buffer.from(`root:${text}`).toString('base64')}` : `token ${text}`;
    const hasBody = route.method !== 'GET' && route.method !== 'HEAD';
    const answer = await atrium.call(route.method, `${path}${query}`, hasBody ? {} : undefined, {
      Authorization: credential,
    });
    return { status: answer.status, message: String(answer.body?.message ?? answer.body?.title ?? '') };
  };
}

describe('Token scopes', () => {
  /** In the everyday suite, a route is called only on the first deployment on which it declares this access. */
  const known = new Map<string, BookedRoute['access']>();
  for (const deployment of ['standard', 'hosted', 'marketplace'] as const) {
    it(`Every authenticated route on ${deployment} deployments requires and names its token scope`, async () => {
      const atrium = await sharedServer(deployment);
      const call = callerOf(atrium);
      // What only robots may call has a scope of its own: see test/api/scim/scim-scope.test.ts.
      const isForPeople = ({ access }: BookedRoute) =>
        access.who !== 'anyone' && access.who !== 'webhook' && access.robots !== 'only';
      const routes = atrium.instance.routes.filter(isForPeople);
      assert.ok(routes.length >= 30);
      for (const route of routes) {
        const needed = neededScope(route.access as SignedAccess, route);
        // About the token itself: the tests of rotation call them with every kind of token.
        if (needed === undefined) continue;
        const name = `${route.method} ${route.path}`;
        if (!IS_LONG && isDeepStrictEqual(known.get(name), route.access)) continue;
        known.set(name, route.access);
        const what = `${name} with ${needed}`;
        const others = allBut(needed);
        const refused = await call(route, others);
        const message = `${NARROW}[${needed}], token scope=${others.join(',')}`;
        assert.deepEqual(refused, { status: 403, message }, what);
        // Every day one of them, in turn.
        const enough = [...new Set([needed, needed.replace('read:', 'write:'), 'all'])];
        for (const scope of IS_LONG ? enough : [enough[known.size % enough.length] ?? needed]) {
          const answer = await call(route, [scope]);
          assert.notEqual(answer.status, 401, `${what}: ${answer.message}`);
          assert.ok(!answer.message.startsWith(NARROW), `${what}: ${answer.message}`);
        }
        const isPublic = (route.access as SignedAccess).isPublic === true;
        const { message: said } = await call(route, [needed, 'public-only']);
        assert.equal(said !== PUBLIC_ONLY, isPublic, `${what} and public-only: ${said}`);
      }
    });
  }
});
