import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Texts that only this deployment can create and read, valid until a given time: what a browser keeps for us. */
export interface SealedTexts {
  make(content: string, expiresAt: Date): string;
  /** The content, if the text is ours and still valid. */
  read(text: string, now: Date): string | undefined;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A cookie cannot be longer. */
const MAX_LENGTH = 8192;

export function createSealedTexts(key: Buffer): SealedTexts {
  return {
    make(content, expiresAt) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const body = JSON.stringify([content, expiresAt.getTime()]);
      const sealed = Buffer.concat([cipher.update(body, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    read(text, now) {
      const bytes = Buffer.from(text.length > MAX_LENGTH ? '' : text, 'base64url');
      const start = NONCE_BYTES + TAG_BYTES;
      if (bytes.length <= start) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, start));
      try {
        const body = Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]).toString('utf8');
        const [content, expiresAt] = JSON.parse(body) as [string, number];
        return now.getTime() < expiresAt ? content : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
