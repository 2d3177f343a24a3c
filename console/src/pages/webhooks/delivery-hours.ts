import type { Item } from '../../../../client/client.ts';

type Delivery = Item<'GET /orgs/{org}/webhooks/{id}/deliveries'>;
type WebhookState = Delivery['state'];

/** The deliveries that were created in one span of time. */
export interface DeliverySpan {
  readonly from: number;
  readonly until: number;
  readonly counts: Readonly<Record<WebhookState, number>>;
  readonly total: number;
}

/** From the bottom to the top. */
export const STACK: readonly WebhookState[] = ['delivered', 'pending', 'withheld', 'failed'];

const HOUR_MS = 3_600_000;
/** An hour, or as few hours as make a picture that can be read. */
const SPANS_H = [1, 6, 24];
const MAX_SPANS = 48;
/** Fewer hours would be blocks, not bars. */
const MIN_HOURS = 24;

/** By the hour of UTC in which they were created, from the oldest of them until now, at least a day; also the hours without any. */
export function deliverySpans(
  deliveries: readonly Pick<Delivery, 'state' | 'created_at'>[],
  now: number,
): readonly DeliverySpan[] {
  if (deliveries.length === 0) return [];
  const moments = deliveries.map(({ created_at }) => Date.parse(created_at));
  const [oldest, newest] = [Math.min(...moments), Math.max(now, ...moments)];
  const fits = (hours: number) => (newest - oldest) / (hours * HOUR_MS) <= MAX_SPANS;
  const span = (SPANS_H.find(fits) ?? SPANS_H.at(-1) ?? 1) * HOUR_MS;
  const last = Math.floor(newest / span);
  const first = Math.min(Math.floor(oldest / span), last + 1 - MIN_HOURS / (span / HOUR_MS));
  return Array.from({ length: last - first + 1 }, (_, place) => {
    const from = (first + place) * span;
    const inside = deliveries.filter((_one, index) => Math.floor((moments[index] ?? 0) / span) === first + place);
    const count = (state: WebhookState) => inside.filter((one) => one.state === state).length;
    const counts = {
      delivered: count('delivered'),
      pending: count('pending'),
      withheld: count('withheld'),
      failed: count('failed'),
    };
    return { from, until: from + span, counts, total: inside.length };
  });
}
