import type { RoleGrant } from '../authz/escalation.ts';
import type { ObjectRef } from '../authz/object-ref.ts';
import type { HeldPlaces } from '../authz/places/held-places.ts';
import type { RoleState, TeamState } from '../simulation/organization-state.ts';
import { assignmentCandidates } from './assignment-candidates.ts';
import type { Candidate, CandidateLimits } from './candidate.ts';
import type { RelationSet, RemedyEffects } from './remedy-effects.ts';
import type { VisibleOrganization } from './visible-organization.ts';

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
  readonly callerId: bigint;
  readonly object: ObjectRef;
  readonly held: Pick<HeldPlaces, 'notHeld'>;
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
  setting: Setting,
  known: Known,
  yieldIfDue: () => Promise<void> | undefined,
): Promise<Candidate[]> {
  const { visible, effects, organizationId, catalog, limits } = setting;
  const { teams, roles, rolesOf, userTeams, caller } = visible;
  const organization = `organization:${organizationId}`;
  const least = leastPermission(known);
  const givenBy = new Map(known.map(({ grant, gives }) => [grant.relation, gives]));
  const pairOf = new Map(catalog.map(({ relation, namespace, action }) => [relation, { namespace, action }]));
  const enough = new Set(known.filter(({ isEnough }) => isEnough).map(({ grant }) => grant.relation));
  // A robot is in no team.
  const joinable = [...teams.values()].filter(
    ({ id, permission }) => !visible.isRobot && !userTeams.includes(id) && !(least && POWERFUL.has(permission)),
  );
  const found: Candidate[] = [];
  for (const team of joinable) {
    if (effects.givesAim(team.id)) found.push(joining(team));
    await yieldIfDue();
  }
  if (!least) return found;
  const { grant } = least;
  const own = userTeams.flatMap((id) => teams.get(id) ?? []).sort(bySize);
  const giving = [...roles.values()]
    .filter(({ relations }) => relations.some((one) => enough.has(one)))
    .map((role) => ({ role, gains: gainsOf(heldThrough(role)) }))
    .sort((one, other) => one.gains - other.gains || byId(one.role, other.role))
    .map(({ role }) => role);
  const assigned = await assignmentCandidates({ ...setting, least: effects.givenHere(grant) }, giving);
  assigned.sort((one, other) => one.estimate[0] - other.estimate[0]);
  if (visible.isRobot) return assigned;
  const containing = giving.filter(({ teamIds }) => teamIds.length < limits.teamsPerRole).slice(0, MAX_ROLES);
  if (caller.isUserMember) found.push(...assigned.slice(0, MAX_ROLES));
  const ownRoles = [...new Set(own.flatMap(({ id }) => rolesOf(id)))];
  found.push(
    ...ownRoles
      .map(filling)
      .sort((one, other) => one.estimate[1] - other.estimate[1])
      .slice(0, MAX_ROLES),
    ...own.slice(0, MAX_TEAMS).flatMap((team) => containing.map((role) => assigning(role, team))),
    ...(roles.size < limits.rolesPerOrganization ? own.slice(0, MAX_ROLES).map(creating) : []),
  );
  if (caller.isUserMember && (found.length > 0 || own.length > 0)) return found;
  const joined: { readonly team: TeamState; readonly gains: number }[] = [];
  for (const team of joinable) {
    joined.push({ team, gains: gainsOf(effects.ofTeam(team.id)) });
    await yieldIfDue();
  }
  const first = joined
    .sort((one, other) => one.gains - other.gains || byId(one.team, other.team))
    .slice(0, MAX_FIRST_TEAMS)
    .map(({ team }) => team);
  const hadOthers = found.length > 0 || own.length > 0;
  for (const team of first) {
    const rest = caller.isUserMember ? [] : assigned.slice(0, MAX_TEAMS);
    if (!hadOthers) rest.push(...containing.slice(0, MAX_TEAMS).map((role) => assigning(role, team)), creating(team));
    found.push(...rest.map((one) => both(joining(team), one)));
  }
  return found;

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
      changedRole: role.id,
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
    ...(other.assigns && { assigns: other.assigns, needs: other.needs ?? [] }),
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
