import { randomBytes } from 'node:crypto';
import { wrongCredential } from './callers.ts';
import { hashSecret } from './token-text.ts';

export interface SessionDraft {
  readonly hash: Buffer;
  readonly accountId: bigint;
  readonly csrf: string;
  readonly expiresAt: Date;
  readonly passwordHash: string | undefined;
  readonly tokenId: bigint | undefined;
}

/** What a session is opened with, besides the word of the caller. It may have changed since it was checked. */
export interface Opening {
  /** What the password was compared with. */
  readonly passwordHash?: string;
  /** The session ends with the token: when that expires, and when it is revoked. */
  readonly token?: { readonly id: bigint; readonly expiresAt: Date | null };
}

export interface SessionStore {
  /** False if the account's password is no longer the one that was given, or if the token is gone. */
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

/** Sessions of browsers. The text of the cookie is stored only as a keyed hash, like tokens. */
export function createSessions(store: SessionStore, key: Buffer) {
  return { open, close };

  async function open(accountId: bigint, remember: boolean, now: Date, opening: Opening = {}): Promise<Session> {
    const { passwordHash, token } = opening;
    const text = randomBytes(32).toString('base64url');
    const csrf = randomBytes(24).toString('base64url');
    const end = now.getTime() + (remember ? REMEMBERED : SHORT);
    const expiresAt = new Date(Math.min(end, token?.expiresAt?.getTime() ?? end));
    const draft = { hash: hashSecret(key, text), accountId, csrf, expiresAt, passwordHash, tokenId: token?.id };
    if (!(await store.create(draft))) throw wrongCredential();
    return { text, csrf, expiresAt };
  }

  /** Ends a session. A session that does not exist has ended already. */
  async function close(text: string): Promise<void> {
    await store.remove(hashSecret(key, text));
  }
}
