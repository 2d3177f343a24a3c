import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

/** Names are parts of sentences, tables and log lines. */
describe('Names of one line', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const BREAKS = ['\n', '\r', '\r\n', '\t', '\u001b', '\u007f', '\u0085', '\u009b', '\u2028', '\u2029'];
  const rule = { who: 'never', relation: 'can_delete', type: 'cluster' };
  const PLACES: readonly (readonly [string, string, string, (name: string) => object])[] = [
    ['a role', 'POST', '/authz/roles?org=acme', (name) => ({ name, permissions: [] })],
    ['a role that is changed', 'PUT', '/authz/roles/%role?org=acme', (name) => ({ name, permissions: [] })],
    ['a guardrail', 'POST', '/authz/guardrails?org=acme', (name) => ({ name, ...rule })],
    ['a team', 'POST', '/orgs/acme/teams', (name) => ({ name })],
    ['a robot', 'POST', '/orgs/acme/robots', (name) => ({ name })],
    ['a contract', 'POST', '/orgs/acme/contracts', (name) => ({ name })],
    ['a cluster', 'POST', '/orgs/acme/clusters', (name) => ({ name, uid: crypto.randomUUID() })],
    ['a credential', 'POST', '/user/credentials', (name) => ({ name, type: 'Aws', aws: {} })],
    ['a user', 'PATCH', '/user', (name) => ({ full_name: name })],
    ['an organization', 'PATCH', '/orgs/acme', (name) => ({ full_name: name })],
  ];

  for (const [what, method, path, bodyOf] of PLACES) {
    it(`The name of ${what} has no line breaks and no control characters`, async () => {
      const role = String(atrium.world.orgs.acme?.roles['cluster-operator'] ?? '');
      for (const mark of BREAKS) {
        const { status, text } = await atrium.as('ann')(method, path.replace('%role', role), bodyOf(`two${mark}lines`));
        assert.equal(status, 422, `${JSON.stringify(mark)}: ${text}`);
      }
    });
  }

  it('The name of a token has no line breaks and no control characters', async () => {
    const { password = '' } = atrium.world.users.ann ?? {};
    const headers = { Authorization: `Basic ${Buffer.from(`ann:${password}`).toString('base64')}` };
    for (const mark of BREAKS) {
      const token = { name: `two${mark}lines`, scopes: ['read:user'] };
      const { status, text } = await atrium.as()('POST', '/users/ann/tokens', token, headers);
      assert.equal(status, 422, `${JSON.stringify(mark)}: ${text}`);
    }
  });
});
