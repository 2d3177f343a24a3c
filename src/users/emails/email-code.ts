import { randomBytes } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { hashSecret } from '../../identity/tokens/token-text.ts';

const BYTES = 24;
const SHAPE = /^[\w-]{32}$/;

/** A secret that is emailed as part of a link: 192 random bits. Only its keyed hash is stored. */
export interface EmailCode {
  readonly text: string;
  readonly hash: Buffer;
}

export interface EmailCodes {
  mint(): EmailCode;
  /** What is stored of it; undefined for a text that cannot be a code. */
  hashOf(text: string): Buffer | undefined;
}

export function createEmailCodes(key: Buffer): EmailCodes {
  return {
    mint() {
      const text = randomBytes(BYTES).toString('base64url');
      return { text, hash: hashSecret(key, text) };
    },
    hashOf: (text) => (SHAPE.test(text) ? hashSecret(key, text) : undefined),
  };
}

/** The code of a link is none that we have sent. */
export function codeNotFound(): AppError {
  const message = 'there is no such code: open the link of the newest email again';
  return new AppError('notFound', message, { reason: 'code_not_found' });
}

/** The code of a link is one that we have sent, and has ended. */
export function codeExpired(advice: string): AppError {
  return new AppError('gone', `the link has expired or was used already: ${advice}`, { reason: 'code_expired' });
}
