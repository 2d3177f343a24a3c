import { randomBytes } from 'node:crypto';
import { hashSecret } from './token-text.ts';

export interface SessionDraft {
  readonly hash: Buffer;
  readonly accountId: bigint;
  readonly csrf: string;
  readonly expiresAt: Date;
}

export interface SessionStore {
  create(draft: SessionDraft): Promise<void>;
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

  async function open(accountId: bigint, remember: boolean, now: Date): Promise<Session> {
    const text = randomBytes(32).toString('base64url');
    const csrf = randomBytes(24).toString('base64url');
    const expiresAt = new Date(now.getTime() + (remember ? REMEMBERED : SHORT));
    await store.create({ hash: hashSecret(key, text), accountId, csrf, expiresAt });
    return { text, csrf, expiresAt };
  }

  /** Ends a session; one that does not exist is already ended. */
  async function close(text: string): Promise<void> {
    await store.remove(hashSecret(key, text));
  }
}
