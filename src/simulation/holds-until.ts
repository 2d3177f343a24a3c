import { roleTuples } from './organization-state.ts';
import { isPerson } from './people-classes.ts';
import type { Simulation } from './simulation.ts';

/**
 * Whether the caller still holds something at a later time, if nothing happens but that things end. Null: for ever. The
 * callback is asked while everything is left out that the caller holds something through and that ends earlier.
 */
export function holdsUntil<T>(
  simulation: Simulation,
  until: Date | null,
  ask: (holds: (relation: string, object: string) => boolean) => T,
): T {
  const { caller, copy, teams, roles, assignments, organizationId, after } = simulation;
  const { graph } = copy.answers;
  const isEarlier = (end: Date | null | undefined) => !!end && (until === null || end < until);
  const present = copy.people.classOf(caller);
  const { assigned, teamIds } = present;
  const gone = new Set(
    teamIds.flatMap((id) => (isEarlier(teams.get(id)?.ends.get(caller)) ? [`team:${id} member`] : [])),
  );
  const own = new Set([caller, ...teamIds.map((id) => `team:${id}`)]);
  const ending = [...assignments.values()].filter(({ to, expiresAt }) => own.has(to) && isEarlier(expiresAt));
  for (const { id, to, on, roleId } of ending) {
    if (to === caller) gone.add(`assignment:${id} assignee`);
    if (to === caller && on === undefined) gone.add(`role:${roleId} assignee`);
  }
  const shrinking = [...roles.values()].filter(({ teamExpiries }) =>
    teamIds.some((id) => isEarlier(teamExpiries.get(id))),
  );
  for (const { id } of ending) graph.replaceSource(`assignment:${id}`, []);
  for (const role of shrinking) {
    const left = role.teamIds.filter((id) => !(teamIds.includes(id) && isEarlier(role.teamExpiries.get(id))));
    graph.replaceSource(`role:${role.id}`, roleTuples(organizationId, { ...role, teamIds: left }));
  }
  try {
    const kept = assigned.filter(({ object, relation }) => !gone.has(`${object} ${relation}`));
    const then = isPerson(caller) ? copy.people.classFor(kept) : present;
    return ask((relation, object) => copy.answers.holds(then, relation, object));
  } finally {
    for (const { id } of ending) graph.replaceSource(`assignment:${id}`, simulation.inGraph(after, id));
    for (const role of shrinking) graph.replaceSource(`role:${role.id}`, roleTuples(organizationId, role));
  }
}
