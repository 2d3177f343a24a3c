import { missingRelation } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { Person } from '../identity/callers.ts';
import { SCIM } from '../identity/scopes.ts';
import type { IssuedToken, TokenIssuer } from '../identity/tokens/token-issuer.ts';
import type { MaybeLimits } from '../identity/tokens/token-limits.ts';
import { findToken, readTokenRequest, type TokenDetails, type TokenRequest } from '../identity/tokens/token-request.ts';
import type { RotationRequest } from '../identity/tokens/token-rotation.ts';
import type { LimitReader, WantedLimits } from '../tokens/limit-request.ts';
import { requireExpiry, type TokenPolicies } from '../tokens/token-policy.ts';
import { endOf, type ListedTokens } from '../tokens/tokens.ts';

export interface RobotTokenStore {
  /** Ordered by ID. */
  list(robotId: bigint): Promise<TokenDetails[]>;
}

/** Whether a user holds a relation on an organization. */
export interface TokenJudge {
  holds(
    personId: bigint,
    organizationId: bigint,
    relation: string,
    object: { readonly type: 'organization'; readonly id: bigint },
  ): Promise<boolean>;
}

/** A robot, and the caller who asks about its tokens. Whether the caller may see the robot has been checked before. */
export interface AskedRobot {
  readonly robotId: bigint;
  readonly ownerId: bigint;
  readonly person: Person;
  readonly scopes: readonly string[];
  readonly limits: MaybeLimits;
  /** When the caller's own token expires, if it does. */
  readonly until: Date | null;
  readonly actor: Actor;
}

interface RobotTokensParts {
  readonly store: RobotTokenStore;
  readonly issuer: TokenIssuer;
  readonly judge: TokenJudge;
  /** Rejects a caller who does not hold everything that the robot has. */
  readonly rejectGiving: (personId: bigint, organizationId: bigint, robotId: bigint) => Promise<void>;
  readonly policies: TokenPolicies;
  readonly limits: LimitReader;
  readonly flushUsage: () => Promise<void>;
}

export type RobotTokens = ReturnType<typeof createRobotTokens>;

/**
 * The default scope, the minimum that is useful to a robot: it can report the status of a cluster of its organization.
 */
const UNSAID = ['write:organization'];

/**
 * Tokens of robots. They belong to the organization, so its own relations about tokens are required in addition to
 * those on the robot. Creating or rotating one is giving what the robot holds.
 */
export function createRobotTokens(parts: RobotTokensParts) {
  const { store, issuer, judge, policies, limits, flushUsage, rejectGiving } = parts;
  return { list, create, remove, rotate };

  async function list(asked: AskedRobot): Promise<ListedTokens> {
    await requireRelation(asked, 'view_tokens');
    await flushUsage();
    return { tokens: await store.list(asked.robotId), rules: await policies.rulesForRobots(asked.ownerId) };
  }

  async function create(
    asked: AskedRobot,
    wanted: Omit<TokenRequest, 'limits'> & { readonly limits: WantedLimits | undefined },
    now: Date,
    once?: Once<IssuedToken>,
  ): Promise<IssuedToken> {
    await requireRelation(asked, 'create_tokens');
    const { ownerId: accountId, robotId, actor } = asked;
    const within = { ...wanted, limits: await limits.read(asked.person, wanted.limits, accountId) };
    const held = { held: asked.scopes, heldUntil: asked.until, heldLimits: asked.limits };
    const request = readTokenRequest(within, { ...held, unsaid: UNSAID, now, isForRobot: true });
    if (request.scopes.includes(SCIM)) await requireOwner(asked);
    await rejectGiving(asked.person.id, accountId, robotId);
    requireExpiry(await policies.rulesForRobots(accountId), request.expiresAt, now);
    return await issuer.issue({ accountId, robotId, actor, ...request }, once);
  }

  async function remove(asked: AskedRobot, idOrName: string): Promise<void> {
    await requireRelation(asked, 'delete_tokens');
    const { id } = findToken(await store.list(asked.robotId), idOrName);
    await issuer.revoke(id, asked.actor);
  }

  /** A caller who may create a token may replace one. */
  async function rotate(
    asked: AskedRobot,
    idOrName: string,
    wanted: RotationRequest,
    once?: Once<IssuedToken>,
  ): Promise<IssuedToken> {
    await requireRelation(asked, 'create_tokens');
    const { ownerId: accountId, robotId, actor } = asked;
    const { id, scopes } = findToken(await store.list(robotId), idOrName);
    if (scopes.includes(SCIM)) await requireOwner(asked);
    await rejectGiving(asked.person.id, accountId, robotId);
    const rules = await policies.rulesForRobots(accountId);
    const decide = endOf(wanted.expiresAt, { ...asked, isOwn: false }, rules);
    const about = { id, accountId, robotId, overlapMs: wanted.overlapMs };
    return await issuer.rotate({ ...about, actor, isOwn: false, decide }, once);
  }

  /** The holder of a token with the scope `scim` can make any user an owner. */
  async function requireOwner({ person, ownerId }: AskedRobot): Promise<void> {
    if (await judge.holds(person.id, ownerId, 'owner', { type: 'organization', id: ownerId })) return;
    throw missingRelation('owner:org', ': only an owner can create or rotate a token with the scope scim');
  }

  async function requireRelation({ person, ownerId }: AskedRobot, what: string): Promise<void> {
    if (await judge.holds(person.id, ownerId, `can_${what}`, { type: 'organization', id: ownerId })) return;
    throw missingRelation(`${what}:org`);
  }
}
