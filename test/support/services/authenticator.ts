import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What an authenticator can be made to do wrong, or differently. */
export interface Quirks {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  readonly isPresent?: boolean;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly signature?: Buffer;
  /** Comes after the authenticator data. */
  readonly trailing?: Buffer;
}

interface CreationOptions {
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
  readonly challenge: string;
}

interface RequestOptions {
  readonly rpId: string;
  readonly challenge: string;
}

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

/** An authenticator and the browser that it is plugged into. It has one passkey at a time. */
export function createAuthenticator(origin: string, algorithm: Algorithm = 'ES256') {
  const { publicKey, privateKey } = keysOf(algorithm);
  const id = randomBytes(32);
  let handle = '';
  let counter = 0;
  return { id: id.toString('base64url'), create, get };

  function create(options: CreationOptions, quirks: Quirks = {}) {
    handle = options.user.id;
    const data = authenticatorData(options.rp.id, quirks, credentialOf(id, publicKey));
    return {
      clientDataJSON: clientData('webauthn.create', options.challenge, quirks).toString('base64url'),
      attestationObject: cbor(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', data],
        ]),
      ).toString('base64url'),
      transports: ['internal', 'hybrid', 'telepathy'],
    };
  }

  function get(options: RequestOptions, quirks: Quirks = {}) {
    counter += 1;
    const data = authenticatorData(options.rpId, { counter, ...quirks });
    const said = clientData('webauthn.get', options.challenge, quirks);
    const signed = Buffer.concat([data, createHash('sha256').update(said).digest()]);
    const signature = quirks.signature ?? sign(algorithm === 'EdDSA' ? null : 'sha256', signed, privateKey);
    return {
      id: id.toString('base64url'),
      response: {
        clientDataJSON: said.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: quirks.userHandle ?? handle,
      },
    };
  }

  function clientData(type: string, challenge: string, quirks: Quirks): Buffer {
    const { crossOrigin = false } = quirks;
    const said = { type: quirks.type ?? type, challenge: quirks.challenge ?? challenge, crossOrigin };
    return Buffer.from(JSON.stringify({ ...said, origin: quirks.origin ?? origin }));
  }
}

function authenticatorData(rpId: string, quirks: Quirks, credential?: Buffer): Buffer {
  const { isPresent = true, isVerified = true, counter = 0, trailing = Buffer.alloc(0) } = quirks;
  const tail = Buffer.alloc(5);
  tail.writeUInt8((isPresent ? 1 : 0) | (isVerified ? 4 : 0) | (credential ? 0x40 : 0));
  tail.writeUInt32BE(counter, 1);
  const hash = createHash('sha256')
    .update(quirks.rpId ?? rpId)
    .digest();
  return Buffer.concat([hash, tail, credential ?? Buffer.alloc(0), trailing]);
}

function credentialOf(id: Buffer, key: KeyObject): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(id.length);
  return Buffer.concat([Buffer.alloc(16), length, id, cbor(coseOf(key))]);
}

function keysOf(algorithm: Algorithm) {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

function coseOf(key: KeyObject): Map<number, unknown> {
  const { kty, x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  const entries: readonly (readonly [number, unknown])[] =
    kty === 'EC'
      ? [
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, bytes(x)],
          [-3, bytes(y)],
        ]
      : kty === 'OKP'
        ? [
            [1, 1],
            [3, -8],
            [-1, 6],
            [-2, bytes(x)],
          ]
        : [
            [1, 3],
            [3, -257],
            [-1, bytes(n)],
            [-2, bytes(e)],
          ];
  return new Map(entries);
}

/** Writes what an authenticator needs: whole numbers, texts, bytes and maps. */
export function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Map) return Buffer.concat([head(5, value.size), ...[...value].flat().map(cbor)]);
  throw new Error('an authenticator does not write this');
}

function head(kind: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(kind << 5) | count]);
  if (count < 256) return Buffer.from([(kind << 5) | 24, count]);
  return Buffer.from([(kind << 5) | 25, count >> 8, count & 255]);
}
