import type { EventTime } from '../notifications/event-time.ts';

export const SUBSCRIPTION_STATES = [
  'Pending',
  'Running',
  'Failed',
  'Bound',
  'Deleting',
  'DeletionFailed',
  'Deleted',
] as const;
/** The state of a subscription of marketplace B. */
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number];

export interface Standing {
  readonly state: SubscriptionState;
  readonly eventTime: EventTime;
  readonly eventRank: number;
}

export interface LifecycleStep extends Standing {
  readonly revokes: boolean;
}

const AFTER: Readonly<Record<string, Readonly<Record<string, SubscriptionState>>>> = {
  // A missing state means that provisioning has at least started.
  PUT: { '': 'Pending', Accepted: 'Pending', Succeeded: 'Running', Failed: 'Failed' },
  DELETE: { '': 'Deleted', Deleting: 'Deleting', Deleted: 'Deleted', Failed: 'DeletionFailed' },
};
const MADE: readonly SubscriptionState[] = ['Pending', 'Running', 'Failed'];
const REVOKING: readonly SubscriptionState[] = ['Deleting', 'Deleted'];
/**
 * Of events with the same time, the state that comes later in the lifecycle wins, so that the order of arrival does not
 * matter. Running and Failed are equal: of these, the one that arrives last wins.
 */
const RANK: Readonly<Record<SubscriptionState, number>> = {
  Pending: -1,
  Running: 0,
  Failed: 0,
  Bound: 1,
  Deleting: 2,
  DeletionFailed: 3,
  Deleted: 4,
};

/** Whether the subscription is being deleted or has been deleted, so that nothing can be bound to it any more. */
export function isLeaving(state: SubscriptionState): boolean {
  return REVOKING.includes(state);
}

/** Whether the marketplace has reported since then that the application is being created, or exists. */
export function isMadeSince(current: Standing, since: EventTime): boolean {
  return MADE.includes(current.state) && current.eventTime > since;
}

/** The effect of a marketplace event: a step, or none because the event is late or its state is unknown. */
export function lifecycleStep(
  current: Standing | undefined,
  event: { readonly eventType: string; readonly provisioningState: string; readonly eventTime: EventTime },
): LifecycleStep | 'superseded' | 'unknown_state' {
  const state = AFTER[event.eventType]?.[event.provisioningState];
  if (state === undefined) return 'unknown_state';
  const next = { state, eventTime: event.eventTime, eventRank: RANK[state], revokes: REVOKING.includes(state) };
  return current && isLate(next, current) ? 'superseded' : next;
}

/**
 * A bind is an action of the customer, not a report: it is valid even if it arrives late, but then the state does not
 * change.
 */
export function boundAt(eventTime: EventTime): Standing {
  return { state: 'Bound', eventTime, eventRank: RANK.Bound };
}

export function isLate(event: Standing, current: Standing): boolean {
  if (event.eventTime !== current.eventTime) return event.eventTime < current.eventTime;
  return event.eventRank < current.eventRank;
}
