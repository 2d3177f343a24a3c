import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type CborMap, type CborValue, readCborPrefix } from './cbor.ts';

/** What an authenticator signs, next to the data of the browser (WebAuthn, section 6.1). */
export interface AuthenticatorData {
  readonly rpIdHash: Buffer;
  /** A person touched it. */
  readonly isPresent: boolean;
  /** And proved to it who they are, with a PIN or a finger. */
  readonly isVerified: boolean;
  readonly isSynced: boolean;
  readonly counter: number;
  readonly credential?: AttestedCredential;
}

export interface AttestedCredential {
  readonly id: Buffer;
  readonly publicKey: KeyObject;
}

const FLAG = { present: 0x01, verified: 0x04, eligible: 0x08, synced: 0x10, credential: 0x40, extensions: 0x80 };
const HEAD = 37;
const MAX_CREDENTIAL_ID = 1023;

export const ES256 = -7;
export const EDDSA = -8;
export const RS256 = -257;
/** In the order in which we prefer them. */
export const ALGORITHMS = [EDDSA, ES256, RS256] as const;

/** Throws if the bytes are anything else. */
export function readAuthenticatorData(bytes: Buffer): AuthenticatorData {
  if (bytes.length < HEAD) throw new Error('authenticator data is too short');
  const flags = bytes.readUInt8(32);
  const has = (flag: number) => (flags & flag) !== 0;
  if (has(FLAG.synced) && !has(FLAG.eligible)) throw new Error('a passkey that cannot be synchronized says that it is');
  let end = HEAD;
  let credential: AttestedCredential | undefined;
  if (has(FLAG.credential)) ({ credential, end } = readCredential(bytes));
  if (has(FLAG.extensions)) ({ end } = readCborPrefix(bytes, end));
  if (end !== bytes.length) throw new Error('something follows the authenticator data');
  return {
    rpIdHash: bytes.subarray(0, 32),
    isPresent: has(FLAG.present),
    isVerified: has(FLAG.verified),
    isSynced: has(FLAG.synced),
    counter: bytes.readUInt32BE(33),
    ...(credential && { credential }),
  };
}

function readCredential(bytes: Buffer): { credential: AttestedCredential; end: number } {
  // The first 16 bytes name the model of the authenticator, which is not used here.
  const start = HEAD + 16;
  if (bytes.length < start + 2) throw new Error('the credential is cut off');
  const length = bytes.readUInt16BE(start);
  const id = bytes.subarray(start + 2, start + 2 + length);
  if (length === 0 || length > MAX_CREDENTIAL_ID || id.length !== length) throw new Error('the credential has no ID');
  const { value, end } = readCborPrefix(bytes, start + 2 + length);
  if (!(value instanceof Map)) throw new Error('the credential has no key');
  return { credential: { id: Buffer.from(id), publicKey: readKey(value) }, end };
}

const [KTY, ALG, CRV, X, Y] = [1, 3, -1, -2, -3];
const [RSA_N, RSA_E] = [-1, -2];

/** A COSE key (RFC 9053) of one of our algorithms. */
function readKey(key: CborMap): KeyObject {
  return createPublicKey({ key: jwkOf(key), format: 'jwk' });
}

function jwkOf(key: CborMap): JsonWebKey {
  const algorithm = key.get(ALG);
  const kty = key.get(KTY);
  if (algorithm === ES256 && kty === 2 && key.get(CRV) === 1) {
    return { kty: 'EC', crv: 'P-256', x: text(key.get(X), 32), y: text(key.get(Y), 32) };
  }
  if (algorithm === EDDSA && kty === 1 && key.get(CRV) === 6) {
    return { kty: 'OKP', crv: 'Ed25519', x: text(key.get(X), 32) };
  }
  if (algorithm === RS256 && kty === 3) {
    const n = key.get(RSA_N);
    if (!(n instanceof Buffer) || n.length < 256 || n.length > 512) throw new Error('an RSA key has 2048 to 4096 bits');
    return { kty: 'RSA', n: text(n), e: text(key.get(RSA_E)) };
  }
  throw new Error('the algorithm of the key is not supported');
}

function text(value: CborValue | undefined, length?: number): string {
  if (!(value instanceof Buffer)) throw new Error('a part of the key is missing');
  if (length !== undefined && value.length !== length) throw new Error('a part of the key has the wrong length');
  return value.toString('base64url');
}
