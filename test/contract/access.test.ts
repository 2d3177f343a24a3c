import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { proofNeeded } from '../../src/http/admission/access.ts';
import type { BookedRoute } from '../../src/http/admission/route-book.ts';
import { IS_LONG } from '../counts.ts';
import { matchGolden } from '../support/checks/golden.ts';
import type { Answer, TestServer } from '../support/server/server.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { makeRobot } from '../support/world/robots.ts';
import { PARAMETERS } from './routes/parameters.ts';
import { ROUTES } from './routes/table.ts';

const PROOFS = { never: '', always: '   proof', owners: '   proof for owners', 'in person': '   proof in person' };
const DEPLOYMENTS = ['standard', 'hosted', 'marketplace'] as const;
const CALLERS = [undefined, 'eve', 'robot', 'cat', 'ann', 'root'] as const;
const HEADER = `# Who gets what: every route, really called with a harmless request, and the status that was answered
#   none   without a credential         eve   a stranger: owner of another organization
#   robot  of acme, without any role    cat   a member (team Viewers)
#   ann    an owner of acme             root  the site administrator
# With "proof", the user of a session must have proven within REAUTHENTICATION_MINUTES who they are; tokens need none.
# "in person" means with more than the token that the session was opened with, "for owners" only to make a user an owner.
# Roles, teams and other things that a path names do not exist, so an allowed call may well be a 404.
# Made by test/contract/access.test.ts; UPDATE_GOLDEN=1 writes it anew.

`;

async function callAll(atrium: TestServer, route: BookedRoute, robot: string): Promise<string> {
  const key = `${route.method} ${route.path}`;
  const path = route.path.replace(
    /:(\w+)|\*/g,
    (whole, name) =>
      PARAMETERS[name ?? whole] ?? assert.fail(`${key} needs a line for ${name} in test/contract/routes/parameters.ts`),
  );
  const isOrganized = 'about' in route.access && route.access.about === 'query';
  const query = [isOrganized ? 'org=acme' : '', ROUTES[key]?.query ?? ''].filter((part) => part !== '').join('&');
  if (route.schema.body && !('body' in (ROUTES[key] ?? {})))
    assert.fail(`${key} needs a body in test/contract/routes/`);
  const statuses: number[] = [];
  for (const caller of CALLERS) {
    const token = caller === 'robot' ? robot : caller && atrium.world.users[caller]?.token;
    // If the resource exists, the ETag does not match. So a caller who could delete it is rejected.
    const headers: Record<string, string> = route.method === 'DELETE' ? { 'If-Match': '"nothing"' } : {};
    if (token) headers.Authorization = `token ${token}`;
    const answer = await atrium.call(route.method, `${path}${query && `?${query}`}`, ROUTES[key]?.body, headers);
    assert.ok(answer.status < 500, `${key} as ${caller}: ${answer.text}`);
    if (caller === 'robot') requireDeclared(route, answer);
    statuses.push(answer.status);
  }
  return statuses.join('   ');
}

/** A robot gets exactly what the route declares. Without any role, it holds only the right to see its organization. */
function requireDeclared({ method, path, access }: BookedRoute, { status, body, text }: Answer): void {
  if (access.who === 'anyone' || access.who === 'webhook') return;
  const reason = status === 403 ? body?.reason : undefined;
  const said = `${method} ${path}: ${text}`;
  const isBasic = access.basic === true && status === 401;
  assert.equal(reason === 'not_for_robots' || isBasic, access.robots === 'never', said);
  const relation = access.relation ?? (access.robots.includes(':') ? access.robots : undefined);
  if (access.robots === 'never' || relation === undefined || relation === 'view:org') return;
  // Of an object that does not exist, nobody learns more.
  assert.equal(access.about === 'object' ? status : reason, access.about === 'object' ? 404 : 'missing_relation', said);
}

/**
 * Route → what its callers get → on which deployments. A route that declares the same access on an earlier deployment
 * is called again only in the long suite.
 */
async function survey(): Promise<Map<string, Map<string, string[]>>> {
  const rows = new Map<string, Map<string, string[]>>();
  const called = new Map<string, { readonly access: BookedRoute['access']; readonly statuses: string }>();
  for (const deployment of DEPLOYMENTS) {
    const atrium = await sharedServer(deployment);
    await atrium.instance.features.marketplace.central.put('something', true, false);
    const robot = await makeRobot(atrium, `walker-${deployment}`);
    for (const route of atrium.instance.routes) {
      const name = `${route.path} ${route.method}`;
      const row = rows.get(name) ?? new Map<string, string[]>();
      const before = called.get(name);
      const isKnown = !IS_LONG && before !== undefined && isDeepStrictEqual(before.access, route.access);
      const statuses = isKnown ? before.statuses : await callAll(atrium, route, robot.text);
      called.set(name, { access: route.access, statuses });
      const shown = `${statuses}${PROOFS[proofNeeded(route.access, route.method)]}`;
      rows.set(name, row.set(shown, [...(row.get(shown) ?? []), deployment]));
    }
  }
  return rows;
}

describe('access.txt', () => {
  it('access.txt lists for every route the status that each kind of caller receives', async () => {
    const rows = await survey();
    const width = Math.max(...[...rows.keys()].map((name) => name.split(' ', 1)[0]?.length ?? 0)) + 10;
    const lines = [...rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, row]) => {
        const [path = '', method = ''] = name.split(' ');
        return [...row].map(([shown, where]) => {
          const place = where.length === DEPLOYMENTS.length ? '' : `   only ${where.join(', ')}`;
          return `${`${method.padEnd(7)} ${path}`.padEnd(width)} ${shown}${place}`;
        });
      });
    const heading = `${'# route'.padEnd(width)} none  eve   robot cat   ann   root`;
    matchGolden('test/contract/access.txt', `${HEADER}${heading}\n${lines.join('\n')}\n`);
  });
});
