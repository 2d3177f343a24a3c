import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, makeHolder, makeRole, numbersOf, orgPermission } from '../../support/world/authz.ts';

const YAML = { 'Content-Type': 'application/yaml' };
const EXPORT = '/authz/roles/export?org=acme';
const IMPORT = '/authz/roles/import?org=acme';

const DOCUMENT = `# Kept in git.
apiVersion: atrium/v1
kind: Roles
organization: acme
roles:
  - name: cluster-operator
    description: Sees clusters and connects to them.
    permissions:
      cluster_mgmt: [connect to clusters, view clusters]
    teams: [operators]
  - name: Auditors
    permissions:
      org_mgmt:
        - view audit log
        - view members
    teams:
      - viewers
      - Editors
`;

for (const driver of API_DRIVERS) {
  describe(`Role files on ${driver}`, () => {
    let atrium: TestServer;
    let id: ReturnType<typeof numbersOf>;
    before(async () => {
      atrium = await openTestServer({ driver });
      id = numbersOf(atrium);
    });
    after(() => atrium.close());

    const bringIn = async (body: unknown, query = '', who = 'ann', headers: Record<string, string> = YAML) =>
      await atrium.as(who)('PUT', `${IMPORT}${query}`, body, headers);
    const done = async (...args: Parameters<typeof bringIn>): Promise<Answer> => {
      const answer = await bringIn(...args);
      assert.equal(answer.status, 200, answer.text);
      return answer;
    };
    const exported = async (query = '', headers = {}) => {
      const answer = await atrium.as('cat')('GET', `${EXPORT}${query}`, undefined, headers);
      assert.equal(answer.status, 200, answer.text);
      return answer;
    };
    const everything = async () => (await atrium.as('ann')('GET', '/authz/roles?org=acme')).text;

    it(`Roles are exported as readable YAML in a fixed order on ${driver}`, async () => {
      const { text, headers } = await exported();
      assert.equal(headers.get('content-type'), 'application/yaml; charset=utf-8');
      assert.equal(
        text,
        `apiVersion: atrium/v1
kind: Roles
organization: acme
roles:
  - name: cluster-operator
    description: Sees clusters and connects to them.
    permissions:
      cluster_mgmt: [view clusters, connect to clusters]
    teams: [operators]
`,
      );
    });

    it(`A dry run of an import describes the changes and writes nothing on ${driver}`, async () => {
      const [roles, records] = [await everything(), (await auditOf(atrium.instance.db, id.org('acme'))).length];
      const { body } = await done(DOCUMENT, '&dry_run=true');
      assert.deepEqual(body, {
        changes: [
          {
            role: 'Auditors',
            kind: 'create',
            words: ['+ org_mgmt "view members"', '+ org_mgmt "view audit log"', '+ team Editors', '+ team Viewers'],
          },
        ],
        unchanged: 1,
        unmanaged: [],
        dry_run: true,
      });
      assert.equal(await everything(), roles);
      assert.equal((await auditOf(atrium.instance.db, id.org('acme'))).length, records);
    });

    it(`An import applies its dry run immediately, in one revision and idempotently on ${driver}`, async () => {
      const revision = atrium.instance.revisions.latest;
      const dry = await done(DOCUMENT, '&dry_run=true');
      assert.equal((await atrium.as('cat')('GET', '/orgs/acme/audit')).status, 403);
      const { body } = await done(DOCUMENT);
      assert.deepEqual({ ...body, dry_run: true }, dry.body);
      assert.equal((await atrium.as('cat')('GET', '/orgs/acme/audit')).status, 200);
      assert.equal(atrium.instance.revisions.latest - revision, 1n, 'one revision for all of it');
      const again = await done(DOCUMENT);
      assert.deepEqual(again.body, { changes: [], unchanged: 2, unmanaged: [], dry_run: false });
      const etag = (await exported()).headers.get('etag');
      await done((await exported()).text);
      assert.equal((await exported()).headers.get('etag'), etag);
      assert.equal(atrium.instance.revisions.latest - revision, 1n, 'nothing changed, so there is no revision');
    });

    it(`An import updates and renames roles, and deletes omitted ones only with prune, on ${driver}`, async () => {
      const changed = DOCUMENT.replace('view audit log', 'view teams')
        .replace('Auditors', 'auditors')
        .replace('      - viewers\n', '')
        .replace('name: auditors', 'name: auditors\n    description: "They: look"');
      const { body } = await done(changed);
      assert.deepEqual(body.changes, [
        {
          role: 'auditors',
          kind: 'update',
          words: [
            'name "Auditors" → "auditors"',
            'description "" → "They: look"',
            '+ org_mgmt "view teams"',
            '- org_mgmt "view audit log"',
            '- team Viewers',
          ],
        },
      ]);
      assert.equal((await atrium.as('cat')('GET', '/orgs/acme/audit')).status, 403);
      const without = { apiVersion: 'atrium/v1', kind: 'Roles', organization: 'ACME', roles: [] };
      const json = { 'Content-Type': 'application/json' };
      const kept = await done(without, '', 'ann', json);
      assert.deepEqual(kept.body.unmanaged, ['auditors', 'cluster-operator'], 'they stay, and are named');
      const pruned = await done(without, '&prune=true', 'ann', json);
      assert.deepEqual(pruned.body.changes, [
        {
          role: 'auditors',
          kind: 'delete',
          words: [
            'description "They: look" → ""',
            '- org_mgmt "view members"',
            '- org_mgmt "view teams"',
            '- team Editors',
          ],
        },
        {
          role: 'cluster-operator',
          kind: 'delete',
          words: [
            'description "Sees clusters and connects to them." → ""',
            '- cluster_mgmt "view clusters"',
            '- cluster_mgmt "connect to clusters"',
            '- team operators',
          ],
        },
      ]);
      assert.equal((await exported()).text.split('\n').at(-2), 'roles: []');
      assert.equal((await done(DOCUMENT)).body.changes.length, 2);
    });

    it(`An import writes one audit entry per changed role on ${driver}`, async () => {
      const entries = await auditOf(atrium.instance.db, id.org('acme'));
      assert.deepEqual(brokenLinks(entries), []);
      assert.deepEqual(
        entries.slice(-6).map((entry) => entry.action),
        ['role.create', 'role.update', 'role.delete', 'role.delete', 'role.create', 'role.create'],
      );
      assert.equal(JSON.parse(entries.at(-5)?.before ?? '').name, 'Auditors');
      assert.equal(JSON.parse(entries.at(-5)?.after ?? '').name, 'auditors');
    });

    it(`An import keeps the ID, creation time and team assignment times of a role on ${driver}`, async () => {
      const before = await atrium.as('ann')('GET', '/authz/roles?org=acme');
      const role = before.body.find((one: { name: string }) => one.name === 'Auditors');
      const principals = `/authz/roles/${role.id}/principals?org=acme`;
      const since = (await atrium.as('ann')('GET', principals)).body;
      await done(DOCUMENT.replace('view members', 'edit'));
      const now = await atrium.as('ann')('GET', `/authz/roles/${role.id}?org=acme`);
      assert.deepEqual([now.body.id, now.body.created_at], [role.id, role.created_at]);
      assert.notEqual(now.headers.get('etag'), null);
      assert.deepEqual((await atrium.as('ann')('GET', principals)).body, since);
      await done(DOCUMENT);
    });

    it(`Names and descriptions with special characters survive export and import unchanged on ${driver}`, async () => {
      const names = [
        'yes',
        'null',
        '7',
        'a: b',
        '# no comment',
        '[list]',
        '- dash',
        'Zoë & Ünal (EU)',
        '日本',
        '"quoted"',
        "it's",
        'e\u0301 😀',
        '*alias',
        '!tag',
        '%percent',
        '@at',
        'trailing:',
        'No',
        '1e3',
        '~',
      ];
      for (const name of names) {
        await makeRole(atrium, {
          name,
          description: `${name}\n  second line\r\n\t`,
          permissions: [orgPermission('edit')],
        });
      }
      const yaml = (await exported()).text;
      const json = (await exported('&format=json')).body;
      assert.deepEqual(parse(yaml), json, 'both say the same');
      assert.deepEqual(new Set(json.roles.map((role: { name: string }) => role.name)).size, names.length + 2);
      for (const [body, type] of [
        [yaml, 'application/yaml'],
        [yaml, 'text/yaml; charset=utf-8'],
        [yaml, 'application/x-yaml'],
        [JSON.stringify(json), 'application/json'],
      ] as const) {
        const same = await done(body, '&prune=true', 'ann', { 'Content-Type': type });
        assert.deepEqual([same.body.changes, same.body.unchanged], [[], names.length + 2], type);
      }
      const empty = 'apiVersion: atrium/v1\nkind: Roles\norganization: acme\nroles: []';
      await done(empty, '&prune=true');
      await done(yaml);
      assert.equal((await exported()).text, yaml);
      await done(DOCUMENT, '&prune=true');
    });

    it(`The export format follows the format parameter and then the Accept header on ${driver}`, async () => {
      const TABLE: readonly (readonly [query: string, accept: string, type: string])[] = [
        ['', '*/*', 'application/yaml'],
        ['', 'application/json', 'application/json'],
        ['', 'application/yaml', 'application/yaml'],
        ['&format=json', 'application/yaml', 'application/json'],
        ['&format=yaml', 'application/json', 'application/yaml'],
      ];
      for (const [query, accept, type] of TABLE) {
        const { headers } = await exported(query, { Accept: accept });
        assert.equal(headers.get('content-type'), `${type}; charset=utf-8`, `${query} ${accept}`);
      }
    });

    it(`An import with an outdated ETag is rejected with 412 on ${driver}`, async () => {
      const known = (await exported()).headers.get('etag') ?? '';
      const { body: role } = await makeRole(atrium, { name: 'Surprise' });
      const stale = await bringIn(DOCUMENT, '&prune=true', 'ann', { ...YAML, 'If-Match': known });
      assert.equal(stale.status, 412, stale.text);
      assert.equal((await atrium.as('ann')('GET', `/authz/roles/${role.id}?org=acme`)).status, 200);
      const now = (await exported()).headers.get('etag') ?? '';
      await done(DOCUMENT, '&prune=true', 'ann', { ...YAML, 'If-Match': now });
    });

    it(`An import requires the permission for each change and grants only what the caller holds on ${driver}`, async () => {
      const creator = await makeHolder(atrium, [orgPermission('create roles'), clusterPermission('view clusters')]);
      const editor = await makeHolder(atrium, [orgPermission('edit roles'), clusterPermission('view clusters')]);
      const deleter = await makeHolder(atrium, [orgPermission('delete roles')]);
      const { text } = await exported();
      const [head] = text.split('  - name');
      const add = `${text}  - {name: New, permissions: {cluster_mgmt: [view clusters]}}\n`;
      const more = `${text}  - {name: New, permissions: {cluster_mgmt: [remove clusters]}}\n`;
      const change = text.replace('Sees clusters', 'Looks at clusters');
      const give = text.replace('teams: [operators]', 'teams: [operators, Viewers]');
      const TABLE: readonly (readonly [who: string, body: string, query: string, status: number, message?: RegExp])[] =
        [
          ['cat', add, '', 403, /^missing relation create_role:org$/],
          ['cat', change, '', 403, /^missing relation edit:role$/],
          ['cat', `${head}`.replace('roles:', 'roles: []'), '&prune=true', 403, /^missing relation delete:role$/],
          ['cat', text, '', 200],
          [editor.name, add, '', 403, /^missing relation create_role:org$/],
          [creator.name, change, '', 403, /^missing relation edit:role$/],
          [creator.name, more, '', 403, /^role "New": you cannot grant .*: cluster_mgmt "remove clusters"$/],
          [editor.name, give, '', 403, /^role "cluster-operator": you cannot grant .* "connect to clusters"$/],
          [deleter.name, add, '&prune=true', 403, /^missing relation create_role:org$/],
          [creator.name, add, '', 200],
          [editor.name, `${change}  - {name: New}\n`, '', 200],
          [deleter.name, change, '&prune=true', 200],
        ];
      for (const [who, body, query, status, message] of TABLE) {
        for (const dry of ['&dry_run=true', '']) {
          const roles = await everything();
          const answer = await bringIn(body, `${query}${dry}`, who);
          assert.equal(answer.status, status, `${who} ${message}: ${answer.text}`);
          if (message) assert.match(answer.body.message, message);
          if (status !== 200) assert.equal(await everything(), roles, 'nothing half done');
        }
      }
      await done(DOCUMENT, '&prune=true');
    });
  });
}
