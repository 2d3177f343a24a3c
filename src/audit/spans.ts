const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const LENGTHS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, WEEK, 4 * WEEK, 52 * WEEK] as const;
const MAX_SPANS = 100;
/** Weeks begin on Mondays, and 1970 began on a Thursday. */
const MONDAY = 4 * DAY;

/** Equal spans of time that together cover a range: all of them whole, in UTC. */
export interface Spans {
  /** The length of each. */
  readonly seconds: number;
  /** Spans are numbered from here, in seconds since 1970. */
  readonly origin: number;
  /** The number of the first one. */
  readonly first: number;
  readonly count: number;
}

/** The shortest spans of which at most a hundred cover the range. `until` is not part of it. */
export function spansOf(since: Date, until: Date): Spans {
  const [from, to] = [since.getTime() / 1000, until.getTime() / 1000];
  const longest = 52 * WEEK * Math.ceil((to - from) / (52 * WEEK) / (MAX_SPANS - 1));
  for (const seconds of [...LENGTHS, longest]) {
    const origin = seconds < WEEK ? 0 : MONDAY;
    const first = Math.floor((from - origin) / seconds);
    const count = Math.max(0, Math.ceil((to - origin) / seconds) - first);
    if (count <= MAX_SPANS) return { seconds, origin, first, count };
  }
  throw new Error('the longest spans cover every range');
}

/** When a span begins. */
export function beginOf({ seconds, origin, first }: Spans, place: number): Date {
  return new Date((origin + (first + place) * seconds) * 1000);
}
