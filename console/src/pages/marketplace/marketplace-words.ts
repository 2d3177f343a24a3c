import type { Answer, Item } from '../../../../client/client.ts';
import type { Tone } from '../../parts/bits.tsx';

export type Delivery = Item<'GET /admin/marketplace/deliveries'>;
export type Installer = Item<'GET /admin/marketplace/installers'>;
export type Subscription = Item<'GET /admin/marketplace/subscriptions'>;
export type Summary = Answer<'GET /admin/marketplace/summary'>;

export const MARKETPLACES = [
  { value: '', label: 'All marketplaces' },
  { value: 'CloudA', label: 'CloudA' },
  { value: 'CloudB', label: 'CloudB' },
  { value: 'CloudC', label: 'CloudC' },
] as const;

interface StateWords {
  readonly label: string;
  readonly tone: Tone;
}

export const DELIVERY_STATES: Readonly<Record<string, StateWords>> = {
  received: { label: 'Waiting', tone: 'warn' },
  done: { label: 'Done', tone: 'ok' },
  refused: { label: 'Refused', tone: 'info' },
  dead: { label: 'Given up', tone: 'bad' },
};

export const INSTALLER_STATES: Readonly<Record<Installer['state'], StateWords & { readonly about: string }>> = {
  unbound: { label: 'Free', tone: 'info', about: 'A customer can bind it once.' },
  bound: { label: 'Bound', tone: 'ok', about: 'A customer has bound it.' },
  expired: { label: 'Expired', tone: 'warn', about: 'It was not bound in time, and cannot be any more.' },
  spent: {
    label: 'Spent',
    tone: 'quiet',
    about: 'Its organization or contract was deleted. It can never be used again.',
  },
};

export const SUBSCRIPTION_STATES: Readonly<Record<Subscription['state'], StateWords>> = {
  Pending: { label: 'Pending', tone: 'info' },
  Running: { label: 'Running', tone: 'ok' },
  Failed: { label: 'Failed', tone: 'bad' },
  Bound: { label: 'Bound', tone: 'ok' },
  Deleting: { label: 'Deleting', tone: 'warn' },
  DeletionFailed: { label: 'Deletion failed', tone: 'bad' },
  Deleted: { label: 'Deleted', tone: 'quiet' },
};

const BODY = 'The body of the notification is wrong; the message says what. The marketplace has to correct it.';

/** What a reason means, and what the operator of the deployment can do about it. */
const REASONS: Readonly<Record<string, string>> = {
  applied: 'It changed the state of the subscription.',
  bound: 'It bound an installer, and the customer got a link.',
  superseded: 'A newer event about the same subscription had arrived before. It changed nothing.',
  unknown_state: 'It was recorded, and has no effect.',
  failed: 'The server could not process it. It tries again by itself; the log of the server has the error.',
  secret_mismatch:
    'The address that is registered at the marketplace has another secret. Correct it there, or add that secret here.',
  ip_outside_ranges:
    'It came from an address that is not published. Add the customer to CLOUD_A_ALLOW, or your load balancer to TRUSTED_PROXIES.',
  already_bound: 'The customer has used this installer before. Give them a new link, or a new installer.',
  bound_elsewhere: 'Another subscription has used this installer. Give the customer a new installer.',
  installer_unknown: 'No such installer exists. Create one, and give its ID to the customer.',
  installer_expired: 'The installer expired, or its organization was deleted. Create a new one.',
  subscription_unknown: 'A subscription was deleted that was never announced. Nothing has to be done.',
  subscription_deleted:
    'The installer was to be bound after the subscription had been deleted. The customer has to buy again.',
  unknown_event_type: 'Harmless: marketplaces also report changes that do not matter here, such as a changed tag.',
  invalid_binding: BODY,
  invalid_options: BODY,
  wrong_marketplace: 'The installer belongs to another marketplace. Give the customer one of theirs.',
  invalid_subscription: BODY,
  invalid_event_time: BODY,
  malformed: BODY,
};

export function reasonInWords({ reason, state }: Pick<Delivery, 'reason' | 'state'>): string {
  if (state === 'dead') return 'The server gave up after ten attempts. Mend the cause, then redeliver it.';
  if (state === 'received') return REASONS[reason] ?? 'It is not processed yet. The server tries again by itself.';
  return REASONS[reason] ?? 'The message has the details.';
}

/** Rejections that an operator can do something about; the marketplace does not send them again. */
const MENDABLE = new Set([
  'secret_mismatch',
  'ip_outside_ranges',
  'already_bound',
  'bound_elsewhere',
  'installer_unknown',
  'installer_expired',
  'wrong_marketplace',
]);
const LATE_MS = 60_000;

export function needsAttention({ state, reason, received_at }: Delivery, now = Date.now()): boolean {
  if (state === 'dead') return true;
  if (state === 'received') return now - Date.parse(received_at) > LATE_MS;
  return state === 'refused' && MENDABLE.has(reason);
}

/** The application or the installer that a subject names, without the marketplace in front of it. */
export function keyOf(subject: string): string {
  return subject.slice(subject.indexOf(':') + 1);
}

/** Applications have long IDs whose last part is what people call them. */
export function shortSubject(subject: string): string {
  return (
    keyOf(subject)
      .split('/')
      .findLast((part) => part !== '') ?? ''
  );
}

const QUIET_MS = 3 * 86_400_000;

/** Marketplaces that were heard of, and have been silent for days. */
export function silentMarketplaces({ marketplaces }: Summary, now = Date.now()): Summary['marketplaces'] {
  return marketplaces.filter(({ last_delivery_at: at }) => at !== null && now - Date.parse(at) > QUIET_MS);
}
