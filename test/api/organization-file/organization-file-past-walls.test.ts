import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, orgPermission } from '../../support/world/authz.ts';
import { makeRobot } from '../../support/world/robots.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

const DAY_MS = 86_400_000;

describe('Who may export a past moment of an organization, and which', () => {
  let atrium: TestServer;
  let at: string;
  before(async () => {
    atrium = await openTestServer();
    at = new Date().toISOString();
    const late = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'later', permission: 'none' });
    assert.equal(late.status, 201, late.text);
  });
  after(() => atrium.close());

  it('Strangers, members without rights, and callers without a credential are rejected as without a moment', async () => {
    for (const [who, status, reason] of [
      ['eve', 404, 'organization_not_found'],
      ['cat', 403, 'missing_relation'],
      ['dan', 403, 'missing_relation'],
    ] as const) {
      for (const query of ['', `?at=${at}`]) {
        const answer = await atrium.as(who)('GET', `/orgs/acme/file${query}`);
        assert.deepEqual([answer.status, answer.body.reason], [status, reason], `${who} ${query}: ${answer.text}`);
      }
    }
    assert.equal((await atrium.as()('GET', `/orgs/acme/file?at=${at}`)).status, 401);
    assert.equal((await atrium.as('ann')('GET', `/orgs/nowhere/file?at=${at}`)).status, 404);
    const asAdmin = await atrium.as('root')('GET', `/orgs/acme/file?at=${at}`);
    assert.equal(asAdmin.status, 200, asAdmin.text);
    assert.doesNotMatch(asAdmin.text, /later/);
    const asDan = await atrium.as('root')('GET', `/orgs/acme/file?at=${at}&sudo=dan`);
    assert.deepEqual([asDan.status, asDan.body.reason], [403, 'missing_relation'], asDan.text);
  });

  it('Limited tokens, and tokens without the scopes for what is in the file, cannot ask about the past either', async () => {
    const { make, withToken } = tokenCalls(atrium);
    const prod = Number(atrium.world.clusters.prod?.id);
    for (const [name, token, reason] of [
      ['organization', { scopes: ['all'], limits: { organizations: ['acme'] } }, 'token_limited'],
      ['cluster', { scopes: ['all'], limits: { objects: [{ type: 'cluster', id: prod }] } }, 'token_limited'],
      ['no authz', { scopes: ['read:organization'] }, 'insufficient_scope'],
      ['no organization', { scopes: ['read:authz'] }, 'insufficient_scope'],
    ] as const) {
      const { sha1 } = await make('ann', { name, ...token });
      for (const query of ['', `?at=${at}`]) {
        const answer = await withToken(sha1)('GET', `/orgs/acme/file${query}`);
        assert.equal(answer.status, 403, `${name}${query}: ${answer.text}`);
        if (reason === 'token_limited') assert.equal(answer.body.reason, reason);
        assert.doesNotMatch(answer.text, /operators/);
      }
      if (reason !== 'token_limited') continue;
      const file = { apiVersion: 'atrium/v1', kind: 'Organization', organization: 'acme' };
      for (const [method, path] of [
        ['POST', '/orgs/acme/plan'],
        ['PUT', '/orgs/acme/file'],
      ] as const) {
        const answer = await withToken(sha1)(method, path, file);
        assert.deepEqual([answer.status, answer.body.reason], [403, reason], `${name}: ${answer.text}`);
      }
      assert.equal((await withToken(sha1)('GET', '/orgs/globex/file')).status, 404);
    }
    const { sha1 } = await make('ann', { name: 'enough', scopes: ['read:organization', 'read:authz'] });
    assert.equal((await withToken(sha1)('GET', `/orgs/acme/file?at=${at}`)).status, 200);
  });

  it('A robot asks about the past with the rights that it holds now', async () => {
    const robot = await makeRobot(atrium, 'historian');
    const words = ['edit', 'view teams', 'view members', 'view roles'];
    const rest = [clusterPermission('view clusters'), { namespace: 'robot_mgmt', action: 'view robot accounts' }];
    const permissions = [...words.map(orgPermission), ...rest];
    const ann = atrium.as('ann');
    const role = await ann('POST', '/authz/roles?org=acme', { name: 'exporter', permissions });
    assert.equal(role.status, 201, role.text);
    const to = { type: 'robot_ac', id: robot.id };
    assert.equal((await ann('POST', '/authz/assignments?org=acme', { role: { id: role.body.id }, to })).status, 201);
    assert.equal((await robot.call('GET', '/orgs/acme/file')).status, 200);
    const refused = await robot.call('GET', `/orgs/acme/file?at=${at}`);
    assert.deepEqual([refused.status, refused.body.message], [403, 'missing relation can_view_audit_log']);
    const more = { permissions: [...permissions, orgPermission('view audit log')] };
    assert.equal((await ann('PUT', `/authz/roles/${role.body.id}?org=acme`, more)).status, 200);
    const told = await robot.call('GET', `/orgs/acme/file?at=${at}`);
    assert.equal(told.status, 200, told.text);
    assert.doesNotMatch(told.text, /later|exporter/);
  });

  it('Moments that are none, that are not past, or before the log begins are rejected in words', async () => {
    const early = new Date(Date.parse(at) - 366 * DAY_MS).toISOString();
    const future = new Date(Date.parse(at) + DAY_MS).toISOString();
    for (const [query, reason, message] of [
      ['at=', 'invalid_request', /at must be an RFC 3339 time/],
      ['at=yesterday', 'invalid_request', /at must be an RFC 3339 time/],
      ['at=2026-02-30T10:00:00Z', 'invalid_request', /at must be an RFC 3339 time/],
      ['at=2026-11-03', 'invalid_request', /at must be an RFC 3339 time/],
      ['at=1', 'invalid_request', /at must be an RFC 3339 time/],
      [`at=${at}&at=${at}`, 'invalid_request', /at must be/],
      [`at=${future}`, 'moment_in_future', /at must not be in the future/],
      [`at=${early}`, 'before_audit_log', /begins at \d{4}-.*; at must not be earlier$/],
      ['at=1969-12-31T23:59:59Z', 'before_audit_log', /begins at/],
      [`as_of=${at}`, 'invalid_request', /unknown query parameter/],
    ] as const) {
      const { status, body, text } = await atrium.as('ann')('GET', `/orgs/acme/file?${query}`);
      assert.deepEqual([status, body.reason], [400, reason], `${query}: ${text}`);
      assert.match(body.message, message);
    }
    const offset = at.replace('Z', '+00:00');
    for (const one of [offset, encodeURIComponent(offset)]) {
      const answer = await atrium.as('ann')('GET', `/orgs/acme/file?at=${one}`);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers.get('x-as-of'), at);
    }
  });
});
