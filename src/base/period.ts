/** A time span of the calendar, such as a year. */
export interface Period {
  readonly months: number;
  readonly days: number;
}

const PERIOD = /^P(?=\d)(?:(\d{1,3})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?$/;

/** An ISO 8601 duration without a time, such as P1Y or P90D. Undefined if it is not one. */
export function readPeriod(text: string): Period | undefined {
  const found = PERIOD.exec(text);
  if (!found) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0] = found.slice(1).map((digits) => Number(digits ?? 0));
  return { months: 12 * years + months, days: 7 * weeks + days };
}

/** The beginning of the day that was so long ago, in UTC. The last day of a month if the month has no such day. */
export function periodBefore({ months, days }: Period, moment: Date): Date {
  const [year, month] = [moment.getUTCFullYear(), moment.getUTCMonth() - months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month, Math.min(moment.getUTCDate(), lastDay) - days));
}
