import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { makeHolder, orgPermission } from '../../support/world/authz.ts';

const YAML = { 'Content-Type': 'application/yaml' };
const IMPORT = '/authz/roles/import?org=acme';
const EXPORT = '/authz/roles/export?org=acme';
const GUARDRAILS = `guardrails:
  - name: eve and prod
    description: She has left.
    enforce: true
    never:
      users: [eve]
      relation: can_connect
      object: { type: cluster, name: prod }
  - name: Somebody owns
    description: ""
    enforce: true
    at_least:
      count: 1
      relation: can_delete
      object: { type: organization }
`;

describe('Guardrails in role files', () => {
  let atrium: TestServer;
  let roles: string;
  before(async () => {
    atrium = await openTestServer();
    roles = (await atrium.as('ann')('GET', EXPORT)).text;
  });
  after(() => atrium.close());

  const apply = (text: string, query = '', who = 'ann') => atrium.as(who)('PUT', `${IMPORT}${query}`, text, YAML);
  const names = async () =>
    (await atrium.as('ann')('GET', '/authz/guardrails?org=acme')).body.map((one: { name: string }) => one.name);

  it('A file brings guardrails along with roles, is exported again as it was, and says nothing about them if it has none', async () => {
    const tried = await apply(`${roles}${GUARDRAILS}`, '&dry_run=true');
    assert.equal(tried.status, 200, tried.text);
    assert.deepEqual(await names(), []);
    const made = await apply(`${roles}${GUARDRAILS}`);
    assert.deepEqual(made.body.guardrails, tried.body.guardrails);
    assert.deepEqual(made.body.guardrails.changes, [
      { guardrail: 'eve and prod', kind: 'create', words: ['+ eve can never connect to prod'] },
      { guardrail: 'Somebody owns', kind: 'create', words: ['+ at least 1 person can delete acme'] },
    ]);
    const exported = await atrium.as('ann')('GET', EXPORT);
    assert.equal(exported.text, `${roles}${GUARDRAILS}`);
    assert.equal((await apply(exported.text)).body.guardrails.unchanged, 2);
    const json = await atrium.as('ann')('GET', `${EXPORT}&format=json`);
    const again = await atrium.as('ann')('PUT', IMPORT, JSON.parse(json.text));
    assert.equal(again.body.guardrails.unchanged, 2, again.text);

    const silent = await apply(roles, '&prune=true');
    assert.equal(silent.body.guardrails, undefined);
    assert.deepEqual(await names(), ['eve and prod', 'Somebody owns']);
  });

  it('An import is rejected as a whole if its roles violate a guardrail of the same file', async () => {
    const role = '  - name: doors\n    permissions: {cluster_mgmt: [connect to clusters]}\n    teams: [Viewers]\n';
    const rule = '  - name: cat\n    never: {users: [cat], relation: can_view_audit_log}\n';
    const bad = role.replace('{cluster_mgmt: [connect to clusters]}', '{org_mgmt: [view audit log]}');
    const refused = await apply(`${roles}${bad}${GUARDRAILS}${rule}`);
    assert.deepEqual([refused.status, refused.body.guardrail?.name], [409, 'cat'], refused.text);
    assert.deepEqual(await names(), ['eve and prod', 'Somebody owns']);
    assert.equal((await apply(`${roles}${role}${GUARDRAILS}${rule}`)).status, 200);
  });

  it('With prune, guardrails that are not in the file are deleted, and changed ones are changed', async () => {
    const changed = GUARDRAILS.replace('count: 1', 'count: 2').replace(
      'enforce: true\n    at',
      'enforce: false\n    at',
    );
    const { body } = await apply(`${roles}${changed}`, '&prune=true');
    assert.deepEqual(body.guardrails.changes, [
      { guardrail: 'cat', kind: 'delete', words: ['- cat can never view the audit log of acme'] },
      {
        guardrail: 'Somebody owns',
        kind: 'update',
        words: ['- at least 1 person can delete acme', '+ at least 2 people can delete acme', 'now only watched'],
      },
    ]);
    assert.equal((await apply(`${roles}guardrails: []\n`, '&prune=true')).status, 200);
    assert.deepEqual(await names(), []);
  });

  it('Faults in a file are named with their place, and nothing is written', async () => {
    const cases: readonly (readonly [text: string, status: number, part: RegExp])[] = [
      ['guardrails: {}\n', 422, /guardrails must be a list/],
      ['guardrails: [{name: x}]\n', 422, /guardrails\[0\] must have exactly one of never/],
      [
        'guardrails: [{name: x, never: {user: [eve], relation: can_view}}]\n',
        422,
        /guardrails\[0\]\.never\.user is not/,
      ],
      [
        'guardrails: [{name: x, never: {users: [nobody], relation: can_view}}]\n',
        422,
        /guardrail "x": user does not exist/,
      ],
      [
        'guardrails: [{name: x, never: {users: [eve], relation: can_fly}}]\n',
        422,
        /guardrail "x": organization has no relation/,
      ],
    ];
    for (const [text, status, part] of cases) {
      const answer = await apply(`${roles}${text}`);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.body.message, part);
    }
    const holder = await makeHolder(atrium, [orgPermission('view roles')]);
    const rule = 'guardrails: [{name: x, at_least: {count: 1, relation: can_delete}}]\n';
    assert.equal((await apply(`${roles}${rule}`, '', holder.name)).status, 403);
    assert.deepEqual(await names(), []);
  });

  it('Those who may not see everything that guardrails name get a file without guardrails', async () => {
    assert.equal((await apply(`${roles}${GUARDRAILS}`)).status, 200);
    const holder = await makeHolder(atrium, [orgPermission('view roles')]);
    const seen = await atrium.as(holder.name)('GET', EXPORT);
    assert.doesNotMatch(seen.text, /guardrails|\beve\b/);
    await apply(`${roles}guardrails: []\n`, '&prune=true');
  });

  it('A guardrail about something that is gone can be kept in a file', async () => {
    const cluster = { name: 'shortlived', uid: '00000000-0000-4000-8000-00000000aaaa' };
    const made = await atrium.as('ann')('POST', '/orgs/acme/clusters', cluster);
    const text = `${roles}${GUARDRAILS.replace('prod', 'shortlived').replace('name: prod', 'name: shortlived')}`;
    assert.equal((await apply(text)).status, 200);
    assert.equal((await atrium.as('ann')('DELETE', `/clusters/${made.body.id}`)).status, 204);
    const exported = (await atrium.as('ann')('GET', EXPORT)).text;
    const again = await apply(exported, '&prune=true');
    assert.deepEqual([again.status, again.body.guardrails?.unchanged], [200, 2], again.text);
  });
});
