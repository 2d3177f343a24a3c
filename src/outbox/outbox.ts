/**
 * The outbox: events that a transaction writes to a table of its own feature, and that are sent after its commit.
 *
 * 1. Every event is sent at least once, by one replica at a time: taking an event puts it off by the lease.
 * 2. An event keeps its `uid` with every attempt, so that receivers can recognize a repetition.
 * 3. After the last attempt an event is dead: it is kept for administrators and not sent again.
 *
 * A feature has a table with the columns of `outbox.store.ts`, and a function that sends an event of it.
 */

/** An event that waits to be sent. */
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

/** When an event that could not be sent is sent again. The wait doubles with every attempt. */
export interface Retries {
  /** The time that a replica has for sending what it took. */
  readonly leaseMs: number;
  readonly firstMs: number;
  readonly maxMs: number;
  readonly maxAttempts: number;
}

export interface OutboxStore {
  /** Newest first. */
  list(search: OutboxSearch): Promise<OutboxEntry[]>;
  /** Takes events that are due `laterMs` from now, and puts them off so that no other replica sends them meanwhile. */
  take(laterMs: number, limit: number, retries: Retries): Promise<OutgoingEvent[]>;
  sent(id: bigint): Promise<void>;
  /** The next attempt is due after `waitMs`, which is undefined after the last one. */
  failed(id: bigint, waitMs: number | undefined): Promise<void>;
  /** Deletes events that were sent before the first time, or given up before the second. */
  prune(sentBefore: Date, deadBefore: Date): Promise<void>;
}

/** Sends one event; throws if the receiver does not accept it. */
export type SendEvent = (event: OutgoingEvent) => Promise<void>;

interface OutboxOptions {
  readonly retries?: Retries;
}

export type Outbox = ReturnType<typeof createOutbox>;

const BATCH = 20;
/** The last of twelve attempts is about four and a half hours after the first. */
export const RETRIES: Retries = { leaseMs: 60_000, firstMs: 10_000, maxMs: 3_600_000, maxAttempts: 12 };
const DAY_MS = 86_400_000;
const KEEP_SENT_MS = 30 * DAY_MS;
const KEEP_DEAD_MS = 400 * DAY_MS;

/**
 * Sends every event of a store at least once. Without `send`, no receiver is configured: events that were written for a
 * receiver that is gone are only marked as sent.
 */
export function createOutbox(
  store: OutboxStore,
  send: SendEvent | undefined,
  { retries = RETRIES }: OutboxOptions = {},
) {
  let isStopped = false;
  return { relay, list: store.list, prune, stop };

  async function relay(laterMs = 0): Promise<void> {
    for (let isMore = true; isMore && !isStopped; ) {
      const due = await store.take(laterMs, BATCH, retries);
      for (const event of due) if (!isStopped) await attempt(event);
      isMore = due.length === BATCH;
    }
  }

  async function prune(now: Date): Promise<void> {
    await store.prune(new Date(now.getTime() - KEEP_SENT_MS), new Date(now.getTime() - KEEP_DEAD_MS));
  }

  /** Events that were taken and not sent are sent after the next start. */
  function stop(): void {
    isStopped = true;
  }

  async function attempt(event: OutgoingEvent): Promise<void> {
    try {
      await send?.(event);
    } catch {
      const attempts = event.attempts + 1;
      const waitMs = Math.min(retries.maxMs, retries.firstMs * 2 ** attempts);
      await store.failed(event.id, attempts < retries.maxAttempts ? waitMs : undefined);
      return;
    }
    await store.sent(event.id);
  }
}

export function stateOfEvent({ sentAt, deadAt }: OutboxEntry): EventState {
  if (sentAt !== null) return 'sent';
  return deadAt === null ? 'waiting' : 'dead';
}
