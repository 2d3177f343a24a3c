import { randomBytes } from 'node:crypto';

/** A secret that cannot be guessed and needs no escaping in a URL. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
