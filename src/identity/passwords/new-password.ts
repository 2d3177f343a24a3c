import { invalidField } from '../../base/errors.ts';
import { hashPassword } from './passwords.ts';

const MIN_PASSWORD = 8;
const MAX_PASSWORD = 255;

/** Long enough to withstand guessing, short enough to be hashed quickly. `field` is its name in the request. */
export function requirePassword(password: string, field = 'password'): void {
  const length = [...password].length;
  if (length < MIN_PASSWORD || length > MAX_PASSWORD) {
    throw invalidField(field, `password must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`);
  }
}

export async function hashNewPassword(password: string): Promise<string> {
  requirePassword(password);
  return await hashPassword(password);
}
