import { AppError, invalidField } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import type { TokenDetails } from '../identity/tokens/token-request.ts';

export const TOKEN_CREATORS = ['everyone', 'members', 'administrators'] as const;
export type TokenCreators = (typeof TOKEN_CREATORS)[number];

/** The rules for new tokens. Those of an organization are about its robots. */
export interface TokenPolicy {
  /** The longest time from creation to expiry. Null: any. A token that does not expire is beyond every maximum. */
  readonly maxDays: number | null;
  readonly expiryRequired: boolean;
  /** Who may create personal tokens. Only the deployment has such a rule. */
  readonly personalTokens: TokenCreators;
}

export interface TokenPolicyStore {
  /** That of the deployment, or of one organization. Undefined if none was set. */
  get(organizationId: bigint | undefined): Promise<TokenPolicy | undefined>;
  set(organizationId: bigint | undefined, policy: TokenPolicy, actor: Actor): Promise<void>;
}

/** What is required of one token, and by whom. */
export interface TokenRules {
  readonly maxDays: number | null;
  readonly expiryRequired: boolean;
  /** Whose rules they are, for messages. */
  readonly whose: string;
}

/** Which rule a token breaks that is older than the rule. */
export const TOKEN_RULES = ['max_days', 'expiry_required'] as const;
export type TokenRule = (typeof TOKEN_RULES)[number];

export const NO_POLICY: TokenPolicy = { maxDays: null, expiryRequired: false, personalTokens: 'everyone' };
export const MAX_POLICY_DAYS = 3650;

const DAY_MS = 86_400_000;
/** A caller who asks for ninety days by another clock means ninety days. */
const CLOCK_MS = 5 * 60_000;

export type TokenPolicies = ReturnType<typeof createTokenPolicies>;

/**
 * Policies hold for tokens that are created or rotated over HTTP, by any caller. What the server's own machine issues,
 * such as the token of the first administrator, is not subject to them: operators cannot be locked out of a deployment
 * they run.
 */
export function createTokenPolicies(store: TokenPolicyStore) {
  return { get, set, rulesForUsers, rulesForRobots, requireCreator };

  async function get(organizationId?: bigint): Promise<TokenPolicy> {
    return (await store.get(organizationId)) ?? NO_POLICY;
  }

  async function set(organizationId: bigint | undefined, policy: TokenPolicy, actor: Actor): Promise<TokenPolicy> {
    await store.set(organizationId, policy, actor);
    return policy;
  }

  async function rulesForUsers(): Promise<TokenRules> {
    return { ...(await get()), whose: 'the deployment' };
  }

  /** The stricter of the two, rule by rule. */
  async function rulesForRobots(organizationId: bigint): Promise<TokenRules> {
    const [deployment, own] = [await get(), await get(organizationId)];
    const isOwn = (own.maxDays ?? Number.POSITIVE_INFINITY) < (deployment.maxDays ?? Number.POSITIVE_INFINITY);
    return {
      maxDays: isOwn ? own.maxDays : deployment.maxDays,
      expiryRequired: own.expiryRequired || deployment.expiryRequired,
      whose: isOwn || (own.expiryRequired && deployment.maxDays === null) ? 'the organization' : 'the deployment',
    };
  }

  async function requireCreator({ isAdmin, organizations }: Pick<Person, 'isAdmin' | 'organizations'>): Promise<void> {
    const { personalTokens } = await get();
    if (mayCreate(personalTokens, isAdmin, organizations.size > 0)) return;
    const who = personalTokens === 'members' ? 'members of an organization' : 'site administrators';
    const message = `the token policy of the deployment lets only ${who} create personal access tokens`;
    throw new AppError('forbidden', message, { reason: 'token_policy' });
  }
}

export function mayCreate(rule: TokenCreators, isAdmin: boolean, isMember: boolean): boolean {
  return isAdmin || rule === 'everyone' || (rule === 'members' && isMember);
}

/** Rejects a new token whose end the rules do not allow. */
export function requireExpiry({ maxDays, expiryRequired, whose }: TokenRules, expiresAt: Date | null, now: Date): void {
  const within = maxDays === null ? '' : ` within ${days(maxDays)}`;
  if (expiresAt === null) {
    if (!expiryRequired && maxDays === null) return;
    const message = `expires_at is required: the token policy of ${whose} requires tokens to expire${within}`;
    throw invalidField('expires_at', message, 'token_policy');
  }
  if (maxDays === null || expiresAt.getTime() <= now.getTime() + maxDays * DAY_MS + CLOCK_MS) return;
  throw invalidField(
    'expires_at',
    `the token policy of ${whose} requires tokens to expire${within}; choose an earlier expires_at`,
    'token_policy',
  );
}

/** The latest end that the rules allow, at most the given one. Null if they allow a token without an end. */
export function latestEnd({ maxDays }: TokenRules, expiresAt: Date | null, now: Date): Date | null {
  if (maxDays === null) return expiresAt;
  const latest = new Date(now.getTime() + maxDays * DAY_MS);
  return expiresAt === null || expiresAt > latest ? latest : expiresAt;
}

/** Which rules a token breaks that was created before they were set. */
export function brokenRules(
  { maxDays, expiryRequired }: TokenRules,
  { createdAt, expiresAt, supersededBy }: Pick<TokenDetails, 'createdAt' | 'expiresAt' | 'supersededBy'>,
): TokenRule[] {
  if (supersededBy !== null) return [];
  const life = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - createdAt.getTime();
  const isTooLong = maxDays !== null && life > maxDays * DAY_MS + CLOCK_MS;
  return [
    ...(isTooLong ? (['max_days'] as const) : []),
    ...(expiryRequired && expiresAt === null ? (['expiry_required'] as const) : []),
  ];
}

function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}
