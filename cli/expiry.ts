import { misuse } from './failure.ts';
import { momentIn, shortTime } from './moments.ts';

/** Options of commands that add a member or an assignment for a while. */
export const EXPIRY = {
  expires: { about: 'when it ends by itself, such as 7d or 2027-01-31; also renews it', value: 'WHEN' },
  'no-expiry': { about: 'it no longer ends by itself' },
} as const;

interface ExpiryValues {
  readonly expires: string | undefined;
  readonly 'no-expiry': boolean;
}

/** Options that are not given stay as they are. */
export function expiryOf({ expires, 'no-expiry': never }: ExpiryValues): { expires_at?: string | null } {
  if (never && expires !== undefined) throw misuse('--no-expiry cannot be combined with --expires');
  if (never) return { expires_at: null };
  return expires === undefined ? {} : { expires_at: momentIn(expires, 1) };
}

/** For the last sentence of a command. */
export function untilWords({ expires_at }: { readonly expires_at?: string | null }): string {
  return expires_at ? ` until ${shortTime(expires_at)}` : '';
}

/** A column that is there only if something ends: usually nothing does. */
export function expiryColumn<Row extends { readonly expires_at?: string | undefined }>(rows: readonly Row[]) {
  return rows.some((row) => row.expires_at) ? { expires: (row: Row) => shortTime(row.expires_at) } : {};
}
