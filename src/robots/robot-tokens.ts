import { missingRelation } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import { SCIM } from '../identity/scopes.ts';
import type { IssuedToken, TokenIssuer } from '../identity/token-issuer.ts';
import { findToken, readTokenRequest, type TokenDetails, type TokenRequest } from '../identity/token-request.ts';

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
  readonly personId: bigint;
  readonly scopes: readonly string[];
  /** When the caller's own token expires, if it does. */
  readonly until: Date | null;
  readonly actor: Actor;
}

export type RobotTokens = ReturnType<typeof createRobotTokens>;

/**
 * The default scope, the minimum that is useful to a robot: it can report the status of a cluster of its organization.
 */
const UNSAID = ['write:organization'];

/**
 * Tokens of robots. They belong to the organization, so its own relations about tokens are required in addition to
 * those on the robot.
 */
export function createRobotTokens(
  store: RobotTokenStore,
  issuer: TokenIssuer,
  judge: TokenJudge,
  flushUsage: () => Promise<void>,
) {
  return { list, create, remove };

  async function list(asked: AskedRobot): Promise<TokenDetails[]> {
    await requireRelation(asked, 'view_tokens');
    await flushUsage();
    return await store.list(asked.robotId);
  }

  async function create(
    asked: AskedRobot,
    wanted: TokenRequest,
    now: Date,
    once?: Once<IssuedToken>,
  ): Promise<IssuedToken> {
    await requireRelation(asked, 'create_tokens');
    const { ownerId: accountId, robotId, actor } = asked;
    const held = { held: asked.scopes, heldUntil: asked.until };
    const request = readTokenRequest(wanted, { ...held, unsaid: UNSAID, now, isForRobot: true });
    // Whoever has such a token can make anybody an owner.
    if (request.scopes.includes(SCIM)) await requireOwner(asked);
    return await issuer.issue({ accountId, robotId, actor, ...request }, once);
  }

  async function remove(asked: AskedRobot, idOrName: string): Promise<void> {
    await requireRelation(asked, 'delete_tokens');
    const { id } = findToken(await store.list(asked.robotId), idOrName);
    await issuer.revoke(id, asked.actor);
  }

  async function requireOwner({ personId, ownerId }: AskedRobot): Promise<void> {
    if (await judge.holds(personId, ownerId, 'owner', { type: 'organization', id: ownerId })) return;
    throw missingRelation('owner:org', ': only an owner can create a token with the scope scim');
  }

  async function requireRelation({ personId, ownerId }: AskedRobot, what: string): Promise<void> {
    if (await judge.holds(personId, ownerId, `can_${what}`, { type: 'organization', id: ownerId })) return;
    throw missingRelation(`${what}:org`);
  }
}
