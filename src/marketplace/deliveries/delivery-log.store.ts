import { PLATFORM, type Write } from '../../changes/write.ts';
import { deleteInBatches } from '../../db/batched-delete.ts';
import { only, type Query, sql } from '../../db/db.ts';
import { createFilters, type Filters } from '../../db/filters.ts';
import type { MarketplaceName } from '../marketplaces.ts';
import type { RejectionReason } from '../notifications/rejection.ts';
import type { Delivery } from './deliveries.ts';
import {
  type DeliveryLogEntry,
  type DeliveryLogFilter,
  type DeliveryLogStore,
  OTHERS,
  type RejectionCount,
  type UnfinishedSearch,
} from './delivery-log.ts';

// The subject is that of a subscription, or of an installer that no subscription is reported for. What a bind names is in
// its notification, which has been checked if there is a subject.
const SELECT = `d.id, d.marketplace, d.subject, d.event_type, d.event_time, d.state, d.reason, d.answer_status, d.answer,
  d.source, d.request_id, d.times, d.attempts, d.received_at, d.last_at, d.done_at, d.next_try_at,
  i.id as installer_id, i.organization_id, i.contract_id, s.id as subscription_id`;
const LINKED = `left join installer i on d.subject <> '' and i.marketplace = d.marketplace
    and i.id = substring(d.notification from '"installerId":"([^"]+)"')
  left join subscription s on s.marketplace = d.marketplace and s.key = substr(d.subject, length(d.marketplace) + 2)`;
const GET = sql(
  'deliveryLog.get',
  `select ${SELECT}, nullif(d.notification, '') as notification from delivery d ${LINKED} where d.id = $1`,
);
const REJECTIONS = sql(
  'deliveryLog.rejections',
  'select marketplace, reason, source, times::integer, last_at from delivery_refusal order by last_at desc limit $1',
);
// Replicas take turns, so that together they do not tell more sources apart than one may.
const REJECTION_TURN = sql(
  'deliveryLog.turn',
  `select pg_advisory_xact_lock(hashtextextended('delivery refusals', 0))`,
);
// A source that is known today keeps its row. Of the new ones, as many get one as there is room for.
const ADD_REJECTION = sql(
  'deliveryLog.addRejection',
  `with counted as (
     select c.marketplace, c.reason, c.source, (c.last_at at time zone 'UTC')::date as day, c.times, c.last_at
       from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[])
            as c (marketplace, reason, source, times, last_at)
   ), ranked as (
     select c.*, k.source is not null as is_known,
            row_number() over (partition by c.marketplace, c.day, k.source is not null order by c.times desc) as place
       from counted c left join delivery_refusal k on k.marketplace = c.marketplace and k.reason = c.reason
        and k.source = c.source and k.day = c.day
   ), named as (
     select r.marketplace, r.reason, r.day, r.times, r.last_at,
            case when r.is_known or r.place <= $6 - (select count(*) from delivery_refusal p
                                                      where p.marketplace = r.marketplace and p.day = r.day)
                 then r.source else $7 end as source
       from ranked r
   )
   insert into delivery_refusal (marketplace, reason, source, day, times, last_at)
   select marketplace, reason, source, day, sum(times), max(last_at) from named group by 1, 2, 3, 4
   on conflict (marketplace, reason, source, day) do update
     set times = delivery_refusal.times + excluded.times, last_at = greatest(delivery_refusal.last_at, excluded.last_at)`,
);
// A notification that could not be understood has no subject and cannot be redelivered.
const REDELIVER = sql(
  'deliveryLog.redeliver',
  `update delivery set state = 'received', attempts = 0, next_try_at = now()
    where state <> 'done' and subject <> '' and id = $1 returning id`,
);
const PRUNE_DELIVERIES = sql(
  'deliveryLog.pruneDeliveries',
  `delete from delivery where id = any (array (
     select id from delivery where state = $1 and last_at < $2 order by last_at limit $3 for update skip locked))
   returning id`,
);
const PRUNE_REJECTIONS = sql(
  'deliveryLog.pruneRejections',
  `delete from delivery_refusal where ctid = any (array (
     select ctid from delivery_refusal where day <= ($1::timestamptz at time zone 'UTC')::date and last_at < $1
      limit $2 for update skip locked))
   returning marketplace`,
);
const PRUNE_RANGES = sql(
  'deliveryLog.pruneRanges',
  `delete from address_ranges where ctid = any (array (
     select r.ctid from address_ranges r where r.last_seen_at < $1
        and r.sync_token < (select max(n.sync_token) from address_ranges n where n.source = r.source)
      limit $2 for update of r skip locked))
   returning source`,
);

interface Row {
  id: bigint;
  marketplace: MarketplaceName;
  subject: string;
  event_type: string;
  event_time: string;
  state: Delivery['state'];
  reason: string;
  answer_status: number | null;
  answer: string | null;
  source: string;
  request_id: string;
  times: number;
  attempts: number;
  received_at: Date;
  last_at: Date;
  done_at: Date | null;
  next_try_at: Date;
  installer_id: string | null;
  organization_id: bigint | null;
  contract_id: bigint | null;
  subscription_id: bigint | null;
}

export function createDeliveryLogStore(query: Query, write: Write): DeliveryLogStore {
  return {
    async list({ before, limit, ...filter }) {
      const filters = createFilters(limit);
      narrow(filters, filter);
      filters.add('before', before, (one) => `id < ${one}`);
      const statement = filters.statement(
        'deliveryLog.list',
        // Selects the rows of the page first, so that only they are linked.
        (where) => `select ${SELECT} from (select * from delivery ${where} order by id desc limit $1) d ${LINKED}
                     order by d.id desc`,
      );
      return (await query<Row>(statement, filters.values)).map(toEntry);
    },
    async get(id) {
      const [row] = await query<Row & { notification: string | null }>(GET, [id]);
      return row && { ...toEntry(row), notification: row.notification };
    },
    async unfinished(search, limit) {
      const filters = createFilters(limit);
      narrowToUnfinished(filters, search);
      const statement = filters.statement(
        'deliveryLog.unfinished',
        (where) => `select id from delivery ${where} order by id limit $1`,
      );
      return (await query<{ id: bigint }>(statement, filters.values)).map(({ id }) => id);
    },
    async countUnfinished(search) {
      const filters = createFilters();
      narrowToUnfinished(filters, search);
      const statement = filters.statement(
        'deliveryLog.countUnfinished',
        (where) => `select count(*)::integer as total from delivery ${where}`,
      );
      return only(await query<{ total: number }>(statement, filters.values)).total;
    },
    async rejections(limit) {
      const rows = await query<{
        marketplace: MarketplaceName;
        reason: RejectionReason;
        source: string;
        times: number;
        last_at: Date;
      }>(REJECTIONS, [limit]);
      return rows.map(({ last_at: lastAt, ...row }) => ({ ...row, lastAt }));
    },
    revive: (id, actor) =>
      write(async (ask, _touch, record) => {
        if ((await ask(REDELIVER, [id])).length === 0) return false;
        const about = { organizationId: PLATFORM, objectType: 'delivery', objectId: id };
        record({ ...about, actor, action: 'delivery.redeliver' });
        return true;
      }),
    async addRejections(counts: readonly RejectionCount[], maxSources) {
      const values = [
        counts.map((one) => one.marketplace),
        counts.map((one) => one.reason),
        counts.map((one) => one.source),
        counts.map((one) => one.times),
        counts.map((one) => one.lastAt),
        maxSources,
        OTHERS,
      ];
      await write(async (ask) => {
        await ask(REJECTION_TURN);
        await ask(ADD_REJECTION, values);
      });
    },
    async prune(rejectedBefore, doneBefore) {
      await deleteInBatches(query, PRUNE_DELIVERIES, ['refused', rejectedBefore]);
      await deleteInBatches(query, PRUNE_DELIVERIES, ['done', doneBefore]);
      await deleteInBatches(query, PRUNE_DELIVERIES, ['dead', doneBefore]);
      await deleteInBatches(query, PRUNE_REJECTIONS, [rejectedBefore]);
      await deleteInBatches(query, PRUNE_RANGES, [rejectedBefore]);
    },
  };
}

function narrow(filters: Filters, filter: DeliveryLogFilter): void {
  const { marketplace, state, reason, text, subject, since, until } = filter;
  filters.add('marketplace', marketplace, (one) => `marketplace = ${one}`);
  filters.add('state', state, (one) => `state = ${one}`);
  filters.add('reason', reason, (one) => `reason = ${one}`);
  filters.add('subject', subject, (one) => `subject = ${one}`);
  filters.add('text', text, (one) => `position(lower(${one}) in lower(subject)) > 0`);
  filters.add('since', since, (one) => `received_at >= ${one}`);
  filters.add('until', until, (one) => `received_at < ${one}`);
}

/** Exactly what `REDELIVER` accepts. */
function narrowToUnfinished(filters: Filters, { after, ...filter }: UnfinishedSearch): void {
  narrow(filters, filter);
  filters.require('unfinished', `state in ('received', 'refused', 'dead') and subject <> ''`);
  filters.add('after', after, (one) => `id > ${one}`);
}

function toEntry(row: Row): DeliveryLogEntry {
  return {
    id: row.id,
    marketplace: row.marketplace,
    subject: row.subject,
    eventType: row.event_type,
    eventTime: row.event_time,
    state: row.state,
    reason: row.reason,
    status: row.answer_status,
    message: row.answer,
    source: row.source,
    requestId: row.request_id,
    times: row.times,
    attempts: row.attempts,
    receivedAt: row.received_at,
    lastAt: row.last_at,
    doneAt: row.done_at,
    nextTryAt: row.state === 'received' ? row.next_try_at : null,
    links: {
      installer: row.installer_id,
      organizationId: row.organization_id,
      contractId: row.contract_id,
      subscriptionId: row.subscription_id,
    },
  };
}
