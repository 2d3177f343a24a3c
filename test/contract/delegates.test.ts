import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { levelOf } from '../../src/http/admission/access.ts';
import type { BookedRoute } from '../../src/http/admission/route-book.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { tokenCalls } from '../support/world/tokens.ts';
import { PARAMETERS } from './routes/parameters.ts';
import { ROUTES } from './routes/table.ts';

/** What an agent may do besides reading. A new line here gives every agent more. */
const OPEN_WRITES = ['POST /api/v1/authz/requests', 'POST /api/v1/authz/requests/:id/cancel', 'POST /mcp'];

describe('Agents with a delegated token', () => {
  it('Every route that writes rejects them, except those that ask for access', async () => {
    const atrium = await sharedServer('standard');
    const body = {
      ...{ name: 'walker', delegated: true, limits: { organizations: ['acme'] } },
      scopes: ['read:authz', 'write:authz', 'read:organization'],
    };
    const { sha1 } = await tokenCalls(atrium).make('ann', body);
    const open: string[] = [];
    let closed = 0;
    for (const route of atrium.instance.routes.filter(writes)) {
      const key = `${route.method} ${route.path}`;
      const path = route.path.replace(/:(\w+)|\*/g, (whole, name) => PARAMETERS[name ?? whole] ?? 'x');
      const isOrganized = 'about' in route.access && route.access.about === 'query';
      const query = [isOrganized ? 'org=acme' : '', ROUTES[key]?.query ?? ''].filter((part) => part !== '').join('&');
      // As Basic, so that routes which insist on that are tried as well; what takes a token only gets one.
      const isTokenOnly = 'isTokenOnly' in route.access && route.access.isTokenOnly;
      const Authorization = isTokenOnly ? `Bearer ${sha1}` : `Basic ${Buffer.from(`ann:${sha1}`).toString('base64')}`;
      const { status, body: said } = await atrium.call(
        route.method,
        `${path}${query && `?${query}`}`,
        ROUTES[key]?.body,
        {
          Authorization,
        },
      );
      if (status === 403 && ['not_for_delegates', 'not_for_people'].includes(said?.reason)) closed++;
      else if (!(status === 403 && isClosedOtherwise(route))) open.push(key);
    }
    assert.deepEqual(open.sort(), OPEN_WRITES);
    assert.ok(closed > 100, `${closed} routes`);
  });
});

function writes({ method, access }: BookedRoute): boolean {
  if (access.who === 'anyone' || access.who === 'webhook') return false;
  return levelOf(access, { method }) === 'write';
}

/** What only robots of identity providers call. */
function isClosedOtherwise({ access }: BookedRoute): boolean {
  return 'robots' in access && access.robots === 'only';
}
