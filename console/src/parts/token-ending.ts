import { serverNow } from '../data/server-time.ts';

const SOON_MS = 14 * 86_400_000;

/** Whether a token ends soon, or has ended. */
export function isEnding({ expires_at }: { readonly expires_at: string | null }): boolean {
  return expires_at !== null && Date.parse(expires_at) - serverNow() < SOON_MS;
}
