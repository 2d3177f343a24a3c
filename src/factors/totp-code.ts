import { createHmac, timingSafeEqual } from 'node:crypto';

/** Codes that change with time (RFC 6238), with the parameters that every authenticator app knows. */
const STEP_SECONDS = 30;
const DIGITS = 6;
/** Clocks differ, and people take their time: the step before and the step after count too. */
const TOLERANCE = 1;
/** As long as the hash, as RFC 4226 recommends. */
export const TOTP_SECRET_BYTES = 20;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function stepAt(now: Date): number {
  return Math.floor(now.getTime() / 1000 / STEP_SECONDS);
}

export function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 15;
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}

/** The step that a code is of, if it is right now and of a later step than the last one that was accepted. */
export function stepOf(secret: Buffer, code: string, now: Date, lastStep: number): number | undefined {
  const given = Buffer.from(code);
  let found: number | undefined;
  // All of them, so that the time does not tell which one it was.
  for (let step = stepAt(now) - TOLERANCE; step <= stepAt(now) + TOLERANCE; step++) {
    const right = Buffer.from(codeOf(secret, step));
    if (step > lastStep && given.length === right.length && timingSafeEqual(given, right)) found ??= step;
  }
  return found;
}

/** People type codes in groups. */
export function plainCode(text: string): string {
  return text.replace(/[\s-]/g, '');
}

export function base32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32.charAt((value >>> (bits - 5)) & 31);
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32.charAt((value << (5 - bits)) & 31);
}

/** What authenticator apps read from a QR code. */
export function otpauthUri(secret: Buffer, login: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(login)}`;
  const query = new URLSearchParams({ secret: base32(secret), issuer, digits: String(DIGITS) });
  query.set('period', String(STEP_SECONDS));
  return `otpauth://totp/${label}?${query.toString().replaceAll('+', '%20')}`;
}
