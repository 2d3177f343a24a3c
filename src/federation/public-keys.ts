import { createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto';

/** A public key that can verify signatures. */
export interface PublicKey {
  readonly key: KeyObject;
  readonly kid: string | undefined;
  /** The only algorithm that it is for, if it says so. */
  readonly alg: string | undefined;
  /** Of the key itself, however its JSON is written. */
  readonly fingerprint: string;
}

export interface UnusableKey {
  readonly fault: string;
}

/** RSA keys may have at most this size: verifying takes longer the larger they are. */
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
/** Nothing else of a key set is looked at. */
const MAX_KEYS = 100;
const PRIVATE_PARTS = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];
const CURVES: Readonly<Record<string, string>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
};
export const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512'],
  ...['PS256', 'PS384', 'PS512'],
  ...Object.keys(CURVES),
  'EdDSA',
];

/** Each key of a set, or why it cannot be used. */
export function readPublicKeys(keys: readonly unknown[]): (PublicKey | UnusableKey)[] {
  return keys.slice(0, MAX_KEYS).map(readPublicKey);
}

export function isUsable(key: PublicKey | UnusableKey): key is PublicKey {
  return !('fault' in key);
}

/** Whether a signature with this algorithm can be of this key: an algorithm never decides what kind of key it meets. */
export function fits({ key, alg }: PublicKey, algorithm: string): boolean {
  if (alg !== undefined && alg !== algorithm) return false;
  const curve = CURVES[algorithm];
  if (curve !== undefined) return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve;
  return key.asymmetricKeyType === (algorithm === 'EdDSA' ? 'ed25519' : 'rsa');
}

function readPublicKey(given: unknown): PublicKey | UnusableKey {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { fault: 'it is not an object' };
  const jwk = given as Readonly<Record<string, unknown>>;
  const secret = PRIVATE_PARTS.find((part) => part in jwk);
  if (secret !== undefined) return { fault: `it is not public, because it has ${secret}` };
  if (jwk.kty !== 'RSA' && jwk.kty !== 'EC' && jwk.kty !== 'OKP') return { fault: 'its kty must be RSA, EC or OKP' };
  if (jwk.use !== undefined && jwk.use !== 'sig') return { fault: 'its use is not sig' };
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify'))) {
    return { fault: 'its key_ops do not include verify' };
  }
  const { kid, alg } = jwk;
  if (kid !== undefined && typeof kid !== 'string') return { fault: 'its kid is not text' };
  if (alg !== undefined && (typeof alg !== 'string' || !ALGORITHMS.includes(alg))) {
    return { fault: 'its alg is not accepted' };
  }
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
  } catch {
    return { fault: 'it cannot be read' };
  }
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (jwk.kty === 'RSA' && (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS)) {
    return { fault: `an RSA key must have ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits` };
  }
  if (jwk.kty === 'RSA' && (exponent < 3n || exponent % 2n === 0n || exponent >= 2n ** 64n)) {
    return { fault: 'the exponent of an RSA key must be odd, and at least 3' };
  }
  const read: PublicKey = {
    key,
    kid,
    alg,
    fingerprint: hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64url'),
  };
  return ALGORITHMS.some((algorithm) => fits(read, algorithm))
    ? read
    : { fault: 'no accepted algorithm has such a key' };
}
