import { invalidField } from './errors.ts';

/** When a membership or an assignment ends. Null: never. Undefined: as it is, and never for a new one. */
export type Term = Date | null | undefined;

const MAX_YEARS = 10;

/** An expiry is in the future, and at a time that a caller can have meant. */
export function requireExpiryTerm(term: Term, now: Date, field = 'expires_at'): Term {
  if (!term) return term;
  const last = new Date(now);
  last.setUTCFullYear(last.getUTCFullYear() + MAX_YEARS);
  if (term <= now) throw invalidField(field, `${field} must be in the future`);
  if (term > last) throw invalidField(field, `${field} must be within ${MAX_YEARS} years`);
  return term;
}

/** Whether the first ends before the second. What has no end is last. */
export function endsBefore(one: Date | null, other: Date | null): boolean {
  return (one?.getTime() ?? Number.POSITIVE_INFINITY) < (other?.getTime() ?? Number.POSITIVE_INFINITY);
}
