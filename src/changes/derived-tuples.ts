import type { GraphTuple } from './graph-tuple.ts';

/**
 * What the view `tuple` of the database derives from rows of teams and roles, once more in TypeScript: for rows that do
 * not exist any more, or not yet. Tests hold the two equal.
 */
export type DerivedTuple = Omit<GraphTuple, 'source'>;

/** A team as far as tuples follow from it. */
export interface DerivingTeam {
  readonly id: bigint | string;
  readonly permission: string;
  readonly isBuiltIn: boolean;
  readonly members: { readonly size: number };
}

/** How the model calls the permission of a team on its organization. */
export const RELATION_OF = { read: 'viewer', write: 'editor', admin: 'admin', owner: 'owner' } as const;

/** The other way round. */
export const PERMISSION_OF: ReadonlyMap<string, keyof typeof RELATION_OF> = new Map(
  Object.entries(RELATION_OF).map(([permission, relation]) => [relation, permission as keyof typeof RELATION_OF]),
);

const EVERYBODY = 'user:*';

/** The tuples of a team that name no user. */
export function structureOf(organizationId: bigint | string, team: DerivingTeam): DerivedTuple[] {
  const { permission, isBuiltIn } = team;
  const [organization, name] = [`organization:${organizationId}`, `team:${team.id}`];
  const members = `${name}#member`;
  const relation = (RELATION_OF as Readonly<Record<string, string>>)[permission];
  const tuples: DerivedTuple[] = [
    { object: name, relation: permission === 'owner' ? 'owned_by' : 'organization', user: organization },
    { object: organization, relation: 'participant', user: members },
  ];
  if (relation !== undefined) tuples.push({ object: organization, relation, user: members });
  if (isBuiltIn && permission === 'read') {
    tuples.push({ object: name, relation: 'steward', user: `${organization}#editor` });
  }
  if (isBuiltIn) tuples.push({ object: name, relation: 'built_in', user: EVERYBODY });
  if (hasLastOwner(team)) tuples.push({ object: name, relation: 'kept', user: EVERYBODY });
  return tuples;
}

/** The others, for a member such as `user:7`. */
export function membershipOf(organizationId: bigint | string, team: DerivingTeam, user: string): DerivedTuple[] {
  const member = { object: `team:${team.id}`, relation: 'member', user };
  if (!hasLastOwner(team)) return [member];
  return [member, { object: `organization:${organizationId}`, relation: 'last_owner', user }];
}

export function hasLastOwner({ permission, members }: Pick<DerivingTeam, 'permission' | 'members'>): boolean {
  return permission === 'owner' && members.size === 1;
}

/** The relations of an organization that a role can also give on a single object, by the name that the model has there. */
export const ON_OBJECTS: ReadonlyMap<string, string> = new Map(
  [
    ...['view_clusters', 'edit_clusters', 'connect_clusters', 'view_cluster_config', 'remove_clusters'],
    ...['administer_clusters', 'review_clusters'],
    ...['view_contracts', 'edit_contracts', 'delete_contracts'],
    ...['view_robots', 'edit_robots', 'delete_robots'],
    ...['view_teams', 'edit_teams', 'delete_teams', 'manage_team_members'],
  ].map((name) => [`can_${name}`, `allows_${name}`]),
);

/** The tuples of a role with these relations, which is assigned to these teams. */
export function assignmentsOf(
  organizationId: bigint | string,
  id: bigint | string,
  relations: Iterable<string>,
  teamIds: Iterable<bigint | string>,
): DerivedTuple[] {
  const [role, organization] = [`role:${id}`, `organization:${organizationId}`];
  const held = [...relations];
  const allowed = held.flatMap((relation) => ON_OBJECTS.get(relation) ?? []);
  return [
    { object: role, relation: 'organization', user: organization },
    ...held.map((relation) => ({ object: organization, relation, user: `${role}#assignee` })),
    ...allowed.map((relation) => ({ object: role, relation, user: 'platform:atrium' })),
    ...Array.from(teamIds, (team) => ({ object: role, relation: 'assignee', user: `team:${team}#member` })),
  ];
}

/** An assignment to a user or a robot, or on a single object: everything but a team that has a role in the organization. */
export interface DerivingAssignment {
  readonly id: bigint | string;
  readonly roleId: bigint | string;
  /** Such as `user:5` or `team:4`. */
  readonly to: string;
  /** Such as `cluster:1`. Undefined means the organization. */
  readonly on: string | undefined;
  /** The object is a team that only owners touch. */
  readonly isOnOwners: boolean;
  /** Names, and prefixes that end in `*`. Undefined means that it counts for the whole object. */
  readonly namespaces?: readonly string[] | undefined;
}

export function assignmentTuplesOf(made: DerivingAssignment): DerivedTuple[] {
  const { id, roleId, to, on, isOnOwners, namespaces } = made;
  const [assignment, role] = [`assignment:${id}`, `role:${roleId}`];
  const user = to.startsWith('team:') ? `${to}#member` : to;
  const assignee = { object: assignment, relation: 'assignee', user };
  if (on === undefined) return [assignee, { object: role, relation: 'assignee', user }];
  return [
    assignee,
    { object: assignment, relation: 'role', user: role },
    { object: on, relation: pointerTo(isOnOwners, namespaces), user: assignment },
    ...(namespaces ?? []).map((name) => ({
      object: assignment,
      relation: name.endsWith('*') ? 'namespace_prefix' : 'namespace',
      user: `namespace:${name.replace(/\*$/, '')}`,
    })),
  ];
}

/** How an object points to an assignment. */
function pointerTo(isOnOwners: boolean, namespaces: readonly string[] | undefined): string {
  if (namespaces) return 'namespaced_assignment';
  return isOnOwners ? 'view_assignment' : 'assignment';
}
