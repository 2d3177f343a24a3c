/** When an attempt that failed is repeated, and when it is given up. */

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1000, 60_000, 3_600_000];
const WAITS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
const JITTER = 0.2;
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
/** So long after the first attempt, an event is given up, and its webhook is disabled. */
export const GIVEN_UP_AFTER_MS = 72 * HOUR_MS;

interface Failed {
  /** Attempts so far, with this one. */
  readonly tries: number;
  readonly firstAttemptAt: Date;
  readonly now: Date;
  readonly retryAfterMs: number | undefined;
  /** From 0 to 1. */
  readonly random: number;
}

/** How long to wait before the next attempt; undefined if this was the last one. */
export function retryWait({ tries, firstAttemptAt, now, retryAfterMs = 0, random }: Failed): number | undefined {
  const left = firstAttemptAt.getTime() + GIVEN_UP_AFTER_MS - now.getTime();
  if (left <= 0) return undefined;
  const planned = WAITS_MS[Math.min(tries, WAITS_MS.length) - 1] ?? 0;
  const spread = planned * (1 - JITTER + 2 * JITTER * random);
  const wanted = Math.max(spread, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  // The last attempt is when the time is over.
  return Math.ceil(Math.min(wanted, left));
}
