/** A session, as far as its use decides whether it still counts. */
export interface LivingSession {
  readonly sessionId: bigint;
  readonly lastSeenAt: Date;
  readonly idleMs: number | null;
  /** When the provider has to be asked whether it still vouches for the user. Null: it does not. */
  readonly checkAt: Date | null;
  readonly checkUntil: Date | null;
}

export interface LivenessStore {
  /** When the session was last used, on whichever replica; undefined if it has ended. */
  lastSeen(sessionId: bigint): Promise<Date | undefined>;
}

/** Asks the provider of a session. False if the session has ended by that. */
export type CheckSession = (sessionId: bigint, now: Date) => Promise<boolean>;

/** A use is written after a minute at the latest, and each session at most once a minute. */
export const IDLE_SLACK_MS = 120_000;

export type SessionLiveness = ReturnType<typeof createSessionLiveness>;

/**
 * Whether a session that has not expired may still be used: it was used lately, and its provider goes on to vouch for
 * its user. Neither takes a query unless there is doubt.
 */
export function createSessionLiveness(store: LivenessStore, lastNoted: (sessionId: bigint) => Date | undefined) {
  let check: CheckSession | undefined;
  return { isAlive, checkWith };

  /** Providers are wired after this. */
  function checkWith(ask: CheckSession): void {
    check = ask;
  }

  async function isAlive(session: LivingSession, now: Date): Promise<boolean> {
    return !(await isIdle(session, now)) && (await isVouchedFor(session, now));
  }

  async function isIdle({ sessionId, lastSeenAt, idleMs }: LivingSession, now: Date): Promise<boolean> {
    if (idleMs === null) return false;
    const noted = lastNoted(sessionId) ?? lastSeenAt;
    const known = Math.max(noted.getTime(), lastSeenAt.getTime());
    if (now.getTime() - known <= idleMs) return false;
    const seen = await store.lastSeen(sessionId);
    return seen === undefined || now.getTime() - Math.max(seen.getTime(), known) > idleMs + IDLE_SLACK_MS;
  }

  async function isVouchedFor({ sessionId, checkAt, checkUntil }: LivingSession, now: Date): Promise<boolean> {
    if (checkAt === null) return true;
    if (checkAt <= now && check) return await check(sessionId, now);
    return checkUntil === null || now < checkUntil;
  }
}
