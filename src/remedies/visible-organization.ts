import type { Graph, Model } from '../../packages/rebac/src/rebac.ts';
import type { Graphs } from '../authz/graphs.ts';
import { idOf } from '../authz/object-ref.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { RELATION_OF } from '../changes/derived-tuples.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import { isRobotPrincipal, subjectOfPrincipal } from '../changes/principal.ts';
import type { Permission } from '../identity/callers.ts';
import { STRUCTURE, tuplesFor, typeOf } from '../simulation/object-classes.ts';
import { type CopyReader, type OrganizationCopy, readOrganization } from '../simulation/organization-copy.ts';
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
  /** Whether it is not a user but a robot that was asked about. */
  readonly isRobot: boolean;
  readonly teams: ReadonlyMap<bigint, TeamState>;
  readonly roles: ReadonlyMap<bigint, RoleState>;
  rolesOf(teamId: bigint): readonly RoleState[];
  /** The teams of the user. */
  readonly userTeams: readonly bigint[];
  /** All other users in the teams, except site administrators, who hold everything already. */
  readonly others: readonly (Pick<PeopleClass, 'teamIds' | 'subject'> & { readonly size: number })[];
  /** The other users who have a role themselves, or through a team on single objects. */
  holdersOf(roleId: bigint): Promise<readonly RoleHolder[]>;
  readonly caller: CallerRights;
  /** Other objects of the same type that the caller may see. Those about which the same is stated are in the graph once. */
  readonly peers: readonly Peer[];
  /** An object of that type as it would be if it were created now. Undefined if there is only one of the type. */
  readonly newObject: string | undefined;
  /** How many assignments there are that the caller may see, and how many of them are to the user or robot. */
  readonly assignmentCounts: { readonly perOrganization: number; readonly perPrincipal: number };
}

export interface RoleHolder {
  /** As the graph calls them. */
  readonly subject: string;
  readonly size: number;
  /** What they have the role on. */
  readonly objects: ReadonlySet<string>;
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
  /** Whatever the caller may see. */
  readonly seesWhole?: boolean;
}

const PERMISSIONS = Object.keys(RELATION_OF) as (keyof typeof RELATION_OF)[];

export async function readVisibleOrganization(
  graphs: Pick<Graphs, 'eachTuple'>,
  model: Model,
  { organizationId, callerId, userId, object, seesWhole = false }: VisibleQuestion,
): Promise<VisibleOrganization> {
  const reader = await readOrganization(graphs, organizationId);
  const copy = await reader.copy(model);
  const { people, answers } = copy;
  const state = await stateFrom(reader.structure, people, NO_DETAILS);
  const [organization, user] = [`organization:${organizationId}`, subjectOfPrincipal(userId)];
  const yieldIfDue = createYielder();
  const holds = (relation: string, on: string) => copy.holds(subjectOfPrincipal(callerId), relation, on);
  const sees = (on: string, relation = 'can_view') => seesWhole || holds(relation, on);
  const isHost = holds('can_add_member', organization);
  const [addsTo, hosts] = [new Set<bigint>(), new Set<bigint>()];
  const [teams, roles] = [new Map(state.teams), new Map(state.roles)];
  const assignments = assignmentsIn(reader);
  const seesRoles = sees(organization, 'can_view_roles');
  for (const { id } of state.teams.values()) {
    if (!sees(`team:${id}`)) teams.delete(id);
    if (holds('can_add_member', `team:${id}`)) addsTo.add(id);
    if (isHost || holds('steward', `team:${id}`)) hosts.add(id);
    await yieldIfDue();
  }
  // A caller who may not view roles sees what is assigned to themselves, and to teams that they are in.
  const hidden = [...assignments.keys()].filter((assignment) => !seesRoles && !sees(assignment));
  for (const assignment of hidden) assignments.delete(assignment);
  const assigned = new Set(assignments.values().map(({ role }) => role));
  for (const { id, teamIds } of state.roles.values()) {
    // A caller who sees a team sees its roles.
    const isSeen = teamIds.some((team) => teams.has(team)) || assigned.has(`role:${id}`);
    if (!isSeen && !sees(`role:${id}`)) roles.delete(id);
    await yieldIfDue();
  }
  const caller: CallerRights = {
    seesAllTeams: sees(organization, 'can_view_teams'),
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
  const others = [...counted].map(({ teamIds, subject, users }) => ({
    teamIds,
    subject,
    size: users.size - Number(users.has(user)),
  }));
  // A role may be assigned on this object alone, so it does not stand for those that are alike.
  const asked = isResource ? entered(object) : object;
  const ofUser = assignments.values().filter(({ to }) => to === user);
  return {
    graph,
    subject: answers.enter(people.classOf(user)),
    object: asked,
    isRobot: isRobotPrincipal(userId),
    assignmentCounts: { perOrganization: assignments.size, perPrincipal: [...ofUser].length },
    teams,
    roles,
    rolesOf: (teamId) => rolesOf.get(teamId) ?? [],
    userTeams: people.classOf(user).teamIds,
    others,
    holdersOf,
    caller,
    peers,
    newObject,
  };

  async function holdersOf(roleId: bigint): Promise<RoleHolder[]> {
    const found = new Map<string, { subject: string; size: number; objects: Set<string> }>();
    for (const [assignment, { role, to }] of assignments) {
      if (role !== `role:${roleId}`) continue;
      const places = await placesOf(copy.objects.placeOf(assignment)?.object);
      for (const { people: one, size } of holding(to)) {
        const known = found.get(one.subject) ?? { subject: answers.enter(one), size, objects: new Set<string>() };
        for (const place of places) known.objects.add(place);
        if (size > 0) found.set(one.subject, known);
      }
      await yieldIfDue();
    }
    return [...found.values()];
  }

  /** Without the user who was asked about, and without site administrators, who hold everything already. */
  function holding(to: string): { people: PeopleClass; size: number }[] {
    const team = to.endsWith('#member') ? idOf(to.slice(0, to.indexOf('#'))) : undefined;
    if (team === undefined) {
      const one = people.classOf(to);
      return one.isAdministrator ? [] : [{ people: one, size: Number(to !== user) }];
    }
    return people.all
      .filter(({ teamIds, isAdministrator }) => !isAdministrator && teamIds.includes(team))
      .map((one) => ({ people: one, size: one.users.size - Number(one.users.has(user)) }))
      .toArray();
  }

  /** As the graph calls them: of a set, a cluster of each class. */
  async function placesOf(on: string | undefined): Promise<string[]> {
    if (on === undefined) return [organization];
    if (typeOf(on) !== 'cluster_set') return [STRUCTURE.has(typeOf(on)) ? on : entered(on)];
    const clusters = (await copy.objects.alike('cluster', yieldIfDue)).flatMap(([first = '']) => first);
    const isIn = (cluster: string) => copy.objects.classOf(cluster)?.tuples.some((tuple) => tuple.user === on);
    return clusters.filter(isIn).map((cluster) => sampleOf(copy, cluster));
  }

  function entered(one: string): string {
    return answers.enterObject(one, tuplesFor(one, copy.objects.facts.get(one) ?? ''));
  }

  async function hide(): Promise<void> {
    for (const assignment of hidden) {
      copy.replaceSource(assignment, []);
      await yieldIfDue();
    }
    for (const { id, members } of state.teams.values()) {
      if (teams.has(id)) continue;
      copy.restate(`team:${id}`, []);
      for (const member of members) {
        copy.assign(member, `team:${id}`, []);
        await yieldIfDue();
      }
    }
    for (const id of state.roles.keys()) if (!roles.has(id)) copy.restate(`role:${id}`, []);
  }

  /** There may be thousands, but they differ in little: one of each class is asked about. */
  async function resourcePeers(): Promise<Peer[]> {
    return (await copy.objects.alike(type, yieldIfDue)).flatMap((alike) => {
      const peer = sampleOf(copy, alike[0] ?? '');
      const count = alike.length - Number(alike.includes(object));
      return count > 0 && sees(peer) ? [{ object: peer, count }] : [];
    });
  }

  function teamPeers(): Peer[] {
    return [...teams.keys()].map((id) => ({ object: `team:${id}`, count: 1 })).filter((peer) => peer.object !== object);
  }
}

/** What is assigned to whom, by assignment. Teams that have a role in the whole organization are a part of the role. */
function assignmentsIn({ structure, people }: CopyReader): Map<string, { role: string; to: string }> {
  const found = new Map<string, { role: string; to: string }>();
  const note = (source: string) => {
    const known = found.get(source) ?? { role: '', to: '' };
    found.set(source, known);
    return known;
  };
  const read = ({ source, object, relation, user }: GraphTuple) => {
    if (!source.startsWith('assignment:')) return;
    const one = note(source);
    if (relation === 'role') one.role = user;
    else if (relation === 'assignee') one.to = user;
    if (relation === 'assignee' && object.startsWith('role:')) one.role = object;
  };
  for (const tuple of structure) read(tuple);
  for (const { users } of people.all)
    for (const user of users) for (const tuple of people.assignedTo(user)) read(tuple);
  return found;
}

/** Of an object that is neither a team nor a role, one of its class is in the graph. */
function sampleOf({ objects, answers }: OrganizationCopy, object: string): string {
  const found = objects.classOf(object);
  if (!found || STRUCTURE.has(found.type)) return object;
  return answers.enterObject(found.sample, found.tuples);
}
