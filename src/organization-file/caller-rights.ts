import { createEscalationGuard, type GivingOfTeam, heldBy } from '../authz/escalation.ts';
import type { Judge } from '../authz/judge.ts';
import { missingRelation } from '../base/errors.ts';
import type { Permission } from '../identity/callers.ts';
import type { OrganizationNow } from './organization-now.ts';

export type CallerRights = Awaited<ReturnType<ReturnType<typeof createCallerRights>>>;

/** What a caller may do before the file is applied. That counts for every change in it: a file gives its author nothing. */
export function createCallerRights(judge: Pick<Judge, 'allowed' | 'holds'>, givingOfTeam: GivingOfTeam) {
  const escalation = createEscalationGuard(judge, givingOfTeam);

  return async (
    { id: organizationId, teams, robots, roleFile }: OrganizationNow,
    callerId: bigint,
    requireProof: () => void,
  ) => {
    const held = await heldBy(judge, callerId, organizationId);
    const objects = [
      ...teams.map(({ id }) => ({ type: 'team' as const, id })),
      ...robots.map(({ id }) => ({ type: 'robot_ac' as const, id })),
    ];
    const allowed = await judge.allowed(callerId, organizationId, objects);
    const relations = new Map(objects.map(({ type, id }, place) => [`${type}:${id}`, new Set(allowed[place])]));
    const own = await escalation(callerId, organizationId);
    const joinings = new Map<string, ReturnType<typeof escalation>>();
    const onObject = (object: string, relation: string, named: string) => {
      if (!relations.get(object)?.has(relation)) throw missingRelation(named);
    };
    return {
      callerId,
      held,
      isOwner: own.isOwner,
      requireProof,
      require(relation: string, named: string): void {
        if (!held.has(relation)) throw missingRelation(named);
      },
      requireTeam: (id: bigint, relation: string, named: string) => onObject(`team:${id}`, relation, named),
      requireRobot: (id: bigint, relation: string, named: string) => onObject(`robot_ac:${id}`, relation, named),
      rejectPermission: (permission: Permission) => own.rejectEscalation({ permission, roles: [] }),
      /** No caller adds a user to a team that holds more than they do. */
      async rejectJoining(teamId: bigint, permission: Permission, until: Date | null): Promise<void> {
        const key = `${teamId} ${until?.getTime()}`;
        const guard = joinings.get(key) ?? escalation(callerId, organizationId, { teamId, until });
        joinings.set(key, guard);
        const roles = roleFile.roles.filter(({ teamIds }) => teamIds.includes(teamId));
        const assigned = roleFile.assignments.stored.filter(({ to }) => to.type === 'team' && to.id === teamId);
        (await guard).rejectEscalation({
          permission,
          roles: roles.flatMap((role) => role.permissions),
          assignmentIds: assigned.map(({ id }) => id),
        });
      },
      /** Adding to a team does not include adding to the organization. */
      async requireHost(teamId: bigint | undefined): Promise<void> {
        if (held.has('can_add_member')) return;
        const team = teamId === undefined ? undefined : ({ type: 'team', id: teamId } as const);
        if (team && (await judge.holds(callerId, organizationId, 'steward', team))) return;
        throw missingRelation('add_member:org');
      },
    };
  };
}
