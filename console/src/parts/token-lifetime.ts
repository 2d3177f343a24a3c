import { serverNow } from '../data/server-time.ts';

/** A token that never expires is a choice that one must make. */
export const LIFETIMES = [
  { value: '7', label: 'in 7 days' },
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
  { value: '', label: 'never' },
] as const;

const DAY_MS = 86_400_000;

export function expiryOf(days: string, now = serverNow()): string | null {
  return days === '' ? null : new Date(now + Number(days) * DAY_MS).toISOString();
}
