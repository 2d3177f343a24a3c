import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRelationStore } from '../../src/authz/relations.store.ts';
import type { OwnedType } from '../../src/changes/object-kinds.ts';
import { ANY_DRIVER, migrated, openTestDb } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';

it('The owner of a team, a cluster or a robot is found by its ID, and there is none of what does not exist', async (t) => {
  const db = await openTestDb(ANY_DRIVER, {}, migrated());
  t.after(() => db.close());
  const insert = async (text: string, ...values: unknown[]) =>
    (await db.query<{ id: bigint }>(statement(`insert into ${text} returning id`), values))[0]?.id ?? 0n;
  const acme = await insert(`account (kind, name) values ('organization', 'acme')`);
  const ann = await insert(`account (kind, name) values ('user', 'ann')`);
  const store = createRelationStore(db);
  const team = `team (organization_id, name, permission, type) values ($1, 't', 'read', 'custom')`;
  assert.equal(await store.ownerOf('team', await insert(team, acme)), acme);
  const cluster = `cluster (owner_id, name, uid) values ($1, 'c', 'c')`;
  assert.equal(await store.ownerOf('cluster', await insert(cluster, ann)), ann);
  assert.equal(await store.ownerOf('robot_ac', await insert(`robot (owner_id, name) values ($1, 'r')`, acme)), acme);
  assert.equal(await store.ownerOf('team', 999_999n), undefined);
  await assert.rejects(store.ownerOf('user' as OwnedType, ann), /objects of type user have no owner/);
});
