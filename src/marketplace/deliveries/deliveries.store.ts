import { randomUUID } from 'node:crypto';
import type { Limits } from '../../base/config/limits.ts';
import type { Write } from '../../changes/write.ts';
import { isUniqueViolation, type Query, sql } from '../../db/db.ts';
import { canonicalJson, parseExact } from '../notifications/canonical-json.ts';
import type { Notification } from '../notifications/notification.ts';
import { actorOf, createDeliveryTransactions } from '../subscriptions/delivery-transaction.store.ts';
import { createArrivals } from './arrivals.store.ts';
import { type Delivery, type DeliveryStore, RETRY, type Settled, type Work } from './deliveries.ts';
import { createRejectedDeliveries, valuesOf } from './rejected-deliveries.store.ts';

const COLUMNS = `id, subject, state, notification, admin_password_hash, source, request_id, received_at, times, attempts`;
const RECORD = sql(
  'deliveries.record',
  `with kept as (
   insert into delivery (marketplace, natural_key, subject, event_type, event_time, notification, admin_password_hash,
                         source, request_id, state)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'received')
   on conflict (natural_key) do update set times = delivery.times + 1, last_at = now(),
     state = case when delivery.state = 'done' then 'done' else 'received' end,
     received_at = case when delivery.state = 'refused' then now() else delivery.received_at end,
     attempts = case when delivery.state = 'dead' then 0 else delivery.attempts end,
     next_try_at = now() + interval '30 seconds',
     admin_password_hash = case when delivery.state = 'done' then null
                                else coalesce(delivery.admin_password_hash, excluded.admin_password_hash) end
   returning ${COLUMNS}), brought as (
   insert into installer_options (installer_id, delivery_id, sealed)
   select $10, id, $11 from kept where state <> 'done' and $11::bytea is not null on conflict do nothing)
   select ${COLUMNS} from kept`,
);
const REPEATED = sql(
  'deliveries.repeated',
  'update delivery set times = times + 1, last_at = now() where natural_key = $1',
);
const IS_FREE = sql('deliveries.isFree', 'select bound_at is null as free from installer where id = $1');
// The subject's lock is taken first, so `for update` reads the row as it is after the wait, not as it was before.
const LOCK = sql(
  'deliveries.lock',
  `select d.state, d.reason, d.link_expires, d.answered
     from (select pg_advisory_xact_lock(hashtextextended($1, 6))) as subject, delivery d where d.id = $2 for update of d`,
);
const SETTLE = sql(
  'deliveries.settle',
  `with told as (insert into marketplace_event (uid, type, payload, sent_at)
                 select e.uid, e.type, e.payload, case when not $8 then now() end
                   from unnest($5::text[], $6::text[], $7::text[]) as e (uid, type, payload)),
   forgotten as (delete from installer_options where delivery_id = $1)
   update delivery set state = 'done', reason = $2, answer_status = 200, answer = null, link_expires = $3,
          answered = answered or $4, admin_password_hash = null, done_at = coalesce(done_at, now()) where id = $1`,
);
const FAIL = sql(
  'deliveries.fail',
  `update delivery set attempts = attempts + 1,
          next_try_at = coalesce(now() + $2::float8 * interval '1 millisecond', next_try_at),
          state = case when $2::float8 is null then 'dead' else 'received' end, reason = 'failed'
    where id = $1 and state <> 'done'`,
);
// Times are those of the database alone. No attempt is ever put off for longer than its delay, so one that is due later
// than that was put off before the clock was set back, and is due now.
const UNDONE = sql(
  'deliveries.undone',
  `select ${COLUMNS} from delivery, (select now() + $1::float8 * interval '1 millisecond' as now) as clock
    where state = 'received' and (next_try_at <= clock.now or next_try_at > clock.now + interval '5 seconds'
      + greatest(30000, least($3::float8, $4::float8 * 2 ^ (attempts - 1))) * interval '1 millisecond')
    order by next_try_at limit $2`,
);
const GET = sql('deliveries.get', `select ${COLUMNS} from delivery where id = $1 and subject <> ''`);

interface Row {
  id: bigint;
  subject: string;
  state: Delivery['state'];
  notification: string;
  admin_password_hash: string | null;
  source: string;
  request_id: string;
  received_at: Date;
  times: number;
  attempts: number;
}

interface BeforeRow {
  state: Delivery['state'];
  reason: string;
  link_expires: number | null;
  answered: boolean;
}

/**
 * Maximum attempts if another transaction takes the account name between the lookup and the insert. The next lookup
 * sees it.
 */
const NAME_RACES = 3;

interface DeliveriesStoreOptions {
  readonly limits: Limits;
  /** A webhook receives what deliveries did. Otherwise events are only a record. */
  readonly isTold: boolean;
}

export function createDeliveryStore(
  query: Query,
  write: Write,
  { limits, isTold }: DeliveriesStoreOptions,
): DeliveryStore {
  return {
    ...createRejectedDeliveries(write, limits),
    receive: createArrivals(write, isTold),
    act,
    async record(draft) {
      const [row] = await query<Row>(RECORD, [
        ...valuesOf(draft),
        draft.options?.installerId ?? null,
        draft.options?.sealed ?? null,
      ]);
      if (!row) throw new Error('a delivery was not recorded');
      return toDelivery(row);
    },
    async repeated(naturalKey) {
      await query(REPEATED, [naturalKey]);
    },
    isFree: async (installerId) => (await query<{ free: boolean }>(IS_FREE, [installerId]))[0]?.free ?? false,
    async fail(id, waitMs) {
      await query(FAIL, [id, waitMs ?? null]);
    },
    get: async (id) => (await query<Row>(GET, [id])).map(toDelivery)[0],
    undone: async (laterMs, max) =>
      (await query<Row>(UNDONE, [laterMs, max, RETRY.maxMs, RETRY.firstMs])).map(toDelivery),
  };

  async function act<T extends Settled>(...[delivery, isLive, work]: [Delivery, boolean, Work<T>]): Promise<T> {
    for (let race = 1; ; race++) {
      try {
        return await actOnce(delivery, isLive, work);
      } catch (error) {
        if (!isUniqueViolation(error, 'account_name') || race === NAME_RACES) throw error;
      }
    }
  }

  async function actOnce<T extends Settled>(...[delivery, isLive, work]: [Delivery, boolean, Work<T>]): Promise<T> {
    return await write(
      async (ask, touch, record) => {
        const [row] = await ask<BeforeRow>(LOCK, [delivery.subject, delivery.id]);
        const before = row?.state === 'done' ? { ...settledOf(row), answered: row.answered } : undefined;
        const { open } = createDeliveryTransactions({ query: ask, touch, record });
        const { transaction, announcements } = open(delivery.id, actorOf(delivery.notification, delivery), new Date());
        const settled = await work(transaction, before);
        const isNews = !before || before.linkExpires !== settled.linkExpires || (isLive && !before.answered);
        if (isNews || announcements.length > 0) {
          await ask(SETTLE, [
            delivery.id,
            settled.reason,
            settled.linkExpires,
            isLive,
            announcements.map(() => randomUUID()),
            announcements.map(({ type }) => type),
            announcements.map(({ data }) => canonicalJson(data)),
            isTold,
          ]);
        }
        return settled;
      },
      undefined,
      { isFact: true },
    );
  }
}

function settledOf({ reason, link_expires }: BeforeRow): Settled {
  return { reason, linkExpires: link_expires };
}

function toDelivery(row: Row): Delivery {
  const notification = parseExact(row.notification) as Notification;
  const hasOptions = notification.binding !== null && 'options' in notification.binding;
  return {
    id: row.id,
    subject: row.subject,
    state: row.state,
    notification,
    adminPasswordHash: row.admin_password_hash,
    source: row.source,
    requestId: row.request_id,
    receivedAt: row.received_at,
    times: row.times,
    attempts: row.attempts,
    older: hasOptions ? { id: row.id, notification: row.notification, isRead: true } : undefined,
  };
}
