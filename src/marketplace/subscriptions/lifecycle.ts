import type { EventTime } from '../notifications/event-time.ts';

/** Where a subscription of marketplace B stands. */
export type SubscriptionState = 'Pending' | 'Running' | 'Failed' | 'Bound' | 'Deleting' | 'DeletionFailed' | 'Deleted';

export interface Standing {
  readonly state: SubscriptionState;
  readonly eventTime: EventTime;
  readonly eventRank: number;
}

export interface Step extends Standing {
  readonly revokes: boolean;
}

const AFTER: Readonly<Record<string, Readonly<Record<string, SubscriptionState>>>> = {
  // Who does not say how far it is has at least begun.
  PUT: { '': 'Pending', Accepted: 'Pending', Succeeded: 'Running', Failed: 'Failed' },
  DELETE: { '': 'Deleted', Deleting: 'Deleting', Deleted: 'Deleted', Failed: 'DeletionFailed' },
};
const MADE: readonly SubscriptionState[] = ['Pending', 'Running', 'Failed'];
const REVOKING: readonly SubscriptionState[] = ['Deleting', 'Deleted'];
/** At the same moment the state that comes last in a life outweighs, so that the order of arrival does not matter. */
const RANK: Readonly<Record<SubscriptionState, number>> = {
  Pending: -1,
  Running: 0,
  Failed: 0,
  Bound: 1,
  Deleting: 2,
  DeletionFailed: 3,
  Deleted: 4,
};

/** Is the subscription on its way out, so that nothing can be bound to it any more? */
export function isLeaving(state: SubscriptionState): boolean {
  return REVOKING.includes(state);
}

/** Has the marketplace reported since then that the application is being made, or is there? */
export function isMadeSince(current: Standing, since: EventTime): boolean {
  return MADE.includes(current.state) && current.eventTime > since;
}

/** What an event of the marketplace does: a step, or nothing because it is late or because we do not know its state. */
export function step(
  current: Standing | undefined,
  event: { readonly eventType: string; readonly provisioningState: string; readonly eventTime: EventTime },
): Step | 'superseded' | 'unknown_state' {
  const state = AFTER[event.eventType]?.[event.provisioningState];
  if (state === undefined) return 'unknown_state';
  const next = { state, eventTime: event.eventTime, eventRank: RANK[state], revokes: REVOKING.includes(state) };
  return current && isLate(next, current) ? 'superseded' : next;
}

/** A bind is the customer's act, not a report: it holds even when it comes late, but then the state stays. */
export function boundAt(eventTime: EventTime): Standing {
  return { state: 'Bound', eventTime, eventRank: RANK.Bound };
}

export function isLate(event: Standing, current: Standing): boolean {
  if (event.eventTime !== current.eventTime) return event.eventTime < current.eventTime;
  return event.eventRank < current.eventRank;
}
