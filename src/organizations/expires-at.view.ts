import Type from 'typebox';
import { requireExpiryTerm, type Term } from '../base/expiry.ts';
import { readMoment, Timestamp, timestamp } from '../http/wire/schemas.ts';

/** In a request. */
export const NewExpiry = Type.Optional(
  Type.Union([Timestamp, Type.Null()], {
    description:
      'When it ends by itself: in the future, within 10 years. Null: never. ' +
      'If it is left out, what exists already keeps its end, and what is new has none.',
  }),
);

/** In a response. */
export const Expiry = Type.Optional(
  Type.Unsafe<string>({ ...Timestamp, description: 'When it ends by itself. Absent if it does not.' }),
);

/** @param now what has to be in the future is compared with this */
export function readTerm(text: string | null | undefined, now: Date): Term {
  return text ? requireExpiryTerm(readMoment(text, 'expires_at'), now) : text === undefined ? undefined : null;
}

/** As a field of a response: exact, because the first request after it is denied. */
export function presentExpiry(moment: Date | null | undefined): { expires_at?: string } {
  return moment ? { expires_at: expiryText(moment) } : {};
}

export function expiryText(moment: Date): string {
  return moment.getUTCMilliseconds() === 0 ? timestamp(moment) : moment.toISOString();
}
