import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createExplainStore } from '../../src/authz/explain/explain.store.ts';
import { NAMED_TYPES } from '../../src/changes/object-kinds.ts';
import { ANY_DRIVER, migrated, openTestDb } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';

it('Objects of every type are named together, and each set of types by itself', async (t) => {
  const db = await openTestDb(ANY_DRIVER, {}, migrated());
  t.after(() => db.close());
  const [ann] = await db.query<{ id: bigint }>(
    statement(`insert into account (kind, name) values ('user', 'ann') returning id`),
  );
  const store = createExplainStore(db);
  const all = [...NAMED_TYPES.map(({ type }) => type), 'assignment'];
  for (let count = 1; count <= all.length; count++) {
    const objects = all.slice(0, count).map((type) => (type === 'user' ? `user:${ann?.id}` : `${type}:0`));
    assert.deepEqual([...(await store.names(objects))], [[`user:${ann?.id}`, 'ann']], objects.join());
  }
  assert.equal((await store.names([])).size, 0);
});
