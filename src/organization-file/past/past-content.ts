import type { Guardrail } from '../../guardrails/guardrail.ts';
import type { Permission } from '../../identity/callers.ts';
import type { StoredAssignment } from '../../roles/assignment-plan.ts';
import type { CatalogEntry } from '../../roles/catalog.ts';
import type { OrganizationNow, StoredMember, StoredTeam } from '../organization-now.ts';

/** What is undefined is not told by the entries since the moment. */
export interface MemberThen extends Pick<StoredMember, 'login' | 'expiresAt'> {
  readonly isProvided: boolean | undefined;
}

export interface TeamThen extends Pick<StoredTeam, 'name' | 'description' | 'isBuiltIn'> {
  readonly permission: Permission;
  readonly isScim: boolean | undefined;
  readonly members: Map<bigint, MemberThen>;
}

export interface RoleThen {
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly CatalogEntry[];
  /** When the role ends for each of its teams; null for never. */
  readonly teams: Map<bigint, Date | null>;
}

export interface AssignmentThen extends Omit<StoredAssignment, 'isRequested'> {
  readonly isRequested: boolean | undefined;
}

/** What a file says about the past, by ID, while entries are undone in it. */
export interface PastContent {
  readonly teams: Map<bigint, TeamThen>;
  readonly roles: Map<bigint, RoleThen>;
  readonly assignments: Map<bigint, AssignmentThen>;
  readonly guardrails: Map<bigint, Guardrail>;
}

export function pastContentOf({ teams, roleFile: { roles, assignments, rules } }: OrganizationNow): PastContent {
  const content: PastContent = {
    teams: new Map(
      teams.map(({ id, members, ...team }) => {
        return [id, { ...team, members: new Map(members.map(({ id: user, ...member }) => [user, member])) }];
      }),
    ),
    roles: new Map(
      roles.map(({ id, name, description, permissions, teamIds, teamExpiries }) => {
        const ends = teamIds.map((team) => [team, teamExpiries?.get(team) ?? null] as const);
        return [id, { name, description, permissions, teams: new Map(ends) }];
      }),
    ),
    assignments: new Map(assignments.stored.map((one) => [one.id, one])),
    guardrails: new Map(rules.guardrails.map((one) => [one.id, one])),
  };
  return content;
}

/** Drops what was over at the moment: a server may have noticed the end, and written its entry, long after it. */
export function dropOver({ teams, roles, assignments }: PastContent, at: Date): void {
  const isOver = (end: Date | null) => end !== null && end <= at;
  for (const { members } of teams.values()) {
    for (const [id, { expiresAt }] of members) if (isOver(expiresAt)) members.delete(id);
  }
  for (const role of roles.values()) for (const [id, end] of role.teams) if (isOver(end)) role.teams.delete(id);
  for (const [id, { expiresAt }] of assignments) if (isOver(expiresAt)) assignments.delete(id);
}
