import { contextually, type Surroundings } from './contextual.ts';
import { Evidence } from './evidence.ts';
import { type MissingLink, nearestMissingLink } from './explain-missing.ts';
import { proofOf, type Step } from './explain-proof.ts';
import type { Graph } from './graph.ts';
import { placeOf, validObject, validUser, walkOf } from './query.ts';
import { RebacError } from './rebac-error.ts';

export interface ExplainQuestion extends Surroundings {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

export interface Explanation {
  readonly allowed: boolean;
  /** Why it is allowed: from the object to the user, each step resting on the deeper steps below it. */
  readonly steps: readonly Step[];
  /** Why it is not allowed: what would have to be added, and the tuples that exist already. */
  readonly missing: MissingLink | undefined;
}

/** The same walk as `check`, but wide so that every hop is visible, and then the way back through what it found. */
export function explain(graph: Graph, question: ExplainQuestion): Explanation {
  const { user, object } = question;
  const read = validObject(graph.model, object);
  const relation = read.type.relationIndex.get(question.relation);
  if (relation === undefined)
    throw new RebacError('validation', `${read.type.name} has no relation ${question.relation}`);
  validUser(graph.model, user);
  return contextually(graph, question, () => {
    const { plan, node, slot } = placeOf(graph, object, read, relation);
    const walk = walkOf(graph);
    walk.run(user, object, node, plan, question.context, true);
    const answer = walk.answer(slot);
    if (answer instanceof RebacError) throw answer;
    const evidence = new Evidence(walk, user, object);
    if (answer) return { allowed: true, steps: proofOf(evidence, 0, relation), missing: undefined };
    return { allowed: false, steps: [], missing: nearestMissingLink(evidence, 0, relation) };
  });
}
