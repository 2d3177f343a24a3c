import { AppError } from '../base/errors.ts';
import type { OutsideToken } from '../changes/audit-entry.ts';

interface Bearer {
  readonly outside?: OutsideToken | undefined;
}

/** A token that was issued for an outside one replaces no token: it would be a way to outlive what it was issued for. */
export function rejectRenewal({ outside }: Bearer): void {
  if (outside === undefined) return;
  const message =
    'this token was issued for a token of another issuer, so it cannot rotate tokens: request another one with a new token of that issuer';
  throw new AppError('conflict', message, { reason: 'token_not_renewable' });
}

/** Nor does it create one. */
export function rejectTokenCreation({ outside }: Bearer): void {
  if (outside === undefined) return;
  throw new AppError('forbidden', 'a token that was issued for a token of another issuer cannot create tokens');
}
