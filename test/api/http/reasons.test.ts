import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { numbersOf } from '../../support/world/authz.ts';

type Request = readonly [who: string | undefined, method: string, path: string, body?: unknown, headers?: object];

/** Errors that programs need to tell apart. `{team}` and the like stand for IDs of the demo world. */
const REASONS: readonly (readonly [reason: string, status: number, request: Request])[] = [
  ['unauthenticated', 401, [undefined, 'GET', '/user']],
  ['route_not_found', 404, ['ann', 'GET', '/nowhere']],
  ['method_not_allowed', 405, ['ann', 'DELETE', '/user']],
  ['user_not_found', 404, ['ann', 'GET', '/users/nobody']],
  ['user_not_found', 404, ['ann', 'PUT', '/user/following/nobody']],
  ['user_not_found', 404, ['ann', 'PUT', '/orgs/acme/members/nobody', {}]],
  ['organization_not_found', 404, ['ann', 'GET', '/orgs/nowhere']],
  ['team_not_found', 404, ['ann', 'GET', '/teams/999999']],
  ['role_not_found', 404, ['root', 'GET', '/authz/roles/999999?org=acme']],
  ['cluster_not_found', 404, ['ann', 'GET', '/clusters/999999']],
  ['contract_not_found', 404, ['ann', 'GET', '/contracts/999999']],
  ['robot_not_found', 404, ['ann', 'GET', '/robots/999999']],
  ['token_not_found', 404, ['ann', 'DELETE', '/users/ann/tokens/nothing']],
  ['credential_not_found', 404, ['ann', 'GET', '/user/credentials/nothing']],
  ['order_not_found', 404, ['ann', 'GET', '/user/deploy/orders/0b7a2f0e-6c0e-4a55-9f2d-1f3f1f3f1f3f/render/manifest']],
  ['invalid_request', 400, ['ann', 'GET', '/teams/many']],
  ['validation_failed', 422, ['ann', 'POST', '/orgs', { username: '-' }]],
  ['name_taken', 422, ['ann', 'POST', '/orgs', { username: 'globex' }]],
  ['name_taken', 422, ['ann', 'POST', '/orgs/acme/teams', { name: 'Operators' }]],
  ['email_taken', 422, ['root', 'POST', '/admin/users', { username: 'newcomer', email: 'ann@example.com' }]],
  ['forbidden', 403, ['ann', 'GET', '/admin/users']],
  ['unknown_relation', 400, ['ann', 'GET', '/authz/objects/cluster/{prod}/explain?org=acme&relation=can_fly']],
  ['last_owner', 409, ['ann', 'DELETE', '/orgs/acme/members/ann']],
  ['last_administrator', 409, ['root', 'PATCH', '/admin/users/root', { active: false }]],
  ['conflict', 409, ['ann', 'DELETE', '/teams/{Viewers}']],
  ['precondition_failed', 412, ['ann', 'PATCH', '/orgs/acme', { location: 'x' }, { 'If-Match': '"0-0"' }]],
];

describe('Reasons of errors', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  for (const [reason, status, [who, method, path, body, headers]] of REASONS) {
    it(`${method} ${path} by ${who ?? 'nobody'} is answered with ${status} and the reason ${reason}`, async () => {
      const id = numbersOf(atrium);
      const url = path.replace('{prod}', String(id.cluster('prod'))).replace('{Viewers}', String(id.team('Viewers')));
      const answer = await atrium.as(who)(method, url, body, headers as Record<string, string>);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body.reason, reason, answer.text);
      assert.equal(answer.body.relation, undefined);
    });
  }

  it('A missing relation is named, so that nobody has to read it in the message', async () => {
    const answer = await atrium.as('cat')('POST', '/orgs/acme/teams', { name: 'more' });
    assert.equal(answer.status, 403);
    assert.deepEqual([answer.body.reason, answer.body.relation], ['missing_relation', 'create_team:org']);
  });

  it('Granting more than one holds is answered with the reason escalation', async () => {
    const id = numbersOf(atrium);
    const answer = await atrium.as('bob')('PUT', `/teams/${id.team('Owners')}/members/bob`);
    assert.ok([403, 404].includes(answer.status), answer.text);
    const role = { name: 'x', permissions: [{ namespace: 'org_mgmt', action: 'create roles' }] };
    const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', {
      ...role,
      teamIDs: [id.team('operators')],
    });
    assert.equal(made.status, 201, made.text);
    const more = { name: 'y', permissions: [{ namespace: 'org_mgmt', action: 'edit' }] };
    const refused = await atrium.as('dan')('POST', '/authz/roles?org=acme', more);
    assert.deepEqual([refused.status, refused.body.reason], [403, 'escalation'], refused.text);
  });
});
