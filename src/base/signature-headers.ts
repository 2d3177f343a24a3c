import { createHmac, type KeyObject, sign } from 'node:crypto';

/** The signed text: the bytes that are sent, with an ID and a time, so that they cannot be sent again later. */
export interface SignedMessage {
  readonly id: string;
  readonly body: string;
  readonly at: Date;
}

export interface SignatureKeys {
  /** Shared with the receiver. While one replaces another, both sign. */
  readonly secrets: readonly Buffer[];
  /** Ed25519 keys whose public parts are published. While one replaces another, both sign. */
  readonly privateKeys?: readonly KeyObject[];
}

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
export const MIN_SECRET_BYTES = 24;
export const MAX_SECRET_BYTES = 64;

/** The headers of Standard Webhooks, so that receivers can use any of its libraries. */
export function signatureHeaders({ id, body, at }: SignedMessage, { secrets, privateKeys = [] }: SignatureKeys) {
  const seconds = Math.floor(at.getTime() / 1000);
  const text = `${id}.${seconds}.${body}`;
  const shared = secrets.map((secret) => `v1,${createHmac('sha256', secret).update(text).digest('base64')}`);
  const asymmetric = privateKeys.map((key) => `v1a,${sign(null, Buffer.from(text), key).toString('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': [...shared, ...asymmetric].join(' '),
  };
}

export function secretText(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`;
}

/** Undefined if the text is not a secret of 24 to 64 bytes. */
export function readSecret(text: string): Buffer | undefined {
  const [, encoded] = SECRET.exec(text) ?? [];
  if (encoded === undefined) return undefined;
  const secret = Buffer.from(encoded, 'base64');
  const isWhole = secret.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '');
  return isWhole && secret.length >= MIN_SECRET_BYTES && secret.length <= MAX_SECRET_BYTES ? secret : undefined;
}
