import { createHmac, timingSafeEqual } from 'node:crypto';

/** Texts that only this deployment can create, valid until a given time: links that are sent out and come back. */
export interface SignedTexts {
  make(content: string, expiresAt: Date): string;
  /** The content, if the text is ours and still valid. */
  read(text: string, now: Date): string | undefined;
}

export function createSignedTexts(key: Buffer): SignedTexts {
  return {
    make(content, expiresAt) {
      const body = Buffer.from(JSON.stringify([content, expiresAt.getTime()])).toString('base64url');
      return `${body}.${sign(body).toString('base64url')}`;
    },
    read(text, now) {
      const dot = text.indexOf('.');
      const body = text.slice(0, Math.max(0, dot));
      // The texts are compared, not the bytes: base64 has several spellings of the same bytes.
      const given = Buffer.from(text.slice(dot + 1));
      const expected = Buffer.from(sign(body).toString('base64url'));
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      const [content, expiresAt] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [string, number];
      return now.getTime() < expiresAt ? content : undefined;
    },
  };

  function sign(body: string): Buffer {
    return createHmac('sha256', key).update(body).digest();
  }
}
