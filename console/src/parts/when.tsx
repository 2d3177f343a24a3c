import { serverNow } from '../data/server-time.ts';

const STEPS: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [60, 'second'],
  // What was made to last an hour, a day or 30 days reads so from the first second on.
  [3570, 'minute'],
  [84_600, 'hour'],
  [3_888_000, 'day'],
  [31_536_000, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
];
const SIZE: Partial<Record<Intl.RelativeTimeFormatUnit, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  month: 2_592_000,
  year: 31_536_000,
};
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** A time as people say it; the exact one shows on hover and is in the markup. */
export function When({ at, never = 'never' }: { at: string | null | undefined; never?: string }) {
  if (!at || hasNotHappened(at)) return <span class="quiet">{never}</span>;
  return (
    <time dateTime={at} title={new Date(at).toISOString()}>
      {relativeTime(at)}
    </time>
  );
}

/** The API writes the first moment of 1970 for what has not happened. */
export function hasNotHappened(at: string): boolean {
  return Date.parse(at) <= 0;
}

export function relativeTime(at: string, now = serverNow()): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  if (Math.abs(seconds) < 10) return 'just now';
  const [, unit] = STEPS.find(([limit]) => Math.abs(seconds) < limit) ?? [0, 'year' as const];
  return relative.format(Math.round(seconds / (SIZE[unit] ?? 1)), unit);
}
