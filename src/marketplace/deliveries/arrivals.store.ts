import { randomUUID } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { inBatches } from '../../base/scheduling/batches.ts';
import type { Write } from '../../changes/write.ts';
import { known, sql, type TransactionQuery } from '../../db/db.ts';
import { canonicalJson } from '../notifications/canonical-json.ts';
import { Rejection } from '../notifications/rejection.ts';
import { actorOf, createDeliveryTransactions, type Transaction } from '../subscriptions/delivery-transaction.store.ts';
import type { Announcement } from '../subscriptions/delivery-transaction.ts';
import type { Acted, Arrival, Delivery, DeliveryStore, Settled, Work } from './deliveries.ts';
import { valuesOf } from './rejected-deliveries.store.ts';

// In the same order for every delivery, so that two that lock the same subjects cannot block each other.
const LOCK = sql(
  'arrivals.lock',
  `select pg_advisory_xact_lock(key) from (select distinct hashtextextended(subject, 6) as key
     from unnest($1::text[]) as subject order by key) as subjects`,
);
// A statement of its own: it reads what is there after the wait for the lock, not what was there before. With a limit,
// PostgreSQL looks each key up, even if it planned this while the table was empty.
const IDS = sql(
  'arrivals.ids',
  `select nextval((select pg_get_serial_sequence('delivery', 'id')::regclass)) as id, now() as received_at,
          (select true from delivery d where d.natural_key = a.natural_key limit 1) is not null as is_known
     from unnest($1::bytea[]) with ordinality as a (natural_key, place) order by place`,
);
const INSERT = sql(
  'arrivals.insert',
  `with told as (insert into marketplace_event (uid, type, payload, sent_at)
     select e.uid, e.type, e.payload, case when not $19 then now() end
       from unnest($16::text[], $17::text[], $18::text[]) as e (uid, type, payload)),
   brought as (insert into installer_options (installer_id, sealed, delivery_id)
     select * from unnest($13::text[], $14::bytea[], $15::bigint[]))
   insert into delivery (marketplace, natural_key, subject, event_type, event_time, notification, admin_password_hash,
                         source, request_id, id, reason, link_expires, state, answer_status, answered, done_at)
   overriding system value
   select a.*, case when a.reason = '' then 'received' else 'done' end, case when a.reason <> '' then 200 end,
          a.reason <> '', case when a.reason <> '' then now() end
     from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                 $9::text[], $10::bigint[], $11::text[], $12::float8[])
       as a (marketplace, natural_key, subject, event_type, event_time, notification, admin_password_hash, source,
             request_id, id, reason, link_expires)`,
);

/**
 * While two batches are written, the next one gathers: the larger, the cheaper. One that takes long waits for a subject
 * that another replica has locked.
 */
const BATCHES = { maxSize: 50, concurrency: 2, slow: { afterMs: 100, concurrency: 3 } };

interface Order {
  readonly arrival: Arrival;
  readonly work: (delivery: Delivery) => Work<Settled>;
}

interface End {
  readonly order: Order;
  readonly delivery: Delivery;
  readonly acted: Acted<Settled>;
  readonly announcements: readonly Announcement[];
  readonly hasBound: boolean;
}

/**
 * Deliveries that are new: each is written once, as done. Those that arrive at the same time share a transaction, because
 * a commit costs more than a delivery. Everything that is not simply new and well is left to the slow way:
 * it records the delivery, commits, and then acts on it alone.
 */
export function createArrivals(write: Write, isTold: boolean): DeliveryStore['receive'] {
  const receive = inBatches(receiveAll, BATCHES);
  // What the work of an order returns is what its caller gets back.
  return ((arrival, work) => receive({ arrival, work })) as DeliveryStore['receive'];

  async function receiveAll(orders: readonly Order[]): Promise<(End | undefined)[]> {
    try {
      const work = (query: TransactionQuery, touch: Transaction['touch'], record: Transaction['record']) =>
        receiveInOne(orders, { query, touch, record });
      return await write(work, undefined, { isFact: true });
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unavailable') throw error;
      // The slow way meets the same fault if it is still there, and reports it.
      return orders.map(() => undefined);
    }
  }

  async function receiveInOne(orders: readonly Order[], shared: Transaction): Promise<(End | undefined)[]> {
    const drafts = orders.map(({ arrival }) => arrival.draft);
    shared.query.later(LOCK, [drafts.map(({ subject }) => subject)]);
    const identified = shared.query<IdRow>(IDS, [drafts.map(({ naturalKey }) => naturalKey)]);
    const { open, expect } = createDeliveryTransactions(shared);
    expect(orders.map(({ arrival }) => arrival.notification));
    const rows = await identified;
    const ends = await Promise.allSettled(
      orders.map(async (order, place) => {
        const row = known(rows[place]);
        return row.is_known ? undefined : await actOn(order, row, open);
      }),
    );
    const results = ends.map((end) => {
      if (end.status === 'rejected') throw end.reason;
      return end.value;
    });
    const made = results.filter((end) => end !== undefined);
    if (made.length > 0) insert(shared.query, made);
    return results;
  }

  function insert(query: TransactionQuery, ends: readonly End[]): void {
    const values = ends.map(({ order: { arrival }, acted }) =>
      valuesOf('settled' in acted ? { ...arrival.draft, adminPasswordHash: null } : arrival.draft),
    );
    const brought = ends.flatMap(broughtBy);
    const announcements = ends.flatMap((end) => end.announcements);
    const settled = ends.map(({ acted }) => ('settled' in acted ? acted.settled : undefined));
    query.later(INSERT, [
      ...known(values[0]).map((_, column) => values.map((row) => row[column])),
      ends.map(({ delivery }) => delivery.id),
      settled.map((one) => one?.reason ?? ''),
      settled.map((one) => one?.linkExpires ?? null),
      brought.map(({ installerId }) => installerId),
      brought.map(({ sealed }) => sealed),
      brought.map(({ deliveryId }) => deliveryId),
      announcements.map(() => randomUUID()),
      announcements.map(({ type }) => type),
      announcements.map(({ data }) => canonicalJson(data)),
      isTold,
    ]);
  }
}

/** The options belong to the installer that was bound with them, or wait with a delivery that may be retried. */
function broughtBy({ order, delivery, acted, hasBound }: End) {
  const { options } = order.arrival.draft;
  if (!options || ('settled' in acted && !hasBound)) return [];
  return [{ ...options, deliveryId: hasBound ? null : delivery.id }];
}

interface IdRow {
  id: bigint;
  received_at: Date;
  is_known: boolean;
}

/** A delivery that is rejected before it wrote anything does not fail other deliveries. */
async function actOn(
  order: Order,
  { id, received_at: receivedAt }: IdRow,
  open: ReturnType<typeof createDeliveryTransactions>['open'],
): Promise<End> {
  const { draft, notification } = order.arrival;
  const { subject, source, requestId, adminPasswordHash } = draft;
  const received = { state: 'received', times: 1, attempts: 0, older: undefined } as const;
  const delivery = { id, subject, notification, adminPasswordHash, source, requestId, receivedAt, ...received };
  const { transaction, announcements, hasWritten, hasBound } = open(id, actorOf(notification, draft), new Date());
  const end = { order, delivery, announcements };
  try {
    const settled = await order.work(delivery)(transaction, undefined);
    return { ...end, acted: { settled }, hasBound: hasBound() };
  } catch (error) {
    if (!(error instanceof Rejection) || hasWritten()) throw error;
    return { ...end, acted: { rejection: error }, hasBound: false };
  }
}
