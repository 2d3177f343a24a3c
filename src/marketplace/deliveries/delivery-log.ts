import type { Actor } from '../../changes/audit-entry.ts';
import type { MarketplaceName } from '../marketplaces.ts';
import type { RejectionReason } from '../notifications/rejection.ts';
import type { Delivery } from './deliveries.ts';

/** A delivery as the operator sees it. */
export interface DeliveryLogEntry {
  readonly id: bigint;
  readonly marketplace: MarketplaceName;
  readonly subject: string;
  readonly eventType: string;
  readonly eventTime: string;
  readonly state: Delivery['state'];
  readonly reason: string;
  readonly status: number | null;
  readonly message: string | null;
  readonly source: string;
  readonly requestId: string;
  readonly times: number;
  readonly attempts: number;
  readonly receivedAt: Date;
  readonly lastAt: Date;
  readonly doneAt: Date | null;
  /** Null unless it is unfinished. */
  readonly nextTryAt: Date | null;
  readonly links: DeliveryLinks;
}

/** What the delivery is about, as far as it exists. */
export interface DeliveryLinks {
  readonly installer: string | null;
  /** What that installer is bound to. */
  readonly organizationId: bigint | null;
  readonly contractId: bigint | null;
  readonly subscriptionId: bigint | null;
}

export interface DeliveryLogFilter {
  readonly marketplace?: MarketplaceName | undefined;
  readonly state?: string | undefined;
  readonly reason?: string | undefined;
  /** Part of the subject, such as an application or an installer. */
  readonly text?: string | undefined;
  /** The whole subject. */
  readonly subject?: string | undefined;
  /** When it arrived: from this time on, and before that one. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

export interface DeliveryLogSearch extends DeliveryLogFilter {
  /** Only deliveries with a lower ID. */
  readonly before?: bigint | undefined;
  readonly limit: number;
}

/** What can still be acted on: deliveries that were understood and are not done. */
export interface UnfinishedSearch extends DeliveryLogFilter {
  /** Only deliveries with a higher ID. */
  readonly after?: bigint | undefined;
}

/** With the notification, checked and without secrets. It is null if the body was unreadable or too large to keep. */
export interface DeliveryLogDetail extends DeliveryLogEntry {
  readonly notification: string | null;
}

/** Rejected requests from callers that proved nothing, counted per day. */
export interface RejectionCount {
  readonly marketplace: MarketplaceName;
  readonly reason: RejectionReason;
  readonly source: string;
  readonly times: number;
  readonly lastAt: Date;
}

export interface DeliveryLogStore {
  list(search: DeliveryLogSearch): Promise<DeliveryLogEntry[]>;
  get(id: bigint): Promise<DeliveryLogDetail | undefined>;
  /** Oldest first. */
  unfinished(search: UnfinishedSearch, limit: number): Promise<bigint[]>;
  countUnfinished(search: UnfinishedSearch): Promise<number>;
  rejections(limit: number): Promise<RejectionCount[]>;
  /**
   * Marks one delivery to be acted on again, with an audit entry. Returns false if it is done or could not be
   * understood.
   */
  revive(id: bigint, actor: Actor): Promise<boolean>;
  /** Of each marketplace and day, at most `maxSources` are told apart. */
  addRejections(counts: readonly RejectionCount[], maxSources: number): Promise<void>;
  /** Deletes deliveries that were rejected before the first time, or done or given up before the second. */
  prune(rejectedBefore: Date, doneBefore: Date): Promise<void>;
}

export type DeliveryLog = ReturnType<typeof createDeliveryLog>;

const DAY_MS = 86_400_000;
const KEEP_REJECTED_MS = 30 * DAY_MS;
/** Also what was given up: an operator who has not retried it for a year will not. */
const KEEP_DONE_MS = 400 * DAY_MS;
const MAX_SOURCES = 1000;
/** The source under which all sources are counted that are too many to be told apart. */
export const OTHERS = 'others';

interface DeliveryLogOptions {
  readonly maxSources: number;
  /** Called from time to time with the number of rejected deliveries that were not kept. */
  readonly warn: (marketplace: MarketplaceName, times: number) => void;
}

/**
 * What arrived, what came of it and why. Callers that proved nothing are counted in memory and written in batches,
 * never one by one.
 */
export function createDeliveryLog(store: DeliveryLogStore, { maxSources, warn }: DeliveryLogOptions) {
  let counts = new Map<string, RejectionCount>();
  let unkept = new Map<MarketplaceName, number>();
  return { list: store.list, get: store.get, rejections: store.rejections, countRejection, countUnkept, flush, prune };

  function countRejection(marketplace: MarketplaceName, reason: RejectionReason, from: string, now: Date): void {
    const known = [marketplace, reason, from].join(' ');
    const source = counts.has(known) || counts.size < MAX_SOURCES ? from : OTHERS;
    const key = [marketplace, reason, source].join(' ');
    const times = (counts.get(key)?.times ?? 0) + 1;
    counts.set(key, { marketplace, reason, source, times, lastAt: now });
  }

  /** A rejected delivery that is not kept is counted like a caller that proved nothing. */
  function countUnkept(marketplace: MarketplaceName, reason: RejectionReason, from: string, now: Date): void {
    unkept.set(marketplace, (unkept.get(marketplace) ?? 0) + 1);
    countRejection(marketplace, reason, from, now);
  }

  async function flush(): Promise<void> {
    for (const [marketplace, times] of unkept) warn(marketplace, times);
    unkept = new Map();
    if (counts.size === 0) return;
    const written = counts;
    counts = new Map();
    await store.addRejections([...written.values()], maxSources);
  }

  async function prune(now: Date): Promise<void> {
    await store.prune(new Date(now.getTime() - KEEP_REJECTED_MS), new Date(now.getTime() - KEEP_DONE_MS));
  }
}
