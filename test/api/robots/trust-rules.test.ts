import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { NewToken } from '../../../src/identity/tokens/token-issuer.ts';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type FakeIssuer, LOOPBACK, startFakeIssuer } from '../../support/services/token-issuer.ts';
import { makeFederatedRobot, makeRule } from '../../support/world/federation.ts';
import { callWith, makeRobot } from '../../support/world/robots.ts';

const GITHUB = 'https://token.actions.githubusercontent.com';
const RULE = { name: 'main', issuer: GITHUB, claims: { repository_id: '123' } };

describe('Trust rules of robots', () => {
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

  it('A rule is created with defaults, read, listed, replaced and deleted', async () => {
    const robot = await fresh();
    const made = await ann('POST', robot.rules, RULE);
    assert.equal(made.status, 201, made.text);
    const { id, created_at, ...rest } = made.body;
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(rest, {
      ...RULE,
      audience: atrium.url,
      jwks: null,
      scopes: ['write:organization'],
      lifetime: 'PT1H',
      single_use: true,
      live_tokens: 0,
      last_used_at: null,
    });
    for (const by of [id, 'main']) {
      const read = await ann('GET', `${robot.rules}/${by}`);
      assert.deepEqual([read.status, read.body, read.headers.get('etag')], [200, made.body, made.headers.get('etag')]);
    }
    const list = await ann('GET', `${robot.rules}?limit=1`);
    assert.deepEqual([list.body, list.headers.get('x-total-count')], [[made.body], '1']);
    const etag = made.headers.get('etag') ?? assert.fail();
    const whole = {
      name: 'all',
      issuer: issuer.url,
      audience: 'https://atrium.example',
      jwks: issuer.jwks(),
      claims: { '/kubernetes.io/namespace': 'prod', sub: 'system:serviceaccount:prod:*' },
      scopes: ['read:organization'],
      limits: { organizations: ['acme'] },
      lifetime: 'PT10M',
      single_use: false,
    };
    const put = await ann('PUT', `${robot.rules}/${id}`, whole, { 'If-Match': etag });
    assert.equal(put.status, 200, put.text);
    const { id: _, created_at: __, live_tokens, last_used_at, limits, ...shown } = put.body;
    const { limits: ___, ...wanted } = whole;
    assert.deepEqual([shown, live_tokens, last_used_at], [wanted, 0, null]);
    assert.deepEqual(limits, {
      organizations: [{ id: Number(atrium.world.orgs.acme?.id), name: 'acme' }],
      objects: [],
    });
    assert.equal((await ann('PUT', `${robot.rules}/${id}`, whole, { 'If-Match': etag })).status, 412);
    assert.equal((await ann('DELETE', `${robot.rules}/${id}`, undefined, { 'If-Match': etag })).status, 412);
    const back = await ann('PUT', `${robot.rules}/all`, RULE);
    assert.deepEqual(
      [back.status, back.body.jwks, back.body.scopes, back.body.limits],
      [200, null, ['write:organization'], undefined],
    );
    assert.equal((await ann('DELETE', `${robot.rules}/${id}`)).status, 204);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const gone = await ann(method, `${robot.rules}/${id}`, method === 'PUT' ? RULE : undefined);
      assert.deepEqual([gone.status, gone.body.reason], [404, 'trust_rule_not_found'], method);
    }
    const { items } = (await ann('GET', '/orgs/acme/audit?action=trust_rule.')).body;
    const actions = items.map(({ action }: { action: string }) => action);
    assert.deepEqual(actions.slice(0, 4), [
      'trust_rule.delete',
      'trust_rule.update',
      'trust_rule.update',
      'trust_rule.create',
    ]);
    assert.equal(items[0].summary, `ann deleted the trust rule main for ${GITHUB}`);
    const entries = await auditOf(atrium.instance.db, atrium.world.orgs.acme?.id ?? 0n);
    assert.deepEqual(brokenLinks(entries), []);
  });

  it('What a rule cannot say is rejected with the field that is wrong', async () => {
    const robot = await fresh();
    const [key] = issuer.published;
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const priv = pair.privateKey.export({ format: 'jwk' });
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
    const claims = (value: unknown, name = 'sub') => ({ ...RULE, claims: { [name]: value } });
    const cases: [body: object, field: string, reason?: string][] = [
      [{ ...RULE, name: '' }, 'name'],
      [{ ...RULE, name: 'x'.repeat(256) }, 'name'],
      [{ ...RULE, name: 'a\nb' }, 'name'],
      [{ ...RULE, issuer: '' }, 'issuer'],
      [{ ...RULE, issuer: 'github' }, 'issuer'],
      [{ ...RULE, issuer: 'ftp://issuer.example' }, 'issuer'],
      [{ ...RULE, issuer: 'https://user@issuer.example' }, 'issuer'],
      [{ ...RULE, issuer: 'https://issuer.example?x=1' }, 'issuer'],
      [{ ...RULE, issuer: 'https://issuer.example#x' }, 'issuer'],
      [{ ...RULE, issuer: atrium.url }, 'issuer'],
      [{ ...RULE, issuer: `${atrium.url}/`, jwks: issuer.jwks() }, 'issuer'],
      [{ ...RULE, audience: '' }, 'audience'],
      [{ ...RULE, audience: `${atrium.url}/clusters/x` }, 'audience'],
      [{ ...RULE, claims: {} }, 'claims', 'no_binding_claim'],
      [
        { ...RULE, claims: { iss: GITHUB, aud: 'x', exp: '1', nbf: '1', iat: '1', jti: 'x' } },
        'claims',
        'no_binding_claim',
      ],
      [{ ...RULE, claims: { '/iss': GITHUB } }, 'claims', 'no_binding_claim'],
      [claims(123), 'claims'],
      [claims(['x']), 'claims'],
      [claims(''), 'claims'],
      [claims('*'), 'claims'],
      [claims('repo:acme*'), 'claims'],
      [claims('*acme'), 'claims'],
      [claims('repo:*/app'), 'claims'],
      [claims('repo:acme/**'), 'claims'],
      [claims('x', ''), 'claims'],
      [claims('x', '/'), 'claims'],
      [claims('x', '/a~2'), 'claims'],
      [{ ...RULE, claims: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`c${at}`, 'x'])) }, 'claims'],
      [{ ...RULE, lifetime: 'PT59S' }, 'lifetime'],
      [{ ...RULE, lifetime: 'PT61M' }, 'lifetime'],
      [{ ...RULE, lifetime: 'P1M' }, 'lifetime'],
      [{ ...RULE, lifetime: 'PT' }, 'lifetime'],
      [{ ...RULE, lifetime: '1h' }, 'lifetime'],
      [{ ...RULE, scopes: [] }, 'scopes'],
      [{ ...RULE, scopes: ['scim', 'all'] }, 'scopes'],
      [{ ...RULE, scopes: ['scim'], limits: { organizations: ['acme'] } }, 'limits'],
      [{ ...RULE, limits: { organizations: ['globex'] } }, 'limits.organizations', 'organization_not_found'],
      [{ ...RULE, limits: {} }, 'limits'],
      [{ ...RULE, jwks: { keys: [] } }, 'jwks'],
      [{ ...RULE, jwks: { keys: [priv] } }, 'jwks'],
      [{ ...RULE, jwks: { keys: [{ ...key, d: 'AQAB' }] } }, 'jwks'],
      [{ ...RULE, jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }, 'jwks'],
      [{ ...RULE, jwks: { keys: [{ ...key, k: 'c2VjcmV0' }] } }, 'jwks'],
      [{ ...RULE, jwks: { keys: [small] } }, 'jwks'],
      [{ ...RULE, jwks: { keys: [key, { kty: 'RSA' }] } }, 'jwks'],
      [{ ...RULE, jwks: { keys: [{ ...key, filler: 'x'.repeat(66_000) }] } }, 'jwks'],
    ];
    for (const [body, field, reason = 'validation_failed'] of cases) {
      const answer = await ann('POST', robot.rules, body);
      const said = JSON.stringify(body).slice(0, 200);
      assert.equal(answer.status, 422, `${said} ${answer.text}`);
      assert.deepEqual([answer.body.errors[0].field, answer.body.reason], [field, reason], said);
    }
    for (const missing of ['name', 'issuer', 'claims']) {
      const answer = await ann('POST', robot.rules, { ...RULE, [missing]: null });
      assert.deepEqual([answer.status, answer.body.errors[0].field], [422, missing]);
    }
    for (const good of ['repo:acme/*', 'repo:*', 'a-*', 'a_*', 'a.*', 'a@*', 'exactly']) {
      const answer = await ann('POST', robot.rules, { ...claims(good), name: good });
      assert.equal(answer.status, 201, answer.text);
    }
    const taken = await ann('POST', robot.rules, { ...RULE, name: 'exactly' });
    assert.deepEqual([taken.status, taken.body.reason], [422, 'name_taken']);
    const renamed = await ann('PUT', `${robot.rules}/a-*`, { ...RULE, name: 'exactly' });
    assert.deepEqual([renamed.status, renamed.body.reason], [422, 'name_taken']);
    assert.deepEqual(issuer.asked.length, 0, 'nothing is fetched when a rule is made');
  });

  it('A robot has at most 20 rules', async () => {
    const robot = await fresh();
    for (let at = 0; at < 20; at++)
      assert.equal((await ann('POST', robot.rules, { ...RULE, name: `r${at}` })).status, 201);
    const more = await ann('POST', robot.rules, RULE);
    assert.deepEqual([more.status, more.body.reason], [422, 'limit_reached']);
  });

  it('Rules are changed by those who may edit the robot and create tokens, and seen by those who see the robot', async () => {
    const robot = await fresh();
    const made = await ann('POST', robot.rules, RULE);
    const at = `${robot.rules}/${made.body.id}`;
    assert.equal((await atrium.as('cat')('GET', at)).status, 200);
    assert.equal((await atrium.as('cat')('GET', robot.rules)).status, 200);
    for (const [method, path, body] of [
      ['POST', robot.rules, { ...RULE, name: 'x' }],
      ['PUT', at, RULE],
      ['DELETE', at, undefined],
      ['POST', `${robot.rules}/explain`, { token: 'x' }],
    ] as const) {
      const cat = await atrium.as('cat')(method, path, body);
      assert.deepEqual([cat.status, cat.body.reason], [403, 'missing_relation'], `${method} ${path}`);
      const eve = await atrium.as('eve')(method, path, body);
      assert.deepEqual([eve.status, eve.body.reason], [404, 'robot_not_found'], `${method} ${path}`);
      assert.equal((await atrium.as()(method, path, body)).status, 401);
    }
    assert.equal((await atrium.as('eve')('GET', at)).status, 404);
    assert.equal((await atrium.as('bob')('POST', robot.rules, { ...RULE, name: 'by an editor' })).status, 201);
    const other = await fresh();
    const elsewhere = await ann('GET', `${other.rules}/${made.body.id}`);
    assert.deepEqual([elsewhere.status, elsewhere.body.reason], [404, 'trust_rule_not_found']);
    const editor = await ann('POST', '/authz/roles?org=acme', {
      name: 'only edits robots',
      permissions: [{ namespace: 'robot_mgmt', action: 'edit robot accounts' }],
    });
    assert.equal(editor.status, 201, editor.text);
    await ann('POST', '/authz/assignments?org=acme', {
      role: { id: editor.body.id },
      to: { type: 'user', name: 'dan' },
    });
    const dan = await atrium.as('dan')('POST', robot.rules, { ...RULE, name: 'by dan' });
    assert.deepEqual([dan.status, dan.body.relation], [403, 'create_tokens:org']);
  });

  it('Only a session, or a token with the scope all that neither expires nor has limits, changes rules', async () => {
    const robot = await fresh();
    const { body: rule } = await ann('POST', robot.rules, RULE);
    const at = `${robot.rules}/${rule.id}`;
    const annId = atrium.world.users.ann?.id ?? 0n;
    const ownerId = atrium.world.orgs.acme?.id ?? 0n;
    const one = { type: 'robot_ac', id: BigInt(robot.id), name: robot.name, ownerId } as const;
    type Traits = Pick<NewToken, 'scopes' | 'expiresAt' | 'limits'>;
    const tokens: [name: string, traits: Traits, reason: string][] = [
      ['expires', { scopes: ['all'], expiresAt: new Date('2099-01-01') }, 'forbidden'],
      ['narrow', { scopes: ['write:organization'] }, 'forbidden'],
      ['public', { scopes: ['all', 'public-only'] }, 'forbidden'],
      [
        'limited',
        { scopes: ['all'], limits: { organizations: [{ id: ownerId, name: 'acme' }], objects: [] } },
        'token_limited',
      ],
      ['to the robot', { scopes: ['all'], limits: { organizations: [], objects: [one] } }, 'token_limited'],
    ];
    for (const [name, traits, reason] of tokens) {
      const made = await atrium.instance.identity.tokens.issue({ accountId: annId, name, ...traits });
      const call = callWith(atrium, made.text);
      for (const [method, path, body] of [
        ['POST', robot.rules, { ...RULE, name }],
        ['PUT', at, RULE],
        ['DELETE', at, undefined],
      ] as const) {
        const answer = await call(method, path, body);
        assert.deepEqual([answer.status, answer.body.reason], [403, reason], `${name} ${method} ${answer.text}`);
      }
    }
    assert.equal((await ann('GET', at)).status, 200);
  });

  it('A robot changes no rule, neither its own nor that of another one', async () => {
    const strong = await makeRobot(atrium, 'strong');
    const role = {
      name: 'robots and tokens',
      permissions: [{ namespace: 'robot_mgmt', action: 'edit robot accounts' }],
    };
    const { body } = await ann('POST', '/authz/roles?org=acme', role);
    const to = { type: 'robot_ac', id: strong.id };
    assert.equal((await ann('POST', '/authz/assignments?org=acme', { role: { id: body.id }, to })).status, 201);
    const robot = await fresh();
    const made = await ann('POST', robot.rules, RULE);
    for (const rules of [robot.rules, `/robots/${strong.id}/trust_rules`]) {
      for (const [method, path, sent] of [
        ['POST', rules, RULE],
        ['PUT', `${rules}/${made.body.id}`, RULE],
        ['DELETE', `${rules}/${made.body.id}`, undefined],
      ] as const) {
        const answer = await strong.call(method, path, sent);
        assert.deepEqual([answer.status, answer.body.reason], [403, 'not_for_robots'], `${method} ${path}`);
      }
    }
    assert.equal((await strong.call('GET', robot.rules)).status, 200);
  });

  it('Creating or replacing a rule is giving what the robot holds', async () => {
    const owner = await ann('POST', '/authz/roles?org=acme', {
      name: 'edits roles',
      permissions: [{ namespace: 'org_mgmt', action: 'edit roles' }],
    });
    assert.equal(owner.status, 201, owner.text);
    const plain = await fresh();
    const rule = await atrium.as('bob')('POST', plain.rules, RULE);
    assert.equal(rule.status, 201, rule.text);
    const to = { type: 'robot_ac', id: plain.id };
    await ann('POST', '/authz/assignments?org=acme', { role: { id: owner.body.id }, to });
    for (const [method, path] of [
      ['POST', plain.rules],
      ['PUT', `${plain.rules}/${rule.body.id}`],
    ] as const) {
      const answer = await atrium.as('bob')(method, path, { ...RULE, name: 'more' });
      assert.deepEqual([answer.status, answer.body.reason], [403, 'escalation'], answer.text);
    }
    const scim = await atrium.as('bob')('POST', (await fresh()).rules, { ...RULE, scopes: ['scim'] });
    assert.deepEqual([scim.status, scim.body.relation], [403, 'owner:org']);
    assert.equal((await ann('POST', (await fresh()).rules, { ...RULE, scopes: ['scim'] })).status, 201);
    assert.equal(
      (await atrium.as('bob')('DELETE', `${plain.rules}/${rule.body.id}`)).status,
      204,
      'this gives nothing',
    );
  });

  it('Explain says claim by claim why a token is not accepted, for those who may edit the robot', async () => {
    const robot = await fresh();
    const empty = await ann('POST', `${robot.rules}/explain`, { token: 'x' });
    assert.deepEqual([empty.status, empty.body], [200, { accepted: false, rule: null, rules: [] }]);
    const claims = { repository_id: '123', ref: 'refs/tags/*', '/build/number': '7', missing: 'x' };
    const { id, name } = await makeRule(atrium, robot, issuer, { claims });
    const token = await issuer.token(atrium.url, { aud: ['a', 'b'], build: { number: [7] } });
    const answer = await ann('POST', `${robot.rules}/explain`, { token: ` ${token}\n` });
    const [verdict] = answer.body.rules;
    assert.deepEqual(
      [answer.body.accepted, answer.body.rule, verdict.id, verdict.name, verdict.accepted],
      [false, null, id, name, false],
    );
    const { checks } = verdict;
    const shown = checks.map(({ what, claim, holds, got }: Record<string, unknown>) => [claim ?? what, holds, got]);
    assert.deepEqual(
      shown.filter(([what]: [string]) => what !== 'expiry'),
      [
        ['signature', true, 'RS256 with first'],
        ['issuer', true, issuer.url],
        ['audience', false, '["a","b"]'],
        ['used', true, 'not used'],
        ['repository_id', true, '123'],
        ['ref', false, 'refs/heads/main'],
        ['/build/number', false, '[7]'],
        ['missing', false, null],
      ],
    );
    assert.deepEqual(checks.map(({ what }: { what: string }) => what).slice(0, 5), [
      'signature',
      'issuer',
      'audience',
      'expiry',
      'used',
    ]);
    assert.ok(checks.every((check: Record<string, unknown>) => typeof check.wanted === 'string'));
    const nonsense = await ann('POST', `${robot.rules}/explain`, { token: 'nonsense' });
    assert.deepEqual([nonsense.status, nonsense.body.accepted], [200, false]);
    assert.ok(!atrium.logged().includes(token));
    const page = await ann('GET', '/orgs/acme/audit');
    assert.ok(!page.text.includes(token));
  });

  it('A rule is created once for a key that is sent twice', async () => {
    const robot = await fresh();
    const key = { 'Idempotency-Key': 'once' };
    const [one, two] = [await ann('POST', robot.rules, RULE, key), await ann('POST', robot.rules, RULE, key)];
    assert.deepEqual([one.status, two.status, two.text], [201, 201, one.text]);
    assert.equal((await ann('GET', robot.rules)).body.length, 1);
  });
});
