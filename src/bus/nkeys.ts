import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign as signWith } from 'node:crypto';
import { AppError } from '../base/errors.ts';

/** The kind of a key determines the first letter of its text. */
const PREFIXES = { operator: 14 << 3, account: 0, user: 20 << 3 } as const;
const SEED_PREFIX = 18 << 3;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** A DER-encoded Ed25519 key is these bytes followed by the 32 raw bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const RAW = 32;

export type NkeyKind = keyof typeof PREFIXES;

/** An Ed25519 key pair as NATS writes it. */
export interface NkeyPair {
  readonly kind: NkeyKind;
  /** `O…`, `A…` or `U…`. It also names the operator, account or user that the key belongs to. */
  readonly publicKey: string;
  sign(data: string): Buffer;
  /** The secret, as text. Created on demand, so that it does not stay in memory. */
  seed(): string;
  /** The secret, as it is stored. */
  raw(): Buffer;
}

export function createNkeyPair(kind: NkeyKind): NkeyPair {
  return pairOf(kind, generateKeyPairSync('ed25519').privateKey);
}

export function restoreNkeyPair(kind: NkeyKind, raw: Buffer): NkeyPair {
  if (raw.length !== RAW) throw new AppError('internal', 'a stored key of the message bus is damaged');
  return pairOf(kind, createPrivateKey({ key: Buffer.concat([PKCS8, raw]), format: 'der', type: 'pkcs8' }));
}

/** Node signs with OpenSSL, about fifty times as fast as the pure JavaScript of the usual library. */
function pairOf(kind: NkeyKind, key: KeyObject): NkeyPair {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const raw = () => key.export({ format: 'der', type: 'pkcs8' }).subarray(-RAW);
  return {
    kind,
    publicKey: encode(Buffer.from([PREFIXES[kind]]), spki.subarray(-RAW)),
    sign: (data) => signWith(null, Buffer.from(data), key),
    seed: () => encodeSeed(kind, raw()),
    raw,
  };
}

/** The kind of a seed is packed into its first two bytes, so that its text begins with two letters: `SU…`. */
export function encodeSeed(kind: NkeyKind, raw: Buffer): string {
  const prefix = PREFIXES[kind];
  return encode(Buffer.from([SEED_PREFIX | (prefix >> 5), (prefix & 31) << 3]), raw);
}

function encode(prefix: Buffer, raw: Buffer): string {
  const body = Buffer.concat([prefix, raw]);
  const checksum = crc16(body);
  return base32(Buffer.concat([body, Buffer.from([checksum & 0xff, checksum >> 8])]));
}

/** CRC-16 with the polynomial 0x1021 and no reflection (XMODEM). */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}

/** RFC 4648 without padding. */
export function base32(bytes: Buffer): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET.charAt((held >> (bits - 5)) & 31);
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET.charAt((held << (5 - bits)) & 31) : text;
}
