import { randomBytes } from 'node:crypto';
import { hashSecret } from '../identity/tokens/token-text.ts';
import { base32 } from './totp-code.ts';

const HOW_MANY = 10;
/** 80 bits, so guessing finds none: 16 letters in four groups. */
const BYTES = 10;

export function newRecoveryCodes(): string[] {
  return Array.from({ length: HOW_MANY }, () => {
    const letters = base32(randomBytes(BYTES)).toLowerCase();
    return letters.replace(/(.{4})(?=.)/g, '$1-');
  });
}

/** However it was typed. */
export function hashRecoveryCode(key: Buffer, code: string): Buffer {
  return hashSecret(key, code.toLowerCase().replace(/[^a-z0-9]/g, ''));
}
