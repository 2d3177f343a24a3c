import type { KeyObject } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { SendWebhook, WebhookAnswer } from '../base/outbound/webhook-requests.ts';
import type { Page, PageRequest } from '../base/page.ts';
import { signatureHeaders } from '../base/signature-headers.ts';
import { PLATFORM } from '../changes/write.ts';
import { eventId, type RecordedChange } from '../events/visible-changes.ts';
import type { Organization } from '../identity/callers.ts';
import {
  type Delivery,
  type DeliveryState,
  MAX_QUEUE,
  type NewDelivery,
  RESET_KIND,
  type Webhook,
  type WebhookCreator,
} from './webhook.ts';
import { testMessage } from './webhook-message.ts';
import { createDeliverySight, type WebhookSight } from './webhook-sight.ts';
import { isWanted } from './webhook-types.ts';

/** What decides whether a delivery is seen. */
export interface DeliveryMark {
  readonly id: bigint;
  readonly change: RecordedChange;
  /** An `events.reset`, which is about no object. */
  readonly isReset: boolean;
}

export interface WebhookDeliveryStore {
  /** What deliveries are about, the newest first, from the one after `before` on. */
  marks(
    webhookId: bigint,
    state: DeliveryState | undefined,
    before: bigint | undefined,
    limit: number,
  ): Promise<DeliveryMark[]>;
  /** Newest first. */
  some(webhookId: bigint, ids: readonly bigint[]): Promise<Delivery[]>;
  get(webhookId: bigint, id: bigint): Promise<Delivery | undefined>;
  /** Queues it again, whatever became of it. */
  again(webhookId: bigint, id: bigint): Promise<Delivery | undefined>;
  /** The oldest first; of one organization, or all. */
  eventsSince(organizationId: bigint | undefined, since: Date, limit: number): Promise<RecordedChange[]>;
  /** Queues the deliveries that there were not yet, and those of these events again. Returns how many it queued. */
  againSince(webhookId: bigint, deliveries: readonly NewDelivery[], events: readonly string[]): Promise<number>;
}

interface DeliveryParts {
  readonly store: WebhookDeliveryStore;
  readonly sight: WebhookSight;
  readonly send: SendWebhook;
  readonly secretsOf: (webhook: Webhook, now: Date) => Promise<Buffer[]>;
  readonly signingKeys: () => Promise<KeyObject[]>;
  readonly current: () => Promise<void>;
  readonly baseUrl: () => string;
  /** For how many days events are kept. */
  readonly eventDays: number;
}

/** Who looks at deliveries: they see of them what they could see in `GET /events`. */
type Viewer = Pick<WebhookCreator, 'id' | 'scopes'>;

export type WebhookDeliveries = ReturnType<typeof createWebhookDeliveries>;

const DAY_MS = 86_400_000;
/** A list is counted up to here. */
const MAX_COUNTED = 10_000;
const MARKS_AT_ONCE = 2000;

/** What was sent to a webhook, and how to send it again. */
export function createWebhookDeliveries(parts: DeliveryParts) {
  const { store, sight, send, secretsOf, signingKeys, current, baseUrl, eventDays } = parts;
  return { list, test, redeliver, redeliverSince };

  async function list(
    { id, ownerId }: Webhook,
    viewer: Viewer,
    state: DeliveryState | undefined,
    request: PageRequest,
  ): Promise<Page<Delivery>> {
    const { offset, limit } = request;
    const wanted = Math.max(offset + limit, MAX_COUNTED + 1);
    const onPage: bigint[] = [];
    const isSeen = createDeliverySight(sight, ownerId, viewer);
    let total = 0;
    let marks: readonly DeliveryMark[] = [];
    do {
      marks = await store.marks(id, state, marks.at(-1)?.id, MARKS_AT_ONCE);
      const seen = await isSeen(marks);
      onPage.push(...seen.slice(Math.max(0, offset - total), Math.max(0, offset + limit - total)));
      total += seen.length;
    } while (marks.length === MARKS_AT_ONCE && total < wanted);
    const items = onPage.length === 0 ? [] : await store.some(id, onPage);
    return { total: Math.min(total, wanted), items, isBounded: total > MAX_COUNTED };
  }

  async function test(webhook: Webhook, organization: Organization | undefined): Promise<WebhookAnswer> {
    const at = new Date();
    const about = { id: `test_${randomUUID()}`, format: webhook.format };
    const { id, body, contentType } = testMessage(about, organization ?? null, baseUrl(), at);
    const secrets = await secretsOf(webhook, at);
    const signed = signatureHeaders({ id, body, at }, { secrets, privateKeys: await signingKeys() });
    return await send({ url: webhook.url, headers: { 'Content-Type': contentType, ...signed }, body });
  }

  async function redeliver(webhook: Webhook, viewer: Viewer, deliveryId: bigint): Promise<Delivery> {
    requireActive(webhook);
    const delivery = await store.get(webhook.id, deliveryId);
    const isSeen = createDeliverySight(sight, webhook.ownerId, viewer);
    const [seen] = delivery ? await isSeen([{ ...delivery, isReset: delivery.objectKind === RESET_KIND }]) : [];
    const queued = seen !== undefined && (await store.again(webhook.id, deliveryId));
    if (!queued) throw new AppError('notFound', 'delivery does not exist', { reason: 'delivery_not_found' });
    return queued;
  }

  /** Returns how many events were queued. */
  async function redeliverSince(webhook: Webhook, since: Date, now: Date): Promise<number> {
    requireActive(webhook);
    const kept = new Date(now.getTime() - eventDays * DAY_MS);
    if (since < kept) {
      const message = `since must not be before ${kept.toISOString()}, from when on events are kept`;
      throw new AppError('malformed', message, { reason: 'before_events', errors: [{ field: 'since', message }] });
    }
    await current();
    const { id, ownerId, creator, types } = webhook;
    const changes = await store.eventsSince(ownerId === PLATFORM ? undefined : ownerId, since, MAX_QUEUE + 1);
    if (changes.length > MAX_QUEUE) {
      const message = `more than ${MAX_QUEUE} events have happened since then: name a later time`;
      throw new AppError('malformed', message, { errors: [{ field: 'since', message }] });
    }
    const seen = (await sight.isEntitled(ownerId, creator)) ? await sight.of(ownerId, creator, changes) : new Map();
    const deliveries = changes.flatMap((change): NewDelivery[] => {
      const one = seen.get(change);
      if (!one || !isWanted(types, one.type, one.kind)) return [];
      return [{ webhookId: id, change, type: one.type, objectKind: one.kind }];
    });
    const events = deliveries.map(({ change }) => eventId(change));
    return await store.againSince(id, deliveries, events);
  }
}

function requireActive({ active }: Webhook): void {
  if (active) return;
  const message = 'the webhook is not active: activate it first';
  throw new AppError('conflict', message, { reason: 'webhook_inactive' });
}
