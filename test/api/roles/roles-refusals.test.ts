import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected, clusterPermission, makeRole, numbersOf } from '../../support/world/authz.ts';

const ROLES = '/authz/roles?org=acme';
const NONE = { name: 'nobody has this name', permissions: [] };
const VIEW = clusterPermission('view clusters');
const huge = (count: number) => Array.from({ length: count }, () => VIEW);

/** Invalid bodies, for POST and PUT alike, except for required fields. */
const REFUSED: readonly [what: string, body: unknown, status: number, message: RegExp][] = [
  ['an empty name', { ...NONE, name: '' }, 422, /^name must have 1 to 100 characters$/],
  ['a blank name', { ...NONE, name: ' \t ' }, 422, /^name must have 1 to 100 characters$/],
  ['a name of 101 characters', { ...NONE, name: 'x'.repeat(101) }, 422, /^name must have 1 to 100 characters$/],
  ['a taken name', { ...NONE, name: 'cluster-operator' }, 422, /^name is taken/],
  ['a taken name in different case', { ...NONE, name: ' Cluster-OPERATOR ' }, 422, /^name is taken/],
  ['a taken name with umlauts in different case', { ...NONE, name: 'ÄÖ-LEUTE' }, 422, /^name is taken/],
  ['a taken name written with combining marks', { ...NONE, name: 'A\u0308O\u0308-leute' }, 422, /^name is taken/],
  ['a description of 1,001 characters', { ...NONE, description: 'x'.repeat(1001) }, 422, /at most 1000/],
  ['a null name', { ...NONE, name: null }, 422, /^name must be string/],
  ['a null description', { ...NONE, description: null }, 422, /^description must be string/],
  ['null permissions', { ...NONE, permissions: null }, 422, /^permissions must be array/],
  ['null team IDs', { ...NONE, teamIDs: null }, 422, /^teamIDs must be array/],
  ['a numeric name', { ...NONE, name: 7 }, 422, /^name must be string/],
  ['a permission given as a string', { ...NONE, permissions: ['view clusters'] }, 422, /^permissions.0 must be object/],
  ['a permission without an action', { ...NONE, permissions: [{ namespace: 'org_mgmt' }] }, 422, /action is required/],
  ['a team ID given as a string', { ...NONE, teamIDs: ['1'] }, 422, /^teamIDs.0 must be number/],
  ['1,001 permissions', { ...NONE, permissions: huge(1001) }, 422, /1000/],
  [
    'an unknown action',
    { ...NONE, permissions: [VIEW, clusterPermission('eat clusters')] },
    400,
    /cluster_mgmt "eat clusters"/,
  ],
  ['an unknown namespace', { ...NONE, permissions: [{ ...VIEW, namespace: 'x' }] }, 400, /x "view clusters"/],
  [
    'an action from another namespace',
    { ...NONE, permissions: [{ ...VIEW, namespace: 'org_mgmt' }] },
    400,
    /org_mgmt "view/,
  ],
  [
    'an action in different case',
    { ...NONE, permissions: [clusterPermission('View clusters')] },
    400,
    /"View clusters"/,
  ],
  [
    'a relation instead of an action',
    { ...NONE, permissions: [clusterPermission('can_view_clusters')] },
    400,
    /can_view/,
  ],
  ['an unknown team', { ...NONE, teamIDs: [999_999] }, 400, /^not a team of the organization: 999999$/],
  [
    'an unknown team with a large ID',
    '{"name":"n","permissions":[],"teamIDs":[9007199254740993]}',
    400,
    /9007199254740993/,
  ],
  ['the team ID 0', { ...NONE, teamIDs: [0] }, 400, /^invalid team ID: 0$/],
  ['a negative team ID', { ...NONE, teamIDs: [-1] }, 400, /^invalid team ID: -1$/],
  ['a fractional team ID', { ...NONE, teamIDs: [1.5] }, 400, /^invalid team ID: 1.5$/],
  [
    'a team ID above the int64 range',
    '{"name":"n","permissions":[],"teamIDs":[9223372036854775808]}',
    400,
    /9223372036854775808/,
  ],
  ['an array instead of an object', [NONE], 422, /object/],
  ['invalid JSON', '{"name":', 422, /not valid JSON/],
  ['a duplicate key', '{"name":"a","name":"b","permissions":[]}', 422, /twice/],
];

describe('Role validation and access', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  let path: string;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
    await makeRole(atrium, { name: 'äö-Leute' });
    const { body } = await makeRole(atrium, { name: 'mine' });
    path = `/authz/roles/${body.id}?org=acme`;
  });
  after(() => atrium.close());

  for (const [what, body, status, message] of REFUSED) {
    it(`POST and PUT /authz/roles reject ${what} with ${status}`, async () => {
      const before = await atrium.as('ann')('GET', ROLES);
      await assertRejected(atrium, { who: 'ann', send: ['POST', ROLES, body], status, message });
      await assertRejected(atrium, { who: 'ann', send: ['PUT', path, body], status, message });
      assert.equal((await atrium.as('ann')('GET', ROLES)).text, before.text);
    });
  }

  it('POST /authz/roles rejects a role without a name or permissions with 422', async () => {
    const rows = [
      [{ permissions: [] }, /^name is required$/],
      [{ name: 'x' }, /^permissions is required$/],
      [{}, /name is required/],
      ['', /name is required/],
    ] as const;
    for (const [body, message] of rows) {
      await assertRejected(atrium, { who: 'ann', send: ['POST', ROLES, body], status: 422, message });
    }
  });

  it('A team of another organization is rejected with the same message as an unknown team', async () => {
    const foreign = id.team('traders', 'globex');
    const message = `not a team of the organization: ${foreign}`;
    const body = { ...NONE, teamIDs: [id.team('operators'), foreign] };
    await assertRejected(atrium, { who: 'ann', send: ['POST', ROLES, body], status: 400, message });
    await assertRejected(atrium, { who: 'root', send: ['PUT', path, body], status: 400, message });
  });

  it('A role name can be used in two organizations, kept on update and reused after deletion', async () => {
    await makeRole(atrium, { name: 'mine' }, 'globex', 'eve');
    assert.equal((await atrium.as('ann')('PUT', path, { name: ' MINE ' })).body.name, 'MINE');
    const { body } = await makeRole(atrium, { name: 'passing' });
    await atrium.as('ann')('DELETE', `/authz/roles/${body.id}?org=acme`);
    await makeRole(atrium, { name: 'passing' });
  });

  it('The length limits of names and descriptions count Unicode characters, not UTF-16 code units', async () => {
    const name = '🦉'.repeat(100);
    const { body } = await makeRole(atrium, { name: `  ${name}\n`, description: '🦉'.repeat(1000) });
    assert.deepEqual([body.name, body.description.length], [name, 2000]);
  });

  it('Role endpoints reject callers without access and requests without a valid organization', async () => {
    const unknown = 'Must be an organization member';
    const one = `/authz/roles/${id.role('cluster-operator')}?org=acme`;
    const rows: [string | undefined, string, string, unknown, number, string][] = [
      ['cat', 'POST', ROLES, NONE, 403, 'missing relation create_role:org'],
      ['bob', 'POST', ROLES, NONE, 403, 'missing relation create_role:org'],
      ['bob', 'POST', ROLES, '{broken', 403, 'missing relation create_role:org'],
      ['bob', 'PUT', one, {}, 403, 'missing relation edit:role'],
      ['dan', 'DELETE', one, undefined, 403, 'missing relation delete:role'],
    ];
    const everyEndpoint = [
      ['GET', '/authz/roles/available_permissions', undefined],
      ['GET', '/authz/roles', undefined],
      ['POST', '/authz/roles', NONE],
      ['GET', '/authz/roles/1', undefined],
      ['PUT', '/authz/roles/1', {}],
      ['DELETE', '/authz/roles/1', undefined],
      ['GET', '/authz/roles/1/principals', undefined],
    ] as const;
    for (const [method, where, body] of everyEndpoint) {
      rows.push([undefined, method, `${where}?org=acme`, body, 401, 'token is required']);
      rows.push(['eve', method, `${where}?org=acme`, body, 403, unknown]);
      rows.push(['ann', method, `${where}?org=nowhere`, body, 403, unknown]);
      rows.push(['root', method, `${where}?org=nowhere`, body, 403, unknown]);
      rows.push(['ann', method, where, body, 400, 'query parameter org is required']);
      rows.push([
        'ann',
        method,
        `${where}?org=acme&org=acme`,
        body,
        400,
        'query parameter org is given more than once',
      ]);
      rows.push(['mia', method, `${where}?org=acme`, body, 403, 'This account is not activated.']);
    }
    for (const [who, method, where, body, status, message] of rows) {
      await assertRejected(atrium, { who, send: [method, where, body], status, message });
    }
  });
});
