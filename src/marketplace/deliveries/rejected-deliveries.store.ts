import type { Limits } from '../../base/config/limits.ts';
import type { Write } from '../../changes/write.ts';
import { only, type Query, sql } from '../../db/db.ts';
import type { DeliveryDraft, DeliveryStore } from './deliveries.ts';

/**
 * Rejected deliveries are kept for the operator, but senders must not be able to fill the disk with them: anyone can rent
 * a machine in the ranges of marketplace A. Beyond the limits they are only counted. A delivery that is acted on is always
 * recorded; it is dropped only after it was rejected.
 */

// Requests that keep a rejected delivery of one marketplace take turns, so that none counts before another has added.
const TURN = sql('rejected.turn', `select pg_advisory_xact_lock(hashtextextended('rejected ' || $1, 0))`);
const COUNT = sql(
  'rejected.count',
  `select (select count(*)::integer from (select 1 from delivery where state = 'refused' and marketplace = $1
              and id <> $3 limit $4) as kept) as of_marketplace,
          (select count(*)::integer from (select 1 from delivery where state = 'refused' and marketplace = $1
              and source = $2 and id <> $3 limit $5) as kept) as of_source`,
);
const REPEATED = sql(
  'rejected.repeated',
  'update delivery set times = times + 1, last_at = now() where natural_key = $1 returning id',
);
const INSERT = sql(
  'rejected.insert',
  `insert into delivery (marketplace, natural_key, subject, event_type, event_time, notification, admin_password_hash,
                         source, request_id, state, reason, answer_status, answer, done_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'refused', $10, $11, $12, now())
   on conflict (natural_key) do update set times = delivery.times + 1, last_at = now()`,
);
// Not if it was kept before, and not if it has arrived again since: the request that acts on it needs the row.
const DROP = sql(
  'rejected.drop',
  `delete from delivery where id = $1 and times = $2 and state = 'received' and done_at is null returning id`,
);
const REJECT = sql(
  'rejected.refuse',
  `update delivery set state = 'refused', reason = $2, answer_status = $3, answer = $4, admin_password_hash = null,
          done_at = now() where id = $1 and state <> 'done'`,
);

/** Every statement about an ID that no row has. */
const NO_ROW = 0n;

type RejectionLimits = Pick<Limits, 'rejectedDeliveriesPerMarketplace' | 'rejectedDeliveriesPerSource'>;

export function createRejectedDeliveries(
  write: Write,
  limits: RejectionLimits,
): Pick<DeliveryStore, 'recordRejected' | 'reject'> {
  return {
    recordRejected: (draft, reason, status, message) =>
      write(async (query) => {
        if ((await query(REPEATED, [draft.naturalKey])).length > 0) return true;
        if (!(await hasRoom(query, draft.marketplace, draft.source, NO_ROW))) return false;
        await query(INSERT, [...valuesOf(draft), reason, status, message]);
        return true;
      }),

    reject: ({ id, notification, source, times }, isLive, { reason, status, message }) =>
      write(async (query) => {
        if (isLive && !(await hasRoom(query, notification.marketplace, source, id))) {
          if ((await query(DROP, [id, times])).length > 0) return false;
        }
        await query(REJECT, [id, reason, status, message]);
        return true;
      }),
  };

  async function hasRoom(query: Query, marketplace: string, source: string, except: bigint): Promise<boolean> {
    const { rejectedDeliveriesPerMarketplace: all, rejectedDeliveriesPerSource: ofOne } = limits;
    await query(TURN, [marketplace]);
    const values = [marketplace, source, except, all, ofOne];
    const present = only(await query<{ of_marketplace: number; of_source: number }>(COUNT, values));
    return present.of_marketplace < all && present.of_source < ofOne;
  }
}

export function valuesOf(draft: DeliveryDraft): unknown[] {
  return [
    draft.marketplace,
    draft.naturalKey,
    draft.subject,
    draft.eventType,
    draft.eventTime,
    draft.notification,
    draft.adminPasswordHash,
    draft.source,
    draft.requestId,
  ];
}
