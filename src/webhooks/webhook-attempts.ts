import type { KeyObject } from 'node:crypto';
import type { SendWebhook, WebhookAnswer } from '../base/outbound/webhook-requests.ts';
import { inBatches } from '../base/scheduling/batches.ts';
import { signatureHeaders } from '../base/signature-headers.ts';
import type { Revisions } from '../changes/revision.ts';
import type { Vault } from '../vault/vault.ts';
import { type Delivery, type DisabledReason, RESET_KIND } from './webhook.ts';
import { messageOf, type WebhookMessage } from './webhook-message.ts';
import type { SendingWebhook, Settled, WebhookQueueStore } from './webhook-queue.ts';
import { retryWait } from './webhook-retries.ts';
import type { WebhookSight } from './webhook-sight.ts';
import { secretIdentity } from './webhooks.ts';

interface AttemptParts {
  readonly store: Pick<WebhookQueueStore, 'settle'>;
  readonly sight: WebhookSight;
  readonly revisions: Pick<Revisions, 'current'>;
  readonly vault: Pick<Vault, 'open'>;
  readonly signingKeys: () => Promise<KeyObject[]>;
  readonly send: SendWebhook;
  readonly baseUrl: () => string;
  readonly observe: (result: 'delivered' | 'failed' | 'withheld') => void;
}

export interface Outcome {
  /** Delivered, withheld or given up: the next event of the object may follow. */
  readonly isFinal: boolean;
  readonly isAccepted: boolean;
  /** The webhook is to be disabled. */
  readonly disabled?: DisabledReason | undefined;
}

const GONE = 410;
const STORES_AT_ONCE = 2;

/** One attempt to deliver one event. */
export function createWebhookAttempts(parts: AttemptParts) {
  const { store, sight, revisions, vault, signingKeys, send, baseUrl, observe } = parts;
  const opened = new Map<string, Buffer>();
  const settle = inBatches<Settled, void>(
    async (settled) => {
      await store.settle(settled);
      return settled.map(() => undefined);
    },
    { concurrency: STORES_AT_ONCE, maxSize: 500 },
  );
  return { make };

  async function make(webhook: SendingWebhook, delivery: Delivery, signal: AbortSignal): Promise<Outcome> {
    await revisions.current();
    const { ownerId, creator, format } = webhook;
    if (!(await sight.isEntitled(ownerId, creator))) {
      return { isFinal: true, isAccepted: false, disabled: 'creator' };
    }
    const isReset = delivery.objectKind === RESET_KIND;
    const { change, id } = delivery;
    if (!isReset && !(await sight.of(ownerId, creator, [change])).has(change)) {
      await settle({ id, state: 'withheld', at: new Date() });
      observe('withheld');
      return { isFinal: true, isAccepted: false };
    }
    const at = new Date();
    const answer = await sendSigned(webhook, messageOf(delivery, format, baseUrl()), at, signal);
    // The server stops: the next process that sends repeats it.
    if (signal.aborted) return { isFinal: false, isAccepted: false };
    return await settled(delivery, answer, at);
  }

  async function settled(delivery: Delivery, answer: WebhookAnswer, at: Date): Promise<Outcome> {
    const { status, error, durationMs, retryAfterMs } = answer;
    const attempt = { at, status, error, durationMs };
    if (error === null) {
      await settle({ id: delivery.id, state: 'delivered', attempt, at });
      observe('delivered');
      return { isFinal: true, isAccepted: true };
    }
    observe('failed');
    const firstAttemptAt = delivery.firstAttemptAt ?? at;
    const wait = { tries: delivery.tries + 1, firstAttemptAt, now: new Date(), retryAfterMs, random: Math.random() };
    const waitMs = status === GONE ? undefined : retryWait(wait);
    await settle({ id: delivery.id, state: waitMs === undefined ? 'failed' : 'pending', attempt, at, waitMs });
    if (waitMs !== undefined) return { isFinal: false, isAccepted: false };
    return { isFinal: true, isAccepted: false, disabled: status === GONE ? 'gone' : 'failing' };
  }

  async function sendSigned(webhook: SendingWebhook, message: WebhookMessage, at: Date, signal: AbortSignal) {
    const { id, body, contentType } = message;
    const secrets = await secretsOf(webhook, at);
    const signed = signatureHeaders({ id, body, at }, { secrets, privateKeys: await signingKeys() });
    return await send({ url: webhook.url, headers: { 'Content-Type': contentType, ...signed }, body }, signal);
  }

  async function secretsOf({ ownerId, uid, secrets }: SendingWebhook, now: Date): Promise<Buffer[]> {
    const valid = secrets.filter(({ until }) => until === null || until > now);
    return await Promise.all(
      valid.map(async ({ sealed }) => {
        const key = `${uid} ${sealed.toString('base64')}`;
        const secret = opened.get(key) ?? (await vault.open(ownerId, secretIdentity(uid), sealed));
        if (opened.size > 10_000) opened.clear();
        opened.set(key, secret);
        return secret;
      }),
    );
  }
}
