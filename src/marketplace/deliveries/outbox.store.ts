import { type Query, sql } from '../../db/db.ts';
import type { OutboxStore } from './outbox.ts';

const TAKE = sql(
  'outbox.take',
  `update marketplace_event set next_try_at = $2
    where id in (select id from marketplace_event where sent_at is null and dead_at is null and next_try_at <= $1
                  order by id limit $3 for update skip locked)
   returning id, uid, type, payload, created_at, attempts`,
);
const SENT = sql('outbox.sent', 'update marketplace_event set sent_at = $2 where id = $1');
const FAILED = sql(
  'outbox.failed',
  `update marketplace_event set attempts = attempts + 1, next_try_at = coalesce($2::timestamptz, next_try_at),
          dead_at = case when $2::timestamptz is null then $3::timestamptz end where id = $1`,
);

interface Row {
  id: bigint;
  uid: string;
  type: string;
  payload: string;
  created_at: Date;
  attempts: number;
}

export function createOutboxStore(query: Query): OutboxStore {
  return {
    async take(now, until, most) {
      const rows = await query<Row>(TAKE, [now, until, most]);
      return rows
        .map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    async sent(id, at) {
      await query(SENT, [id, at]);
    },
    async failed(id, next, at) {
      await query(FAILED, [id, next ?? null, at]);
    },
  };
}
