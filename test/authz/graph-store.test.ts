import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readSources } from '../../src/authz/graphs.store.ts';
import { DRIVERS, migrated, openTestDb } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';

for (const driver of DRIVERS) {
  it(`What a few changed rows state is read, and that of thousands is not on ${driver}`, async (t) => {
    const db = await openTestDb(driver, {}, migrated());
    t.after(() => db.close());
    const insert = async (text: string) => {
      const [row] = await db.query<{ id: bigint }>(statement(`insert into ${text} returning id`));
      return row?.id ?? 0n;
    };
    const acme = await insert(`account (kind, name) values ('organization', 'acme')`);
    const ann = await insert(`account (kind, name) values ('user', 'ann')`);
    const team = await insert(`team (organization_id, name, permission, type) values (${acme}, 't', 'read', 'custom')`);
    await db.query(statement(`insert into team_member (team_id, account_id) values (${team}, ${ann})`));
    const few = await readSources(db.query, acme, [{ kind: 'team', id: team, organizationId: acme }]);
    assert.deepEqual([few.sources, few.isUseless], [[`team:${team}`], false]);
    assert.ok(few.tuples.some((tuple) => tuple.user === `user:${ann}` && tuple.object === `team:${team}`));
    const changes = Array.from({ length: 4_001 }, (_, index) => ({ kind: 'team', id: BigInt(index + 1) }) as const);
    const many = await readSources(db.query, acme, changes);
    assert.deepEqual([many.tuples, many.isUseless], [[], true]);
  });
}
