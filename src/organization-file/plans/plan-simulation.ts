import { createYielder } from '../../base/scheduling/slices.ts';
import { namesIn } from '../../impact/changes/changes.ts';
import { withRelations } from '../../impact/changes/role-changes.ts';
import type { Where } from '../../roles/assignment-plan.ts';
import type { RoleDraft } from '../../roles/roles.ts';
import type { Simulation } from '../../simulation/simulation.ts';
import type { OrganizationPlan } from './organization-plan.ts';

/** Makes a whole plan in a copy of the organization. Returns what teams are called by then. */
export async function simulatePlan(
  simulation: Simulation,
  { teams, robots, roles: { roles, assignments } }: OrganizationPlan,
): Promise<Map<string, string>> {
  const yieldIfDue = createYielder();
  /** What is new has another number in the simulation than in the plan. */
  const teamIds = new Map<bigint, bigint>();
  const roleIds = new Map<string, bigint>();
  for (const { id } of teams.deletes) await simulation.removeTeam(id);
  for (const { id, current, name, permission, joins, leaves } of teams.teams) {
    const teamId = current ? id : simulation.createTeam({ name, permission, isBuiltIn: false }).id;
    teamIds.set(id, teamId);
    if (current && (current.name !== name || current.permission !== permission)) {
      simulation.changeTeam(id, { name, permission });
    }
    for (const { account, until } of joins) simulation.join(teamId, `user:${account.id}`, until);
    for (const { id: member } of leaves) simulation.leave(teamId, `user:${member}`);
    await yieldIfDue();
  }
  const gone = new Set(robots.deletes.map(({ id }) => `robot_ac:${id}`));
  for (const { id, to, on } of [...simulation.assignments.values()]) {
    if (gone.has(to) || (on !== undefined && gone.has(on))) simulation.removeAssignment(id);
  }
  for (const { id } of roles.deletes) simulation.removeRole(id);
  for (const draft of roles.creates) {
    simulation.putRole(withRelations(onTeams(draft)));
    const id = [...simulation.roles.keys()].at(-1);
    if (id !== undefined) roleIds.set(draft.name, id);
    await yieldIfDue();
  }
  for (const { current, next } of roles.updates) {
    simulation.putRole(withRelations(onTeams(next)), current.id);
    await yieldIfDue();
  }
  for (const { id } of assignments?.deletes ?? []) simulation.removeAssignment(id);
  for (const { current, next } of assignments?.updates ?? []) {
    const present = simulation.assignments.get(current.id);
    if (present) simulation.putAssignment({ ...present, expiresAt: next.expiresAt }, current.id);
  }
  for (const { role, to, on, expiresAt } of assignments?.creates ?? []) {
    const roleId = role.id ?? roleIds.get(role.name) ?? 0n;
    const namespaces = on.namespaces ?? undefined;
    simulation.putAssignment({ roleId, to: refOf(to) ?? '', on: refOf(on), namespaces, expiresAt });
    await yieldIfDue();
  }
  return namesIn(simulation);

  function onTeams(draft: RoleDraft): RoleDraft {
    const idOf = (id: bigint) => teamIds.get(id) ?? id;
    const ends = [...(draft.teamExpiries ?? [])].map(([id, end]) => [idOf(id), end] as const);
    return { ...draft, teamIds: draft.teamIds.map(idOf), teamExpiries: new Map(ends) };
  }

  function refOf({ type, id, name }: Pick<Where, 'type' | 'id' | 'name'> | { type: 'user'; id: bigint; name: string }) {
    if (type === 'organization') return undefined;
    if (type === 'cluster_set') return `cluster_set:${simulation.setNamed(name)}`;
    const number = type === 'team' && id !== undefined ? (teamIds.get(id) ?? id) : id;
    return `${type}:${number}`;
  }
}
