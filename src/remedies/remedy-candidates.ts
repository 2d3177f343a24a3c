import type { RoleGrant } from '../authz/escalation.ts';
import type { PermissionPair } from '../authz/explain/remedy.ts';
import type { Tuple } from '../rebac/tuple.ts';
import type { RoleState, TeamState } from '../simulation/organization-state.ts';
import type { RelationSet, RemedyEffects } from './remedy-effects.ts';
import type { VisibleOrganization } from './visible-organization.ts';

/** A change that a remedy consists of, as the API takes it. */
export type RemedyChange =
  | { readonly action: 'role.update'; readonly id: bigint; readonly permissions: readonly PermissionPair[] }
  | { readonly action: 'role.assign'; readonly id: bigint; readonly team: bigint }
  | { readonly action: 'role.create'; readonly permission: PermissionPair; readonly team: bigint }
  | { readonly action: 'team.add_member'; readonly id: bigint };

export interface Candidate {
  readonly changes: readonly RemedyChange[];
  readonly tuples: readonly Tuple[];
  readonly teams: readonly bigint[];
  readonly joins?: bigint;
  /** Whether the caller may make these changes. */
  readonly isAllowed: boolean;
  /** About what it would give to the user and to how many other users, to choose what is worth a closer look. */
  readonly estimate: readonly [gains: number, others: number];
}

export interface CandidateLimits {
  readonly teamsPerRole: number;
  readonly rolesPerOrganization: number;
}

/** Of each kind, the closest. */
const MAX_ROLES = 20;
const MAX_TEAMS = 5;
/** Teams that a user who is in none joins, to get a role there. */
const MAX_FIRST_TEAMS = 3;
const POWERFUL = new Set(['admin', 'owner']);

type Known = ReturnType<RemedyEffects['permissions']>;

interface Setting {
  readonly visible: VisibleOrganization;
  readonly effects: RemedyEffects;
  readonly organizationId: bigint;
  readonly catalog: readonly RoleGrant[];
  readonly limits: CandidateLimits;
}

/** The permission of the catalogue that gives the least of those that are enough. */
export function leastPermission(known: Known): Known[number] | undefined {
  return known.filter(({ isEnough }) => isEnough).sort((one, other) => one.gives.size - other.gives.size)[0];
}

/**
 * Ways in which the user could get the permission. Teams of owners and admins are among them only if no role can contain
 * the permission.
 */
export async function candidatesFor(
  { visible, effects, organizationId, catalog, limits }: Setting,
  known: Known,
  pace: () => Promise<void> | undefined,
): Promise<Candidate[]> {
  const { teams, roles, rolesOf, userTeams, caller } = visible;
  const organization = `organization:${organizationId}`;
  const least = leastPermission(known);
  const givenBy = new Map(known.map(({ grant, gives }) => [grant.relation, gives]));
  const pairOf = new Map(catalog.map(({ relation, namespace, action }) => [relation, { namespace, action }]));
  const enough = new Set(known.filter(({ isEnough }) => isEnough).map(({ grant }) => grant.relation));
  const joinable = [...teams.values()].filter(
    ({ id, permission }) => !userTeams.includes(id) && !(least && POWERFUL.has(permission)),
  );
  const found: Candidate[] = [];
  for (const team of joinable) {
    if (effects.givesAim(team.id)) found.push(joining(team));
    await pace();
  }
  if (!least) return found;
  const { grant } = least;
  const own = userTeams.flatMap((id) => teams.get(id) ?? []).sort(bySize);
  const containing = [...roles.values()]
    .filter(
      ({ relations, teamIds }) => relations.some((one) => enough.has(one)) && teamIds.length < limits.teamsPerRole,
    )
    .map((role) => ({ role, gains: gainsOf(heldThrough(role)) }))
    .sort((one, other) => one.gains - other.gains || byId(one.role, other.role))
    .slice(0, MAX_ROLES)
    .map(({ role }) => role);
  const ownRoles = [...new Set(own.flatMap(({ id }) => rolesOf(id)))];
  found.push(
    ...ownRoles
      .map(filling)
      .sort((one, other) => one.estimate[1] - other.estimate[1])
      .slice(0, MAX_ROLES),
    ...own.slice(0, MAX_TEAMS).flatMap((team) => containing.map((role) => assigning(role, team))),
    ...(roles.size < limits.rolesPerOrganization ? own.slice(0, MAX_ROLES).map(creating) : []),
  );
  if (found.length > 0 || own.length > 0) return found;
  const joined: { readonly team: TeamState; readonly gains: number }[] = [];
  for (const team of joinable) {
    joined.push({ team, gains: gainsOf(effects.ofTeam(team.id)) });
    await pace();
  }
  const first = joined
    .sort((one, other) => one.gains - other.gains || byId(one.team, other.team))
    .slice(0, MAX_FIRST_TEAMS)
    .map(({ team }) => team);
  return first.flatMap((team) =>
    [...containing.slice(0, MAX_TEAMS).map((role) => assigning(role, team)), creating(team)].map((rest) =>
      both(joining(team), rest),
    ),
  );

  function joining(team: TeamState): Candidate {
    const granted = rolesOf(team.id).flatMap(({ relations }) => relations);
    const isHost = caller.isUserMember || caller.hosts.has(team.id);
    const mayGrant = (team.permission === 'none' || caller.permissions.has(team.permission)) && mayGive(granted);
    return {
      changes: [{ action: 'team.add_member', id: team.id }],
      tuples: [],
      teams: [],
      joins: team.id,
      isAllowed: caller.addsTo.has(team.id) && isHost && mayGrant,
      estimate: [gainsOf(effects.ofTeam(team.id)), 0],
    };
  }

  /** Adds the permission to a role that the user already has. */
  function filling(role: RoleState): Candidate {
    const pairs = [...role.relations, grant.relation].flatMap((relation) => pairOf.get(relation) ?? []);
    return {
      changes: [{ action: 'role.update', id: role.id, permissions: pairs }],
      tuples: [{ object: organization, relation: grant.relation, user: `role:${role.id}#assignee` }],
      teams: role.teamIds,
      isAllowed: caller.held.has('can_edit_roles') && mayGive([grant.relation]),
      estimate: [
        gainsOf(heldThrough({ relations: [grant.relation] })),
        role.teamIds.reduce((sum, id) => sum + (teams.get(id)?.members.size ?? 0), 0),
      ],
    };
  }

  function assigning(role: RoleState, team: TeamState): Candidate {
    return {
      changes: [{ action: 'role.assign', id: role.id, team: team.id }],
      tuples: [{ object: `role:${role.id}`, relation: 'assignee', user: `team:${team.id}#member` }],
      teams: [team.id],
      isAllowed: caller.held.has('can_edit_roles') && mayGive(role.relations),
      estimate: [gainsOf(heldThrough(role)), team.members.size],
    };
  }

  function creating(team: TeamState): Candidate {
    const { namespace, action, relation } = grant;
    return {
      changes: [{ action: 'role.create', permission: { namespace, action }, team: team.id }],
      tuples: [
        { object: organization, relation, user: 'role:0#assignee' },
        { object: 'role:0', relation: 'assignee', user: `team:${team.id}#member` },
      ],
      teams: [team.id],
      isAllowed: caller.held.has('can_create_role') && mayGive([relation]),
      estimate: [gainsOf(heldThrough({ relations: [relation] })), team.members.size],
    };
  }

  function mayGive(relations: readonly string[]): boolean {
    return relations.every((relation) => caller.held.has(relation));
  }

  function heldThrough({ relations }: Pick<RoleState, 'relations'>): RelationSet {
    return new Set(relations.flatMap((relation) => [...(givenBy.get(relation) ?? [])]));
  }

  function gainsOf(given: RelationSet): number {
    return [...given].filter((relation) => !effects.before.has(relation) && relation !== least?.grant.relation).length;
  }
}

function both(one: Candidate, other: Candidate): Candidate {
  return {
    ...one,
    changes: [...one.changes, ...other.changes],
    tuples: [...one.tuples, ...other.tuples],
    teams: other.teams,
    isAllowed: one.isAllowed && other.isAllowed,
    estimate: [one.estimate[0] + other.estimate[0], other.estimate[1]],
  };
}

function bySize(one: TeamState, other: TeamState): number {
  return one.members.size - other.members.size || byId(one, other);
}

function byId(one: { readonly id: bigint }, other: { readonly id: bigint }): number {
  return one.id < other.id ? -1 : 1;
}
