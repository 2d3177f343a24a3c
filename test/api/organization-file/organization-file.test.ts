import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, makeHolder, numbersOf, orgPermission } from '../../support/world/authz.ts';

const YAML = { 'Content-Type': 'application/yaml' };
const HEAD = 'apiVersion: atrium/v1\nkind: Organization\norganization: acme\n';

const WHOLE = `${HEAD}
teams:
  - name: operators
    description: On call for clusters     # kept
    members:
      - dan
      - { user: bob, expires_at: "2030-12-24T18:00:00Z" }
  - name: platform
    permission: none
    members: [cat]
roles:
  - name: deployer
    permissions:
      cluster_mgmt: [view clusters, reconfigure clusters]
    teams: [platform]
  - name: looker
    permissions:
      org_mgmt: [view teams]
assignments:
  - role: deployer
    to: { robot: release }
    on: { cluster: prod }
    reason: releases
  - role: looker
    to: { team: operators }
    on: { team: platform }
robots:
  - { name: release, description: GitHub Actions }
guardrails:
  - name: prod is closed
    never: { users: [cat], relation: can_delete, object: { type: organization } }
request_rules:
  - { name: short, match: { roles: [deployer] }, longest: PT8H, approvals: 1 }
token_policy: { max_days: 90, expiry_required: true }
`;

for (const driver of API_DRIVERS) {
  describe(`The file of an organization on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const apply = async (body: unknown, who = 'ann', query = '', headers = {}): Promise<Answer> =>
      await atrium.as(who)('PUT', `/orgs/acme/file${query}`, body, { ...YAML, ...headers });
    const plan = async (body: unknown, who = 'ann'): Promise<Answer> =>
      await atrium.as(who)('POST', '/orgs/acme/plan', body, YAML);
    const exported = async (query = '', who = 'ann') => await atrium.as(who)('GET', `/orgs/acme/file${query}`);

    it(`What is exported changes nothing when it is applied on ${driver}`, async () => {
      const file = await exported();
      assert.equal(file.status, 200, file.text);
      const before = await auditOf(atrium.instance.db, numbersOf(atrium).org('acme'));
      const planned = await plan(file.text);
      assert.equal(planned.status, 200, planned.text);
      assert.deepEqual(planned.body.changes, []);
      assert.deepEqual(planned.body.impact.users, []);
      const applied = await apply(file.text);
      assert.equal(applied.status, 200, applied.text);
      assert.deepEqual(applied.body.changes, []);
      assert.equal(applied.headers.get('etag'), file.headers.get('etag'));
      assert.equal((await auditOf(atrium.instance.db, numbersOf(atrium).org('acme'))).length, before.length);
      assert.equal((await exported()).text, file.text);
    });

    it(`A plan says what applying the file then does, and writes nothing on ${driver}`, async () => {
      const file = await exported();
      const planned = await plan(WHOLE);
      assert.equal(planned.status, 200, planned.text);
      assert.deepEqual(planned.body.refusals, []);
      assert.equal((await exported()).text, file.text, 'a plan writes nothing');
      assert.equal(planned.body.etag, file.headers.get('etag'));
      const applied = await apply(WHOLE, 'ann', '', { 'If-Match': planned.body.etag });
      assert.equal(applied.status, 200, applied.text);
      assert.deepEqual(applied.body.changes, planned.body.changes);
      assert.deepEqual(
        planned.body.changes.map(({ section, name, kind }: Record<string, string>) => `${section} ${name} ${kind}`),
        [
          'teams operators update',
          'teams platform create',
          'robots release create',
          'roles deployer create',
          'roles looker create',
          'assignments deployer to robot release on cluster prod create',
          'assignments looker to team operators on team platform create',
          'guardrails prod is closed create',
          'request_rules request_rules update',
          'token_policy token_policy update',
        ],
      );
    });

    it(`Every change has its usual audit entry, all with one request ID, and one entry for the file on ${driver}`, async () => {
      const acme = numbersOf(atrium).org('acme');
      const before = (await auditOf(atrium.instance.db, acme)).length;
      const applied = await apply(
        `${HEAD}robots: [{ name: audited }]\nteams: [{ name: audited, permission: none, members: [dan] }]\n`,
      );
      assert.equal(applied.status, 200, applied.text);
      const entries = await auditOf(atrium.instance.db, acme);
      const fresh = entries.slice(before);
      assert.deepEqual(
        fresh.map(({ action }) => action),
        ['team.create', 'team.add_member', 'robot.create', 'organization.apply'],
      );
      assert.equal(new Set(fresh.map(({ request_id: id }) => id)).size, 1);
      assert.match(fresh.at(-1)?.after ?? '', /"sha256": ?"[0-9a-f]{64}"/);
      assert.deepEqual(brokenLinks(entries), []);
    });

    it(`A file applies to the state of its plan or not at all on ${driver}`, async () => {
      const file = `${HEAD}teams: [{ name: late, permission: none, members: [dan] }]\n`;
      const { body } = await plan(file);
      await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'between', permission: 'none' });
      const stale = await apply(file, 'ann', '', { 'If-Match': body.etag });
      assert.equal(stale.status, 412, stale.text);
      const again = (await plan(file)).body.etag;
      const both = await Promise.all([1, 2].map(() => apply(file, 'ann', '', { 'If-Match': again })));
      assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412]);
    });

    it(`With prune, what is not in a section goes, but never a built-in team on ${driver}`, async () => {
      await apply(`${HEAD}teams: [{ name: going, permission: none, members: [dan, cat] }]\n`);
      const kept = parse((await exported('?sections=teams')).text).teams;
      const items = kept
        .filter(({ name }: { name: string }) => name !== 'Editors' && name !== 'going')
        .map(({ name }: { name: string }) => ({ name }));
      const file = { ...parse(HEAD), teams: { prune: true, items } };
      const planned = await plan(JSON.stringify(file));
      assert.equal(planned.status, 200, planned.text);
      assert.deepEqual(
        planned.body.changes.map(({ name, kind, words }: Record<string, unknown>) => [name, kind, words]),
        [['going', 'delete', ['- member cat', '- member dan']]].map(([name, kind, words]) => [
          name,
          kind,
          planned.body.changes[0].words.length === 2 ? planned.body.changes[0].words : words,
        ]),
      );
      assert.deepEqual(planned.body.unmanaged.teams, ['Editors']);
      assert.equal((await apply(JSON.stringify(file))).status, 200);
      assert.doesNotMatch((await exported()).text, /going/);
    });

    it(`A former name renames, and keeps members and IDs on ${driver}`, async () => {
      await apply(`${HEAD}teams: [{ name: infra, permission: none, members: [dan] }]\n`);
      const list = async () => (await atrium.as('ann')('GET', '/orgs/acme/teams?limit=50')).body;
      const { id } = (await list()).find(({ name }: { name: string }) => name === 'infra');
      const file = `${HEAD}teams: [{ name: network, was: infra }]\n`;
      const applied = await apply(file);
      assert.deepEqual(applied.body.changes, [
        { section: 'teams', name: 'network', kind: 'update', words: ['name "infra" → "network"'] },
      ]);
      assert.equal((await list()).find(({ name }: { name: string }) => name === 'network').id, id);
      assert.deepEqual((await apply(file)).body.changes, [], 'done already');
      const pruned = `${HEAD}teams:\n  prune: true\n  items: [{ name: newer, permission: none, members: [dan] }]\n`;
      assert.match((await plan(pruned)).body.warnings.join(), /"newer" looks like "network"/);
    });

    it(`A guardrail keeps its ID under a new name on ${driver}`, async () => {
      const rule = '{ users: [cat], relation: can_delete, object: { type: organization } }';
      const file = (names: string) => `${HEAD}guardrails: [{ ${names}, never: ${rule} }]\n`;
      assert.equal((await apply(file('name: closed'))).status, 200);
      const list = async () => (await atrium.as('ann')('GET', '/authz/guardrails?org=acme')).body;
      const find = async (wanted: string) =>
        (await list()).find(({ name }: { name: string }) => name === wanted) as { id: number } | undefined;
      const before = await find('closed');
      const renamed = file('name: shut, was: closed');
      assert.deepEqual((await apply(renamed)).body.changes, [
        { section: 'guardrails', name: 'shut', kind: 'update', words: ['name "closed" → "shut"'] },
      ]);
      assert.deepEqual([(await find('shut'))?.id, await find('closed')], [before?.id, undefined]);
      assert.deepEqual((await apply(renamed)).body.changes, [], 'done already');
      await apply(file('name: closed'));
      const both = await apply(renamed);
      assert.deepEqual(
        [both.status, both.body.message.includes('both "shut" and "closed" exist')],
        [422, true],
        both.text,
      );
      const twice = `${HEAD}guardrails: [{ name: a, was: shut, never: ${rule} }, { name: shut, never: ${rule} }]\n`;
      assert.equal((await apply(twice)).status, 422);
    });

    it(`Rights are those before the file: a file gives its author nothing to give on ${driver}`, async () => {
      const { name: holder } = await makeHolder(atrium, [
        ...['edit', 'view members', 'create teams', 'manage team members', 'create roles'].map(orgPermission),
        { namespace: 'robot_mgmt', action: 'view robot accounts' },
        clusterPermission('view clusters'),
      ]);
      const cases = [
        ['teams: [{ name: mine, permission: admin }]', 'escalation'],
        [`teams: [{ name: Editors, members: [${holder}] }]`, 'escalation'],
        [`teams: [{ name: Owners, members: [${holder}] }]`, 'missing_relation'],
        ['roles: [{ name: big, permissions: { cluster_mgmt: [remove clusters] } }]', 'escalation'],
        ['roles: [{ name: cluster-operator, permissions: {} }]', 'missing_relation'],
        [`assignments: [{ role: cluster-operator, to: { user: ${holder} } }]`, 'missing_relation'],
        ['robots: [{ name: mine }]', 'missing_relation'],
        ['request_rules: []', undefined],
        ['request_rules: [{ name: mine, approvals: 0 }]', 'missing_relation'],
        [
          'guardrails: [{ name: mine, always: { users: [ann], relation: can_view, object: { type: organization } } }]',
          'missing_relation',
        ],
      ] as const;
      const before = (await exported('?sections=teams,roles,assignments,robots,guardrails')).text;
      for (const [text, reason] of cases) {
        const planned = await plan(`${HEAD}${text}\n`, holder);
        assert.equal(planned.status, 200, planned.text);
        if (reason === undefined) continue;
        assert.equal(planned.body.refusals[0]?.reason, reason, `${text}: ${planned.text}`);
        assert.equal(planned.body.refusals[0].status, 403);
        const applied = await apply(`${HEAD}${text}\n`, holder);
        assert.equal(applied.status, 403, applied.text);
        assert.equal(applied.body.reason, reason, text);
      }
      assert.equal((await exported('?sections=teams,roles,assignments,robots,guardrails')).text, before);
      const allowed = `${HEAD}teams: [{ name: mine, permission: none, members: [${holder}] }]\n`;
      assert.equal((await apply(allowed, holder)).status, 200);
    });

    it(`A guardrail objects to the state after the whole file on ${driver}`, async () => {
      const file = `${HEAD}guardrails:
  - { name: few admins, at_most: { count: 1, relation: can_delete, object: { type: organization } } }
teams: [{ name: Owners, members: [ann, dan] }]
`;
      const planned = await plan(file);
      assert.deepEqual(
        planned.body.refusals.map(({ section, name, status, reason }: Record<string, unknown>) => [
          section,
          name,
          status,
          reason,
        ]),
        [['guardrails', 'few admins', 409, 'guardrail_violated']],
        planned.text,
      );
      for (const query of ['', '?dry_run=true']) {
        const applied = await apply(file, 'ann', query);
        assert.equal(applied.status, 409, applied.text);
        assert.equal(applied.body.reason, 'guardrail_violated');
      }
      assert.doesNotMatch((await exported()).text, /few admins/);
    });

    it(`The plan names who gains what on ${driver}`, async () => {
      const file = `${HEAD}teams: [{ name: Editors, members: [dan] }]\n`;
      const { body } = await plan(file);
      const [dan] = body.impact.users;
      assert.equal(dan?.user.name, 'dan');
      assert.ok(dan.gains.some(({ relation }: { relation: string }) => relation === 'can_edit_clusters'));
    });

    it(`Rejected files change nothing, and say where they are wrong on ${driver}`, async () => {
      const before = (await exported()).text;
      const cases: readonly (readonly [string, number, string, string?])[] = [
        ['teams: [{ name: a b, memberz: [] }]', 422, 'teams[0].memberz'],
        ['teams: [{ name: a, members: [nobody] }]', 422, 'teams[0].members[0]', 'user_not_found'],
        [
          'teams: [{ name: a, members: [{ user: dan, id: 999999 }] }]',
          422,
          'teams[0].members[0].id',
          'identity_changed',
        ],
        ['teams: [{ name: a, members: [dan, DAN] }]', 422, 'teams[0].members[1]'],
        ['teams: [{ name: a }, { name: A }]', 422, 'teams[1].name'],
        ['teams: [{ name: "!" }]', 422, 'teams[0].name'],
        ['teams: [{ name: a, permission: owner }]', 422, 'teams[0].permission'],
        ['teams: { prune: yes, items: [] }', 422, 'teams.prune'],
        ['teams: 5', 422, 'teams'],
        ['robots: [{ name: r, token: secret }]', 422, 'robots[0].token'],
        ['webhook: []', 422, 'webhook'],
        ['roles: [{ name: r, permissions: { no: [such] } }]', 422, 'roles'],
        ['roles: [{ name: r, teams: [nobody] }]', 422, 'roles'],
        ['assignments: [{ role: nope, to: { user: dan } }]', 422, 'assignments[0].role'],
        ['request_rules: [{ name: "" }]', 422, 'request_rules[0].name'],
        ['request_rules: [{ name: x, match: { roles: [nope] } }]', 422, 'request_rules[0].match.roles'],
        ['token_policy: { max_days: 0 }', 422, 'token_policy.max_days'],
        ['second_factor: {}', 422, 'second_factor.required'],
      ];
      for (const [text, status, field, reason] of cases) {
        for (const answer of [await plan(`${HEAD}${text}\n`), await apply(`${HEAD}${text}\n`)]) {
          assert.equal(answer.status, status, `${text}: ${answer.text}`);
          assert.equal(answer.body.errors?.[0]?.field, field, `${text}: ${answer.text}`);
          if (reason) assert.equal(answer.body.reason, reason, text);
        }
      }
      const others = ['kind: Organization', 'kind: Team'].map((kind) => HEAD.replace('kind: Organization', kind));
      assert.equal((await apply(others[1])).body.errors[0].field, 'kind');
      assert.equal((await apply(HEAD.replace('acme', 'globex'))).body.errors[0].field, 'organization');
      const imported = await atrium.as('ann')('PUT', '/authz/roles/import?org=acme', HEAD, YAML);
      assert.equal(imported.status, 422, 'a file of roles is not the file of an organization');
      assert.equal((await exported()).text, before);
    });

    it(`Only who sees everything may read or plan the file on ${driver}`, async () => {
      for (const [who, status] of [
        ['dan', 403],
        ['eve', 404],
      ] as const) {
        for (const answer of [await exported('', who), await plan(HEAD, who), await apply(HEAD, who)]) {
          assert.equal(answer.status, status, `${who}: ${answer.text}`);
        }
      }
    });

    it(`The last owner stays on ${driver}`, async () => {
      const file = `${HEAD}teams:\n  prune: true\n  items: [{ name: Owners, members: [] }, { name: Viewers }]\n`;
      const planned = await plan(file);
      assert.ok(
        planned.body.refusals.some(({ reason }: { reason: string }) => reason === 'last_owner'),
        planned.text,
      );
      assert.equal((await apply(file)).status, 409);
    });

    it(`A file of roles means what it means today on ${driver}`, async () => {
      const text = (await atrium.as('ann')('GET', '/authz/roles/export?org=acme')).text;
      const applied = await apply(text);
      assert.equal(applied.status, 200, applied.text);
      assert.deepEqual(applied.body.changes, []);
    });
  });
}
