import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { auditOf } from '../../support/checks/audit.ts';
import { type Answer, type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { type FakeIssuer, LOOPBACK, startFakeIssuer } from '../../support/services/token-issuer.ts';
import { makeHolder, numbersOf, orgPermission } from '../../support/world/authz.ts';
import { exchangeForm, postForm } from '../../support/world/federation.ts';
import { callWith, makeRobot } from '../../support/world/robots.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

const YAML = { 'Content-Type': 'application/yaml' };
const HEAD = { apiVersion: 'atrium/v1', kind: 'Organization', organization: 'acme' };
const GITHUB = 'https://token.actions.githubusercontent.com';
const MAIN = {
  name: 'main branch',
  issuer: GITHUB,
  audience: 'https://atrium.example.com',
  claims: { repository_id: '123', ref: 'refs/heads/main', '/kubernetes.io/namespace': 'true' },
  scopes: ['write:organization'],
  lifetime: 'PT1H',
};

describe('Trust rules in the file of an organization', () => {
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

  const robots = (...items: readonly object[]) => ({ ...HEAD, robots: items });
  const apply = async (body: unknown, who = 'ann', headers = {}): Promise<Answer> =>
    await atrium.as(who)('PUT', '/orgs/acme/file', body, headers);
  const plan = async (body: unknown, who = 'ann'): Promise<Answer> =>
    await atrium.as(who)('POST', '/orgs/acme/plan', body);
  const done = async (body: unknown) => {
    const planned = await plan(body);
    assert.deepEqual([planned.status, planned.body.refusals], [200, []], planned.text);
    const applied = await apply(body, 'ann', { 'If-Match': planned.body.etag });
    assert.equal(applied.status, 200, applied.text);
    assert.deepEqual(applied.body.changes, planned.body.changes);
    return applied.body.changes as { name: string; kind: string; words: string[] }[];
  };
  const rulesOf = async (robot: string) => {
    const { body } = await atrium.as('ann')('GET', '/orgs/acme/robots?limit=100');
    const { id } = body.find(({ name }: { name: string }) => name === robot);
    return (await atrium.as('ann')('GET', `/robots/${id}/trust_rules`)).body;
  };

  it('A file creates a robot with its trust rules, changes, renames and prunes them', async () => {
    const made = await done(robots({ name: 'deploy', trust_rules: [MAIN] }));
    assert.deepEqual(
      made.map(({ name, kind, words }) => [name, kind, words]),
      [['deploy', 'create', [`+ trust rule "main branch" of ${GITHUB}`]]],
    );
    const [rule] = await rulesOf('deploy');
    const { id, jwks, single_use, live_tokens, created_at, last_used_at, ...shown } = rule;
    assert.deepEqual([shown, jwks, single_use], [MAIN, null, true]);
    assert.deepEqual(await done(robots({ name: 'deploy', trust_rules: [MAIN] })), []);
    const next = { name: 'tags', was: 'main branch', claims: { repository_id: '123' }, single_use: false };
    assert.deepEqual(await done(robots({ name: 'deploy', trust_rules: [next] })), [
      {
        ...{ section: 'robots', name: 'deploy', kind: 'update' },
        words: ['~ trust rule "tags": name, claims, single_use'],
      },
    ]);
    const [changed] = await rulesOf('deploy');
    assert.deepEqual(
      [changed.id, changed.name, changed.claims, changed.single_use, changed.scopes, changed.audience],
      [id, 'tags', { repository_id: '123' }, false, MAIN.scopes, MAIN.audience],
      'what the entry does not say stays',
    );
    assert.deepEqual(await done(robots({ name: 'deploy', description: 'of GitHub' })), [
      { section: 'robots', name: 'deploy', kind: 'update', words: ['description "of GitHub"'] },
    ]);
    const kept = await apply(robots({ name: 'deploy', trust_rules: [] }));
    assert.deepEqual(kept.body.changes, []);
    assert.ok(kept.body.unmanaged.robots.includes('deploy: trust rule tags'), kept.text);
    const { robots: all } = parse((await atrium.as('ann')('GET', '/orgs/acme/file?sections=robots')).text);
    const items = all.map((one: { name: string }) => (one.name === 'deploy' ? { ...one, trust_rules: [] } : one));
    assert.deepEqual(await done({ ...HEAD, robots: { prune: true, items } }), [
      { section: 'robots', name: 'deploy', kind: 'update', words: ['- trust rule "tags"'] },
    ]);
    assert.deepEqual(await rulesOf('deploy'), []);
  });

  it('What is exported has everything of a trust rule by name, and changes nothing when it is applied', async () => {
    const whole = {
      ...{ name: 'whole', issuer: issuer.url, audience: 'https://a.example', jwks: issuer.jwks() },
      ...{ claims: { sub: 'system:*' }, scopes: ['read:organization'], lifetime: 'PT10M', single_use: false },
      limits: { objects: [{ type: 'cluster', name: 'prod' }] },
    };
    await done(robots({ name: 'exported', trust_rules: [whole, MAIN] }));
    for (const format of ['yaml', 'json']) {
      const { text } = await atrium.as('ann')('GET', `/orgs/acme/file?format=${format}`);
      const entry = parse(text).robots.find(({ name }: { name: string }) => name === 'exported');
      assert.deepEqual(entry, { name: 'exported', trust_rules: [MAIN, whole] });
      const before = (await auditOf(atrium.instance.db, numbersOf(atrium).org('acme'))).length;
      const applied = await apply(text, 'ann', format === 'yaml' ? YAML : {});
      assert.deepEqual([applied.status, applied.body.changes], [200, []], applied.text);
      assert.equal((await auditOf(atrium.instance.db, numbersOf(atrium).org('acme'))).length, before);
    }
    const [first] = await rulesOf('exported');
    assert.equal(first.limits.objects[0].name, 'prod');
    const numbers = numbersOf(atrium);
    const renamed = { name: 'production' };
    assert.equal((await atrium.as('ann')('PATCH', `/clusters/${numbers.cluster('prod')}`, renamed)).status, 200);
    const { text } = await atrium.as('ann')('GET', '/orgs/acme/file');
    assert.match(text, /name: production/);
    assert.deepEqual((await apply(text, 'ann', YAML)).body.changes, [], 'limits follow a new name');
    await atrium.as('ann')('PATCH', `/clusters/${numbers.cluster('prod')}`, { name: 'prod' });
  });

  it('The tokens of a rule end when a file changes the rule, and stay when it gets a new name', async () => {
    const own = { ...{ name: 'own', issuer: issuer.url, jwks: issuer.jwks(), claims: { sub: 'job' } } };
    await done(robots({ name: 'signs-in', trust_rules: [{ ...own, scopes: ['all'] }] }));
    const { access_token: issued } = await exchange('signs-in');
    const seen = async () => (await callWith(atrium, issued)('GET', '/user/token')).status;
    assert.equal(await seen(), 200);
    await done(robots({ name: 'signs-in', trust_rules: [{ name: 'other', was: 'own' }] }));
    assert.equal(await seen(), 200);
    await done(robots({ name: 'signs-in', trust_rules: [{ name: 'other', lifetime: 'PT5M' }] }));
    assert.equal(await seen(), 401);
  });

  it('A file changes trust rules only with what their own calls need', async () => {
    await done(robots({ name: 'guarded', trust_rules: [MAIN] }));
    await done({
      ...HEAD,
      roles: [{ name: 'remover', permissions: { cluster_mgmt: ['remove clusters'] } }],
      robots: [{ name: 'strong' }],
      assignments: [{ role: 'remover', to: { robot: 'strong' } }],
    });
    const permissions = [
      ...['edit', 'view teams', 'view members', 'view roles'].map(orgPermission),
      { namespace: 'robot_mgmt', action: 'create robot accounts' },
      { namespace: 'robot_mgmt', action: 'edit robot accounts' },
      { namespace: 'cluster_mgmt', action: 'view clusters' },
    ];
    const { name: unable } = await makeHolder(atrium, permissions);
    const tokens = { namespace: 'token_mgmt', action: 'create tokens' };
    const { name: able } = await makeHolder(atrium, [...permissions, tokens]);
    const file = robots({ name: 'guarded', trust_rules: [{ ...MAIN, lifetime: 'PT2M' }] });
    const fresh = (scopes = MAIN.scopes) => robots({ name: 'fresh', trust_rules: [{ ...MAIN, scopes }] });
    const strong = robots({ name: 'strong', trust_rules: [MAIN] });
    for (const [who, wanted, reason] of [
      [unable, file, 'missing_relation'],
      [unable, fresh(), 'missing_relation'],
      [able, strong, 'escalation'],
      [able, fresh(['scim']), 'missing_relation'],
    ] as const) {
      const planned = await plan(wanted, who);
      assert.deepEqual([planned.status, planned.body.refusals?.[0]?.reason], [200, reason], planned.text);
      const applied = await apply(wanted, who);
      assert.deepEqual([applied.status, applied.body.reason], [403, reason], applied.text);
    }
    assert.deepEqual((await plan(file, able)).body.refusals, []);
    assert.equal((await apply(fresh(), able)).status, 200);
    assert.deepEqual((await rulesOf('guarded'))[0].lifetime, 'PT1H');
  });

  it('Neither a robot nor a token that ends changes trust rules by a file', async () => {
    await done(robots({ name: 'lasting', trust_rules: [MAIN] }));
    const file = robots({ name: 'lasting', trust_rules: [{ ...MAIN, lifetime: 'PT2M' }] });
    const ends = new Date(Date.now() + 3_600_000).toISOString();
    for (const terms of [{ scopes: ['all'], expires_at: ends }, { scopes: ['write:organization', 'write:authz'] }]) {
      const made = await tokenCalls(atrium).make('ann', { name: JSON.stringify(terms), ...terms });
      const call = callWith(atrium, made.sha1);
      const applied = await call('PUT', '/orgs/acme/file', file);
      assert.equal(applied.status, 403, applied.text);
      assert.match(applied.body.message, /cannot change trust rules|do enough to change trust rules/);
      const described = robots({ name: 'lasting', description: JSON.stringify(terms) });
      assert.equal((await call('PUT', '/orgs/acme/file', described)).status, 200);
    }
    const applied = await (await strongRobot())('PUT', '/orgs/acme/file', file);
    assert.deepEqual([applied.status, applied.body.reason], [403, 'not_for_robots'], applied.text);
  });

  it('Rejected trust rules say where the file is wrong', async () => {
    const at = 'robots[0].trust_rules[0]';
    for (const [change, field] of [
      [{ secret: 'x' }, `${at}.secret`],
      [{ name: undefined }, `${at}.name`],
      [{ issuer: undefined }, `${at}.issuer`],
      [{ issuer: 'nothing' }, `${at}.issuer`],
      [{ claims: undefined }, `${at}.claims`],
      [{ claims: { iss: 'x' } }, `${at}.claims`],
      [{ claims: { repository_id: 123 } }, `${at}.claims`],
      [{ claims: [] }, `${at}.claims`],
      [{ scopes: ['nothing'] }, `${at}.scopes`],
      [{ scopes: 'all' }, `${at}.scopes`],
      [{ lifetime: 'P1D' }, `${at}.lifetime`],
      [{ single_use: 1 }, `${at}.single_use`],
      [{ limits: { clusters: [] } }, `${at}.limits.clusters`],
      [{ limits: {} }, `${at}.limits`],
      [{ limits: { organizations: ['globex'] } }, `${at}.limits.organizations`],
      [{ limits: { objects: [{ type: 'cluster', name: 'nope' }] } }, `${at}.limits.objects`],
    ] as const) {
      const file = robots({ name: 'wrong', trust_rules: [{ ...MAIN, ...change }] });
      for (const answer of [await plan(file), await apply(file)]) {
        assert.deepEqual(
          [answer.status, answer.body.errors?.[0]?.field],
          [422, field],
          `${JSON.stringify(change)}: ${answer.text}`,
        );
      }
    }
    const twice = await plan(robots({ name: 'wrong', trust_rules: [MAIN, MAIN] }));
    assert.deepEqual([twice.status, twice.body.errors[0].field], [422, 'robots[0].trust_rules[1].name']);
    const many = Array.from({ length: 21 }, (_, place) => ({ ...MAIN, name: `rule ${place}` }));
    const full = await plan(robots({ name: 'wrong', trust_rules: many }));
    assert.deepEqual(
      full.body.refusals.map(({ section, status, reason }: Record<string, unknown>) => [section, status, reason]),
      [['robots', 422, 'limit_reached']],
      full.text,
    );
  });

  async function exchange(robot: string) {
    const token = await issuer.token(atrium.url, { sub: 'job' });
    return (await postForm(atrium, exchangeForm(`acme/${robot}`, token))).body as { access_token: string };
  }

  /** A robot that holds what a user needs who changes trust rules. */
  async function strongRobot(): Promise<Call> {
    const permissions = {
      org_mgmt: ['edit', 'view teams', 'view members', 'view roles'],
      robot_mgmt: ['edit robot accounts'],
      token_mgmt: ['create tokens'],
      cluster_mgmt: ['view clusters'],
    };
    const robot = await makeRobot(atrium, 'powerful');
    await done({
      ...HEAD,
      roles: [{ name: 'everything', permissions }],
      assignments: [{ role: 'everything', to: { robot: 'powerful' } }],
    });
    return robot.call;
  }
});
