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
import type { WebhookSight } from './webhook-sight.ts';
import { isWanted } from './webhook-types.ts';

export interface WebhookDeliveryStore {
  /** Newest first. */
  list(webhookId: bigint, state: DeliveryState | undefined, request: PageRequest): Promise<Page<Delivery>>;
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
  readonly signingKey: () => Promise<KeyObject>;
  readonly current: () => Promise<void>;
  readonly baseUrl: () => string;
  /** For how many days events are kept. */
  readonly eventDays: number;
}

/** Who looks at deliveries: they see of them what they could see in `GET /events`. */
type Viewer = Pick<WebhookCreator, 'id' | 'scopes'>;

export type WebhookDeliveries = ReturnType<typeof createWebhookDeliveries>;

const DAY_MS = 86_400_000;

/** What was sent to a webhook, and how to send it again. */
export function createWebhookDeliveries(parts: DeliveryParts) {
  const { store, sight, send, secretsOf, signingKey, current, baseUrl, eventDays } = parts;
  return { list, test, redeliver, redeliverSince };

  async function list(
    { id, ownerId }: Webhook,
    viewer: Viewer,
    state: DeliveryState | undefined,
    request: PageRequest,
  ): Promise<Page<Delivery>> {
    const { total, items } = await store.list(id, state, request);
    return { total, items: await visible(ownerId, viewer, items) };
  }

  async function test(webhook: Webhook, organization: Organization | undefined): Promise<WebhookAnswer> {
    const at = new Date();
    const about = { id: `test_${randomUUID()}`, format: webhook.format };
    const { id, body, contentType } = testMessage(about, organization ?? null, baseUrl(), at);
    const secrets = await secretsOf(webhook, at);
    const signed = signatureHeaders({ id, body, at }, { secrets, privateKey: await signingKey() });
    return await send({ url: webhook.url, headers: { 'Content-Type': contentType, ...signed }, body });
  }

  async function redeliver(webhook: Webhook, viewer: Viewer, deliveryId: bigint): Promise<Delivery> {
    requireActive(webhook);
    const delivery = await store.get(webhook.id, deliveryId);
    const [seen] = delivery ? await visible(webhook.ownerId, viewer, [delivery]) : [];
    const queued = seen && (await store.again(webhook.id, deliveryId));
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

  async function visible(ownerId: bigint, viewer: Viewer, deliveries: readonly Delivery[]): Promise<Delivery[]> {
    const seen = await sight.of(
      ownerId,
      viewer,
      deliveries.map(({ change }) => change),
    );
    return deliveries.filter(({ change, objectKind }) => objectKind === RESET_KIND || seen.has(change));
  }
}

function requireActive({ active }: Webhook): void {
  if (active) return;
  const message = 'the webhook is not active: activate it first';
  throw new AppError('conflict', message, { reason: 'webhook_inactive' });
}
