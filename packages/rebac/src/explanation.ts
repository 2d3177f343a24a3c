import { contextually, type QueryContext } from './contextual.ts';
import { Evidence } from './evidence.ts';
import { type Exclusion, type MissingLink, nearestMissingLink } from './explain-missing.ts';
import { proofOf, type Step } from './explain-proof.ts';
import { type Ways, waysOf } from './explain-ways.ts';
import type { Graph } from './graph.ts';
import { type QueryTarget, queryTargetOf, validObject, validUser, walkOf } from './query.ts';
import { RebacError } from './rebac-error.ts';
import type { Tuple } from './tuple.ts';

export interface ExplainQuery extends QueryContext {
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
export function explain(graph: Graph, question: ExplainQuery): Explanation {
  return explained(graph, question, (allowed, evidence, place) =>
    allowed
      ? { allowed, steps: proofOf(evidence, 0, place.relation), missing: undefined }
      : { allowed, steps: [], missing: missingLink(graph, question, place, evidence) },
  );
}

/** All minimal ways in which a relation holds, at most this many. There are none if it does not hold. */
export function explainAll(graph: Graph, question: ExplainQuery, max: number): Ways {
  return explained(graph, question, (allowed, evidence, place) =>
    allowed ? waysOf(evidence, 0, place.relation, max) : { ways: [], hasMore: false },
  );
}

/** The evidence is void after the next walk over the graph. */
function explained<T>(
  graph: Graph,
  question: ExplainQuery,
  tell: (allowed: boolean, evidence: Evidence, place: QueryTarget) => T,
): T {
  const { user, object } = question;
  const read = validObject(graph.model, object);
  const relation = read.type.relationIndex.get(question.relation);
  if (relation === undefined)
    throw new RebacError('validation', `${read.type.name} has no relation ${question.relation}`);
  validUser(graph.model, user);
  return contextually(graph, question, () => {
    const place = queryTargetOf(graph, object, read, relation);
    const walk = walkOf(graph);
    walk.run(user, object, place.node, place.plan, question.context, true);
    const answer = walk.answer(place.slot);
    if (answer instanceof RebacError) throw answer;
    return tell(answer, new Evidence(walk, user, object), place);
  });
}

/** So many suggestions are tried before there is none. */
const MAX_SUGGESTIONS = 8;

/**
 * A tuple that would be added can be what excludes the user, for example in `v: a but not b` where b is computed from
 * a. So every suggestion is tried: with its tuples, nothing but the named exclusions may be in the way.
 */
function missingLink(
  graph: Graph,
  { user, object, context }: ExplainQuery,
  place: QueryTarget,
  found: Evidence,
): MissingLink | undefined {
  const walk = walkOf(graph);
  const ruledOut = new Set<string>();
  const evidenceWith = (added: readonly Tuple[]): Evidence => {
    walk.assume(added);
    walk.run(user, object, place.node, place.plan, context, true);
    walk.assume([]);
    return new Evidence(walk, user, object);
  };
  for (let tries = 0; tries < MAX_SUGGESTIONS; tries++) {
    // A walk that keeps its trail takes long in a large organization, so the first one is used again.
    const before = tries === 0 ? found : evidenceWith([]);
    const link = nearestMissingLink(before, place.relation, (tuple) => ruledOut.has(keyOf(tuple)));
    if (link === undefined || link.add.length === 0) return link;
    const after = evidenceWith(link.add);
    if (walk.answer(place.slot) === true || isHeldBackBy(link.excludedBy, nearestMissingLink(after, place.relation)))
      return link;
    for (const tuple of link.add) ruledOut.add(keyOf(tuple));
  }
  return;
}

/** What is still missing is only that these exclusions go. */
function isHeldBackBy(excludedBy: readonly Exclusion[], rest: MissingLink | undefined): boolean {
  if (rest === undefined || rest.add.length > 0 || excludedBy.length === 0) return false;
  const named = new Set(excludedBy.map((one) => `${one.object}#${one.relation}`));
  return rest.excludedBy.every((one) => named.has(`${one.object}#${one.relation}`));
}

function keyOf({ relation, object }: Tuple): string {
  return `${object}#${relation}`;
}
