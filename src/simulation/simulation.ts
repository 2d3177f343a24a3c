import type { Graphs } from '../authz/graphs.ts';
import type { Term } from '../base/expiry.ts';
import { createPace } from '../base/slices.ts';
import { membershipOf, structureOf } from '../changes/derived-tuples.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import type { Model } from '../rebac/model.ts';
import type { ClassAnswers } from './class-answers.ts';
import type { ObjectClass } from './object-classes.ts';
import { readOrganization } from './organization-copy.ts';
import {
  NO_DETAILS,
  type OrganizationState,
  type RoleState,
  roleTuples,
  type StateDetails,
  stateFrom,
  type TeamState,
} from './organization-state.ts';
import type { PeopleClass } from './people-classes.ts';
import { rolePlacesIn } from './role-places.ts';

/** The names and end dates of an organization. */
export interface SimulationStore {
  details(organizationId: bigint): Promise<StateDetails>;
}

interface Parts {
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
export async function openSimulation({ graphs, store, model }: Parts, organizationId: bigint, callerId: bigint) {
  const details = (await store?.details(organizationId)) ?? NO_DETAILS;
  const reader = await readOrganization(graphs, organizationId);
  const copy = await reader.copy(model);
  const present = await stateFrom(reader.structure, copy.people, details);
  const organization = `organization:${organizationId}`;
  const caller = subjectOfPrincipal(callerId);
  const teams = new Map<bigint, TeamState>(present.teams);
  const roles = new Map<bigint, RoleState>(present.roles);
  /** The classes that users and objects were in before they changed. */
  const classesBefore = new Map<string, PeopleClass>();
  const objectsBefore = new Map<string, ObjectClass | undefined>();
  const changedTeams = new Set<bigint>();
  const changedRoles = new Set<bigint>();
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
    rolePlaces: rolePlacesIn(reader.structure),
    changedTeams: changedTeams as ReadonlySet<bigint>,
    changedRoles: changedRoles as ReadonlySet<bigint>,
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
    const pace = createPace();
    for (const _ of restating(wanted)) await pace();
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
  }

  function teamStructure(world: OrganizationState, id: bigint) {
    const team = world.teams.get(id);
    return team ? structureOf(organizationId, team) : [];
  }

  function roleStructure(world: OrganizationState, id: bigint) {
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
  }

  /** Roles lose the team, too. There may be hundreds, and thousands of members, so other requests run in between. */
  async function removeTeam(id: bigint): Promise<void> {
    const pace = createPace();
    for (const role of [...roles.values()].filter(({ teamIds }) => teamIds.includes(id))) {
      putRole({ ...role, teamIds: role.teamIds.filter((team) => team !== id) }, role.id);
      await pace();
    }
    const members = teams.get(id)?.members ?? new Set();
    teams.delete(id);
    restateTeam(id);
    for (const user of members) {
      assign(id, user);
      await pace();
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
    roles.delete(id);
    restateRole(id);
  }

  /** Everything that expires before this time has expired. */
  async function passTime(to: Date): Promise<void> {
    const pace = createPace();
    const isOver = (end: Date | undefined) => end !== undefined && end <= to;
    for (const { id, ends } of [...teams.values()]) {
      for (const [user] of [...ends].filter(([, end]) => isOver(end))) {
        leave(id, user);
        await pace();
      }
    }
    for (const role of [...roles.values()]) {
      const teamIds = role.teamIds.filter((team) => !isOver(role.teamExpiries.get(team)));
      if (teamIds.length < role.teamIds.length) putRole({ ...role, teamIds }, role.id);
      await pace();
    }
  }

  function restateRole(id: bigint): void {
    changedRoles.add(id);
    noteObject(`role:${id}`);
    copy.restate(`role:${id}`, roleStructure({ teams, roles }, id));
  }

  function restateTeam(id: bigint, user?: string): void {
    changedTeams.add(id);
    noteObject(`team:${id}`);
    const team = teams.get(id);
    copy.restate(`team:${id}`, teamStructure({ teams, roles }, id));
    if (user !== undefined) assign(id, user);
    // Something is stated about the only member of the owners.
    if (team && team.members.size <= 2) for (const member of team.members) if (member !== user) assign(id, member);
  }

  function assign(id: bigint, user: string): void {
    if (!classesBefore.has(user)) classesBefore.set(user, copy.people.classOf(user));
    const team = teams.get(id);
    copy.assign(user, `team:${id}`, team?.members.has(user) ? membershipOf(organizationId, team, user) : []);
    // What is assigned to users who leave the organization ends.
    if (copy.people.classOf(user).teamIds.length > 0) return;
    for (const source of copy.people.sourcesOf(user)) {
      if (source.startsWith('assignment:')) copy.assign(user, source, []);
    }
  }

  function noteObject(object: string): void {
    if (!objectsBefore.has(object)) objectsBefore.set(object, copy.objects.classOf(object));
  }
}
