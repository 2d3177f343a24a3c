import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

/**
 * A sealed value: version (1 byte), key ID (8), nonce (12), ciphertext, tag (16). AES-256-GCM with a random nonce. The
 * identity of the row is included as additional data, so a value opens only where it was stored.
 */
export type Sealed = Buffer;

/** A key that is ready for use: creating a cipher from the raw bytes costs three times as much. */
export type Secret = KeyObject;

const KEY_BYTES = 32;
const VERSION = 1;
const HEADER = 9;
const NONCE = 12;
const TAG = 16;
const ALGORITHM = 'aes-256-gcm';

export function newSecret(): Secret {
  return secretOf(randomBytes(KEY_BYTES));
}

export function secretOf(bytes: Buffer): Secret {
  return createSecretKey(bytes);
}

export function sealWith(key: Secret, keyId: bigint, identity: string, plaintext: Buffer): Sealed {
  const head = Buffer.alloc(HEADER + NONCE);
  head.writeUInt8(VERSION);
  head.writeBigInt64BE(keyId, 1);
  randomBytes(NONCE).copy(head, HEADER);
  const cipher = createCipheriv(ALGORITHM, key, head.subarray(HEADER), { authTagLength: TAG });
  cipher.setAAD(Buffer.from(identity));
  return Buffer.concat([head, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Throws if a single bit of the value, its key or its identity has changed. */
export function openWith(key: Secret, identity: string, sealed: Sealed): Buffer {
  keyIdOf(sealed);
  const nonce = sealed.subarray(HEADER, HEADER + NONCE);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG });
  decipher.setAAD(Buffer.from(identity));
  decipher.setAuthTag(sealed.subarray(-TAG));
  const plaintext = decipher.update(sealed.subarray(HEADER + NONCE, -TAG));
  // Returns no bytes in this mode, but throws if the tag is wrong.
  decipher.final();
  return plaintext;
}

export function keyIdOf(sealed: Sealed): bigint {
  if (sealed.length < HEADER + NONCE + TAG || sealed[0] !== VERSION) throw new Error('not a sealed value');
  return sealed.readBigInt64BE(1);
}

/** Key ID and nonce: no two values have the same. */
export function headOf(sealed: Sealed): Buffer {
  return sealed.subarray(0, HEADER + NONCE);
}
