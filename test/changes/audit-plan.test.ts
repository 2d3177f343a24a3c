import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { appendAudit } from '../../src/changes/audit-chain.store.ts';
import type { AuditEntry } from '../../src/changes/audit-entry.ts';
import { type Db, openDb, type Query, type Statement, type TransactionQuery } from '../../src/db/db.ts';
import { DRIVERS, migrated, newPlace } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';

const ENTRIES = 5_000;
const [LARGE, SMALL, NEW] = [1n, 2n, 3n];

for (const driver of DRIVERS) {
  describe(`The end of an audit chain, on ${driver}`, () => {
    let db: Db;
    before(async () => {
      db = await openDb({ ...(await newPlace(driver, migrated())), say: () => undefined });
      await db.query(
        statement(
          `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, request_id, previous_hash, hash)
           select now(), case when n = 1 then ${SMALL} else ${LARGE} end, 1, 'ann', 'role.update', 'role', n, '', '', int8send(n)
             from generate_series(1, ${ENTRIES}) n`,
        ),
      );
      await db.query(statement('analyze audit'));
    });
    after(() => db?.close());

    for (const [name, times] of [
      ['audit.append', 1],
      ['audit.last', 2],
    ] as const) {
      it(`${name} finds the last entry of an organization at once, even if all others have newer ones or it has none`, async () => {
        const asked: (readonly [statement: Statement, values: readonly unknown[]])[] = [];
        const entries = [LARGE, SMALL, NEW].flatMap((chain) => Array.from({ length: times }, () => entryOf(chain)));
        await db.transaction(async (query) => {
          const noted: Query = (...call) => {
            asked.push([call[0], call[1] ?? []]);
            return query(...call);
          };
          const later: TransactionQuery['later'] = (...call) => {
            asked.push([call[0], call[1] ?? []]);
            return query.later(...call);
          };
          await appendAudit(Object.assign(noted, { later }), entries);
        });
        const [text, values] = asked
          .filter(([statement]) => statement.name === name)
          .map(([{ text }, values]) => [text, values] as const)[0] ?? ['', []];
        // An explained INSERT is one, and must not add to what the next test reads.
        const rows = await db
          .transaction(async (query): Promise<never> => {
            throw await query<{ 'QUERY PLAN': string }>(statement(`explain (analyze, buffers) ${text}`), values);
          })
          .catch((found: unknown) => found as { 'QUERY PLAN': string }[]);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        assert.match(plan, /Scan Backward using audit_organization on audit/, plan);
        assert.doesNotMatch(plan, /Rows Removed by Filter: \d{2}/, plan);
      });
    }

    it('A new entry follows the last one of its organization, and the first one follows none', async () => {
      const rows = await db.query<{ organization_id: bigint; previous: string }>(
        statement(
          `select organization_id, encode(previous_hash, 'hex') as previous from audit where id > ${ENTRIES} and id <= ${ENTRIES + 3} order by 1`,
        ),
      );
      const hex = (n: number) => n.toString(16).padStart(16, '0');
      assert.deepEqual(
        rows.map(({ organization_id, previous }) => [organization_id, previous]),
        [
          [LARGE, hex(ENTRIES)],
          [SMALL, hex(1)],
          [NEW, '0'.repeat(64)],
        ],
      );
    });
  });
}

function entryOf(organizationId: bigint): AuditEntry {
  return {
    actor: { id: 1n, name: 'ann', requestId: '' },
    ...{ organizationId, action: 'role.update', objectType: 'role', objectId: 1n },
  };
}
