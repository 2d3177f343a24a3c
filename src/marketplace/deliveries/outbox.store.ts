import { type Query, sql } from '../../db/db.ts';
import { createFilters } from '../../db/filters.ts';
import { type EventState, type OutboxStore, WAITS } from './outbox.ts';

// Times are those of the database alone. No event is ever put off for longer than its delay or the time for sending it,
// so one that is due later than that was put off before the clock was set back, and is due now.
const TAKE = sql(
  'outbox.take',
  `update marketplace_event set next_try_at = now() + $3::float8 * interval '1 millisecond'
    where id in (select e.id
                   from marketplace_event e, (select now() + $1::float8 * interval '1 millisecond' as now) as clock
                  where sent_at is null and dead_at is null
                    and (next_try_at <= clock.now or next_try_at > clock.now + interval '5 seconds'
                      + greatest($3::float8, least($4::float8, $5::float8 * 2 ^ attempts)) * interval '1 millisecond')
                  order by e.id limit $2 for update of e skip locked)
   returning id, uid, type, payload, created_at, attempts`,
);
const SENT = sql('outbox.sent', 'update marketplace_event set sent_at = now() where id = $1');
const FAILED = sql(
  'outbox.failed',
  `update marketplace_event set attempts = attempts + 1,
          next_try_at = coalesce(now() + $2::float8 * interval '1 millisecond', next_try_at),
          dead_at = case when $2::float8 is null then now() end where id = $1`,
);

interface Row {
  id: bigint;
  uid: string;
  type: string;
  payload: string;
  created_at: Date;
  attempts: number;
}

/** The same distinctions as `stateOfEvent` makes. What is not sent is found in an index of its own. */
export const EVENT_CONDITIONS: Readonly<Record<EventState, string>> = {
  waiting: 'sent_at is null and dead_at is null',
  sent: 'sent_at is not null',
  dead: 'sent_at is null and dead_at is not null',
};

export function createOutboxStore(query: Query): OutboxStore {
  return {
    async list({ state, type, before, limit }) {
      const filters = createFilters(limit);
      if (state !== undefined) filters.require(state, EVENT_CONDITIONS[state]);
      filters.add('type', type, (one) => `type = ${one}`);
      filters.add('before', before, (one) => `id < ${one}`);
      const statement = filters.statement(
        'outbox.list',
        (where) => `select id, uid, type, payload, created_at, attempts, next_try_at, sent_at, dead_at
                      from marketplace_event ${where} order by id desc limit $1`,
      );
      const rows = await query<Row & { next_try_at: Date; sent_at: Date | null; dead_at: Date | null }>(
        statement,
        filters.values,
      );
      return rows.map(({ created_at, next_try_at, sent_at, dead_at, ...row }) => ({
        ...row,
        createdAt: created_at,
        nextTryAt: next_try_at,
        sentAt: sent_at,
        deadAt: dead_at,
      }));
    },
    async take(laterMs, most) {
      const rows = await query<Row>(TAKE, [laterMs, most, WAITS.leaseMs, WAITS.maxMs, WAITS.firstMs]);
      return rows
        .map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    async sent(id) {
      await query(SENT, [id]);
    },
    async failed(id, waitMs) {
      await query(FAILED, [id, waitMs ?? null]);
    },
  };
}
