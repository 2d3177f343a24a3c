import {
  assignmentsOf,
  assignmentTuplesOf,
  membershipOf,
  PERMISSION_OF,
  structureOf,
} from '../changes/derived-tuples.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import { OBJECT_KINDS, RESOURCE_TYPES } from '../changes/object-kinds.ts';

/** A team as its tuples tell it. IDs are decimal texts, as in the audit log. */
export interface TeamState {
  readonly permission: string;
  readonly isBuiltIn: boolean;
  readonly members: Set<string>;
}

export interface RoleState {
  /** What its permissions mean in the model. */
  readonly relations: ReadonlySet<string>;
  readonly teams: Set<string>;
  /** How the audit log describes it. Undefined if it says nothing about the role since the moment. */
  readonly described: RoleDescription | undefined;
}

export interface RoleDescription {
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly { readonly namespace: string; readonly action: string }[];
}

/** An assignment, except for those to teams on the organization, which roles tell. */
export interface AssignmentState {
  readonly roleId: string;
  /** Such as `user:5`. */
  readonly to: string;
  /** Such as `cluster:1`. Undefined means the organization. */
  readonly on: string | undefined;
  readonly isOnOwners: boolean;
  /** Names, and prefixes that end in `*`. Undefined means that it counts for the whole object. */
  readonly namespaces: readonly string[] | undefined;
}

/** The relation between a resource and its owner, which tells whether the owner is a user. */
export type Ownership = 'organization' | 'owner';

/** The rows that are to be undone, and only those: everything else is as it is now. */
export interface PastState {
  readonly ownerId: string;
  /** Of all resources of the account. */
  readonly ownership: Ownership;
  readonly teams: Map<string, TeamState>;
  readonly roles: Map<string, RoleState>;
  /** Sources of resources, such as `cluster:7`. */
  readonly resources: Set<string>;
  /** Sets of clusters, by ID of the cluster. Only of clusters among the resources. */
  readonly sets: Map<string, string>;
  /** The IDs of all sets of clusters, by name. */
  readonly setIds: ReadonlyMap<string, string>;
  readonly assigned: Map<string, AssignmentState>;
  readonly administrators: Set<string>;
  /** When that which was undone ended by itself, by row: the user of a team, the team of a role, or the resource. */
  readonly ends: Map<string, Date>;
}

/** The type of each resource by its source: `robot_ac` of `robot`. */
const TYPE_OF_SOURCE: Readonly<Record<string, string>> = Object.fromEntries(
  RESOURCE_TYPES.map((type) => [OBJECT_KINDS[type].source, type]),
);
export const ADMINISTRATORS = 'platform:0';

/** Reads the state of rows from their tuples, which tell everything that the model depends on. */
export function stateOf(
  ownerId: bigint,
  ownership: Ownership,
  tuples: Iterable<GraphTuple>,
  setIds: ReadonlyMap<string, string> = new Map(),
): PastState {
  const state: PastState = {
    ownerId: String(ownerId),
    ownership,
    teams: new Map(),
    roles: new Map(),
    resources: new Set(),
    sets: new Map(),
    setIds,
    assigned: new Map(),
    administrators: new Set(),
    ends: new Map(),
  };
  for (const [source, own] of Map.groupBy(tuples, (tuple) => tuple.source)) {
    const [kind = '', id = ''] = source.split(':');
    if (source === ADMINISTRATORS) for (const { user } of own) state.administrators.add(idOf(user));
    else if (kind === 'team') state.teams.set(id, teamOf(own));
    else if (kind === 'role') state.roles.set(id, roleOf(own));
    else if (kind === 'assignment') state.assigned.set(id, assignmentOf(own));
    else if (TYPE_OF_SOURCE[kind]) {
      state.resources.add(source);
      const set = own.find(({ relation }) => relation === 'set');
      if (set) state.sets.set(id, idOf(set.user));
    }
  }
  return state;
}

function assignmentOf(tuples: readonly GraphTuple[]): AssignmentState {
  const role = tuples.find(({ relation, object }) => relation === 'role' || object.startsWith('role:'));
  const on = tuples.find(({ user }) => user.startsWith('assignment:'));
  const assignee = tuples.find(({ relation, object }) => relation === 'assignee' && object.startsWith('assignment:'));
  return {
    roleId: idOf((role?.relation === 'role' ? role.user : role?.object) ?? ''),
    to: assignee?.user.split('#')[0] ?? '',
    on: on?.object,
    isOnOwners: on?.relation === 'view_assignment',
    namespaces: on?.relation === 'namespaced_assignment' ? tuples.flatMap(namespaceIn) : undefined,
  };
}

function namespaceIn({ relation, user }: GraphTuple): string[] {
  if (relation === 'namespace') return [idOf(user)];
  return relation === 'namespace_prefix' ? [`${idOf(user)}*`] : [];
}

function teamOf(tuples: readonly GraphTuple[]): TeamState {
  const held = tuples.filter(({ object }) => object.startsWith('organization:'));
  const permissions = held.flatMap(({ relation }) => PERMISSION_OF.get(relation) ?? []);
  return {
    permission: permissions[0] ?? 'none',
    isBuiltIn: tuples.some(({ relation }) => relation === 'built_in'),
    members: new Set(tuples.filter(({ relation }) => relation === 'member').map(({ user }) => idOf(user))),
  };
}

function roleOf(tuples: readonly GraphTuple[]): RoleState {
  const granted = tuples.filter(({ object }) => object.startsWith('organization:'));
  return {
    relations: new Set(granted.map(({ relation }) => relation)),
    teams: new Set(tuples.filter(({ relation }) => relation === 'assignee').map(({ user }) => idOf(user))),
    described: undefined,
  };
}

/**
 * Drops what was over at the moment. Its removal is in the log at the time at which a server noticed the end, which can be
 * long after it if no server ran.
 */
export function dropEnded(state: PastState, at: Date): void {
  for (const [row, end] of state.ends) {
    if (end > at) continue;
    const [source = '', id = ''] = row.split(' ');
    const [kind, number = ''] = source.split(':');
    if (kind === 'team') state.teams.get(number)?.members.delete(id);
    else if (kind === 'role') state.roles.get(number)?.teams.delete(id);
    else if (kind === 'assignment') state.assigned.delete(number);
    else state.resources.delete(source);
  }
}

/** The tuples of a state. */
export function* tuplesOf(state: PastState): Generator<GraphTuple> {
  for (const id of state.administrators) {
    yield { object: 'platform:atrium', relation: 'admin', user: `user:${id}`, source: ADMINISTRATORS };
  }
  for (const [id, team] of state.teams) yield* tuplesOfTeam(state.ownerId, id, team);
  for (const [id, role] of state.roles) yield* tuplesOfRole(state.ownerId, id, role);
  const owner = `${state.ownership === 'owner' ? 'user' : 'organization'}:${state.ownerId}`;
  for (const source of state.resources) {
    const [kind = '', id = ''] = source.split(':');
    yield { object: `${TYPE_OF_SOURCE[kind]}:${id}`, relation: state.ownership, user: owner, source };
    if (state.ownership === 'owner') continue;
    const set = kind === 'cluster' ? state.sets.get(id) : undefined;
    if (set !== undefined) yield { object: `cluster:${id}`, relation: 'set', user: `cluster_set:${set}`, source };
    if (kind === 'robot') yield { object: owner, relation: 'robot', user: `robot_ac:${id}`, source };
  }
  for (const [id, assignment] of state.assigned) {
    for (const tuple of assignmentTuplesOf({ id, ...assignment })) yield { ...tuple, source: `assignment:${id}` };
  }
}

function* tuplesOfTeam(ownerId: string, id: string, state: TeamState): Generator<GraphTuple> {
  const [team, source] = [{ id, ...state }, `team:${id}`];
  for (const tuple of structureOf(ownerId, team)) yield { ...tuple, source };
  for (const member of team.members) {
    for (const tuple of membershipOf(ownerId, team, `user:${member}`)) yield { ...tuple, source };
  }
}

function* tuplesOfRole(ownerId: string, id: string, { relations, teams }: RoleState): Generator<GraphTuple> {
  for (const tuple of assignmentsOf(ownerId, id, relations, teams)) yield { ...tuple, source: `role:${id}` };
}

/** `4` of `team:4#member`. */
function idOf(subject: string): string {
  return subject.slice(subject.indexOf(':') + 1).split('#')[0] ?? '';
}
