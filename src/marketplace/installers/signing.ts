import { createPrivateKey, createPublicKey, sign } from 'node:crypto';

/** The key that signs archives and licences. Ed25519 signatures depend only on the key and the text. */
export interface Signer {
  sign(data: Buffer): Buffer;
  /** `header.claims.signature`, as every JOSE library verifies it. */
  token(claims: object): string;
  readonly publicKey: string;
}

/** The PKCS #8 prefix of the 32 bytes of an Ed25519 key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export function createSigner(seed: Buffer): Signer {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const signData = (data: Buffer) => sign(null, data, key);
  return {
    sign: signData,
    token: (claims) => {
      const said = [{ alg: 'EdDSA', typ: 'JWT' }, claims].map((part) => encode(JSON.stringify(part))).join('.');
      return `${said}.${signData(Buffer.from(said)).toString('base64url')}`;
    },
    publicKey: String(createPublicKey(key).export({ format: 'pem', type: 'spki' })),
  };
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}
