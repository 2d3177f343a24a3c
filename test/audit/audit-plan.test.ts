import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAuditStore } from '../../src/audit/audit.store.ts';
import type { AuditSearch } from '../../src/audit/audit.ts';
import { type Db, openDb, type Statement } from '../../src/db/db.ts';
import { migrated, newPlace } from '../support/db.ts';
import { lacks } from '../support/requirements.ts';
import { statement } from '../support/statement.ts';

const ROWS = 60_000;
const PART = 5_000;
const DAY = new Date('2024-01-02T00:00:00Z');

/** Each way to search the log, and the index that its page must come from in the right order, without a sort. */
const PLANS: readonly (readonly [name: string, search: Partial<AuditSearch>, index: string])[] = [
  ['everything', {}, 'audit_at'],
  ['everything since a moment', { since: DAY }, 'audit_at'],
  ['one organization', { organizationId: 3n }, 'audit_organization_at'],
  ['one organization until a moment', { organizationId: 3n, until: DAY }, 'audit_organization_at'],
  ['one actor', { actorId: 5n }, 'audit_actor'],
  ['one actor in one organization', { actorId: 5n, organizationId: 3n }, 'audit_actor'],
  ['one object', { objectType: 'team', objectId: 7n }, 'audit_object'],
  ['one type of object', { objectType: 'team' }, 'audit_object_type'],
  ['one type of object in one organization', { objectType: 'team', organizationId: 3n }, 'audit_object_type'],
];

describe('Plans of audit searches', { skip: lacks('postgresql') }, () => {
  let db: Db;
  before(async () => {
    db = await openDb({ ...(await newPlace('postgres', migrated())), say: () => undefined });
    const insert = statement(
      `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, request_id,
                          previous_hash, hash)
       select '2024-01-01Z'::timestamptz + n * interval '1 second', n % 7, n % 11, 'someone', 'team.update',
              case n % 3 when 0 then 'team' when 1 then 'role' else 'cluster' end, n % 13, 'r', ''::bytea, ''::bytea
         from generate_series($1::integer, $2::integer) n`,
    );
    // In parts: on a busy machine, one statement would exceed its time.
    for (let first = 1; first <= ROWS; first += PART) await db.query(insert, [first, first + PART - 1]);
    await db.query(statement('analyze audit'));
  });
  after(() => db?.close());

  for (const [name, search, index] of PLANS) {
    for (const order of ['newest first', 'oldest first'] as const) {
      it(`A page of ${name}, ${order}, is read from ${index} without a sort`, async () => {
        const asked = await statementsOf((store) => store.list(search as AuditSearch, order, undefined, 31));
        const plan = await planOf(asked);
        assert.match(plan, new RegExp(`Index (?:Only )?Scan (?:Backward )?using ${index} on audit`), plan);
        assert.doesNotMatch(plan, /Sort|Seq Scan/, plan);
      });
    }
  }

  async function planOf({ text, values }: Asked): Promise<string> {
    const rows = await db.query<{ 'QUERY PLAN': string }>(statement(`explain ${text}`), values);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }
});

interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What the store asks, without a database. */
async function statementsOf(use: (store: ReturnType<typeof createAuditStore>) => Promise<unknown>): Promise<Asked> {
  const asked: Asked[] = [];
  const query = async ({ text }: Statement, values: readonly unknown[] = []) => {
    asked.push({ text, values });
    return [];
  };
  await use(createAuditStore({ query } as unknown as Db));
  const [one, ...more] = asked;
  assert.ok(one !== undefined && more.length === 0, 'one statement a page');
  return one;
}
