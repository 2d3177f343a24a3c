import { AppError, type ErrorKind } from '../base/errors.ts';
import type { Reason } from '../base/reasons.ts';

/** Why a sign-in with a provider ends without a session. */
export type SignInFault =
  | 'sign_in_expired'
  | 'provider_refused'
  | 'provider_failed'
  | 'client_rejected'
  | 'sign_in_rejected'
  | 'email_unverified'
  | 'email_taken'
  | 'domain_not_allowed'
  | 'account_not_found'
  | 'linking_off'
  | 'already_linked';

const KINDS = {
  sign_in_expired: 'invalid',
  provider_refused: 'forbidden',
  provider_failed: 'upstream',
  client_rejected: 'upstream',
  sign_in_rejected: 'forbidden',
  email_unverified: 'forbidden',
  email_taken: 'conflict',
  domain_not_allowed: 'forbidden',
  account_not_found: 'forbidden',
  linking_off: 'conflict',
  already_linked: 'conflict',
} as const satisfies Readonly<Record<SignInFault, ErrorKind>>;

export function signInFault(reason: SignInFault & Reason, message: string, cause?: unknown): AppError {
  return new AppError(KINDS[reason], message, { reason, ...(cause !== undefined && { cause }) });
}

/** What the provider wrote, as a part of a message: short, and on one line. */
export function quoted(text: string): string {
  return JSON.stringify(text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200));
}
