import type { Model } from '../../packages/rebac/src/rebac.ts';
import type { Graphs } from '../authz/graphs.ts';
import { idOf } from '../authz/object-ref.ts';
import type { Term } from '../base/expiry.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { membershipOf, structureOf } from '../changes/derived-tuples.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import type { ClassAnswers } from './class-answers.ts';
import type { ObjectClass } from './object-classes.ts';
import { STRUCTURE, typeOf } from './object-classes.ts';
import { readOrganization } from './organization-copy.ts';
import {
  type AssignmentState,
  assignmentTuples,
  isOfRole,
  NO_DETAILS,
  type OrganizationState,
  type RoleState,
  roleTuples,
  type StateDetails,
  stateFrom,
  type TeamState,
} from './organization-state.ts';
import { isPerson, type PeopleClass } from './people-classes.ts';
import { rolePlacesIn } from './role-places.ts';

/** The names and end dates of an organization. */
export interface SimulationStore {
  details(organizationId: bigint): Promise<StateDetails>;
}

interface SimulationParts {
  readonly graphs: Pick<Graphs, 'eachTuple'>;
  /** Without one, teams and roles have no names, and nothing ends. */
  readonly store?: SimulationStore;
  readonly model: Model;
}

/** An organization before or after the changes. */
export interface World extends OrganizationState {
  readonly answers: ClassAnswers;
  classOf(user: string): PeopleClass;
  objectClassOf(object: string): ObjectClass | undefined;
}

export type Side = 'before' | 'after';

/** A team whose members can still be changed. */
type Working = TeamState & { readonly members: Set<string>; readonly ends: Map<string, Date> };

export type Simulation = Awaited<ReturnType<typeof openSimulation>>;

/**
 * An organization as it would be after some changes, next to what it is. The copy follows each change, so what the caller
 * may do next is decided as it would be after the earlier changes.
 */
export async function openSimulation(
  { graphs, store, model }: SimulationParts,
  organizationId: bigint,
  callerId: bigint,
) {
  const details = (await store?.details(organizationId)) ?? NO_DETAILS;
  const reader = await readOrganization(graphs, organizationId);
  const copy = await reader.copy(model);
  const present = await stateFrom(reader.structure, copy.people, details);
  const organization = `organization:${organizationId}`;
  const caller = subjectOfPrincipal(callerId);
  const teams = new Map<bigint, TeamState>(present.teams);
  const roles = new Map<bigint, RoleState>(present.roles);
  const assignments = new Map<bigint, AssignmentState>(present.assignments);
  /** Teams that have a role in the whole organization, by the ID of the assignment. The role has the rest. */
  const teamRoles = new Map(details.assignments.filter(isOfRole).map((one) => [one.id, one]));
  const setIds = new Map(details.sets.map(({ id, name }) => [name, id]));
  /** The classes that users and objects were in before they changed. */
  const classesBefore = new Map<string, PeopleClass>();
  const objectsBefore = new Map<string, ObjectClass | undefined>();
  const changedTeams = new Set<bigint>();
  const changedRoles = new Set<bigint>();
  const changedAssignments = new Set<bigint>();
  let created = 0n;

  /** What the graph states now: the teams and roles before the changes, or after them. */
  let side: Side = 'after';
  const before: World = {
    ...present,
    answers: copy.answers.beside(() => switchTo('before')),
    classOf: (user) => classesBefore.get(user) ?? copy.people.classOf(user),
    objectClassOf: (object) => (objectsBefore.has(object) ? objectsBefore.get(object) : copy.objects.classOf(object)),
  };
  const after: World = {
    teams,
    roles,
    assignments,
    answers: copy.answers.beside(() => switchTo('after')),
    classOf: (user) => copy.people.classOf(user),
    objectClassOf: (object) => copy.objects.classOf(object),
  };
  return {
    organizationId,
    organization,
    caller,
    copy,
    before,
    after,
    show,
    teams: teams as ReadonlyMap<bigint, TeamState>,
    roles: roles as ReadonlyMap<bigint, RoleState>,
    assignments: assignments as ReadonlyMap<bigint, AssignmentState>,
    teamRoles: teamRoles as ReadonlyMap<bigint, AssignmentState>,
    rolePlaces: rolePlacesIn(reader.structure),
    changedTeams: changedTeams as ReadonlySet<bigint>,
    changedRoles: changedRoles as ReadonlySet<bigint>,
    changedAssignments: changedAssignments as ReadonlySet<bigint>,
    /** Users and objects that are in another class than before, or were. */
    movedUsers: classesBefore as ReadonlyMap<string, PeopleClass>,
    movedObjects: objectsBefore as ReadonlyMap<string, ObjectClass | undefined>,
    holds: (relation: string, object = organization) => copy.holds(caller, relation, object),
    /** All shown relations that the caller holds on the organization. */
    held: () => new Set(copy.answers.relationsOn(copy.people.classOf(caller), organization)),
    createTeam,
    changeTeam,
    removeTeam,
    join,
    leave,
    putRole,
    removeRole,
    putAssignment,
    removeAssignment,
    noteTeamRole,
    setNamed,
    setOf,
    moveCluster,
    inGraph,
    passTime,
    isMember: (user: string) => copy.people.classOf(user).teamIds.length > 0,
    memberCount: () =>
      copy.people.all.reduce((sum, { teamIds, users }) => sum + (teamIds.length > 0 ? users.size : 0), 0),
  };

  /**
   * Lets the graph state the teams and roles before or after the changes, once they have all been made. A question does
   * that, too, but a caller with many questions about one side does it first: there may be a thousand roles.
   */
  async function show(wanted: Side): Promise<void> {
    const yieldIfDue = createYielder();
    for (const _ of restating(wanted)) await yieldIfDue();
  }

  function switchTo(wanted: Side): void {
    for (const _ of restating(wanted)) {
      // All of them.
    }
  }

  function* restating(wanted: Side): Generator<void, void, void> {
    if (side === wanted) return;
    side = wanted;
    const world = wanted === 'before' ? before : after;
    const { graph } = copy.answers;
    for (const id of changedTeams) yield graph.replaceSource(`team:${id}`, teamStructure(world, id));
    for (const id of changedRoles) yield graph.replaceSource(`role:${id}`, roleStructure(world, id));
    for (const id of changedAssignments) yield graph.replaceSource(`assignment:${id}`, inGraph(world, id));
  }

  /** Users are in classes, and clusters and contracts too: the rest of an assignment is in the graph itself. */
  function inGraph(world: OrganizationState, id: bigint) {
    return assignmentTuples(world, id).filter(({ object, user }) => STRUCTURE.has(typeOf(object)) && !isPerson(user));
  }

  function teamStructure(world: Pick<OrganizationState, 'teams'>, id: bigint) {
    const team = world.teams.get(id);
    return team ? structureOf(organizationId, team) : [];
  }

  function roleStructure(world: Pick<OrganizationState, 'roles'>, id: bigint) {
    const role = world.roles.get(id);
    return role ? roleTuples(organizationId, role) : [];
  }

  /** What does not exist yet has a number below zero: -1 is the first that the changes create. */
  function createTeam(team: Omit<TeamState, 'id' | 'members' | 'ends'>): TeamState {
    const fresh = { ...team, id: --created, members: new Set<string>(), ends: new Map<string, Date>() };
    teams.set(fresh.id, fresh);
    restateTeam(fresh.id);
    return fresh;
  }

  function changeTeam(id: bigint, next: Pick<TeamState, 'name' | 'permission'>): void {
    const team = teams.get(id);
    if (!team) return;
    teams.set(id, { ...team, ...next });
    restateTeam(id);
    // What roles give on a team that only owners touch is another matter.
    for (const one of assignments.values()) if (one.on === `team:${id}`) restateAssignment(one.id);
  }

  /** Roles lose the team, too. There may be hundreds, and thousands of members, so other requests run in between. */
  async function removeTeam(id: bigint): Promise<void> {
    const yieldIfDue = createYielder();
    for (const role of [...roles.values()].filter(({ teamIds }) => teamIds.includes(id))) {
      putRole({ ...role, teamIds: role.teamIds.filter((team) => team !== id) }, role.id);
      await yieldIfDue();
    }
    const name = `team:${id}`;
    for (const one of [...assignments.values()]) if (one.to === name || one.on === name) removeAssignment(one.id);
    const members = teams.get(id)?.members ?? new Set();
    teams.delete(id);
    restateTeam(id);
    for (const user of members) {
      assign(id, user);
      await yieldIfDue();
    }
  }

  /** Or changes when the membership ends. */
  function join(id: bigint, user: string, term: Term): void {
    const team = workingCopy(id);
    team?.members.add(user);
    if (term) team?.ends.set(user, term);
    else if (term === null) team?.ends.delete(user);
    restateTeam(id, user);
  }

  function leave(id: bigint, user: string): void {
    const team = workingCopy(id);
    team?.members.delete(user);
    team?.ends.delete(user);
    restateTeam(id, user);
  }

  /** There may be tens of thousands of members, so a team is copied once, not for each change. */
  function workingCopy(id: bigint): Working | undefined {
    const team = teams.get(id);
    if (!team) return undefined;
    if (present.teams.get(id)?.members !== team.members) return team as Working;
    const working = { ...team, members: new Set(team.members), ends: new Map(team.ends) };
    teams.set(id, working);
    return working;
  }

  function putRole(role: Omit<RoleState, 'id' | 'teamExpiries'> & Partial<RoleState>, id = --created): void {
    const { name, description, relations, teamIds, teamExpiries } = role;
    const ends = teamIds.flatMap((team) => {
      const end = teamExpiries?.get(team);
      return end ? [[team, end] as const] : [];
    });
    roles.set(id, { id, name, description, relations, teamIds, teamExpiries: new Map(ends) });
    restateRole(id);
  }

  function removeRole(id: bigint): void {
    for (const one of [...assignments.values()]) if (one.roleId === id) removeAssignment(one.id);
    roles.delete(id);
    restateRole(id);
  }

  /** Not of a team in the whole organization: that is a part of the role. */
  function putAssignment(assignment: Omit<AssignmentState, 'id'>, id = --created): void {
    assignments.set(id, { ...assignment, id });
    restateAssignment(id);
  }

  function removeAssignment(id: bigint, to = assignments.get(id)?.to): void {
    assignments.delete(id);
    restateAssignment(id, to);
  }

  /** Gives a number to a team that gets a role in the whole organization. */
  function noteTeamRole(assignment: Omit<AssignmentState, 'id'>): void {
    teamRoles.set(--created, { ...assignment, id: created });
  }

  function restateAssignment(id: bigint, formerly?: string): void {
    const source = `assignment:${id}`;
    changedAssignments.add(id);
    for (const place of [copy.objects.placeOf(source)?.object, assignments.get(id)?.on]) if (place) noteObject(place);
    for (const to of [formerly, assignments.get(id)?.to]) if (to && isPerson(to)) noteUser(to);
    const tuples = assignmentTuples({ teams, assignments }, id);
    copy.restate(
      source,
      tuples.filter(({ user }) => !isPerson(user)),
    );
    for (const to of new Set([formerly, assignments.get(id)?.to])) {
      if (!to || !isPerson(to)) continue;
      const theirs = tuples.filter(({ user }) => user === to);
      copy.assign(to, source, theirs);
    }
  }

  /** A set that has never had a cluster has no number yet. */
  function setNamed(name: string): bigint {
    const known = setIds.get(name) ?? -BigInt(setIds.size + 1);
    setIds.set(name, known);
    return known;
  }

  /** The set that a cluster is in, such as `cluster_set:3`. */
  function setOf(cluster: string): string | undefined {
    return copy.objects.classOf(cluster)?.tuples.find(({ relation }) => relation === 'set')?.user;
  }

  /** Into the set, or out of every set. */
  function moveCluster(cluster: string, setId: bigint | undefined): void {
    noteObject(cluster);
    copy.restate(cluster, [
      { object: cluster, relation: 'organization', user: organization },
      ...(setId === undefined ? [] : [{ object: cluster, relation: 'set', user: `cluster_set:${setId}` }]),
    ]);
  }

  /** Everything that expires before this time has expired. */
  async function passTime(to: Date): Promise<void> {
    const yieldIfDue = createYielder();
    const isOver = (end: Date | undefined) => end !== undefined && end <= to;
    for (const { id, ends } of [...teams.values()]) {
      for (const [user] of [...ends].filter(([, end]) => isOver(end))) {
        leave(id, user);
        await yieldIfDue();
      }
    }
    for (const role of [...roles.values()]) {
      const teamIds = role.teamIds.filter((team) => !isOver(role.teamExpiries.get(team)));
      if (teamIds.length < role.teamIds.length) putRole({ ...role, teamIds }, role.id);
      await yieldIfDue();
    }
    for (const { id, expiresAt } of [...assignments.values()]) {
      if (isOver(expiresAt ?? undefined)) removeAssignment(id);
      await yieldIfDue();
    }
  }

  function restateRole(id: bigint): void {
    changedRoles.add(id);
    noteObject(`role:${id}`);
    copy.restate(`role:${id}`, roleStructure({ roles }, id));
  }

  function restateTeam(id: bigint, user?: string): void {
    changedTeams.add(id);
    noteObject(`team:${id}`);
    const team = teams.get(id);
    copy.restate(`team:${id}`, teamStructure({ teams }, id));
    if (user !== undefined) assign(id, user);
    // Something is stated about the only member of the owners.
    if (team && team.members.size <= 2) for (const member of team.members) if (member !== user) assign(id, member);
  }

  function noteUser(user: string): void {
    if (!classesBefore.has(user)) classesBefore.set(user, copy.people.classOf(user));
  }

  function assign(id: bigint, user: string): void {
    noteUser(user);
    const team = teams.get(id);
    copy.assign(user, `team:${id}`, team?.members.has(user) ? membershipOf(organizationId, team, user) : []);
    // The assignments of users who leave the organization end.
    if (copy.people.classOf(user).teamIds.length > 0) return;
    for (const source of copy.people.sourcesOf(user)) {
      if (source.startsWith('assignment:')) removeAssignment(idOf(source), user);
    }
  }

  function noteObject(object: string): void {
    if (!objectsBefore.has(object)) objectsBefore.set(object, copy.objects.classOf(object));
  }
}
