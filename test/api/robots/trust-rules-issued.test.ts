import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type FakeIssuer, LOOPBACK, startFakeIssuer } from '../../support/services/token-issuer.ts';
import {
  exchangeForm,
  type FederatedRobot,
  federatedCall,
  makeFederatedRobot,
  makeRule,
  postForm,
} from '../../support/world/federation.ts';
import { callWith } from '../../support/world/robots.ts';

const GITHUB = 'https://token.actions.githubusercontent.com';
const RULE = { name: 'main', issuer: GITHUB, claims: { repository_id: '123' } };

describe('Tokens that trust rules issue', () => {
  let atrium: TestServer;
  let issuer: FakeIssuer;
  before(async () => {
    issuer = await startFakeIssuer();
    atrium = await openTestServer({ env: { ...LOOPBACK, AUTH_FAILURES: '10000' } });
  });
  after(async () => {
    await atrium.close();
    await issuer.close();
  });

  const ann: TestServer['call'] = (...call) => atrium.as('ann')(...call);
  const fresh = (roles: readonly object[] = []) => makeFederatedRobot(atrium, roles);

  it('An issued token ends with its rule, with what the rule says, with the robot and with its organization', async () => {
    const ways: [
      name: string,
      change: (robot: FederatedRobot, path: string, rule: Record<string, unknown>) => Promise<unknown>,
    ][] = [
      ['delete the rule', (_, path) => ann('DELETE', path)],
      ['delete the robot', (robot) => ann('DELETE', `/robots/${robot.id}`)],
      ['audience', (_, path, rule) => ann('PUT', path, { ...rule, audience: 'https://other.example' })],
      ['issuer', (_, path, rule) => ann('PUT', path, { ...rule, issuer: GITHUB })],
      ['jwks', (_, path, rule) => ann('PUT', path, { ...rule, jwks: issuer.jwks() })],
      ['claims', (_, path, rule) => ann('PUT', path, { ...rule, claims: { repository_id: '124' } })],
      ['scopes', (_, path, rule) => ann('PUT', path, { ...rule, scopes: ['read:organization'] })],
      ['limits', (_, path, rule) => ann('PUT', path, { ...rule, limits: { organizations: ['acme'] } })],
      ['lifetime', (_, path, rule) => ann('PUT', path, { ...rule, lifetime: 'PT30M' })],
    ];
    for (const [name, change] of ways) {
      const robot = await fresh();
      const { id, created_at, live_tokens, last_used_at, ...rule } = await makeRule(atrium, robot, issuer);
      const path = `${robot.rules}/${id}`;
      const call = await federatedCall(atrium, robot, issuer);
      assert.equal((await call('GET', '/user')).status, 200);
      const same = await ann('PUT', path, { ...rule, name: 'another name' });
      assert.equal(same.status, 200, same.text);
      assert.equal((await call('GET', '/user')).status, 200, 'a new name ends nothing');
      const changed = (await change(robot, path, rule)) as { status: number; text: string };
      assert.ok(changed.status < 300, `${name} ${changed.text}`);
      assert.equal((await call('GET', '/user')).status, 401, name);
    }
  });

  it('An issued token ends with what the robot holds, and is limited as its rule says', async () => {
    const robot = await fresh([{ role: { name: 'cluster-operator' } }]);
    const prod = Number(atrium.world.clusters.prod?.id);
    await makeRule(atrium, robot, issuer, { scopes: ['read:organization'] });
    const call = await federatedCall(atrium, robot, issuer);
    assert.equal((await call('GET', `/clusters/${prod}`)).status, 200);
    assert.equal((await call('PATCH', `/robots/${robot.id}`, {})).status, 403, 'the scope only reads');
    const [assignment] = (await ann('GET', `/authz/assignments?org=acme&to=robot:${robot.name}`)).body;
    assert.equal((await ann('DELETE', `/authz/assignments/${assignment.id}?org=acme`)).status, 204);
    assert.equal((await call('GET', `/clusters/${prod}`)).status, 404);
    const bound = await fresh([{ role: { name: 'cluster-operator' } }]);
    await makeRule(atrium, bound, issuer, { limits: { objects: [{ type: 'cluster', id: prod }] } });
    const limited = await federatedCall(atrium, bound, issuer);
    assert.equal((await limited('GET', `/clusters/${prod}`)).status, 200);
    assert.equal((await limited('GET', '/authz/roles?org=acme')).status, 403);
  });

  it('An issued token is in no list, does not count, renews nothing and creates no tokens', async () => {
    const robot = await fresh();
    await makeRule(atrium, robot, issuer);
    const role = {
      name: 'all about tokens',
      permissions: [
        { namespace: 'robot_mgmt', action: 'edit robot accounts' },
        { namespace: 'token_mgmt', action: 'create tokens' },
      ],
    };
    const { body } = await ann('POST', '/authz/roles?org=acme', role);
    const assigned = await ann('POST', '/authz/assignments?org=acme', {
      role: { id: body.id },
      to: { type: 'robot_ac', id: robot.id },
    });
    assert.equal(assigned.status, 201, assigned.text);
    const stored = await ann('POST', `/robots/${robot.id}/tokens`, { name: 'stored', scopes: ['all'] });
    assert.equal(stored.status, 201, stored.text);
    const call = await federatedCall(atrium, robot, issuer);
    const list = await ann('GET', `/robots/${robot.id}/tokens`);
    assert.deepEqual(
      list.body.map(({ name }: { name: string }) => name),
      ['stored'],
    );
    const own = await call('GET', '/user/token');
    assert.deepEqual([own.status, own.body.can_rotate], [200, false]);
    const refused = [
      await call('POST', '/user/token/rotate', {}),
      await call('POST', `/robots/${robot.id}/tokens/stored/rotate`, {}),
    ];
    for (const answer of refused) assert.deepEqual([answer.status, answer.body.reason], [409, 'token_not_renewable']);
    assert.equal((await call('POST', `/robots/${robot.id}/tokens`, { name: 'more' })).status, 403);
    const rule = await call('POST', robot.rules, RULE);
    assert.deepEqual([rule.status, rule.body.reason], [403, 'not_for_robots']);
    assert.equal((await ann('POST', `/robots/${robot.id}/tokens/${own.body.id}/rotate`, {})).status, 404);
    assert.equal((await ann('DELETE', `/robots/${robot.id}/tokens/${own.body.id}`)).status, 404);
    assert.equal(
      (await callWith(atrium, stored.body.sha1)('POST', `/robots/${robot.id}/tokens`, { name: 'by a stored one' }))
        .status,
      201,
    );
  });

  it('Expired tokens are removed after a while, and the organization can be deleted with its rules', async () => {
    const founder = await atrium.as('ann')('POST', '/orgs', { username: 'shortlived' });
    assert.equal(founder.status, 201, founder.text);
    const robot = await ann('POST', '/orgs/shortlived/robots', { name: 'deploy' });
    const rules = `/robots/${robot.body.id}/trust_rules`;
    const made = await ann('POST', rules, { ...RULE, issuer: issuer.url, scopes: ['all'] });
    assert.equal(made.status, 201, made.text);
    const { body } = await postForm(atrium, exchangeForm('shortlived/deploy', await issuer.token(atrium.url)));
    const call = callWith(atrium, body.access_token);
    assert.equal((await call('GET', '/user')).status, 200);
    await atrium.instance.features.sweepIssuedTokens();
    assert.equal((await call('GET', '/user')).status, 200);
    assert.equal((await ann('DELETE', '/orgs/shortlived')).status, 204);
    assert.equal((await call('GET', '/user')).status, 401);
  });
});
