/** How long sessions last, by the settings. */
export interface SessionPolicy {
  readonly hours: number;
  /** With "Keep me signed in". 0: that is not offered. */
  readonly rememberedDays: number;
  /** Sessions that are not used for as long end. 0: they do not. */
  readonly idleMinutes: number;
}

/** What a provider says about the sessions that are opened with it, where it differs from the settings. */
export interface SessionTerms {
  readonly hours: number | null;
  readonly idleMinutes: number | null;
  readonly mayRemember: boolean;
  /** How long the word of the provider counts. 0: as long as the session. */
  readonly recheckMs: number;
  /** How much longer it counts while the provider cannot be asked. */
  readonly graceMs: number;
}

export interface Lifetime {
  readonly expiresAt: Date;
  readonly idleMinutes: number | null;
  /** Whether the browser keeps the session when it is closed. */
  readonly isRemembered: boolean;
}

const HOUR = 3_600_000;

export const DEFAULT_SESSION_POLICY: SessionPolicy = { hours: 24, rememberedDays: 31, idleMinutes: 0 };

/**
 * How long a session lasts that is opened now. If the provider has given nothing to ask it with, the session ends when
 * its word no longer counts, and the browser asks the provider by signing in again.
 */
export function lifetimeOf(
  policy: SessionPolicy,
  remember: boolean,
  now: Date,
  { terms, canBeAsked = false }: { readonly terms?: SessionTerms | undefined; readonly canBeAsked?: boolean } = {},
): Lifetime {
  const isRemembered = remember && policy.rememberedDays > 0 && (terms?.mayRemember ?? true);
  const ends = [(isRemembered ? policy.rememberedDays * 24 : policy.hours) * HOUR];
  if (terms?.hours != null) ends.push(terms.hours * HOUR);
  if (terms && terms.recheckMs > 0 && !canBeAsked) ends.push(terms.recheckMs);
  const idleMinutes = terms?.idleMinutes ?? policy.idleMinutes;
  return {
    expiresAt: new Date(now.getTime() + Math.min(...ends)),
    idleMinutes: idleMinutes === 0 ? null : idleMinutes,
    isRemembered,
  };
}

/** When the provider is to be asked, after it has vouched for a user. Null: never. */
export interface Check {
  readonly checkedAt: Date;
  readonly checkAt: Date;
  readonly checkUntil: Date;
}

/** A minute before its word no longer counts, so that asking takes no time off it. */
const MARGIN_MS = 60_000;
/** Refresh tokens that are not used for a while expire. An active user must not lose theirs between two checks. */
const SHARE_OF_REFRESH = 3;

/** `refreshMs`: after how long the refresh token expires, if the provider says so. */
export function nextCheck(
  { recheckMs, graceMs }: SessionTerms,
  now: Date,
  refreshMs = Number.POSITIVE_INFINITY,
): Check {
  const wait = Math.min(recheckMs - Math.min(MARGIN_MS, recheckMs / 10), refreshMs / SHARE_OF_REFRESH);
  const at = (ms: number) => new Date(now.getTime() + ms);
  return { checkedAt: now, checkAt: at(wait), checkUntil: at(recheckMs + graceMs) };
}
