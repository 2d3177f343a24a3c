import type { AttemptError } from '../base/outbound/webhook-requests.ts';
import type { RecordedChange } from '../events/visible-changes.ts';

export const WEBHOOK_FORMATS = ['standard', 'cloudevents'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** Why a webhook is not active, unless a user turned it off. */
export const DISABLED_REASONS = ['failing', 'gone', 'creator', 'restored'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export interface WebhookDraft {
  /** Unique in its organization, in which case does not matter. */
  readonly name: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly format: WebhookFormat;
  readonly active: boolean;
}

/** Whose rights count: who last changed what is sent, or where to, and the scopes of the token that they used. */
export interface WebhookCreator {
  /** A user, or a robot as the number of changes/principal.ts. */
  readonly id: bigint;
  readonly name: string;
  readonly scopes: readonly string[];
}

export interface Webhook extends WebhookDraft {
  readonly id: bigint;
  /** Binds its sealed secrets to it. */
  readonly uid: string;
  /** PLATFORM if it is of the deployment. */
  readonly ownerId: bigint;
  readonly disabledReason: DisabledReason | null;
  readonly disabledAt: Date | null;
  readonly creator: WebhookCreator;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastDeliveryAt: Date | null;
  readonly version: number;
}

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'withheld'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface Attempt {
  readonly at: Date;
  readonly status: number | null;
  readonly error: AttemptError | null;
  readonly durationMs: number;
}

/** An event on its way to one webhook. */
export interface Delivery {
  readonly id: bigint;
  readonly webhookId: bigint;
  readonly event: string;
  readonly type: string;
  readonly change: RecordedChange;
  /** What events call that which changed; `events` for an `events.reset`. */
  readonly objectKind: string;
  /** Why events were dropped. */
  readonly resetReason: string | null;
  readonly state: DeliveryState;
  readonly attempts: readonly Attempt[];
  readonly tries: number;
  readonly firstAttemptAt: Date | null;
  readonly nextAttemptAt: Date;
  readonly createdAt: Date;
}

/** An event that is to be delivered to a webhook. */
export interface NewDelivery {
  readonly webhookId: bigint;
  readonly change: RecordedChange;
  readonly type: string;
  readonly objectKind: string;
}

/** What a message is about if events were dropped: no object, but everything. */
export const RESET_KIND = 'events';
export const RESET_TYPE = 'events.reset';

/** The queue of one webhook. */
export const MAX_QUEUE = 10_000;
