import { randomBytes } from 'node:crypto';

/** The sizes, in bits, of the numbers of an RSA key. */
export interface RsaSizes {
  readonly n: number;
  readonly e?: number;
  readonly d?: number;
  readonly p?: number;
  /** Of a third prime. */
  readonly third?: number;
}

/** A key as PEM whose numbers have these sizes and are otherwise random: nobody checks that primes are prime. */
export function madeUpKey({ n, e = 17, d = n, p = n / 2, third }: RsaSizes): string {
  const other = third && sequence(sequence(integer(third), integer(third), integer(third)));
  const numbers = [n, e, d, p, p, p, p, p].map(integer);
  return pem(sequence(tagged(2, Buffer.from([other ? 1 : 0])), ...numbers, ...(other ? [other] : [])));
}

export function pem(der: Buffer, label = 'RSA PRIVATE KEY'): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

function integer(bits: number): Buffer {
  const bytes = randomBytes(Math.ceil(bits / 8));
  bytes[0] = 1 << ((bits - 1) % 8);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1;
  return tagged(2, (bytes[0] ?? 0) < 128 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function tagged(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 128 ? [size] : [0x83, size >> 16, (size >> 8) & 255, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
