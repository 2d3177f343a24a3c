import { createHmac } from 'node:crypto';
import { traced } from '../../base/tracing/trace.ts';

/** An event that waits to be sent to the receiver that the operator configured. */
export interface OutgoingEvent {
  readonly id: bigint;
  readonly uid: string;
  readonly type: string;
  readonly payload: string;
  readonly createdAt: Date;
  readonly attempts: number;
}

export const EVENT_STATES = ['waiting', 'sent', 'dead'] as const;
export type EventState = (typeof EVENT_STATES)[number];

/** An event as administrators see it. */
export interface OutboxEntry extends OutgoingEvent {
  readonly nextTryAt: Date;
  readonly sentAt: Date | null;
  /** When it was given up. */
  readonly deadAt: Date | null;
}

export interface OutboxSearch {
  readonly state?: EventState | undefined;
  readonly type?: string | undefined;
  /** Only events with a lower ID. */
  readonly before?: bigint | undefined;
  readonly limit: number;
}

export interface OutboxStore {
  /** Newest first. */
  list(search: OutboxSearch): Promise<OutboxEntry[]>;
  /** Takes events that are due `laterMs` from now, and puts them off so that no other replica sends them meanwhile. */
  take(laterMs: number, most: number): Promise<OutgoingEvent[]>;
  sent(id: bigint): Promise<void>;
  /** The next attempt is due after `waitMs`, which is undefined after the last one. */
  failed(id: bigint, waitMs: number | undefined): Promise<void>;
}

/** Sends one event; throws if the receiver does not accept it. */
export type Tell = (event: OutgoingEvent) => Promise<void>;

export type Outbox = ReturnType<typeof createOutbox>;

const AT_ONCE = 20;
const MAX_ATTEMPTS = 12;
export const WAITS = { leaseMs: 60_000, firstMs: 10_000, maxMs: 3_600_000 };

/**
 * Sends every event in the outbox at least once. If no receiver is configured, events are written as sent, and serve as
 * a record; those that were written for a receiver that is gone are only marked.
 */
export function createOutbox(store: OutboxStore, tell: Tell | undefined) {
  let isStopped = false;
  return { relay, list: store.list, stop };

  async function relay(laterMs = 0): Promise<void> {
    for (let isMore = true; isMore && !isStopped; ) {
      const due = await store.take(laterMs, AT_ONCE);
      for (const event of due) if (!isStopped) await hand(event);
      isMore = due.length === AT_ONCE;
    }
  }

  /** What was taken and not sent is sent after the next start. */
  function stop(): void {
    isStopped = true;
  }

  async function hand(event: OutgoingEvent): Promise<void> {
    try {
      await tell?.(event);
    } catch {
      const attempts = event.attempts + 1;
      const waitMs = Math.min(WAITS.maxMs, WAITS.firstMs * 2 ** attempts);
      await store.failed(event.id, attempts < MAX_ATTEMPTS ? waitMs : undefined);
      return;
    }
    await store.sent(event.id);
  }
}

export function stateOfEvent({ sentAt, deadAt }: OutboxEntry): EventState {
  if (sentAt !== null) return 'sent';
  return deadAt === null ? 'waiting' : 'dead';
}

const TIMEOUT_MS = 10_000;

/** A POST signed according to Standard Webhooks, so that receivers can use any of its libraries. */
export function tellByWebhook(url: string, secret: Buffer, now: () => Date = () => new Date()): Tell {
  return async ({ uid, type, payload, createdAt }) => {
    const body = `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(createdAt)},"data":${payload}}`;
    const at = Math.floor(now().getTime() / 1000);
    const signature = createHmac('sha256', secret).update(`${uid}.${at}.${body}`).digest('base64');
    const headers = {
      'Content-Type': 'application/json',
      'webhook-id': uid,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    };
    const answer = await traced('POST event', { 'http.request.method': 'POST' }, (trace) =>
      fetch(url, {
        method: 'POST',
        headers: { ...headers, ...trace },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }),
    );
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`the receiver answered ${answer.status}`);
  };
}
