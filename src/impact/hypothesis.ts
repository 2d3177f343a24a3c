import type { Term } from '../base/expiry.ts';
import { createPace } from '../base/slices.ts';
import { membershipOf, structureOf } from '../changes/derived-tuples.ts';
import { allowed, check } from '../rebac/engine.ts';
import type { Tuple } from '../rebac/tuple.ts';
import { roleTuples } from '../roles/role-preview.ts';
import type { RoleDraft } from '../roles/roles.ts';
import { type RoleState, type Scene, saidAbout } from './scene.ts';
import type { TeamState } from './team-state.ts';

/** A team whose members can still be changed. */
type Working = TeamState & { readonly members: Set<string>; readonly ends: Map<string, Date> };

export type Hypothesis = ReturnType<typeof createHypothesis>;

/**
 * The organization with some changes made, and what the caller holds in it. The graph of the scene follows each change,
 * so what the caller may do next is decided as it would be after the earlier changes.
 */
export function createHypothesis(scene: Scene, callerId: bigint) {
  const { organizationId, graph } = scene;
  const organization = `organization:${organizationId}`;
  const caller = `user:${callerId}`;
  const teams = new Map<bigint, TeamState>(scene.teams);
  const roles = new Map<bigint, RoleState>(scene.roles);
  /** Teams and roles that are not as they were. */
  const changedTeams = new Set<bigint>();
  const changedRoles = new Set<bigint>();
  /** The same, since somebody asked. */
  let restated = nothingRestated();
  let created = 0n;
  /** How many people are in the organization, once somebody has asked. */
  let memberCount: number | undefined;
  /** The teams that the graph knows the caller to be in. */
  let entered: ReadonlySet<bigint> = new Set();
  enterCaller();

  return {
    organizationId,
    caller,
    teams: teams as ReadonlyMap<bigint, TeamState>,
    roles: roles as ReadonlyMap<bigint, RoleState>,
    changedTeams: changedTeams as ReadonlySet<bigint>,
    changedRoles: changedRoles as ReadonlySet<bigint>,
    holds,
    held: () => new Set(allowed(graph, caller, organization)),
    wouldHoldUnlessKept,
    createTeam,
    changeTeam,
    removeTeam,
    join,
    leave,
    pass,
    putRole,
    removeRole,
    isMember,
    memberCount: countMembers,
    takeRestated,
  };

  /** The teams and roles that have changed since the last call. */
  function takeRestated() {
    const taken = restated;
    restated = nothingRestated();
    return taken;
  }

  function isMember(user: string): boolean {
    return teams.values().some(({ members }) => members.has(user));
  }

  /** There may be tens of thousands, so they are counted once as long as nobody leaves. */
  function countMembers(): number {
    memberCount ??= new Set(teams.values().flatMap((team) => team.members.values())).size;
    return memberCount;
  }

  function holds(relation: string, object = organization): boolean {
    return check(graph, { user: caller, relation, object });
  }

  /** Whether only the rule that the team keeps its last owner is in the way. */
  function wouldHoldUnlessKept(relation: string, team: TeamState): boolean {
    const object = `team:${team.id}`;
    const tuples = structureOf(organizationId, team);
    graph.replaceSource(
      object,
      tuples.filter((tuple) => tuple.relation !== 'kept'),
    );
    const answer = holds(relation, object);
    graph.replaceSource(object, tuples);
    return answer;
  }

  /** What does not exist yet has a number below zero: -1 is the first that the changes create. */
  function createTeam(team: Omit<TeamState, 'id' | 'members' | 'ends'>): TeamState {
    const fresh = { ...team, id: --created, members: new Set<string>(), ends: new Map<string, Date>() };
    teams.set(fresh.id, fresh);
    restate(fresh.id);
    return fresh;
  }

  function changeTeam(id: bigint, next: Pick<TeamState, 'name' | 'permission'>): void {
    const team = teams.get(id);
    if (!team) return;
    teams.set(id, { ...team, ...next });
    restate(id);
  }

  /** Roles lose the team, too. There may be hundreds, so others are served in between. */
  async function removeTeam(id: bigint): Promise<void> {
    const pace = createPace();
    for (const role of [...roles.values()].filter(({ teamIds }) => teamIds.includes(id))) {
      putRole({ ...role, teamIds: role.teamIds.filter((team) => team !== id) }, role.id);
      await pace();
    }
    teams.delete(id);
    memberCount = undefined;
    restate(id);
  }

  /** Or changes when the membership ends. */
  function join(id: bigint, user: string, term: Term): void {
    if (memberCount !== undefined && !isMember(user)) memberCount++;
    const team = workingCopy(id);
    team?.members.add(user);
    if (term) team?.ends.set(user, term);
    else if (term === null) team?.ends.delete(user);
    restate(id);
  }

  function leave(id: bigint, user: string): void {
    const team = workingCopy(id);
    team?.members.delete(user);
    team?.ends.delete(user);
    memberCount = undefined;
    restate(id);
  }

  /** There may be tens of thousands of members, so a team is copied once, not for each change. */
  function workingCopy(id: bigint): Working | undefined {
    const team = teams.get(id);
    if (!team) return undefined;
    if (scene.teams.get(id)?.members !== team.members) return team as Working;
    const copy = { ...team, members: new Set(team.members), ends: new Map(team.ends) };
    teams.set(id, copy);
    return copy;
  }

  function putRole({ name, description, permissions, teamIds, teamExpiries }: RoleDraft, id = --created): void {
    const ends = teamIds.flatMap((team) => {
      const end = teamExpiries?.get(team);
      return end ? [[team, end] as const] : [];
    });
    roles.set(id, { id, name, description, permissions, teamIds, teamExpiries: new Map(ends) });
    changedRoles.add(id);
    restated.roles.add(id);
    graph.replaceSource(`role:${id}`, roleTuples(organizationId, id, { permissions, teamIds }));
  }

  function removeRole(id: bigint): void {
    roles.delete(id);
    changedRoles.add(id);
    restated.roles.add(id);
    graph.replaceSource(`role:${id}`, []);
  }

  /** Everything that ends by itself until then has ended. */
  async function pass(to: Date): Promise<void> {
    const pace = createPace();
    const isOver = (end: Date | undefined) => end !== undefined && end <= to;
    for (const { id, ends } of [...teams.values()]) {
      const over = [...ends].filter(([, end]) => isOver(end));
      if (over.length === 0) continue;
      const team = workingCopy(id);
      for (const [user] of over) {
        team?.members.delete(user);
        team?.ends.delete(user);
      }
      memberCount = undefined;
      restate(id);
      await pace();
    }
    for (const role of [...roles.values()]) {
      const teamIds = role.teamIds.filter((team) => !isOver(role.teamExpiries.get(team)));
      if (teamIds.length < role.teamIds.length) putRole({ ...role, teamIds }, role.id);
      await pace();
    }
  }

  function restate(id: bigint): void {
    changedTeams.add(id);
    restated.teams.add(id);
    const team = teams.get(id);
    graph.replaceSource(`team:${id}`, team ? structureOf(organizationId, team) : []);
    if (entered.has(id) || team?.members.has(caller)) enterCaller();
  }

  function enterCaller(): void {
    const own: Tuple[] = saidAbout(scene, caller).filter(({ source }) => !source.startsWith('team:'));
    const inside = [...teams.values()].filter(({ members }) => members.has(caller));
    for (const team of inside) own.push(...membershipOf(organizationId, team, caller));
    entered = new Set(inside.map(({ id }) => id));
    graph.replaceSource(caller, own);
  }
}

function nothingRestated() {
  return { teams: new Set<bigint>(), roles: new Set<bigint>() };
}
