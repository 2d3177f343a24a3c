import type { Write } from '../changes/write.ts';
import { deleteInBatches } from '../db/batched-delete.ts';
import { type Db, only, type Query, sql } from '../db/db.ts';
import { eventId, type RecordedChange } from '../events/visible-changes.ts';
import {
  type ChangeRow,
  DELIVERY_COLUMNS,
  type DeliveryRow,
  toChange,
  toDelivery,
  toWebhook,
  WEBHOOK_COLUMNS,
  type WebhookRow,
} from './webhook.rows.ts';
import { type NewDelivery, RESET_KIND, RESET_TYPE } from './webhook.ts';
import type { ChangePage, Lease, SendingWebhook, Settled, WebhookQueueStore } from './webhook-queue.ts';
import { about, changeOf, secretsOf } from './webhooks.store.ts';

const ALL = sql(
  'webhookQueue.all',
  `select ${WEBHOOK_COLUMNS}, o.name as organization_name
  from webhook w left join account o on o.id = w.organization_id order by w.id`,
);
// A process that has not renewed its lease for a while is taken for dead.
const LEASE = sql(
  'webhookQueue.lease',
  `update webhook_sender set holder = $1, until = now() + $2::float8 * interval '1 millisecond'
    where id = 1 and (holder is null or holder = $1 or until < now() or until > now() + interval '1 hour')
   returning revision, stamp::text as stamp, poke`,
);
const RELEASE = sql('webhookQueue.release', 'update webhook_sender set holder = null where id = 1 and holder = $1');
const PAGE = sql(
  'webhookQueue.page',
  `select r.value as revision, r.stamp::text as stamp, c.*,
          (select s.stamp::text from revision_stamp s where s.revision = $1 and $1 >= r.pruned) as stamp_then
     from revision r left join lateral (
       select c.revision as change_revision, s.stamp::text as stamp_of, c.place, c.at, c.action, c.kind, c.id as object_id,
              c.organization_id, o.name as organization_name
         from change c left join revision_stamp s on s.revision = c.revision
              left join account o on o.id = c.organization_id and o.kind = 'organization'
        where c.revision > $1 order by c.revision, c.place limit $2
     ) c on true where r.id = 1 order by c.change_revision, c.place`,
);
const ADVANCE = sql(
  'webhookQueue.advance',
  `update webhook_sender set revision = $3, stamp = $4::uuid where id = 1 and holder = $1 and revision = $2 returning id`,
);
const KEEP_EVENTS = sql(
  'webhookQueue.keepEvents',
  `insert into webhook_event (revision, place, at, kind, object_id, organization_id, organization_name, action)
   select * from unnest($1::bigint[], $2::integer[], $3::timestamptz[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
                        $8::text[])
   on conflict do nothing`,
);
const ENQUEUE = sql(
  'webhookQueue.enqueue',
  `insert into webhook_delivery (webhook_id, event, type, revision, place, at, kind, object_kind, object_id,
                                 organization_id, organization_name)
   select n.* from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::integer[], $6::timestamptz[], $7::text[],
                        $8::text[], $9::bigint[], $10::bigint[], $11::text[])
          as n (webhook_id, event, type, revision, place, at, kind, object_kind, object_id, organization_id, organization_name)
     join webhook w on w.id = n.webhook_id and w.active and w.since_revision < n.revision
    order by n.revision, n.place, n.webhook_id
   on conflict do nothing returning webhook_id`,
);
const MARK_RESET = sql(
  'webhookQueue.markReset',
  'update webhook set reset_reason = coalesce(reset_reason, $2) where id = any($1::bigint[]) and active',
);
const SEND_RESET = sql(
  'webhookQueue.sendReset',
  `with marked as (
     update webhook set reset_reason = null from webhook as before
      where webhook.id = any($1::bigint[]) and before.id = webhook.id and before.reset_reason is not null and webhook.active
     returning webhook.id, webhook.organization_id, before.reset_reason)
   insert into webhook_delivery (webhook_id, event, type, revision, place, at, kind, object_kind, object_id,
                                 organization_id, organization_name, reason)
   select m.id, r.value || '-reset', '${RESET_TYPE}', r.value, -1, now(), 'platform', '${RESET_KIND}', 0,
          m.organization_id, o.name, m.reset_reason
     from marked m cross join revision r left join account o on o.id = m.organization_id where r.id = 1
   on conflict do nothing returning webhook_id`,
);
const COUNTS = sql(
  'webhookQueue.counts',
  `select webhook_id, count(*)::integer as count from webhook_delivery where state = 'pending' group by webhook_id`,
);
// The next event of an object waits for the one before, and other objects pass it.
const DUE = sql(
  'webhookQueue.due',
  `select d.* from unnest($1::bigint[], $2::integer[]) as w (id, wanted) cross join lateral (
     select ${DELIVERY_COLUMNS} from webhook_delivery d
      where d.webhook_id = w.id and d.state = 'pending' and d.next_attempt_at <= now() and d.id <> all ($3::bigint[])
        and not exists (select 1 from webhook_delivery e
                         where e.webhook_id = w.id and e.state = 'pending' and e.object_kind = d.object_kind
                           and e.object_id = d.object_id and (e.revision, e.place) < (d.revision, d.place))
      order by d.next_attempt_at, d.revision, d.place limit w.wanted) d`,
);
const SETTLE = sql(
  'webhookQueue.settle',
  `update webhook_delivery d set state = n.state,
          attempts = case when n.attempt is null then d.attempts
                          when jsonb_array_length(d.attempts) >= 50 then (d.attempts - 0) || n.attempt::jsonb
                          else d.attempts || n.attempt::jsonb end,
          tries = d.tries + 1,
          first_attempt_at = coalesce(d.first_attempt_at, n.began),
          next_attempt_at = case when n.wait_ms is null then d.next_attempt_at
                                 else now() + n.wait_ms * interval '1 millisecond' end
     from unnest($1::bigint[], $2::text[], $3::text[], $4::float8[], $5::timestamptz[])
            as n (id, state, attempt, wait_ms, began)
    where d.id = n.id and d.state = 'pending'`,
);
const DELIVERED = sql(
  'webhookQueue.delivered',
  'update webhook set last_delivery_at = now() where id = any($1::bigint[])',
);
const LOCK = sql(
  'webhookQueue.lock',
  `select ${WEBHOOK_COLUMNS} from webhook w where w.id = $1 and w.active for update`,
);
const DISABLE = sql(
  'webhookQueue.disable',
  `update webhook set active = false, disabled_reason = $2, disabled_at = now(), updated_at = greatest(now(), updated_at), is_untold = true, version = version + 1,
          reset_reason = null where id = $1`,
);
const DROP_QUEUE = sql(
  'webhookQueue.drop',
  `update webhook_delivery set state = 'failed' where webhook_id = $1 and state = 'pending'`,
);
const PRUNE_DELIVERIES = sql(
  'webhookQueue.pruneDeliveries',
  `delete from webhook_delivery where id = any (array (
     select id from webhook_delivery where created_at < now() - interval '30 days' order by created_at limit $1
      for update skip locked)) returning id`,
);
const PRUNE_EVENTS = sql(
  'webhookQueue.pruneEvents',
  `delete from webhook_event where ctid = any (array (
     select ctid from webhook_event where at < now() - $1::integer * interval '1 day' order by at limit $2
      for update skip locked)) returning revision`,
);

type PageRow = ChangeRow & {
  stamp: string;
  stamp_then: string | null;
  stamp_of: string | null;
  change_revision: bigint | null;
};

/** What the one process that sends asks of the database. */
export function createWebhookQueueStore(db: Db, write: Write): WebhookQueueStore {
  return {
    async webhooks() {
      const rows = await db.query<WebhookRow & { organization_name: string | null }>(ALL);
      return rows.map(
        (row): SendingWebhook => ({
          ...toWebhook(row),
          sinceRevision: row.since_revision,
          madeRevision: row.made_revision,
          resetReason: row.reset_reason,
          secrets: secretsOf(row),
          organizationName: row.organization_name,
        }),
      );
    },

    async lease(holder, ms) {
      const [row] = await db.query<Lease>(LEASE, [holder, ms]);
      return row;
    },

    async release(holder) {
      await db.query(RELEASE, [holder]);
    },

    async page(after, max) {
      return pageOf(await db.query<PageRow>(PAGE, [after, max + 1]), max);
    },

    async advance(holder, from, to, { events, deliveries, resets }) {
      return await db.transaction(async (query) => {
        const [mine] = await query(ADVANCE, [holder, from, to.revision, to.stamp]);
        if (!mine) return undefined;
        if (events.length > 0) await query(KEEP_EVENTS, eventValues(events));
        for (const [reason, ids] of resets) if (ids.length > 0) await query(MARK_RESET, [ids, reason]);
        return deliveries.length === 0 ? [] : await enqueue(query, deliveries);
      });
    },

    async sendResets(webhookIds) {
      const rows = await db.query<{ webhook_id: bigint }>(SEND_RESET, [webhookIds]);
      return rows.map((row) => row.webhook_id);
    },

    async counts() {
      const rows = await db.query<{ webhook_id: bigint; count: number }>(COUNTS);
      return new Map(rows.map((row) => [row.webhook_id, row.count]));
    },

    async due(wanted, without) {
      const values = [wanted.map(([id]) => id), wanted.map(([, count]) => count), without];
      return (await db.query<DeliveryRow>(DUE, values)).map(toDelivery);
    },

    async settle(settled) {
      await db.query(SETTLE, settleValues(settled));
    },

    async delivered(webhookIds) {
      await db.query(DELIVERED, [webhookIds]);
    },

    async disable(id, reason, actor) {
      return await write(async (query, touch, record) => {
        const [row] = await query<WebhookRow>(LOCK, [id]);
        if (!row) return false;
        const webhook = toWebhook(row);
        await query(DISABLE, [id, reason]);
        await query(DROP_QUEUE, [id]);
        touch(changeOf(webhook));
        record({
          ...about(actor, webhook),
          action: 'webhook.disable',
          after: { name: webhook.name, active: false, reason },
        });
        return true;
      });
    },

    async prune(eventDays) {
      await deleteInBatches(db.query, PRUNE_DELIVERIES, []);
      await deleteInBatches(db.query, PRUNE_EVENTS, [eventDays]);
    },
  };
}

/** A revision is read whole: one that may go on after the page is left to the next. */
function pageOf(rows: readonly PageRow[], max: number): ChangePage {
  const [first] = rows;
  if (first === undefined) throw new Error('the database has no revision');
  const found = rows.flatMap((row) => (row.change_revision === null ? [] : [row]));
  const stampThen = first.stamp_then ?? undefined;
  const isCut = found.length > max;
  const last = found.at(-1)?.change_revision;
  const whole = isCut ? found.filter((row) => row.change_revision !== last) : found;
  const end = whole.at(-1);
  const isLost = isCut && end === undefined;
  const until =
    isCut && end ? { revision: end.change_revision ?? 0n, stamp: end.stamp_of ?? '' } : only([first].map(momentOf));
  const changes = whole.map((row) => toChange({ ...row, revision: row.change_revision ?? 0n }));
  return { until, stampThen, changes, isMore: isCut && !isLost, isLost };
}

function momentOf({ revision, stamp }: PageRow) {
  return { revision, stamp };
}

/** Returns the webhooks whose queues grew, once for each delivery. */
export async function enqueue(query: Query, deliveries: readonly NewDelivery[]): Promise<bigint[]> {
  const changes = deliveries.map(({ change }) => change);
  const rows = await query<{ webhook_id: bigint }>(ENQUEUE, [
    deliveries.map(({ webhookId }) => webhookId),
    changes.map(eventId),
    deliveries.map(({ type }) => type),
    changes.map(({ revision }) => revision),
    changes.map(({ place }) => place),
    changes.map(({ at }) => at),
    changes.map(({ kind }) => kind),
    deliveries.map(({ objectKind }) => objectKind),
    changes.map(({ id }) => id),
    changes.map(({ organizationId }) => organizationId),
    changes.map(({ organizationName }) => organizationName),
  ]);
  return rows.map((row) => row.webhook_id);
}

function eventValues(events: readonly RecordedChange[]): unknown[] {
  return [
    events.map(({ revision }) => revision),
    events.map(({ place }) => place),
    events.map(({ at }) => at),
    events.map(({ kind }) => kind),
    events.map(({ id }) => id),
    events.map(({ organizationId }) => organizationId),
    events.map(({ organizationName }) => organizationName),
    events.map(({ action }) => action),
  ];
}

function settleValues(settled: readonly Settled[]): unknown[] {
  return [
    settled.map(({ id }) => id),
    settled.map(({ state }) => state),
    settled.map(({ attempt }) => {
      if (!attempt) return null;
      const { at, status, error, durationMs } = attempt;
      return JSON.stringify({ at: at.toISOString(), status, error, duration_ms: durationMs });
    }),
    settled.map(({ waitMs }) => waitMs ?? null),
    settled.map(({ attempt, at }) => attempt?.at ?? at),
  ];
}
