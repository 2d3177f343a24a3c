import type { Actor } from '../changes/audit-entry.ts';
import type { Moment } from '../changes/revision.ts';
import type { RecordedChange } from '../events/visible-changes.ts';
import type { Attempt, Delivery, DeliveryState, DisabledReason, NewDelivery, Webhook } from './webhook.ts';
import type { SealedSecret } from './webhooks.ts';

/** A webhook as the process that sends knows it. */
export interface SendingWebhook extends Webhook {
  /** It hears of newer changes. */
  readonly sinceRevision: bigint;
  /** Its events are kept from then on, also while it is not active. */
  readonly madeRevision: bigint;
  /** Events were dropped, and its receiver was not told yet. */
  readonly resetReason: string | null;
  readonly secrets: readonly SealedSecret[];
  /** Null if it is of the deployment. */
  readonly organizationName: string | null;
}

/** A webhook, and what this process has under way for it. */
export interface Outlet {
  webhook: SendingWebhook;
  queued: number;
  readonly underWay: Set<bigint>;
  /** The last attempt failed. */
  isFailing: boolean;
  /** Nothing is sent before. */
  restsUntil: number;
}

/** This process sends until the lease ends. */
export interface Lease {
  /** All changes up to here have been looked at. */
  readonly revision: bigint;
  readonly stamp: string | null;
  /** Differs if something was queued by a request. */
  readonly poke: bigint;
}

export interface ChangePage {
  /** How far the page goes. */
  readonly until: Moment;
  /** The stamp of the revision after which it begins; undefined if that is pruned, or was never there. */
  readonly stampThen: string | undefined;
  readonly changes: readonly RecordedChange[];
  readonly isMore: boolean;
  /** A revision has more changes than can be read. */
  readonly isLost: boolean;
}

/** What came of an attempt. */
export interface Settled {
  readonly id: bigint;
  readonly state: DeliveryState;
  /** Absent if nothing was sent. */
  readonly attempt?: Attempt | undefined;
  readonly at: Date;
  /** Until the next attempt. */
  readonly waitMs?: number | undefined;
}

export interface Queued {
  /** Kept for a while, to be sent again. */
  readonly events: readonly RecordedChange[];
  readonly deliveries: readonly NewDelivery[];
  /** The webhooks whose events were dropped, by reason. */
  readonly resets: readonly (readonly [string, readonly bigint[]])[];
}

export interface WebhookQueueStore {
  webhooks(): Promise<SendingWebhook[]>;
  /** Undefined if another process holds it. */
  lease(holder: string, ms: number): Promise<Lease | undefined>;
  release(holder: string): Promise<void>;
  page(after: bigint, max: number): Promise<ChangePage>;
  /**
   * In one transaction, so that no change is lost and none is queued twice. Returns the webhooks whose queues grew, once
   * for each delivery; undefined if another process sends by now.
   */
  advance(holder: string, from: bigint, to: Moment, queued: Queued): Promise<bigint[] | undefined>;
  /** Queues `events.reset` for those that are owed one. Returns those whose queue grew. */
  sendResets(webhookIds: readonly bigint[]): Promise<bigint[]>;
  /** How much waits, by webhook. */
  counts(): Promise<Map<bigint, number>>;
  /** The messages that are due, at most so many for each webhook, in order. */
  due(wanted: readonly (readonly [bigint, number])[], without: readonly bigint[]): Promise<Delivery[]>;
  settle(settled: readonly Settled[]): Promise<void>;
  delivered(webhookIds: readonly bigint[]): Promise<void>;
  /** False if it was not active any more. What waits is given up. */
  disable(id: bigint, reason: DisabledReason, actor: Actor): Promise<boolean>;
  prune(eventDays: number): Promise<void>;
}
