import { randomBytes } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { Page, PageRequest } from '../../base/page.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import { wrongCredential } from '../callers.ts';
import { hashSecret } from '../tokens/token-text.ts';
import type { SessionMethod } from './proof-kinds.ts';
import {
  type Check,
  DEFAULT_SESSION_POLICY,
  lifetimeOf,
  nextCheck,
  type SessionPolicy,
  type SessionTerms,
} from './session-policy.ts';

export interface SessionDraft {
  readonly hash: Buffer;
  readonly accountId: bigint;
  readonly csrf: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly idleMinutes: number | null;
  readonly userAgent: string;
  readonly ip: string;
  readonly passwordHash: string | undefined;
  readonly tokenId: bigint | undefined;
  readonly method: SessionMethod;
  /** By default, when it was created. */
  readonly provenAt?: Date;
  readonly provider: SessionProvider | undefined;
  /** When the provider is asked next. */
  readonly check: Check | undefined;
}

/** The sign-in at a provider that a session is opened with. */
export interface SessionProvider {
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** The session at the provider, if it names one. */
  readonly sid: string | undefined;
  /** The ID token, which signing out at the provider needs. */
  readonly sealedIdToken: Buffer | undefined;
  /** Whether it can be asked, with a refresh token, if it still vouches for the user. */
  readonly canBeAsked: boolean;
  readonly sealedRefreshToken: Buffer | undefined;
  /** After how long the refresh token expires, if the provider says so. */
  readonly refreshMs: number | undefined;
  readonly terms: SessionTerms;
}

/** A sign-in whose tokens wait for the second factor. */
export interface ParkedSignIn {
  readonly hash: Buffer;
  readonly accountId: bigint;
  readonly provider: SessionProvider;
  readonly expiresAt: Date;
}

/** What a session is opened with, besides the word of the caller. It may have changed since it was checked. */
export interface Opening {
  /** What the password was compared with. */
  readonly passwordHash?: string;
  /** The session ends with the token: when that expires, and when it is revoked. */
  readonly token?: { readonly id: bigint; readonly expiresAt: Date | null };
  readonly browser?: Browser;
  readonly provider?: SessionProvider;
  /** Where the tokens of the provider wait, if a second factor came after it. */
  readonly parked?: Buffer;
  /** By default, a token if there is one, and a password otherwise. */
  readonly method?: SessionMethod;
  /** When the user last proved who they are. By default, now. */
  readonly provenAt?: Date;
}

/** Where a session was opened. */
export interface Browser {
  readonly userAgent: string;
  readonly ip: string;
}

/** A session as its user sees it. */
export interface SessionCard extends Browser {
  readonly id: bigint;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

export interface SessionStore {
  /** Deletes the expired sessions of all users; returns how many there were. */
  sweep(): Promise<number>;
  /**
   * False if what the session is opened with is no longer enough: the password is another one, the token or the linked
   * account is gone, the provider has ended its session, or there is a second factor by now.
   */
  create(draft: SessionDraft, parked?: Buffer): Promise<boolean>;
  park(signIn: ParkedSignIn): Promise<void>;
  remove(hash: Buffer): Promise<void>;
  /** The user of a session has proven who they are once more. */
  prove(accountId: bigint, id: bigint, method: SessionMethod, now: Date): Promise<void>;
  /** Those that have not expired, the one that was used last first. */
  list(accountId: bigint, now: Date, request: PageRequest): Promise<Page<SessionCard>>;
  /** False if the account has no such session. */
  end(accountId: bigint, id: bigint, now: Date, actor: Actor): Promise<boolean>;
  /** All sessions of the account but the one with the ID `kept`. */
  endOthers(accountId: bigint, kept: bigint | undefined, now: Date, actor: Actor): Promise<void>;
}

export interface Session {
  readonly text: string;
  readonly csrf: string;
  readonly expiresAt: Date;
  /** Whether the browser keeps it when it is closed. */
  readonly isRemembered: boolean;
}

export type Sessions = ReturnType<typeof createSessions>;

/** Enough to recognize a browser; the header itself can have thousands of characters. */
const MAX_USER_AGENT = 200;

/** Sessions of browsers. The text of the cookie is stored only as a keyed hash, like tokens. */
export function createSessions(
  store: SessionStore,
  key: Buffer,
  flushUsage: () => Promise<void>,
  policy: SessionPolicy = DEFAULT_SESSION_POLICY,
) {
  const { park, prove, endOthers, sweep } = store;
  return { open, close, park, prove, list, end, endOthers, sweep };

  async function open(accountId: bigint, remember: boolean, now: Date, opening: Opening = {}): Promise<Session> {
    const { passwordHash, token, browser, provider, method = token ? 'token' : 'password', provenAt } = opening;
    const text = randomBytes(32).toString('base64url');
    const csrf = randomBytes(24).toString('base64url');
    const terms = provider?.terms;
    const canBeAsked = provider?.canBeAsked ?? false;
    const life = lifetimeOf(policy, remember, now, { terms, canBeAsked });
    const end = life.expiresAt.getTime();
    const expiresAt = new Date(Math.min(end, token?.expiresAt?.getTime() ?? end));
    const check = terms && terms.recheckMs > 0 && canBeAsked ? nextCheck(terms, now, provider.refreshMs) : undefined;
    const place = { userAgent: browser?.userAgent.slice(0, MAX_USER_AGENT) ?? '', ip: browser?.ip ?? '' };
    const secrets = { hash: hashSecret(key, text), csrf, passwordHash, tokenId: token?.id, method };
    const proof = provenAt && { provenAt };
    const { idleMinutes, isRemembered } = life;
    const ends = { createdAt: now, expiresAt, idleMinutes, check };
    const draft = { accountId, provider, ...ends, ...place, ...secrets, ...proof };
    const isOpen = opening.parked ? await store.create(draft, opening.parked) : await store.create(draft);
    if (!isOpen) throw wrongCredential();
    return { text, csrf, expiresAt, isRemembered };
  }

  /** Ends a session. A session that does not exist has ended already. */
  async function close(text: string): Promise<void> {
    await store.remove(hashSecret(key, text));
  }

  async function list(accountId: bigint, now: Date, request: PageRequest): Promise<Page<SessionCard>> {
    await flushUsage();
    return await store.list(accountId, now, request);
  }

  async function end(accountId: bigint, id: bigint, now: Date, actor: Actor): Promise<void> {
    if (!(await store.end(accountId, id, now, actor))) {
      throw new AppError('notFound', 'session does not exist', { reason: 'session_not_found' });
    }
  }
}
