import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, makeHolder, makeRole, orgPermission } from '../../support/world/authz.ts';

const CREATE = orgPermission('create roles');
const CHANGE = orgPermission('edit roles');
const SEE = orgPermission('view roles');
const VIEW = clusterPermission('view clusters');
const REMOVE = clusterPermission('remove clusters');
const CONNECT = clusterPermission('connect to clusters');

describe('Privilege escalation through roles', () => {
  let atrium: TestServer;
  let creator: Awaited<ReturnType<typeof makeHolder>>;
  let changer: Awaited<ReturnType<typeof makeHolder>>;
  before(async () => {
    atrium = await openTestServer();
    creator = await makeHolder(atrium, [CREATE, CONNECT]);
    changer = await makeHolder(atrium, [CHANGE, CONNECT]);
  });
  after(() => atrium.close());

  const create = (permissions: readonly object[], teamIDs: readonly number[] = [], name = `r${Math.random()}`) =>
    atrium.as(creator.name)('POST', '/authz/roles?org=acme', { name, permissions, teamIDs });
  const change = (id: number, body: object) => atrium.as(changer.name)('PUT', `/authz/roles/${id}?org=acme`, body);

  it('A new role can contain only permissions that its creator holds directly or by implication', async () => {
    assert.equal((await create([CREATE, CONNECT], [creator.teamId])).status, 201);
    assert.equal((await create([SEE, VIEW])).status, 201);
    const refused = await create([CONNECT, REMOVE, CHANGE], [creator.teamId], 'grab');
    assert.equal(refused.status, 403);
    assert.equal(
      refused.body.message,
      'you cannot grant what you do not hold yourself: org_mgmt "edit roles", cluster_mgmt "remove clusters"',
    );
    const { body } = await atrium.as('ann')('GET', '/authz/roles?org=acme');
    assert.ok(!body.some((role: { name: string }) => role.name === 'grab'));
  });

  it('A new role without teams cannot contain permissions that its creator does not hold', async () => {
    assert.equal((await create([REMOVE])).status, 403);
  });

  it('A role update can add only permissions the caller holds, and can keep or remove any others', async () => {
    const { body: role } = await makeRole(atrium, { permissions: [REMOVE], teamIDs: [creator.teamId] });
    assert.equal((await change(role.id, { permissions: [REMOVE, CONNECT] })).status, 200);
    const refused = await change(role.id, { permissions: [REMOVE, orgPermission('edit')] });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, 'you cannot grant what you do not hold yourself: org_mgmt "edit"'],
    );
    assert.equal((await change(role.id, { name: 'renamed', teamIDs: [] })).status, 200);
    assert.equal((await change(role.id, { permissions: [] })).status, 200);
    assert.equal((await change(role.id, { permissions: [REMOVE] })).status, 403);
  });

  it('Only a caller who holds every permission of a role can assign it to another team', async () => {
    const { body: role } = await makeRole(atrium, { permissions: [REMOVE], teamIDs: [creator.teamId] });
    const refused = await change(role.id, { teamIDs: [creator.teamId, changer.teamId] });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, 'you cannot grant what you do not hold yourself: cluster_mgmt "remove clusters"'],
    );
    assert.equal((await change(role.id, { teamIDs: [changer.teamId], permissions: [CONNECT] })).status, 200);
  });

  it('Callers cannot add permissions that they do not hold to their own role', async () => {
    const refused = await change(changer.roleId, { permissions: [CHANGE, CONNECT, orgPermission('delete teams')] });
    assert.deepEqual([refused.status, /"delete teams"/.test(refused.body.message)], [403, true]);
  });

  it('Creating and changing roles require separate permissions', async () => {
    const { body: role } = await create([CONNECT]).then((answer) => answer);
    const path = `/authz/roles/${role.id}?org=acme`;
    assert.equal((await atrium.as(creator.name)('PUT', path, {})).status, 403);
    assert.equal((await atrium.as(creator.name)('DELETE', path)).status, 403);
    const made = await atrium.as(changer.name)('POST', '/authz/roles?org=acme', { name: 'x', permissions: [] });
    assert.deepEqual([made.status, made.body.message], [403, 'missing relation create_role:org']);
  });

  it('Owners and site administrators can grant every permission of the catalog', async () => {
    const { body } = await atrium.as('ann')('GET', '/authz/roles/available_permissions?org=acme');
    const permissions = body.permissions.map(({ namespace, action }: typeof VIEW) => ({ namespace, action }));
    for (const who of ['ann', 'root']) {
      const made = await makeRole(atrium, { permissions }, 'acme', who);
      assert.deepEqual(made.body.permissions, permissions);
    }
  });
});
