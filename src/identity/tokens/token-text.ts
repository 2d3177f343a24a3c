import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * A token is `atr_`, 27 base62 digits that carry 160 random bits, and 6 digits of CRC32 over everything before them.
 * The prefix lets scanners find a leaked token. The checksum lets us reject a mistyped one without querying the
 * database.
 */
const PREFIX = 'atr_';
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = /^atr_[0-9A-Za-z]{33}$/;

export function mintToken(): string {
  const body = PREFIX + base62(BigInt(`0x${randomBytes(20).toString('hex')}`), 27);
  return body + checksum(body);
}

export function isTokenText(text: string): boolean {
  return SHAPE.test(text) && checksum(text.slice(0, -6)) === text.slice(-6);
}

/** What is stored of a token: useless without the key of this deployment. */
export function hashSecret(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let place = 0; place < 6; place++) {
    digits = DIGITS.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function base62(value: bigint, width: number): string {
  let digits = '';
  for (let rest = value; rest > 0n; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits;
  return digits.padStart(width, '0');
}
