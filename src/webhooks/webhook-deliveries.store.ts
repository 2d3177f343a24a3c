import { type Db, sql } from '../db/db.ts';
import { createFilters } from '../db/filters.ts';
import { type ChangeRow, DELIVERY_COLUMNS, type DeliveryRow, toChange, toDelivery } from './webhook.rows.ts';
import { RESET_KIND } from './webhook.ts';
import type { WebhookDeliveryStore } from './webhook-deliveries.ts';
import { enqueue } from './webhook-queue.store.ts';

const GET = sql(
  'webhookDeliveries.get',
  `select ${DELIVERY_COLUMNS} from webhook_delivery d where d.webhook_id = $1 and d.id = $2`,
);
const SOME = sql(
  'webhookDeliveries.some',
  `select ${DELIVERY_COLUMNS} from webhook_delivery d where d.webhook_id = $1 and d.id = any($2::bigint[]) order by d.id desc`,
);
const QUEUE_AGAIN = `state = 'pending', tries = 0, first_attempt_at = null, next_attempt_at = now()`;
const AGAIN = sql(
  'webhookDeliveries.again',
  `update webhook_delivery d set ${QUEUE_AGAIN} where d.webhook_id = $1 and d.id = $2 returning ${DELIVERY_COLUMNS}`,
);
const AGAIN_EVENTS = sql(
  'webhookDeliveries.againEvents',
  `update webhook_delivery d set ${QUEUE_AGAIN}
    where d.webhook_id = $1 and d.event = any($2::text[]) and d.state <> 'pending' returning d.event`,
);
const POKE = sql('webhookDeliveries.poke', 'update webhook_sender set poke = poke + 1 where id = 1');
const COLUMNS = 'revision, place, at, action, kind, object_id, organization_id, organization_name';
// Changes that the sender has not read yet are events, too: it may be a moment behind.
const UNREAD = `select c.revision, c.place, c.at, c.action, c.kind, c.id as object_id, c.organization_id,
                       o.name as organization_name
                  from change c left join account o on o.id = c.organization_id and o.kind = 'organization'
                 where c.revision > (select s.revision from webhook_sender s where s.id = 1)`;
const EVENTS_OF = sql(
  'webhookDeliveries.eventsOf',
  `select ${COLUMNS} from webhook_event where organization_id = $1 and at >= $2
   union all ${UNREAD} and c.organization_id = $1 and c.at >= $2
   order by revision, place limit $3`,
);
const EVENTS = sql(
  'webhookDeliveries.events',
  `select ${COLUMNS} from webhook_event where at >= $1
   union all ${UNREAD} and c.at >= $1
   order by revision, place limit $2`,
);
// An event that was queued long ago stands where it stood: it must not be judged by where the webhook begins.
const OPEN = sql(
  'webhookDeliveries.open',
  'update webhook set since_revision = least(since_revision, $2) where id = $1 returning since_revision',
);

type MarkRow = Omit<ChangeRow, 'action' | 'organization_name'> & { readonly id: bigint; readonly object_kind: string };

export function createWebhookDeliveryStore(db: Db): WebhookDeliveryStore {
  return {
    async marks(webhookId, state, before, limit) {
      const filters = createFilters(limit, webhookId);
      filters.require('webhook', 'd.webhook_id = $2');
      filters.add('state', state, (one) => `d.state = ${one}`);
      filters.add('before', before, (one) => `d.id < ${one}`);
      const rows = await db.query<MarkRow>(
        filters.statement(
          'webhookDeliveries.marks',
          (where) =>
            `select d.id, d.revision, d.place, d.at, d.kind, d.object_kind, d.object_id, d.organization_id
               from webhook_delivery d ${where} order by d.id desc limit $1`,
        ),
        filters.values,
      );
      return rows.map((row) => ({
        id: row.id,
        change: toChange({ ...row, action: null, organization_name: null }),
        isReset: row.object_kind === RESET_KIND,
      }));
    },

    async some(webhookId, ids) {
      return (await db.query<DeliveryRow>(SOME, [webhookId, ids])).map(toDelivery);
    },

    async get(webhookId, id) {
      const [row] = await db.query<DeliveryRow>(GET, [webhookId, id]);
      return row && toDelivery(row);
    },

    async again(webhookId, id) {
      return await db.transaction(async (query) => {
        const [row] = await query<DeliveryRow>(AGAIN, [webhookId, id]);
        query.later(POKE);
        return row && toDelivery(row);
      });
    },

    async eventsSince(organizationId, since, limit) {
      const rows =
        organizationId === undefined
          ? await db.query<ChangeRow>(EVENTS, [since, limit])
          : await db.query<ChangeRow>(EVENTS_OF, [organizationId, since, limit]);
      return rows.map(toChange);
    },

    async againSince(webhookId, deliveries, events) {
      return await db.transaction(async (query) => {
        const again = await query<{ event: string }>(AGAIN_EVENTS, [webhookId, events]);
        const [first] = deliveries;
        if (first) await query(OPEN, [webhookId, first.change.revision - 1n]);
        const added = await enqueue(query, deliveries);
        query.later(POKE);
        return again.length + added.length;
      });
    },
  };
}
