import { type Db, only, sql } from '../../db/db.ts';
import { AUDIT_COLUMNS, type EntryRow, toAuditRows } from '../audit.rows.ts';
import type { AuditPushStore } from './audit-push.ts';

const CLAIM = sql(
  'auditPush.claim',
  `insert into audit_push (due_at) values ($2::timestamptz)
   on conflict (id) do update set due_at = excluded.due_at where audit_push.due_at <= $1::timestamptz returning 1`,
);
const PROLONG = sql(
  'auditPush.prolong',
  'update audit_push set due_at = $1, pushed_at = case when $2::boolean then now() else pushed_at end',
);
// An entry below the mark has its number from a statement that ran when the mark was set, so a second later its
// transaction has a number, too. Once all transactions before the fence of that moment are over, nothing can appear below
// the mark.
const FENCE = sql(
  'auditPush.fence',
  `update audit_push set mark_xid = pg_snapshot_xmax(pg_current_snapshot())::text::numeric
    where mark_xid is null and planned_at < now() - interval '1 second'`,
);
const POSITION = sql(
  'auditPush.position',
  `select last_id, mark_id, mark_xid is not null
          and pg_snapshot_xmin(pg_current_snapshot())::text::numeric >= mark_xid as is_settled from audit_push`,
);
const PLAN = sql(
  'auditPush.plan',
  `update audit_push set mark_id = greatest(mark_id, coalesce((select id from audit order by id desc limit 1), 0)),
          mark_xid = null, planned_at = now()
    where mark_id <= last_id`,
);
const ENTRIES = sql(
  'auditPush.entries',
  `select ${AUDIT_COLUMNS} from audit a where id > $1 and id <= $2 order by id limit $3`,
);
const ADVANCE = sql('auditPush.advance', 'update audit_push set last_id = $2 where last_id = $1 returning 1');
// Times follow the numbers but for the difference of clocks, so the oldest entry that is not pushed is among the first.
const BEHIND = sql(
  'auditPush.behind',
  `select exists (select 1 from (
     select at from audit where id > coalesce((select last_id from audit_push), 0) order by id limit 10000) next
    where at < $1) as any`,
);
const AGE = sql(
  'auditPush.age',
  `select coalesce(extract(epoch from now() - (select pushed_at from audit_push)), -1)::float as age`,
);

export function createAuditPushStore({ query }: Pick<Db, 'query'>): AuditPushStore {
  return {
    claim: async (now, until) => (await query(CLAIM, [now, until])).length > 0,
    prolong: async (until, isComplete) => void (await query(PROLONG, [until, isComplete])),
    async position() {
      await query(FENCE);
      const row = only(await query<{ last_id: bigint; mark_id: bigint; is_settled: boolean }>(POSITION));
      return { last: row.last_id, mark: row.mark_id, isSettled: row.is_settled };
    },
    plan: async () => void (await query(PLAN)),
    async entries(after, mark, limit) {
      return await toAuditRows(query, await query<EntryRow>(ENTRIES, [after, mark, limit]));
    },
    advance: async (from, to) => (await query(ADVANCE, [from, to])).length > 0,
    isBehind: async (before) => only(await query<{ any: boolean }>(BEHIND, [before])).any,
  };
}

/** Seconds since everything was pushed; -1: never. */
export async function auditPushAge(query: Db['query']): Promise<number> {
  return only(await query<{ age: number }>(AGE)).age;
}
