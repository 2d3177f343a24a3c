import { createPrivateKey, type JsonWebKey } from 'node:crypto';

/** Why a private key is not used; the message never contains the key. */
export class UnusableKey extends Error {}

/** A key of 4096 bits has 3,300 characters. */
const MAX_PEM = 8192;
const BEGIN = /^\s*-----BEGIN (?:RSA )?PRIVATE KEY-----/;
/** Google issues keys of 2048 bits. A signature takes eight times as long with each doubling. */
const MIN_BITS = 2048;
const MAX_BITS = 4096;
const MAX_EXPONENT = 2n ** 32n;

/**
 * The private key of a service account, as PEM. Signatures are synchronous, and how long one takes depends on numbers
 * that the caller chose: not only on the modulus but on every number of the key, none of which need be what it claims
 * to be. So the key is written anew from those numbers that a signature needs, if none is larger than it has to be.
 */
export function readGoogleKey(pem: string): string {
  if (pem.length > MAX_PEM) throw new UnusableKey(`the private key is longer than ${MAX_PEM} characters`);
  const key = BEGIN.test(pem) ? parse(pem) : undefined;
  if (!key) throw new UnusableKey('the private key cannot be read');
  const { modulusLength: bits = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType !== 'rsa' || bits < MIN_BITS || bits > MAX_BITS) {
    throw new UnusableKey(`the private key must be an RSA key of ${MIN_BITS} to ${MAX_BITS} bits`);
  }
  const numbers = key.export({ format: 'jwk' });
  if (publicExponent > MAX_EXPONENT || !isInProportion(numbers, bits)) {
    throw new UnusableKey('the private key is not a valid RSA key');
  }
  return createPrivateKey({ key: numbers, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' }).toString();
}

function parse(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    // The error is dropped, because it may repeat what was read.
    return undefined;
  }
}

function isInProportion({ d, p, q, dp, dq, qi }: JsonWebKey, bits: number): boolean {
  const half = [p, q, dp, dq, qi].every((number) => sizeOf(number) <= Math.ceil(bits / 2));
  return half && sizeOf(d) <= bits;
}

/** In bits; endless if there is no such number. */
function sizeOf(number: string | undefined): number {
  if (number === undefined) return Number.POSITIVE_INFINITY;
  const [first = 0, ...rest] = Buffer.from(number, 'base64url');
  return 32 - Math.clz32(first) + rest.length * 8;
}
