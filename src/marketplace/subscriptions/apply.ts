import { type EventTime, eventTimeOf } from '../notifications/event-time.ts';
import type { Notification } from '../notifications/notification.ts';
import { forbidden, invalid } from '../notifications/rejection.ts';
import { type BindingSetting, bindInstaller } from './binding.ts';
import type { DeliveryTransaction, Installer, Subscription, SubscriptionDraft } from './delivery-transaction.ts';
import { boundAt, isLate, isLeaving, isMadeSince, lifecycleStep, type Standing } from './lifecycle.ts';

/** The outcome of a delivery: a code for the delivery log, and the installer whose link the answer contains. */
export interface Outcome {
  readonly reason: 'applied' | 'superseded' | 'unknown_state' | 'bound';
  readonly installer?: Installer;
}

/** A notification to act on, and its time of arrival. */
export interface DeliveryContext {
  readonly notification: Notification;
  readonly adminPasswordHash: string | null;
  readonly receivedAt: Date;
  /**
   * The delivery was done before: it is answered again and changes nothing, except that a bind without a time can
   * reinstate a contract.
   */
  readonly isRepeat: boolean;
}

export type Apply = (transaction: DeliveryTransaction, context: DeliveryContext) => Promise<Outcome>;

/** What each kind of notification does: a bind, or a lifecycle report on a subscription. */
export function createApply(setting: BindingSetting): Apply {
  return async (transaction, { notification, adminPasswordHash, receivedAt, isRepeat }) => {
    const { application, binding } = notification;
    if (application === null) {
      if (binding === null) throw invalid('invalid_binding', 'bindingInfo is required');
      const request = { notification, info: binding, adminPasswordHash, subscription: undefined, reinstates: false };
      const installer = await bindInstaller(transaction, request, setting);
      return { reason: 'bound', installer };
    }
    const arrival = eventTimeOf(receivedAt);
    const eventTime = notification.eventTime ?? arrival;
    const current = await transaction.subscription(notification.marketplace, application.key);
    if (binding === null) return await report(transaction, notification, current, eventTime);
    if (current && isLeaving(current.state)) {
      throw invalid('subscription_deleted', 'the subscription is deleted: nothing can be bound to it');
    }
    const draft = draftOf(notification, boundAt(eventTime));
    const subscription = current ?? (await transaction.addSubscription(draft));
    // A bind without a time can be sent again with a new meaning, if the application was created again since the first
    // one.
    const isNew = !isRepeat || (notification.eventTime === null && isMadeSince(subscription, arrival));
    const request = { notification, info: binding, adminPasswordHash, subscription, reinstates: isNew };
    const installer = await bindInstaller(transaction, request, setting);
    if (!isRepeat && current && !isLate(draft, current)) await transaction.moveSubscription(current, draft);
    return { reason: 'bound', installer };
  };
}

async function report(
  transaction: DeliveryTransaction,
  notification: Notification,
  current: Subscription | undefined,
  eventTime: EventTime,
): Promise<Outcome> {
  const { eventType, provisioningState, application } = notification;
  if (eventType === 'DELETE' && !current) throw forbidden('subscription_unknown', 'the subscription is not known');
  const next = lifecycleStep(current, { eventType, provisioningState, eventTime });
  if (typeof next === 'string') return { reason: next };
  const draft = draftOf(notification, next);
  if (current) await transaction.moveSubscription(current, draft);
  else await transaction.addSubscription(draft);
  const about = { application: application?.text ?? '', state: next.state };
  if (next.state !== current?.state) transaction.announce({ type: 'subscription.changed', data: about });
  if (next.revokes && current && (await transaction.revokeContracts(current.id)) > 0) {
    transaction.announce({ type: 'subscription.revoked', data: about });
  }
  return { reason: 'applied' };
}

function draftOf(notification: Notification, standing: Standing): SubscriptionDraft {
  const { marketplace, application, plan, resourceUsageId } = notification;
  if (application === null) throw invalid('invalid_subscription', 'applicationId is required');
  const { state, eventTime, eventRank } = standing;
  return { marketplace, application, plan, resourceUsageId, state, eventTime, eventRank };
}
