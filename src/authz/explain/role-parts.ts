import type { Step } from '../../rebac/explain-proof.ts';

/**
 * An assignment gives what its role contains, which the model says in several steps. Readers need two: that the role is
 * assigned there, and to whom.
 */
export function withoutRoleParts(steps: readonly Step[]): readonly Step[] {
  if (!steps.some(({ object }) => object.startsWith('assignment:'))) return steps;
  return steps.filter(says).map((step, depth) => ({ ...step, depth }));
}

function says({ object, rule, tuple }: Step): boolean {
  if (object === 'platform:atrium' || tuple?.user === 'platform:atrium') return false;
  return !object.startsWith('assignment:') || rule === 'direct' || rule === 'userset';
}
