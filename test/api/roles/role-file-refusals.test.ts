import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { makeRole } from '../../support/world/authz.ts';

const HEAD = 'apiVersion: atrium/v1\nkind: Roles\norganization: acme\n';
const ONE = `${HEAD}roles:\n  - name: One\n`;
const YAML = 'application/yaml';
const IMPORT = '/authz/roles/import?org=acme';

interface Bad {
  readonly name: string;
  readonly body: string | Buffer;
  readonly type?: string;
  readonly status: number;
  readonly message: RegExp;
}

const TABLE: readonly Bad[] = [
  {
    name: 'malformed YAML',
    body: `${HEAD}roles:\n  - name: [One`,
    status: 422,
    message: /not valid YAML: line 5, column \d+:/,
  },
  { name: 'bad indentation', body: `${HEAD}roles:\n - name: a\n\t- b`, status: 422, message: /line 6, column 1/ },
  {
    name: 'a duplicate key',
    body: `${ONE}    name: Two\n`,
    status: 422,
    message: /line 6, column 5: key is given twice: name/,
  },
  { name: 'an alias', body: `${HEAD}roles: [&a {name: One}, *a]`, status: 422, message: /anchors and aliases/ },
  { name: 'an anchor', body: `${HEAD}roles: &a []`, status: 422, message: /anchors and aliases/ },
  { name: 'a custom tag', body: `${HEAD}roles: !!js/function []`, status: 422, message: /line 4, column 8/ },
  {
    name: 'a key that is not a string',
    body: `${HEAD}roles: []\n7: x`,
    status: 422,
    message: /a key must be a string/,
  },
  { name: 'the key __proto__', body: `${HEAD}roles: []\n__proto__: {}`, status: 422, message: /__proto__/ },
  { name: 'a NUL character', body: `${HEAD}roles: [{name: "a\\0b"}]`, status: 422, message: /NUL/ },
  { name: 'two documents', body: `${ONE}---\n${ONE}`, status: 422, message: /more than one document/ },
  { name: 'deep nesting', body: '['.repeat(1_000_000), status: 422, message: /nested too deeply/ },
  { name: 'a document with too many parts', body: `[${','.repeat(500_000)}]`, status: 422, message: /too many tokens/ },
  { name: 'invalid UTF-8', body: Buffer.from([0xff, 0xfe, 0xfd]), status: 422, message: /UTF-8/ },
  { name: 'an empty document', body: ' ', status: 422, message: /must be a roles document/ },
  { name: 'a top-level list', body: '- a', status: 422, message: /must be a roles document/ },
  { name: 'a body larger than 1 MiB', body: `${ONE}#${' '.repeat(1_048_576)}`, status: 413, message: /1 MiB/ },
  { name: 'malformed JSON', body: '{"roles":', type: 'application/json', status: 422, message: /not valid JSON/ },
  {
    name: 'an empty JSON object',
    body: '{}',
    type: 'application/json',
    status: 422,
    message: /apiVersion must be atrium\/v1; kind/,
  },
  {
    name: 'a form body',
    body: 'a=b',
    type: 'application/x-www-form-urlencoded',
    status: 422,
    message: /application\/json/,
  },
  {
    name: 'an unknown apiVersion',
    body: ONE.replace('v1', 'v2'),
    status: 422,
    message: /^apiVersion must be atrium\/v1$/,
  },
  { name: 'an unknown kind', body: ONE.replace('Roles', 'Teams'), status: 422, message: /^kind must be Roles$/ },
  {
    name: 'a missing organization',
    body: ONE.replace('organization: acme\n', ''),
    status: 422,
    message: /^organization is required$/,
  },
  { name: 'a missing roles list', body: HEAD, status: 422, message: /^roles is required$/ },
  { name: 'roles that are not a list', body: `${HEAD}roles: {a: b}`, status: 422, message: /^roles must be a list$/ },
  { name: 'a role given as a string', body: `${HEAD}roles: [a]`, status: 422, message: /^roles\[0\] must be a role/ },
  {
    name: 'a role without a name',
    body: `${HEAD}roles: [{teams: []}]`,
    status: 422,
    message: /^roles\[0\]\.name is required$/,
  },
  {
    name: 'a numeric name',
    body: `${HEAD}roles: [{name: 7}]`,
    status: 422,
    message: /^roles\[0\]\.name must be a string$/,
  },
  {
    name: 'an unknown key in a role',
    body: `${ONE}    permisions: {}\n`,
    status: 422,
    message: /^roles\[0\]\.permisions is not a known field; known fields are name/,
  },
  { name: 'an unknown top-level key', body: `${ONE}prune: true\n`, status: 422, message: /^prune is not a known/ },
  {
    name: 'permissions given as a list',
    body: `${ONE}    permissions: [edit]\n`,
    status: 422,
    message: /^roles\[0\]\.permissions must list actions/,
  },
  {
    name: 'a numeric permission',
    body: `${ONE}    permissions: {org_mgmt: [1]}\n`,
    status: 422,
    message: /permissions\.org_mgmt\[0\] must be a string/,
  },
  {
    name: 'a blank name',
    body: `${HEAD}roles: [{name: " "}]`,
    status: 422,
    message: /^role " ": name must have 1 to 100/,
  },
  {
    name: 'a description that is too long',
    body: `${ONE}    description: ${'x'.repeat(1001)}\n`,
    status: 422,
    message: /^role "One": description must have at most/,
  },
  {
    name: 'two roles with the same name',
    body: `${ONE}  - name: ONE\n`,
    status: 422,
    message: /^two roles are called "ONE": roles\[0\] and roles\[1\]$/,
  },
  {
    name: 'an unknown permission',
    body: `${ONE}    permissions: {org_mgmt: [fly]}\n`,
    status: 400,
    message: /^role "One": unknown permission: org_mgmt "fly"$/,
  },
  {
    name: 'an unknown namespace',
    body: `${ONE}    permissions: {sky: []}\n`,
    status: 400,
    message: /^role "One": unknown permission namespace: "sky"$/,
  },
  {
    name: 'an unknown team',
    body: `${ONE}    teams: [Pilots]\n`,
    status: 400,
    message: /^role "One": no team is called "Pilots"$/,
  },
  {
    name: 'a team of another organization',
    body: `${ONE}    teams: [traders]\n`,
    status: 400,
    message: /no team is called "traders"/,
  },
  {
    name: 'a file of another organization',
    body: ONE.replace('acme', 'globex'),
    status: 400,
    message: /^the document is for organization "globex", not for "acme"$/,
  },
];

describe('Invalid role files', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  for (const { name, body, type = YAML, status, message } of TABLE) {
    it(`PUT /authz/roles/import rejects ${name} with ${status}`, async () => {
      const roles = (await atrium.as('ann')('GET', '/authz/roles?org=acme')).text;
      for (const query of ['&dry_run=true', '']) {
        const answer = await atrium.as('ann')('PUT', `${IMPORT}${query}`, body, { 'Content-Type': type });
        assert.equal(answer.status, status, answer.text);
        assert.match(answer.body.message, message);
        if (status === 422) assert.ok(answer.body.errors.length > 0);
      }
      assert.equal((await atrium.as('ann')('GET', '/authz/roles?org=acme')).text, roles);
    });
  }

  it('Role import and export reject unauthorized callers and invalid query parameters', async () => {
    const yaml = { 'Content-Type': YAML };
    const SENT = [
      [undefined, 'PUT', IMPORT, ONE, 401],
      ['eve', 'PUT', IMPORT, ONE, 403],
      ['dan', 'PUT', IMPORT, ONE, 403],
      ['ann', 'PUT', '/authz/roles/import', ONE, 400],
      ['ann', 'PUT', `${IMPORT}&dry_run=perhaps`, ONE, 400],
      ['ann', 'PUT', `${IMPORT}&prune=maybe`, ONE, 400],
      ['eve', 'GET', '/authz/roles/export?org=acme', undefined, 403],
      ['dan', 'GET', '/authz/roles/export?org=acme', undefined, 403],
      [undefined, 'GET', '/authz/roles/export?org=acme', undefined, 401],
      ['ann', 'GET', '/authz/roles/export?org=acme&format=toml', undefined, 400],
      ['ann', 'GET', '/authz/roles/export', undefined, 400],
    ] as const;
    for (const [who, method, path, body, status] of SENT) {
      const answer = await atrium.as(who)(method, path, body, body && yaml);
      assert.equal(answer.status, status, `${who} ${path}: ${answer.text}`);
    }
  });

  it('POST /authz/roles rejects a YAML body with 422', async () => {
    const answer = await atrium.as('ann')('POST', '/authz/roles?org=acme', 'name: x', { 'Content-Type': YAML });
    assert.equal(answer.status, 422);
    assert.equal(answer.body.message, 'body must be sent as application/json');
  });

  it('Concurrent imports and role changes leave the roles and the audit chain consistent', async () => {
    const file = (names: readonly string[]) => `${HEAD}roles: [${names.map((name) => `{name: "${name}"}`).join(', ')}]`;
    const names = Array.from({ length: 30 }, (_, number) => `together ${number}`);
    const send = (body: string, query = '') =>
      atrium.as('ann')('PUT', `${IMPORT}${query}`, body, { 'Content-Type': YAML });
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, () => send(file(names))),
      ...names.slice(0, 10).map((name) => atrium.as('ann')('POST', '/authz/roles?org=acme', { name, permissions: [] })),
      ...Array.from({ length: 4 }, () => send(file(names.slice(0, 5)), '&prune=true')),
      ...Array.from({ length: 5 }, () => makeRole(atrium)),
    ]);
    const statuses = new Set(answers.map(({ status }) => status));
    for (const status of statuses) assert.ok([200, 201, 422].includes(status), `${[...statuses]}`);
    await send(file(names), '&prune=true');
    const roles = (await atrium.as('ann')('GET', '/authz/roles?org=acme')).body;
    assert.deepEqual(roles.map((role: { name: string }) => role.name).sort(), names.toSorted());
    assert.deepEqual((await atrium.as('ann')('GET', '/orgs/acme/audit/verify')).body.ok, true);
  });
});
