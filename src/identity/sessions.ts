import { randomBytes } from 'node:crypto';
import { wrongCredential } from './callers.ts';
import { hashSecret } from './token-text.ts';

export interface SessionDraft {
  readonly hash: Buffer;
  readonly accountId: bigint;
  readonly csrf: string;
  readonly expiresAt: Date;
  readonly passwordHash: string | undefined;
}

export interface SessionStore {
  /** False when the account's password is no longer the one that was shown. */
  create(draft: SessionDraft): Promise<boolean>;
  remove(hash: Buffer): Promise<void>;
}

export interface Session {
  readonly text: string;
  readonly csrf: string;
  readonly expiresAt: Date;
}

export type Sessions = ReturnType<typeof createSessions>;

const DAY = 86_400_000;
const SHORT = DAY;
const REMEMBERED = 31 * DAY;

/** Sign-ins of browsers. The cookie's text is stored only as a keyed hash, as tokens are. */
export function createSessions(store: SessionStore, key: Buffer) {
  return { open, close };

  /** With the hash that a password was compared with: it may have been changed while that took its time. */
  async function open(accountId: bigint, remember: boolean, now: Date, passwordHash?: string): Promise<Session> {
    const text = randomBytes(32).toString('base64url');
    const csrf = randomBytes(24).toString('base64url');
    const expiresAt = new Date(now.getTime() + (remember ? REMEMBERED : SHORT));
    const draft = { hash: hashSecret(key, text), accountId, csrf, expiresAt, passwordHash };
    if (!(await store.create(draft))) throw wrongCredential();
    return { text, csrf, expiresAt };
  }

  /** Ends a session; one that does not exist is already ended. */
  async function close(text: string): Promise<void> {
    await store.remove(hashSecret(key, text));
  }
}
