import { type AppError, invalidField } from '../base/errors.ts';
import { judgeName, type NameConflict } from '../identity/account-names/account-names.ts';
import { isAddress } from './emails/email-address.ts';

/** Users and organizations share one namespace and one rule for names. */
export function requireNameField(name: string): void {
  const verdict = judgeName(name);
  if (verdict === 'RESERVED') throw invalidField('username', `name is reserved: ${name}`);
  if (verdict === 'INVALID') {
    throw invalidField(
      'username',
      'name must be 1 to 40 letters, digits or single "-", "_" or ".", and start and end with a letter or digit',
    );
  }
}

export function requireAddressField(address: string): void {
  if (!isAddress(address)) throw invalidField('email', `email address ${JSON.stringify(address)} is invalid`);
}

export function addressTaken(address: string): AppError {
  return invalidField('email', `email address is in use: ${address}`, 'email_taken');
}

/** The name is valid, but cannot be had now. */
export function nameUnavailable(name: string, conflict: NameConflict): AppError {
  if (conflict === 'name taken') return invalidField('username', `name is taken: ${name}`, 'name_taken');
  const why = 'another account had it until recently, and it stays reserved for 90 days';
  return invalidField('username', `name is reserved: ${name} (${why})`, 'name_reserved');
}
