import { randomBytes } from 'node:crypto';

/** A secret that nobody guesses and that needs no escaping in a URL. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
