import { idOf } from '../authz/object-ref.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { assignmentsOf, assignmentTuplesOf, type DerivedTuple, PERMISSION_OF } from '../changes/derived-tuples.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import type { Permission } from '../identity/callers.ts';
import type { PeopleClasses } from './people-classes.ts';

/** A team as it is, or as it would be. */
export interface TeamState {
  readonly id: bigint;
  readonly name: string;
  readonly permission: Permission;
  readonly isBuiltIn: boolean;
  /** As the subjects of tuples: `user:7`. */
  readonly members: ReadonlySet<string>;
  /** When memberships end. Those of other members do not. */
  readonly ends: ReadonlyMap<string, Date>;
}

/** A role as it is, or as it would be. */
export interface RoleState {
  readonly id: bigint;
  readonly name: string;
  readonly description: string;
  /** The permissions that it contains, as relations on the organization. */
  readonly relations: readonly string[];
  readonly teamIds: readonly bigint[];
  /** When assignments end. Those to other teams do not. */
  readonly teamExpiries: ReadonlyMap<bigint, Date>;
}

/** A role for a user or a robot, or on a single object. A team that has a role in the whole organization is in the role. */
export interface AssignmentState {
  readonly id: bigint;
  readonly roleId: bigint;
  /** Such as `user:5`, `robot_ac:3` or `team:4`. */
  readonly to: string;
  /** Such as `cluster:1`. Undefined means the organization. */
  readonly on: string | undefined;
  /** The only namespaces in which it counts. */
  readonly namespaces?: readonly string[] | undefined;
  readonly expiresAt: Date | null;
}

export interface OrganizationState {
  readonly teams: ReadonlyMap<bigint, TeamState>;
  readonly roles: ReadonlyMap<bigint, RoleState>;
  readonly assignments: ReadonlyMap<bigint, AssignmentState>;
}

/** What tuples do not say: the names of teams and roles, and when memberships and assignments end. */
export interface StateDetails {
  readonly teams: readonly { readonly id: bigint; readonly name: string }[];
  readonly roles: readonly { readonly id: bigint; readonly name: string; readonly description: string }[];
  readonly memberEnds: readonly { readonly teamId: bigint; readonly userId: bigint; readonly expiresAt: Date }[];
  readonly roleEnds: readonly { readonly roleId: bigint; readonly teamId: bigint; readonly expiresAt: Date }[];
  /** All, also those of teams that have a role in the whole organization. */
  readonly assignments: readonly AssignmentState[];
  readonly sets: readonly { readonly id: bigint; readonly name: string }[];
}

export const NO_DETAILS: StateDetails = {
  teams: [],
  roles: [],
  memberEnds: [],
  roleEnds: [],
  assignments: [],
  sets: [],
};

const TUPLES_IN_PIECE = 100;

/** The teams and roles that tuples are about. */
export async function stateFrom(
  structure: readonly GraphTuple[],
  people: Pick<PeopleClasses, 'all'>,
  details: StateDetails,
): Promise<OrganizationState> {
  const yieldIfDue = createYielder();
  let read = 0;
  const teamNames = new Map(details.teams.map(({ id, name }) => [id, name]));
  const roleTexts = new Map(details.roles.map((role) => [role.id, role]));
  const byTeam = new Map<string, ReturnType<typeof newTeam>>();
  const byRole = new Map<string, ReturnType<typeof newRole>>();
  for (const { object, relation, user } of structure) {
    const end = user.indexOf('#');
    const [subject, userset] = end === -1 ? [user, ''] : [user.slice(0, end), user.slice(end + 1)];
    if (object.startsWith('team:')) {
      const team = entryIn(byTeam, object, newTeam);
      if (relation === 'built_in') team.isBuiltIn = true;
    } else if (object.startsWith('role:')) {
      const role = entryIn(byRole, object, newRole);
      if (relation === 'assignee' && userset === 'member') role.teamIds.push(idOf(subject));
    } else if (userset === 'member') {
      const permission = PERMISSION_OF.get(relation);
      if (permission) entryIn(byTeam, subject, newTeam).permission = permission;
    } else if (userset === 'assignee') entryIn(byRole, subject, newRole).relations.push(relation);
    if (++read % TUPLES_IN_PIECE === 0) await yieldIfDue();
  }
  const teams = new Map([...byTeam.values()].map((team) => [team.id, team]));
  const roles = new Map([...byRole.values()].map((role) => [role.id, role]));
  for (const { teamIds, users } of people.all) {
    for (const id of teamIds) for (const user of users) teams.get(id)?.members.add(user);
    await yieldIfDue();
  }
  for (const { teamId, userId, expiresAt } of details.memberEnds) {
    const team = teams.get(teamId);
    if (team?.members.has(`user:${userId}`)) team.ends.set(`user:${userId}`, expiresAt);
  }
  for (const { roleId, teamId, expiresAt } of details.roleEnds) {
    const role = roles.get(roleId);
    if (role?.teamIds.includes(teamId)) role.teamExpiries.set(teamId, expiresAt);
  }
  for (const { teamIds } of roles.values()) teamIds.sort((a, b) => (a < b ? -1 : 1));
  const assignments = details.assignments.filter((one) => !isOfRole(one)).map((one) => [one.id, one] as const);
  return { teams, roles, assignments: new Map(assignments) };

  function newTeam(id: bigint) {
    const permission: Permission = 'none';
    const [members, ends] = [new Set<string>(), new Map<string, Date>()];
    return { id, name: teamNames.get(id) ?? '', permission: permission as Permission, isBuiltIn: false, members, ends };
  }

  function newRole(id: bigint) {
    const { name = '', description = '' } = roleTexts.get(id) ?? {};
    const [relations, teamIds] = [[] as string[], [] as bigint[]];
    return { id, name, description, relations, teamIds, teamExpiries: new Map<bigint, Date>() };
  }
}

function entryIn<T>(entries: Map<string, T>, text: string, create: (id: bigint) => T): T {
  const known = entries.get(text) ?? create(idOf(text));
  entries.set(text, known);
  return known;
}

/** Whether it is a team that has the role in the whole organization. */
export function isOfRole({ to, on }: Pick<AssignmentState, 'to' | 'on'>): boolean {
  return on === undefined && to.startsWith('team:');
}

/** The tuples of an assignment as it would be. */
export function assignmentTuples({ teams, assignments }: Omit<OrganizationState, 'roles'>, id: bigint): DerivedTuple[] {
  const one = assignments.get(id);
  if (!one) return [];
  const isOnOwners = one.on?.startsWith('team:') && teams.get(idOf(one.on))?.permission === 'owner';
  return assignmentTuplesOf({ ...one, isOnOwners: isOnOwners ?? false });
}

/** The tuples of a role as it would be. */
export function roleTuples(
  organizationId: bigint,
  { id, relations, teamIds }: Pick<RoleState, 'id' | 'relations' | 'teamIds'>,
): DerivedTuple[] {
  return assignmentsOf(organizationId, id, relations, teamIds);
}

/** Whether the team has a member besides this one whose membership does not end. */
export function hasOthers({ members, ends }: TeamState, user: string): boolean {
  return members.values().some((member) => member !== user && !ends.has(member));
}

/** Owners whose memberships end do not count, except for one who is left alone. */
export function isLastOwner(team: TeamState, user: string): boolean {
  const { permission, members, ends } = team;
  return permission === 'owner' && (members.size === 1 || (!ends.has(user) && !hasOthers(team, user)));
}
