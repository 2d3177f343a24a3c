import { AppError } from '../errors.ts';
import type { Permission } from './callers.ts';
import { nameTaken, requireName } from './people.ts';

export interface NewOrganization {
  readonly name: string;
  readonly fullName?: string;
  readonly description?: string;
  readonly founderId: bigint;
}

export interface NewTeam {
  readonly organizationId: bigint;
  readonly name: string;
  readonly description?: string;
  readonly permission: Permission;
}

export interface TeamDraft {
  readonly name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly type: 'builtin' | 'custom';
}

export interface OrganizationDraft {
  readonly name: string;
  readonly fullName: string;
  readonly description: string;
  readonly founderId: bigint;
  readonly teams: readonly TeamDraft[];
}

export interface OrganizationStore {
  /** The founder joins the first of the teams. */
  create(draft: OrganizationDraft): Promise<{ id: bigint; teamIds: readonly bigint[] } | 'name taken'>;
  createTeam(organizationId: bigint, draft: TeamDraft): Promise<bigint | 'name taken'>;
  addMember(teamId: bigint, accountId: bigint): Promise<boolean>;
  removeMember(teamId: bigint, accountId: bigint): Promise<'removed' | 'not a member' | 'last owner'>;
}

export type Organizations = ReturnType<typeof createOrganizations>;

/** Every organization is born with these, the founder in the first. */
export const BUILT_IN_TEAMS: readonly TeamDraft[] = [
  { name: 'Owners', permission: 'owner', type: 'builtin', description: 'May do everything in the organization.' },
  { name: 'Editors', permission: 'write', type: 'builtin', description: 'May change all resources.' },
  { name: 'Viewers', permission: 'read', type: 'builtin', description: 'May see all resources.' },
];

export function createOrganizations(store: OrganizationStore) {
  return { create, createTeam, addMember, removeMember };

  async function create(organization: NewOrganization) {
    requireName(organization.name);
    const made = await store.create({
      name: organization.name,
      fullName: organization.fullName ?? '',
      description: organization.description ?? '',
      founderId: organization.founderId,
      teams: BUILT_IN_TEAMS,
    });
    if (made === 'name taken') throw nameTaken(organization.name);
    const teams = BUILT_IN_TEAMS.map((team, index) => [team.name, made.teamIds[index] ?? 0n] as const);
    return { id: made.id, teams: new Map(teams) };
  }

  async function createTeam(team: NewTeam): Promise<bigint> {
    const made = await store.createTeam(team.organizationId, {
      name: team.name,
      description: team.description ?? '',
      permission: team.permission,
      type: 'custom',
    });
    if (made === 'name taken') throw nameTaken(team.name);
    return made;
  }

  async function addMember(teamId: bigint, accountId: bigint): Promise<void> {
    if (!(await store.addMember(teamId, accountId))) throw new AppError('notFound', 'team or user does not exist');
  }

  async function removeMember(teamId: bigint, accountId: bigint): Promise<void> {
    const outcome = await store.removeMember(teamId, accountId);
    if (outcome === 'not a member') throw new AppError('notFound', 'user is not in this team');
    if (outcome === 'last owner') throw new AppError('conflict', 'the last owner of an organization cannot leave');
  }
}
