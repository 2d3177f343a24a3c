import { type Graph, type Step, statedTo } from '../../../packages/rebac/src/rebac.ts';
import { ON_OBJECTS } from '../../changes/derived-tuples.ts';

/** What a role gives on single objects, by the names that the model has for it. */
export const PARTS: ReadonlySet<string> = new Set([
  ...[...ON_OBJECTS.keys()].map((relation) => relation.slice('can_'.length)),
  'view_in_namespaces',
  'only_view_teams',
]);

/**
 * An assignment gives what its role contains, which the model says in several steps. Readers need two: that the role is
 * assigned there, and to whom.
 */
export function withoutRoleParts(proof: readonly Step[], graph: Graph): readonly Step[] {
  const steps = proof.map((step) => asShown(step, graph));
  if (!steps.some(({ object }) => object.startsWith('assignment:'))) return steps;
  return steps.filter(says).map((step, depth) => ({ ...step, depth }));
}

/**
 * A question about a namespace asks who may view what is in the cluster, which has no name of its own, and brings
 * tuples. What is stored is that the cluster or its set points to the assignment.
 */
function asShown(step: Step, graph: Graph): Step {
  const { object, relation, tuple } = step;
  const isViewer = relation === 'viewer' && object.startsWith('cluster:');
  const named = isViewer ? { ...step, relation: 'can_view' } : step;
  if (tuple?.relation !== 'namespace_assignment') return named;
  const stored = statedTo(graph, tuple.user).find((one) => one.relation === 'namespaced_assignment');
  return stored ? { ...named, tuple: { ...tuple, ...stored } } : named;
}

function says({ object, relation, rule, tuple }: Step): boolean {
  if (object === 'platform:atrium' || tuple?.user === 'platform:atrium') return false;
  if (object.startsWith('role:') && PARTS.has(relation)) return false;
  return !object.startsWith('assignment:') || rule === 'direct' || rule === 'userset';
}
