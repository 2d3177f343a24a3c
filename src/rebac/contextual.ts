import type { Context } from './conditions/condition.ts';
import type { Graph } from './graph.ts';
import { RebacError } from './rebac-error.ts';
import { admit, type Tuple } from './tuple.ts';

/** What a query brings in addition to the graph. */
export interface Surroundings {
  /** Parameters for conditions. Parameters on the tuple take precedence. */
  readonly context?: Context | undefined;
  /** Tuples that apply to this query only. A tuple that the model does not admit is rejected. */
  readonly contextualTuples?: readonly Tuple[] | undefined;
}

/** No caller uses a source with this name. */
const SOURCE = '\0contextual';

/**
 * Contextual tuples are a source like any other, but exist only during one synchronous query, and a contextual tuple
 * about a plain user takes the place of a stored one.
 */
export function contextually<T>(graph: Graph, { contextualTuples }: Surroundings, ask: () => T): T {
  if (contextualTuples === undefined || contextualTuples.length === 0) return ask();
  for (const tuple of contextualTuples) {
    const entry = admit(graph.model, tuple);
    if (typeof entry === 'string') throw new RebacError('invalidTuple', `contextual tuple: ${entry}`);
  }
  graph.replaceSource(SOURCE, contextualTuples);
  graph.hideBehind(SOURCE);
  try {
    return ask();
  } finally {
    graph.replaceSource(SOURCE, []);
  }
}
