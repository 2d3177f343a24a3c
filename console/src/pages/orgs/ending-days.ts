import type { Overview } from './overview-words.ts';

/** What ends by itself, with its name for one and for many, and the page that lists it. */
export const ENDING_KINDS = [
  { kind: 'memberships', one: 'membership', many: 'memberships', path: '/members' },
  { kind: 'assignments', one: 'assignment', many: 'assignments', path: '/roles' },
  { kind: 'tokens', one: 'token of a robot', many: 'tokens of robots', path: '/robots' },
  { kind: 'contracts', one: 'contract', many: 'contracts', path: '/contracts' },
] as const;
export type EndingKind = (typeof ENDING_KINDS)[number]['kind'];

export interface CalendarDay {
  /** Such as 2026-11-20, of UTC. */
  readonly day: string;
  readonly counts: Readonly<Partial<Record<EndingKind, number>>>;
  readonly total: number;
}

const DAY_MS = 86_400_000;
/** Today, and the 30 days after it. */
const DAYS = 31;

/** Today and the next 30 days, also those on which nothing ends. */
export function calendarOf({ expiring, tokens, contracts }: Overview, now: number): readonly CalendarDay[] {
  const parts = { ...expiring?.days, tokens: tokens?.days, contracts: contracts?.days };
  const days = Array.from({ length: DAYS }, (_, place) => new Date(now + place * DAY_MS).toISOString().slice(0, 10));
  return days.map((day) => {
    const found = ENDING_KINDS.flatMap(({ kind }) => {
      const count = parts[kind]?.find((one) => one.day === day)?.count ?? 0;
      return count === 0 ? [] : [[kind, count] as const];
    });
    return { day, counts: Object.fromEntries(found), total: found.reduce((sum, [, count]) => sum + count, 0) };
  });
}

/** Such as "2 memberships, 1 contract". */
export function endingWords({ counts, total }: CalendarDay): string {
  if (total === 0) return 'nothing ends';
  return ENDING_KINDS.flatMap(({ kind, one, many }) => {
    const count = counts[kind] ?? 0;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  }).join(', ');
}
