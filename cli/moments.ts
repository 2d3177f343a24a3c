import { misuse } from './failure.ts';

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400, w: 604_800 };
const SPAN = /^(\d{1,6})(m|h|d|w)$/;

/** The option of commands that can answer as of a past moment. */
export const AT = {
  at: { about: 'as of a past moment, such as 7d, yesterday or 2026-01-31T12:00:00Z; UTC by default', value: 'WHEN' },
} as const;

/** The moment of `--at`, if there is one. The past does not change, so it is not watched. */
export function pastMoment(text: string | undefined, isWatching: boolean): string | undefined {
  if (text === undefined) return undefined;
  if (isWatching) throw misuse('--watch shows the present; leave out --at');
  return momentIn(text, -1);
}

/** `90d` is a time span from now, forward or backward, and `yesterday` one day backward. A date or a timestamp is taken as it is. */
export function momentIn(text: string, direction: 1 | -1, now = Date.now()): string {
  const [, count, unit = ''] = SPAN.exec(direction < 0 && text === 'yesterday' ? '1d' : text) ?? [];
  const span = count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0) * 1000;
  const moment = span === undefined ? readDate(text) : now + direction * span;
  if (!(Math.abs(moment) < 8.64e15))
    throw misuse(
      `${JSON.stringify(text)} is not a time; use 90d, 12h, ${direction < 0 ? 'yesterday, ' : ''}2026-01-31 or ` +
        '2026-01-31T12:00:00Z',
    );
  return new Date(moment).toISOString().replace('.000Z', 'Z');
}

/** `90m` or `24h` in hours. */
export function hoursIn(text: string): number {
  const [, count, unit = ''] = SPAN.exec(text) ?? [];
  if (count === undefined) throw misuse(`${JSON.stringify(text)} is not a time span; use 90m, 24h or 7d`);
  return (Number(count) * (UNITS[unit] ?? 0)) / 3600;
}

/** Without a zone it is UTC, like every time that the commands print. */
function readDate(text: string): number {
  const [found, time, zone] =
    /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  return found === undefined ? Number.NaN : Date.parse(time !== undefined && zone === undefined ? `${text}Z` : text);
}

/** A time for display, without fractions of a second. A missing time and Unix time 0 are shown as `never`. */
export function shortTime(text: string | null | undefined): string {
  if (!text) return 'never';
  return text.startsWith('1970-01-01T00:00:00') ? 'never' : text.replace('T', ' ').replace(/(:\d\d)(\.\d+)?Z$/, '$1Z');
}
