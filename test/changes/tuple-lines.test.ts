import assert from 'node:assert/strict';
import { it } from 'node:test';
import { allTuples } from '../../src/changes/tuple-lines.store.ts';
import { sql } from '../../src/db/db.ts';
import { openTestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';

const STORES = sql('test.stores', 'select id from account order by id');
const VIEW = sql(
  'test.view',
  `select object_type || ':' || object_id as object, relation, subject as user, source_kind || ':' || source_id as source
     from tuple where store in ($1, 0)`,
);

it('The lines of an account state exactly what the view does, and say how much that is', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const { db } = atrium.instance;
  // A team without members and a role without teams, in an organization that has both.
  const [empty] = await db.query<{ id: bigint }>(
    statement(
      `select organization_id as id from role where exists (select from assignment where role_id = role.id) limit 1`,
    ),
  );
  await db.query(
    statement(`insert into team (organization_id, name, permission, type) values ($1, 'nobody', 'none', 'custom')`),
    [empty?.id],
  );
  await db.query(statement(`insert into role (organization_id, name, name_key) values ($1, 'unused', 'unused')`), [
    empty?.id,
  ]);
  const relations = new Set<string>();
  for (const { id } of await db.query<{ id: bigint }>(STORES)) {
    const expected = await db.query<{ relation: string }>(VIEW, [id]);
    const { count, tuples } = await allTuples(db.query, id);
    assert.equal(count, expected.length);
    assert.deepEqual(sorted(tuples), sorted(expected));
    for (const { relation } of expected) relations.add(relation);
  }
  for (const relation of ['member', 'assignee', 'organization', 'owner']) assert.ok(relations.has(relation), relation);
});

it('An account that does not exist has only what the deployment states', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const { count, tuples } = await allTuples(atrium.instance.db.query, 999_999_999n);
  assert.deepEqual(
    [...tuples].map(({ object }) => object),
    Array.from({ length: count }, () => 'platform:atrium'),
  );
});

function sorted(tuples: Iterable<object>): string[] {
  return [...tuples].map((tuple) => JSON.stringify(Object.entries(tuple).sort())).sort();
}
