import { invalidField } from '../base/errors.ts';

const DURATION = /^P(?=\d|T\d)(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MIN_SECONDS = MINUTE;

/** The seconds of a duration as ISO 8601 writes it, in days, hours, minutes and seconds. */
export function secondsOf(text: string): number | undefined {
  const found = DURATION.exec(text);
  if (!found) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0));
  return days * DAY + hours * HOUR + minutes * MINUTE + seconds;
}

export interface AskedTerm {
  readonly for: string | undefined;
  readonly until: Date | undefined;
}

/** When the access shall end: either after a duration, which begins with the request, or at a time. In whole seconds. */
export function endOf(term: AskedTerm, now: Date): Date {
  if ((term.for === undefined) === (term.until === undefined)) {
    throw invalidField(term.for === undefined ? 'for' : 'until', 'exactly one of for and until must be given');
  }
  if (term.until !== undefined) {
    if (term.until.getTime() - now.getTime() < MIN_SECONDS * 1000) {
      throw invalidField('until', 'until must be at least one minute from now');
    }
    return term.until;
  }
  const seconds = secondsOf(term.for ?? '');
  if (seconds === undefined) {
    throw invalidField('for', 'for must be a duration in days, hours, minutes and seconds, such as PT4H or P1DT12H');
  }
  if (seconds < MIN_SECONDS) throw invalidField('for', 'for must be at least one minute, PT1M');
  return new Date(Math.floor(now.getTime() / 1000) * 1000 + seconds * 1000);
}
