import type { Actor } from '../directory/audit.ts';
import type { RoleDetails } from '../directory/profile.ts';
import { AppError } from '../errors.ts';
import { type Judge, missingRelation } from './holdings.ts';

/** Custom roles, as the group that they belong to hands them over: who gives one away is asked what they hold themselves. */
export interface RolePort {
  list(organizationId: bigint): Promise<readonly RoleDetails[]>;
  get(organizationId: bigint, id: bigint): Promise<RoleDetails>;
  update(
    setting: { readonly organizationId: bigint; readonly actor: Actor },
    id: bigint,
    input: (current: RoleDetails) => { readonly teamIds: readonly bigint[] },
    require: (current: RoleDetails) => void,
  ): Promise<RoleDetails>;
}

interface Gift {
  readonly organizationId: bigint;
  readonly teamId: bigint;
  readonly roleId: bigint;
}

type Unchanged = (current: RoleDetails) => void;

export type TeamRoles = ReturnType<typeof createTeamRoles>;

/** The roles of a team. Giving one is changing the role, by the same rules. */
export function createTeamRoles(roles: RolePort, judge: Pick<Judge, 'holds'>) {
  return { list, give, take };

  async function list(organizationId: bigint, teamId: bigint): Promise<RoleDetails[]> {
    return (await roles.list(organizationId)).filter((role) => role.teamIds.includes(teamId));
  }

  async function give({ organizationId, teamId, roleId }: Gift, unchanged: Unchanged, actor: Actor): Promise<void> {
    await requireEditor(organizationId, actor);
    const present = await roles.get(organizationId, roleId);
    if (present.teamIds.includes(teamId)) return unchanged(present);
    const input = ({ teamIds }: RoleDetails) => ({ teamIds: [...teamIds, teamId] });
    await roles.update({ organizationId, actor }, roleId, input, unchanged);
  }

  async function take({ organizationId, teamId, roleId }: Gift, unchanged: Unchanged, actor: Actor): Promise<void> {
    await requireEditor(organizationId, actor);
    const input = ({ teamIds }: RoleDetails) => {
      if (!teamIds.includes(teamId)) throw new AppError('notFound', 'the team does not have this role');
      return { teamIds: teamIds.filter((id) => id !== teamId) };
    };
    await roles.update({ organizationId, actor }, roleId, input, unchanged);
  }

  async function requireEditor(organizationId: bigint, actor: Actor): Promise<void> {
    const organization = { type: 'organization', id: organizationId } as const;
    const isEditor = await judge.holds(actor.id, organizationId, 'can_edit_roles', organization);
    if (!isEditor) throw missingRelation('edit_roles:org');
  }
}
