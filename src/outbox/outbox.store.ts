import { deleteInBatches } from '../db/batched-delete.ts';
import { type Query, sql } from '../db/db.ts';
import { createFilters } from '../db/filters.ts';
import type { EventState, OutboxStore } from './outbox.ts';

/**
 * The tables of outboxes, one for each feature that sends events. Each has the columns id, uid, type, payload,
 * created_at, attempts, next_try_at, sent_at and dead_at, and one partial index for each state.
 */
export type OutboxTable = 'marketplace_event';

interface Row {
  id: bigint;
  uid: string;
  type: string;
  payload: string;
  created_at: Date;
  attempts: number;
}

interface EntryRow extends Row {
  next_try_at: Date;
  sent_at: Date | null;
  dead_at: Date | null;
}

/** The same distinctions as `stateOfEvent` makes. Events that are not sent are found in an index of their own. */
export const EVENT_CONDITIONS: Readonly<Record<EventState, string>> = {
  waiting: 'sent_at is null and dead_at is null',
  sent: 'sent_at is not null',
  dead: 'sent_at is null and dead_at is not null',
};

export function createOutboxStore(query: Query, table: OutboxTable): OutboxStore {
  const { TAKE, SENT, FAILED, PRUNE_SENT, PRUNE_DEAD } = statementsOf(table);
  return {
    async list({ state, type, before, limit }) {
      const filters = createFilters(limit);
      if (state !== undefined) filters.require(state, EVENT_CONDITIONS[state]);
      filters.add('type', type, (one) => `type = ${one}`);
      filters.add('before', before, (one) => `id < ${one}`);
      const statement = filters.statement(
        `outbox.list.${table}`,
        (where) => `select id, uid, type, payload, created_at, attempts, next_try_at, sent_at, dead_at
                      from ${table} ${where} order by id desc limit $1`,
      );
      const rows = await query<EntryRow>(statement, filters.values);
      return rows.map(({ created_at, next_try_at, sent_at, dead_at, ...row }) => ({
        ...row,
        createdAt: created_at,
        nextTryAt: next_try_at,
        sentAt: sent_at,
        deadAt: dead_at,
      }));
    },
    async take(laterMs, limit, { leaseMs, firstMs, maxMs }) {
      const rows = await query<Row>(TAKE, [laterMs, limit, leaseMs, maxMs, firstMs]);
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
    async prune(sentBefore, deadBefore) {
      await deleteInBatches(query, PRUNE_SENT, [sentBefore]);
      await deleteInBatches(query, PRUNE_DEAD, [deadBefore]);
    },
  };
}

function statementsOf(table: OutboxTable) {
  return {
    // Times are those of the database alone. No event is ever put off for longer than its delay or the time for sending
    // it, so one that is due later than that was put off before the clock was set back, and is due now.
    TAKE: sql(
      `outbox.take.${table}`,
      `update ${table} set next_try_at = now() + $3::float8 * interval '1 millisecond'
        where id in (select e.id
                       from ${table} e, (select now() + $1::float8 * interval '1 millisecond' as now) as clock
                      where sent_at is null and dead_at is null
                        and (next_try_at <= clock.now or next_try_at > clock.now + interval '5 seconds'
                          + greatest($3::float8, least($4::float8, $5::float8 * 2 ^ attempts)) * interval '1 millisecond')
                      order by e.id limit $2 for update of e skip locked)
       returning id, uid, type, payload, created_at, attempts`,
    ),
    SENT: sql(`outbox.sent.${table}`, `update ${table} set sent_at = now() where id = $1`),
    FAILED: sql(
      `outbox.failed.${table}`,
      `update ${table} set attempts = attempts + 1,
              next_try_at = coalesce(now() + $2::float8 * interval '1 millisecond', next_try_at),
              dead_at = case when $2::float8 is null then now() end where id = $1`,
    ),
    PRUNE_SENT: sql(
      `outbox.pruneSent.${table}`,
      `delete from ${table} where id = any (array (
         select id from ${table} where sent_at < $1 order by sent_at limit $2 for update skip locked))
       returning id`,
    ),
    PRUNE_DEAD: sql(
      `outbox.pruneDead.${table}`,
      `delete from ${table} where id = any (array (
         select id from ${table} where sent_at is null and dead_at < $1 order by id limit $2 for update skip locked))
       returning id`,
    ),
  };
}
