import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, makeRole, numbersOf } from '../../support/world/authz.ts';

const VIEW = clusterPermission('view clusters');

describe('Audit entries of role changes', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  const records = (org = 'acme') => auditOf(atrium.instance.db, id.org(org));
  const called = (name: string) => ({ 'X-Request-Id': name });

  it('Each role change has one audit entry with actor, object, both states and request ID', async () => {
    const known = (await records()).length;
    const teamIDs = [id.team('operators')];
    const draft = { name: 'kept', description: 'd', permissions: [VIEW], teamIDs };
    const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', draft, called('made-1'));
    const path = `/authz/roles/${made.body.id}?org=acme`;
    await atrium.as('root')('PUT', path, { permissions: [] }, called('changed-2'));
    await atrium.as('ann')('DELETE', path, undefined, called('gone-3'));

    const state = { name: 'kept', description: 'd', permissions: [VIEW], teamIds: teamIDs.map(String) };
    const bare = { ...state, permissions: [] };
    const said = (await records())
      .slice(known)
      .map((entry) => [
        entry.action,
        `${entry.object_type}:${entry.object_id}`,
        `${entry.actor_id} ${entry.actor_name}`,
        entry.request_id,
        entry.before === null ? null : JSON.parse(entry.before),
        entry.after === null ? null : JSON.parse(entry.after),
      ]);
    const role = `role:${made.body.id}`;
    const [ann, root] = ['ann', 'root'].map((name) => `${id.user(name)} ${name}`);
    assert.deepEqual(said, [
      ['role.create', role, ann, 'made-1', null, state],
      ['role.update', role, root, 'changed-2', state, bare],
      ['role.delete', role, ann, 'gone-3', bare, null],
    ]);
  });

  it('Rejected role changes have no audit entry', async () => {
    const before = (await records()).length;
    const { body: role } = await makeRole(atrium, { name: 'taken' });
    const path = `/authz/roles/${role.id}?org=acme`;
    assert.equal(
      (await atrium.as('ann')('POST', '/authz/roles?org=acme', { name: 'Taken', permissions: [] })).status,
      422,
    );
    assert.equal((await atrium.as('ann')('PUT', path, { name: 'cluster-operator' })).status, 422);
    assert.equal((await atrium.as('ann')('PUT', path, { teamIDs: [999_999] })).status, 400);
    assert.equal((await atrium.as('ann')('DELETE', path, undefined, { 'If-Match': '"old"' })).status, 412);
    assert.equal((await records()).length, before + 1);
  });

  it('Each organization has its own audit chain, which stays intact under concurrent writes', async () => {
    await Promise.all([
      ...Array.from({ length: 20 }, () => makeRole(atrium)),
      ...Array.from({ length: 10 }, () => makeRole(atrium, {}, 'globex', 'eve')),
    ]);
    for (const org of ['acme', 'globex']) {
      const entries = await records(org);
      assert.ok(entries.length >= 10);
      assert.deepEqual(brokenLinks(entries), []);
    }
  });

  it('Changing any field of an audit entry or deleting the entry breaks the chain', async () => {
    const { db } = atrium.instance;
    const entries = await records();
    const victim = entries.find(({ object_type }) => object_type === 'role');
    assert.ok(victim);
    for (const [column, value] of Object.entries({
      at: new Date(0),
      organization_id: id.org('globex'),
      actor_id: 1,
      actor_name: 'nobody',
      action: 'role.praise',
      object_type: 'team',
      object_id: 77,
      before: '{}',
      after: '{"name":"else"}',
      request_id: 'other',
      previous_hash: Buffer.alloc(32, 1),
      hash: Buffer.alloc(32, 2),
    })) {
      const stored = sql(`test.stored.${column}`, `select ${column} as value from audit where id = $1`);
      const [before] = await db.query<{ value: unknown }>(stored, [victim.id]);
      const forge = sql(`test.forge.${column}`, `update audit set ${column} = $2 where id = $1`);
      await db.query(forge, [victim.id, value]);
      assert.notDeepEqual(brokenLinks(await records()), [], `${column} was changed unnoticed`);
      await db.query(forge, [victim.id, before?.value]);
      assert.deepEqual(brokenLinks(await records()), []);
    }
    await db.query(sql('test.cut', 'delete from audit where id = $1'), [victim.id]);
    assert.notDeepEqual(brokenLinks(await records()), []);
  });
});
