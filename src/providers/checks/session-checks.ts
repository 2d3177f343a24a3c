import { type Actor, SERVER } from '../../changes/audit-entry.ts';
import { nextCheck, type SessionTerms } from '../../identity/sessions/session-policy.ts';
import type { OidcClient } from '../oidc.ts';
import type { Provider } from '../provider.ts';
import type { SealToken } from '../provider-sign-in.ts';
import type { KnownProvider } from '../providers.ts';

/** A session whose provider is to be asked, by this replica. */
export interface DueSession {
  readonly sessionId: bigint;
  readonly accountId: bigint;
  readonly provider: string;
  readonly subject: string;
  readonly sealedRefreshToken: Buffer | null;
  readonly checkUntil: Date;
}

export interface Confirmation {
  readonly checkedAt: Date;
  readonly checkAt: Date;
  readonly checkUntil: Date;
  /** Undefined keeps the one that was used. */
  readonly sealedRefreshToken: Buffer | undefined;
}

export interface SessionCheckStore {
  /** Undefined if it is not due, or if another replica asks. */
  claim(sessionId: bigint, now: Date, until: Date): Promise<DueSession | undefined>;
  exists(sessionId: bigint): Promise<boolean>;
  confirm(due: DueSession, confirmation: Confirmation): Promise<void>;
  /** It is asked again then. */
  postpone(due: DueSession, until: Date): Promise<void>;
  end(due: DueSession, why: string, actor: Actor): Promise<void>;
}

interface SessionChecksOptions {
  readonly store: SessionCheckStore;
  /** Undefined if people cannot sign in with it. */
  readonly providerOf: (name: string) => Promise<KnownProvider | undefined>;
  readonly termsOf: (provider: Provider) => SessionTerms;
  readonly client: Pick<OidcClient, 'ask'>;
  readonly sealToken: SealToken;
  readonly openRefreshToken: (accountId: bigint, subject: string, sealed: Buffer) => Promise<string>;
  readonly onUnknown: (provider: string, why: string, cause: unknown) => Promise<void>;
}

export type SessionChecks = ReturnType<typeof createSessionChecks>;

/** Longer than a provider is waited for. */
const LEASE_MS = 30_000;
const RETRY_MS = 60_000;

/**
 * Asks a provider whether it goes on to vouch for the user of a session.
 *
 * 1. Of all replicas, one asks, and of its requests, one: most refresh tokens work once, and a provider that sees one
 *    twice takes it for stolen. Requests that come to another replica meanwhile are answered, for half a minute at most.
 * 2. Only the word of the provider ends a session. If it cannot be asked, the session goes on until the grace is over,
 *    and works again as soon as the provider has vouched for it.
 */
export function createSessionChecks(parts: SessionChecksOptions) {
  const { store, providerOf, termsOf, client, sealToken, openRefreshToken, onUnknown } = parts;
  const running = new Map<bigint, Promise<boolean>>();
  return { check };

  /** False if the session has ended, or must not be used now. */
  function check(sessionId: bigint, now: Date): Promise<boolean> {
    const present = running.get(sessionId);
    if (present) return present;
    const asking = checkOnce(sessionId, now).finally(() => running.delete(sessionId));
    running.set(sessionId, asking);
    return asking;
  }

  async function checkOnce(sessionId: bigint, now: Date): Promise<boolean> {
    const due = await store.claim(sessionId, now, new Date(now.getTime() + LEASE_MS));
    return due ? await ask(due, now) : await store.exists(sessionId);
  }

  async function ask(due: DueSession, now: Date): Promise<boolean> {
    const { accountId, subject, sealedRefreshToken } = due;
    const known = await providerOf(due.provider);
    if (!known || sealedRefreshToken === null) return await end(due, 'the provider was disabled or removed');
    const refreshToken = await openRefreshToken(accountId, subject, sealedRefreshToken);
    const answer = await client.ask(known, refreshToken, subject);
    if (answer.kind === 'rejected') return await end(due, `the provider no longer vouches: ${answer.why}`);
    if (answer.kind === 'unknown') {
      await onUnknown(due.provider, answer.why, answer.cause);
      await store.postpone(due, new Date(now.getTime() + RETRY_MS));
      return now < due.checkUntil;
    }
    const terms = termsOf(known.provider);
    const next = answer.refreshToken;
    const sealed = next === undefined ? undefined : await sealToken(accountId, 'refresh token', subject, next);
    await store.confirm(due, { ...nextCheck(terms, now, answer.refreshMs), sealedRefreshToken: sealed });
    return true;
  }

  async function end(due: DueSession, why: string): Promise<false> {
    await store.end(due, why, { ...SERVER, name: `provider ${due.provider}` });
    return false;
  }
}
