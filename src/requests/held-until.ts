import type { Model } from '../../packages/rebac/src/rebac.ts';
import type { Graphs } from '../authz/graphs.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import { openSimulation, type SimulationStore } from '../simulation/simulation.ts';
import type { Wish } from './requestable-change.ts';

/**
 * When what a user or robot holds ends by itself: the first end without which they would hold it no longer. Null:
 * never.
 */
export function createHeldUntil(graphs: Pick<Graphs, 'eachTuple'>, store: SimulationStore, model: Model) {
  return async ({ organizationId, callerId, relation, object, namespaces }: Wish): Promise<Date | null> => {
    const details = await store.details(organizationId);
    const simulation = await openSimulation(
      { graphs, store: { details: async () => details }, model },
      organizationId,
      callerId,
    );
    const subject = subjectOfPrincipal(callerId);
    const teams = new Set(
      [...simulation.teams.values()].filter(({ members }) => members.has(subject)).map(({ id }) => id),
    );
    const isTheirs = (to: string) => to === subject || teams.has(to.startsWith('team:') ? BigInt(to.slice(5)) : 0n);
    const ends = [
      ...details.memberEnds.flatMap(({ userId, expiresAt }) => (userId === callerId ? [expiresAt] : [])),
      ...details.roleEnds.flatMap(({ teamId, expiresAt }) => (teams.has(teamId) ? [expiresAt] : [])),
      ...details.assignments.flatMap(({ to, expiresAt }) => (expiresAt && isTheirs(to) ? [expiresAt] : [])),
    ];
    const sorted = [...new Set(ends.map((end) => end.getTime()))].sort((one, other) => one - other);
    // In namespaces, it is held through assignments that the simulation takes for ones on the whole cluster.
    const asked = namespaces && relation !== 'can_view' ? `${relation.slice('can_'.length)}_in_namespaces` : relation;
    const isKnown = model.typeIndex.get(object.type)?.relationIndex.has(asked) ?? false;
    const name = `${object.type}:${object.id}`;
    for (const end of sorted) {
      await simulation.passTime(new Date(end));
      if (!simulation.copy.holds(subject, isKnown ? asked : relation, name)) return new Date(end);
    }
    return null;
  };
}
