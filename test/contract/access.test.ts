import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { proofNeeded } from '../../src/http/admission/access.ts';
import type { BookedRoute } from '../../src/http/admission/route-book.ts';
import { IS_LONG } from '../counts.ts';
import { matchGolden } from '../support/golden.ts';
import { makeRobot } from '../support/robots.ts';
import type { Answer, TestServer } from '../support/server.ts';
import { sharedServer } from '../support/shared-server.ts';

/** The values of path parameters. They name nothing that exists if a call could change it. */
const PARAMETERS: Readonly<Record<string, string>> = {
  '*': 'version',
  id: '999999',
  org: 'acme',
  objectType: 'organization',
  objID: '999999',
  username: 'nobody',
  target: 'nobody',
  owner: 'acme',
  cluster: 'nothing',
  credName: 'nothing',
  cloud: 'aws',
  claimID: 'nothing',
  name: 'nobody',
  role: '999999',
  token: 'nothing',
  fingerprint: 'nothing',
  ownerID: '999999',
  installerID: 'nothing',
  provider: 'nothing',
  code: 'nothing',
};

/** The bodies of routes that need one: one line per route, harmless, and of the right shape. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /api/v1/authz/check': { checks: [] },
  'POST /api/v1/authz/assignments': { role: { name: 'nothing' }, to: { type: 'team', id: 999_999 } },
  'PATCH /api/v1/authz/assignments/:id': {},
  'POST /api/v1/authz/guardrails': { name: 'x' },
  'PUT /api/v1/authz/guardrails/:id': {},
  'POST /api/v1/authz/objects/allowed-permissions': [],
  'POST /api/v1/authz/matrix': { type: 'cluster' },
  'POST /api/v1/authz/roles': { name: 'x', permissions: [{ namespace: 'no', action: 'such' }] },
  'POST /api/v1/authz/roles/preview': {},
  'POST /api/v1/authz/preview': { changes: [{ action: 'role.create', role: { name: 'x' } }] },
  'PUT /api/v1/authz/roles/:id': {},
  'PUT /api/v1/authz/roles/import': {},
  'PATCH /api/v1/user': {},
  'PUT /api/v1/user/password': { new: 'short' },
  'POST /api/v1/user/factors/passkeys': { name: 'x', response: { clientDataJSON: '', attestationObject: '' } },
  'PATCH /api/v1/user/factors/passkeys/:id': { name: 'x' },
  'PUT /api/v1/user/factors/totp': { enrollment: '', code: '' },
  'PUT /api/v1/orgs/:org/second_factor': { required: false },
  'POST /api/v1/user/reauthenticate': { password: 'x' },
  'POST /api/v1/user/signin/factor': { code: 'x' },
  'POST /api/v1/user/signin/passkey': {
    passkey: { id: 'AAAA', response: { clientDataJSON: '', authenticatorData: '', signature: '' } },
  },
  'POST /api/v1/user/signin/passkey/options': {},
  'POST /api/v1/user/emails': { emails: [] },
  'DELETE /api/v1/user/emails': { emails: [] },
  'POST /api/v1/user/credentials': { name: '' },
  'PUT /api/v1/user/credentials': { name: 'nothing' },
  'GET /api/v1/user/clouds/:cloud/buckets': undefined,
  'POST /api/v1/user/clouds/:cloud/buckets': {},
  'POST /api/v1/user/deploy/orders': { spec: { items: [] } },
  'POST /api/v1/users/:username/tokens': { name: 'x' },
  'POST /api/v1/orgs/:org/clusters': { name: '', uid: '' },
  'POST /api/v1/user/clusters': { name: '', uid: '' },
  'PATCH /api/v1/clusters/:id': {},
  'POST /api/v1/clusters/:id/heartbeat': {},
  'POST /api/v1/orgs/:org/contracts': { name: '' },
  'PATCH /api/v1/contracts/:id': {},
  'POST /api/v1/orgs/:org/robots': { name: '' },
  'PATCH /api/v1/robots/:id': {},
  'POST /api/v1/robots/:id/tokens': { name: 'x' },
  'POST /api/v1/robots/:id/tokens/:token/rotate': {},
  'POST /api/v1/users/:username/tokens/:token/rotate': {},
  'POST /api/v1/user/token/rotate': {},
  'PUT /api/v1/admin/token_policy': { max_days: 0 },
  'PUT /api/v1/orgs/:org/token_policy': { max_days: 0 },
  'POST /marketplace/api/v1/marketplaces/cloudA/notification/resource': {},
  'POST /marketplace/api/v1/marketplaces/cloudB/notification/resource': {},
  'POST /marketplace/api/v1/marketplaces/cloudC/notification/resource': {},
  'POST /api/v1/orgs': { username: '-' },
  'PATCH /api/v1/orgs/:org': {},
  'PUT /api/v1/orgs/:org/members/:username': {},
  'PUT /api/v1/teams/:id/members/:username': {},
  'PUT /api/v1/teams/:id/roles/:role': {},
  'POST /api/v1/orgs/:org/teams': { name: '-' },
  'PATCH /api/v1/teams/:id': {},
  'POST /api/v1/admin/marketplace/deliveries/redeliver': { most: 0 },
  'POST /api/v1/admin/marketplace/installers': { marketplace: 'CloudA', days: 0 },
  'POST /api/v1/admin/marketplace/secrets': { marketplace: 'CloudB', secret: '' },
  'POST /api/v1/admin/providers': { name: '-', issuer: '', client_id: '' },
  'PATCH /api/v1/admin/providers/:provider': {},
  'POST /api/v1/admin/providers/:provider/preview': { groups: [], username: 'nobody' },
  'POST /api/v1/user/device': {},
  'POST /api/v1/user/device/token': { device_code: 'nothing' },
  'POST /api/v1/user/device/:code': { approve: false },
  'POST /api/v1/user/linked_accounts': { provider: 'nothing' },
  'POST /api/v1/admin/users': { username: '-', email: 'x@example.com' },
  'PATCH /api/v1/admin/users/:username': {},
  'POST /api/v1/admin/users/:username/orgs': { username: '-' },
  'POST /api/v1/clustersv2/:owner/check': {},
  'POST /api/v1/user/signin': { username: 'nobody', password: 'x' },
};

/** Query parameters that a route requires, besides `org`. */
const QUERIES: Readonly<Record<string, string>> = {
  'GET /api/v1/authz/changes': 'since=2026-01-01T00:00:00Z',
  'GET /api/v1/authz/objects/:objectType': 'relation=can_view',
  'GET /api/v1/authz/objects/:objectType/:objID/explain': 'relation=can_view',
  'GET /api/v1/authz/objects/:objectType/:objID/principals': 'relation=can_view',
  'GET /api/v1/user/emails/confirm': 'key=nothing',
  'GET /api/v1/events': 'org=acme&follow=false',
  'GET /api/v1/search': 'q=a&org=acme',
};

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
    (whole, name) => PARAMETERS[name ?? whole] ?? assert.fail(missing(key, 'PARAMETERS', name)),
  );
  const isOrganized = 'about' in route.access && route.access.about === 'query';
  const query = [isOrganized ? 'org=acme' : '', QUERIES[key] ?? ''].filter((part) => part !== '').join('&');
  if (route.schema.body && !(key in BODIES)) assert.fail(missing(key, 'BODIES', key));
  const statuses: number[] = [];
  for (const caller of CALLERS) {
    const token = caller === 'robot' ? robot : caller && atrium.world.users[caller]?.token;
    // If the resource exists, the ETag does not match. So a caller who could delete it is rejected.
    const headers: Record<string, string> = route.method === 'DELETE' ? { 'If-Match': '"nothing"' } : {};
    if (token) headers.Authorization = `token ${token}`;
    const answer = await atrium.call(route.method, `${path}${query && `?${query}`}`, BODIES[key], headers);
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

function missing(route: string, table: string, name: string): string {
  return `${route} is not in access.txt yet: add a line for ${name} to ${table} in test/contract/access.test.ts`;
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
