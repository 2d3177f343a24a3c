import type { Judge } from '../authz/judge.ts';
import { AppError, missingRelation } from '../base/errors.ts';
import type { Term } from '../base/expiry.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Role, Roles } from './roles.ts';

export interface Gift {
  readonly organizationId: bigint;
  readonly teamId: bigint;
  readonly roleId: bigint;
}

type Unchanged = (current: Role) => void;

export type TeamRoles = ReturnType<typeof createTeamRoles>;

/** The roles of a team. Assigning one is a change to the role, with the same rules. */
export function createTeamRoles(roles: Pick<Roles, 'list' | 'get' | 'update'>, judge: Pick<Judge, 'holds'>) {
  return { list, give, take };

  async function list(organizationId: bigint, teamId: bigint): Promise<Role[]> {
    return (await roles.list(organizationId)).filter((role) => role.teamIds.includes(teamId));
  }

  /** Or changes when the assignment ends. */
  async function give(
    { organizationId, teamId, roleId }: Gift,
    unchanged: Unchanged,
    actor: Actor,
    term?: Term,
  ): Promise<void> {
    await requireEditor(organizationId, actor);
    const present = await roles.get(organizationId, roleId);
    const isSame = term === undefined || term?.getTime() === present.teamExpiries?.get(teamId)?.getTime();
    if (present.teamIds.includes(teamId) && isSame) return unchanged(present);
    const terms = term === undefined ? undefined : new Map([[teamId, term]]);
    const input = ({ teamIds }: Role) => ({ teamIds: [...teamIds, teamId], terms });
    await roles.update({ organizationId, actor }, roleId, input, unchanged);
  }

  async function take({ organizationId, teamId, roleId }: Gift, unchanged: Unchanged, actor: Actor): Promise<void> {
    await requireEditor(organizationId, actor);
    const input = ({ teamIds }: Role) => {
      if (!teamIds.includes(teamId)) throw new AppError('notFound', 'the team does not have this role');
      return { teamIds: teamIds.filter((id) => id !== teamId) };
    };
    await roles.update({ organizationId, actor }, roleId, input, unchanged);
  }

  async function requireEditor(organizationId: bigint, actor: Actor): Promise<void> {
    const organization = { type: 'organization', id: organizationId } as const;
    const isEditor = await judge.holds(actor.id, organizationId, 'assigner', organization);
    if (!isEditor) throw missingRelation('edit_roles:org');
  }
}
