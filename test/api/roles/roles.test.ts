import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { listenForStatements } from '../../support/checks/heard-statements.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, clusterPermission, makeRole, numbersOf, orgPermission } from '../../support/world/authz.ts';

const VIEW = clusterPermission('view clusters');
const CONNECT = clusterPermission('connect to clusters');
const EDIT = orgPermission('edit');
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe('Custom roles', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  it('A role is written with one statement, however much of it changes', async (context) => {
    // The first write of a process asks whether there are guardrails.
    const { body: first } = await makeRole(atrium, { name: 'first', permissions: [VIEW], teamIDs: [] });
    await atrium.as('ann')('DELETE', `/authz/roles/${first.id}?org=acme`);
    const { inside } = listenForStatements(context, atrium.instance.db);
    // Where OpenFGA is the engine, what was written is published in a transaction of its own.
    const written = () => inside.splice(0).filter((name) => !name.startsWith('openfga.'));
    const committed = ['personalTexts.keep', 'audit.lock', 'audit.append', 'revision.nextUnguarded'];
    const draft = { name: 'few', permissions: [VIEW, CONNECT], teamIDs: [id.team('operators')] };
    const { body: role } = await makeRole(atrium, draft);
    assert.deepEqual(written(), [
      ...['roles.join', 'roles.teams', 'quotas.turn', 'roles.taken', 'roles.insert'],
      ...committed,
    ]);
    const path = `/authz/roles/${role.id}?org=acme`;
    const next = { name: 'fewer', permissions: [EDIT, VIEW], teamIDs: [id.team('Viewers')] };
    const { body: changed } = await atrium.as('ann')('PUT', path, next);
    assert.deepEqual(written(), [
      ...['roles.join', 'roles.lock', 'roles.get', 'roles.teams', 'roles.update'],
      ...committed,
    ]);
    const { body: read } = await atrium.as('ann')('GET', path);
    assert.deepEqual(read, changed);
    assert.deepEqual([read.name, read.team_ids, read.permissions.length], ['fewer', [id.team('Viewers')], 2]);
    assert.equal((await atrium.as('ann')('DELETE', path)).status, 204);
  });

  it('A role is returned in full when created, read, listed or updated, and is gone after deletion', async () => {
    const draft = {
      name: 'night watch',
      description: 'Looks at night.',
      permissions: [VIEW],
      teamIDs: [id.team('operators')],
    };
    const made = await makeRole(atrium, draft);
    const role = made.body;
    assert.deepEqual(Object.keys(role), [
      'id',
      'name',
      'owner_id',
      'description',
      'permissions',
      'team_ids',
      'created_at',
      'updated_at',
    ]);
    assert.equal(role.owner_id, id.org('acme'));
    assert.deepEqual([role.name, role.description], ['night watch', 'Looks at night.']);
    assert.deepEqual([role.permissions, role.team_ids], [[VIEW], [id.team('operators')]]);
    assert.match(role.created_at, RFC3339);
    assert.equal(role.updated_at, role.created_at);

    const read = await atrium.as('ann')('GET', `/authz/roles/${role.id}?org=acme`);
    assert.deepEqual([read.status, read.body], [200, role]);
    assert.equal(read.headers.get('etag'), made.headers.get('etag'));
    const { status, body } = await atrium.as('dan')('GET', '/authz/roles?org=acme');
    assert.equal(status, 200);
    assert.deepEqual(
      body.map((one: { name: string }) => one.name),
      ['cluster-operator', 'night watch'],
    );
    assert.deepEqual(body[1], role);
    const changed = await atrium.as('ann')('PUT', `/authz/roles/${role.id}?org=acme`, { name: 'day watch' });
    assert.deepEqual(
      [changed.status, { ...changed.body, updated_at: '' }],
      [200, { ...role, name: 'day watch', updated_at: '' }],
    );
    const gone = await atrium.as('ann')('DELETE', `/authz/roles/${role.id}?org=acme`);
    assert.deepEqual([gone.status, gone.text, gone.headers.get('content-type')], [204, '', null]);
    assert.equal((await atrium.as('root')('GET', `/authz/roles/${role.id}?org=acme`)).status, 404);
  });

  it('An organization without custom roles has an empty role list', async () => {
    assert.equal((await atrium.as('eve')('GET', '/authz/roles?org=globex')).text, '[]');
  });

  it('A role requires only a name and a permission list, which may be empty', async () => {
    const { body } = await makeRole(atrium, { name: 'bare' });
    assert.deepEqual([body.description, body.permissions, body.team_ids], ['', [], []]);
  });

  it('A role contains each permission once in catalog order and each team once in ascending order', async () => {
    const [first, second] = [id.team('operators'), id.team('Viewers')].sort((a, b) => b - a);
    const { body } = await makeRole(atrium, {
      permissions: [CONNECT, EDIT, VIEW, CONNECT, EDIT],
      teamIDs: [first, second, first],
    });
    assert.deepEqual(body.permissions, [EDIT, VIEW, CONNECT]);
    assert.deepEqual(body.team_ids, [second, first]);
  });

  it('A role shows the permissions that were sent, not those that the model implies', async () => {
    const { body } = await makeRole(atrium, { permissions: [CONNECT] });
    assert.deepEqual(body.permissions, [CONNECT]);
  });

  it('A role update replaces the fields it contains and keeps the others', async () => {
    const teamIDs = [id.team('operators')];
    const { body: role } = await makeRole(atrium, { description: 'before', permissions: [VIEW, EDIT], teamIDs });
    const put = async (change: object) =>
      (await atrium.as('ann')('PUT', `/authz/roles/${role.id}?org=acme`, change)).body;
    const still = { ...role, updated_at: '' };
    assert.deepEqual({ ...(await put({})), updated_at: '' }, still);
    assert.deepEqual({ ...(await put({ description: 'after' })), updated_at: '' }, { ...still, description: 'after' });
    assert.deepEqual((await put({ permissions: [CONNECT] })).permissions, [CONNECT]);
    const bare = await put({ permissions: [], teamIDs: [], description: '' });
    assert.deepEqual([bare.permissions, bare.team_ids, bare.description, bare.name], [[], [], '', role.name]);
  });

  it('A role update advances updated_at and keeps created_at', async () => {
    const { body: role } = await makeRole(atrium, {});
    const anHourAgo = sql('test.ageRole', `update role set updated_at = now() - interval '1 hour' where id = $1`);
    await atrium.instance.db.query(anHourAgo, [role.id]);
    const path = `/authz/roles/${role.id}?org=acme`;
    const aged = (await atrium.as('ann')('GET', path)).body;
    const { body: changed } = await atrium.as('ann')('PUT', path, { description: 'x' });
    assert.ok(changed.updated_at > aged.updated_at, `${changed.updated_at} after ${aged.updated_at}`);
    assert.equal(changed.created_at, role.created_at);
  });

  it('A role change grants and revokes permissions immediately', async () => {
    const operators = id.team('operators');
    const { body } = await makeRole(atrium, {
      permissions: [clusterPermission('reconfigure clusters')],
      teamIDs: [operators],
    });
    const prod = id.cluster('prod');
    assert.deepEqual(await allowedTo(atrium, 'dan', 'cluster', prod), ['can_view', 'can_edit', 'can_connect']);
    await atrium.as('ann')('PUT', `/authz/roles/${body.id}?org=acme`, { teamIDs: [] });
    assert.deepEqual(await allowedTo(atrium, 'dan', 'cluster', prod), ['can_view', 'can_connect']);
    await atrium.as('ann')('PUT', `/authz/roles/${body.id}?org=acme`, { teamIDs: [operators] });
    assert.ok((await allowedTo(atrium, 'dan', 'cluster', prod)).includes('can_edit'));
    await atrium.as('ann')('DELETE', `/authz/roles/${body.id}?org=acme`);
    assert.deepEqual(await allowedTo(atrium, 'dan', 'cluster', prod), ['can_view', 'can_connect']);
  });

  it('A site administrator can create, update and delete roles like an owner', async () => {
    const { body } = await makeRole(atrium, { permissions: [EDIT] }, 'acme', 'root');
    const path = `/authz/roles/${body.id}?org=acme`;
    assert.equal((await atrium.as('root')('PUT', path, { permissions: [VIEW] })).status, 200);
    assert.equal((await atrium.as('root')('DELETE', path)).status, 204);
  });

  it('The principals of a role are listed with their names and assignment times', async () => {
    const teamIDs = [id.team('operators'), id.team('Viewers')];
    const { body: role } = await makeRole(atrium, { teamIDs });
    const { status, body } = await atrium.as('cat')('GET', `/authz/roles/${role.id}/principals?org=acme`);
    assert.equal(status, 200);
    const expected = [
      { type: 'team', id: id.team('Viewers'), name: 'viewers', display_name: 'Viewers' },
      { type: 'team', id: id.team('operators'), name: 'operators', display_name: 'operators' },
    ].sort((a, b) => a.id - b.id);
    assert.deepEqual(
      body.map(({ assigned_at, ...rest }: { assigned_at: string }) => {
        assert.match(assigned_at, RFC3339);
        return rest;
      }),
      expected,
    );
    const nobody = await makeRole(atrium, {});
    const path = `/authz/roles/${nobody.body.id}/principals?org=acme`;
    assert.equal((await atrium.as('ann')('GET', path)).text, '[]');
  });
});
