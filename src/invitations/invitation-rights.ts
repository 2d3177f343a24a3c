import type { EscalationGuard } from '../authz/escalation.ts';
import type { Judge } from '../authz/judge.ts';
import { AppError, missingRelation, reasonOf } from '../base/errors.ts';
import type { GrantingTeam } from './invitation.ts';

export type InvitationRights = ReturnType<typeof createInvitationRights>;

/** Throws if the inviter may not give what comes with the team. */
export type RejectGiving = (team: Pick<GrantingTeam, 'id' | 'grant'>) => void;

/**
 * Inviting to a team needs what adding a user to it needs: the right to add members to the team and to the organization,
 * and everything that the team gives. It is checked when an invitation is made, and again when it is accepted.
 */
export function createInvitationRights(judge: Pick<Judge, 'holds' | 'objects'>, escalation: EscalationGuard) {
  return { mayAddToSome, mayAddToAll, sees, require, guardOf, mayStill };

  async function mayAddToAll(callerId: bigint, organizationId: bigint): Promise<boolean> {
    return await judge.holds(callerId, organizationId, 'can_add_member', { type: 'organization', id: organizationId });
  }

  /** Whether there is a team that the caller can invite to. */
  async function mayAddToSome(callerId: bigint, organizationId: bigint): Promise<boolean> {
    if (await mayAddToAll(callerId, organizationId)) return true;
    return (await judge.objects(callerId, organizationId, 'can_add_member', 'team', 1)).length > 0;
  }

  async function sees(callerId: bigint, organizationId: bigint, teamId: bigint): Promise<boolean> {
    return await judge.holds(callerId, organizationId, 'can_view', { type: 'team', id: teamId });
  }

  /** The same rules as for members: adding to the organization includes its first team, and no other. */
  async function require(inviterId: bigint, organizationId: bigint, teams: readonly GrantingTeam[]): Promise<void> {
    const isHost = await mayAddToAll(inviterId, organizationId);
    for (const { id, type, permission } of teams) {
      const team = { type: 'team', id } as const;
      const isFirst = type === 'builtin' && permission === 'read';
      if (isHost && isFirst) continue;
      if (!(await judge.holds(inviterId, organizationId, 'can_add_member', team))) {
        throw missingRelation('add_member:team');
      }
      if (!isHost && !(await judge.holds(inviterId, organizationId, 'steward', team))) {
        throw missingRelation('add_member:org');
      }
    }
  }

  /** What the inviter holds is read now. What the teams give is compared with it when the function is called. */
  async function guardOf(inviterId: bigint, organizationId: bigint, teamIds: readonly bigint[]): Promise<RejectGiving> {
    const guards = new Map<bigint, Awaited<ReturnType<EscalationGuard>>>();
    // A membership that an invitation gives does not end.
    for (const teamId of teamIds) {
      guards.set(teamId, await escalation(inviterId, organizationId, { teamId, until: null }));
    }
    return ({ id, grant }) => guards.get(id)?.rejectEscalation(grant);
  }

  /** Whether an inviter could make the invitation again at this moment. */
  async function mayStill(inviterId: bigint, organizationId: bigint, teams: readonly GrantingTeam[]): Promise<boolean> {
    try {
      await require(inviterId, organizationId, teams);
      const reject = await guardOf(
        inviterId,
        organizationId,
        teams.map(({ id }) => id),
      );
      for (const team of teams) reject(team);
      return true;
    } catch (error) {
      if (isLackOfRights(error)) return false;
      throw error;
    }
  }
}

export function isLackOfRights(error: unknown): boolean {
  return error instanceof AppError && ['missing_relation', 'escalation'].includes(reasonOf(error));
}
