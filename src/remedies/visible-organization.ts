import type { Graphs } from '../authz/graphs.ts';
import { createPace } from '../base/slices.ts';
import { RELATION_OF } from '../changes/derived-tuples.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import type { Permission } from '../identity/callers.ts';
import type { Graph } from '../rebac/graph.ts';
import type { Model } from '../rebac/model.ts';
import { STRUCTURE, typeOf } from '../simulation/object-classes.ts';
import { type OrganizationCopy, readOrganization } from '../simulation/organization-copy.ts';
import { NO_DETAILS, type RoleState, stateFrom, type TeamState } from '../simulation/organization-state.ts';
import type { PeopleClass } from '../simulation/people-classes.ts';

/**
 * The rules of an organization, as far as the caller may see its teams and roles, in a copy of their own. Nothing that is
 * computed from it can depend on a team or role that the caller may not see.
 */
export interface VisibleOrganization {
  readonly graph: Graph;
  /** The user and the object that were asked about, as the graph calls them. */
  readonly subject: string;
  readonly object: string;
  readonly teams: ReadonlyMap<bigint, TeamState>;
  readonly roles: ReadonlyMap<bigint, RoleState>;
  rolesOf(teamId: bigint): readonly RoleState[];
  /** The teams of the user. */
  readonly userTeams: readonly bigint[];
  /** All other users in the teams, except site administrators, who hold everything already. */
  readonly others: readonly (Pick<PeopleClass, 'teamIds'> & { readonly size: number })[];
  readonly caller: CallerRights;
  /** Other objects of the same type that the caller may see. Those about which the same is stated are in the graph once. */
  readonly peers: readonly Peer[];
  /** An object of that type as it would be if it were created now. Undefined if there is only one of the type. */
  readonly newObject: string | undefined;
}

export interface Peer {
  readonly object: string;
  readonly count: number;
}

/** What the caller holds and may do, which does not depend on what they may see. */
export interface CallerRights {
  readonly seesAllTeams: boolean;
  /** Relations that the caller holds on the organization. */
  readonly held: ReadonlySet<string>;
  /** Permissions of teams that the caller has in the organization. */
  readonly permissions: ReadonlySet<Permission>;
  /** Teams to which the caller may add members of the organization. */
  readonly addsTo: ReadonlySet<bigint>;
  /** Teams to which the caller may add those who are no members yet. */
  readonly hosts: ReadonlySet<bigint>;
  /** Whether the user is a member of the organization already. */
  readonly isUserMember: boolean;
}

interface VisibleQuestion {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly userId: bigint;
  readonly object: string;
}

const PERMISSIONS = Object.keys(RELATION_OF) as (keyof typeof RELATION_OF)[];

export async function readVisibleOrganization(
  graphs: Pick<Graphs, 'eachTuple'>,
  model: Model,
  { organizationId, callerId, userId, object }: VisibleQuestion,
): Promise<VisibleOrganization> {
  const reader = await readOrganization(graphs, organizationId);
  const copy = await reader.copy(model);
  const { people, answers } = copy;
  const state = await stateFrom(reader.structure, people, NO_DETAILS);
  const [organization, user] = [`organization:${organizationId}`, subjectOfPrincipal(userId)];
  const pace = createPace();
  const holds = (relation: string, on: string) => copy.holds(subjectOfPrincipal(callerId), relation, on);
  const isHost = holds('can_add_member', organization);
  const [addsTo, hosts] = [new Set<bigint>(), new Set<bigint>()];
  const [teams, roles] = [new Map(state.teams), new Map(state.roles)];
  for (const { id } of state.teams.values()) {
    if (!holds('can_view', `team:${id}`)) teams.delete(id);
    if (holds('can_add_member', `team:${id}`)) addsTo.add(id);
    if (isHost || holds('steward', `team:${id}`)) hosts.add(id);
    await pace();
  }
  for (const { id, teamIds } of state.roles.values()) {
    // Whoever sees a team sees its roles.
    if (!teamIds.some((team) => teams.has(team)) && !holds('can_view', `role:${id}`)) roles.delete(id);
    await pace();
  }
  const caller: CallerRights = {
    seesAllTeams: holds('can_view_teams', organization),
    held: new Set(answers.relationsOn(people.classOf(subjectOfPrincipal(callerId)), organization)),
    permissions: new Set(PERMISSIONS.filter((permission) => holds(RELATION_OF[permission], organization))),
    addsTo,
    hosts,
    isUserMember: copy.holds(user, 'participant', organization),
  };
  await hide();
  const type = typeOf(object);
  const isResource = !STRUCTURE.has(type);
  const peers = isResource ? await resourcePeers() : type === 'team' ? teamPeers() : [];
  const newObject = isResource || type === 'team' ? `${type}:0` : undefined;
  const { graph } = answers;
  if (newObject) graph.replaceSource(newObject, [{ object: newObject, relation: 'organization', user: organization }]);
  const rolesOf = new Map<bigint, RoleState[]>();
  for (const role of roles.values()) {
    for (const team of role.teamIds) {
      const known = rolesOf.get(team);
      if (known) known.push(role);
      else rolesOf.set(team, [role]);
    }
  }
  const counted = people.all.filter(({ isAdministrator, teamIds }) => !isAdministrator && teamIds.length > 0);
  const others = counted.map(({ teamIds, users }) => ({ teamIds, size: users.size - Number(users.has(user)) }));
  return {
    graph,
    subject: answers.enter(people.classOf(user)),
    object: sampleOf(copy, object),
    teams,
    roles,
    rolesOf: (teamId) => rolesOf.get(teamId) ?? [],
    userTeams: people.classOf(user).teamIds,
    others: [...others],
    caller,
    peers,
    newObject,
  };

  async function hide(): Promise<void> {
    for (const { id, members } of state.teams.values()) {
      if (teams.has(id)) continue;
      copy.restate(`team:${id}`, []);
      for (const member of members) {
        copy.assign(member, `team:${id}`, []);
        await pace();
      }
    }
    for (const id of state.roles.keys()) if (!roles.has(id)) copy.restate(`role:${id}`, []);
  }

  /** There may be thousands, but they differ in little: one of each class is asked about. */
  async function resourcePeers(): Promise<Peer[]> {
    return (await copy.objects.alike(type, pace)).flatMap((alike) => {
      const peer = sampleOf(copy, alike[0] ?? '');
      const count = alike.length - Number(alike.includes(object));
      return count > 0 && holds('can_view', peer) ? [{ object: peer, count }] : [];
    });
  }

  function teamPeers(): Peer[] {
    return [...teams.keys()].map((id) => ({ object: `team:${id}`, count: 1 })).filter((peer) => peer.object !== object);
  }
}

/** Of an object that is neither a team nor a role, one of its class is in the graph. */
function sampleOf({ objects, answers }: OrganizationCopy, object: string): string {
  const found = objects.classOf(object);
  if (!found || STRUCTURE.has(found.type)) return object;
  return answers.enterObject(found.sample, found.tuples);
}
