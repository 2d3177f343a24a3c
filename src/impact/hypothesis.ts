import { allowed, check } from '../rebac/engine.ts';
import type { Tuple } from '../rebac/tuple.ts';
import { roleTuples } from '../roles/role-preview.ts';
import type { RoleDraft } from '../roles/roles.ts';
import { type RoleState, type Scene, saidAbout } from './scene.ts';
import { membershipOf, structureOf, type TeamState } from './tuple-rules.ts';

/** A team whose members can still be changed. */
type Working = TeamState & { readonly members: Set<string> };

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
  let created = 0n;
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
    putRole,
    removeRole,
    isMember: (user: string) => teams.values().some(({ members }) => members.has(user)),
    members: () => new Set(teams.values().flatMap((team) => team.members.values())),
  };

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
  function createTeam(team: Omit<TeamState, 'id' | 'members'>): TeamState {
    const fresh = { ...team, id: --created, members: new Set<string>() };
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

  /** Roles lose the team, too. */
  function removeTeam(id: bigint): void {
    for (const role of roles.values()) {
      if (role.teamIds.includes(id)) putRole({ ...role, teamIds: role.teamIds.filter((team) => team !== id) }, role.id);
    }
    teams.delete(id);
    restate(id);
  }

  function join(id: bigint, user: string): void {
    workingCopy(id)?.members.add(user);
    restate(id);
  }

  function leave(id: bigint, user: string): void {
    workingCopy(id)?.members.delete(user);
    restate(id);
  }

  /** There may be tens of thousands of members, so a team is copied once, not for each change. */
  function workingCopy(id: bigint): Working | undefined {
    const team = teams.get(id);
    if (!team) return undefined;
    if (scene.teams.get(id)?.members !== team.members) return team as Working;
    const copy = { ...team, members: new Set(team.members) };
    teams.set(id, copy);
    return copy;
  }

  function putRole({ name, description, permissions, teamIds }: RoleDraft, id = --created): void {
    roles.set(id, { id, name, description, permissions, teamIds });
    changedRoles.add(id);
    graph.replaceSource(`role:${id}`, roleTuples(organizationId, id, { permissions, teamIds }));
  }

  function removeRole(id: bigint): void {
    roles.delete(id);
    changedRoles.add(id);
    graph.replaceSource(`role:${id}`, []);
  }

  function restate(id: bigint): void {
    changedTeams.add(id);
    const team = teams.get(id);
    graph.replaceSource(`team:${id}`, team ? structureOf(organizationId, team) : []);
    enterCaller();
  }

  function enterCaller(): void {
    const own: Tuple[] = saidAbout(scene, caller).filter(({ source }) => !source.startsWith('team:'));
    for (const team of teams.values()) {
      if (team.members.has(caller)) own.push(...membershipOf(organizationId, team, caller));
    }
    graph.replaceSource(caller, own);
  }
}
