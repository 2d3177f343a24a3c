import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';

/** An Ed25519 key. */
export interface SeedKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The bytes of the public key. */
  readonly raw: Buffer;
  readonly id: string;
}

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
/** A public key in DER is 12 bytes of names, and then the key. */
const DER_NAMES = 12;

/** The key that follows from 32 bytes. */
export function seedKey(seed: Buffer): SeedKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ format: 'der', type: 'spki' });
  return { privateKey, publicKey, raw: der.subarray(DER_NAMES), id: hash('sha256', der, 'base64url').slice(0, 16) };
}
