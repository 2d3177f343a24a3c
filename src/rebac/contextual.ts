import type { Context } from './conditions/condition.ts';
import type { Graph } from './graph.ts';
import { RebacError } from './rebac-error.ts';
import { admit, type Tuple } from './tuple.ts';

/** What a question brings with it beyond the graph. */
export interface Surroundings {
  /** Parameters for conditions; those on the tuple win. */
  readonly context?: Context | undefined;
  /** Tuples that count for this question only. One that the model does not admit is refused. */
  readonly contextualTuples?: readonly Tuple[] | undefined;
}

/** No source of a caller is named so. */
const SOURCE = '\0contextual';

/** Contextual tuples are a source like any other, that is there for the length of one synchronous question. */
export function contextually<T>(graph: Graph, { contextualTuples }: Surroundings, ask: () => T): T {
  if (contextualTuples === undefined || contextualTuples.length === 0) return ask();
  for (const tuple of contextualTuples) {
    const entry = admit(graph.model, tuple);
    if (typeof entry === 'string') throw new RebacError('invalidTuple', `contextual tuple: ${entry}`);
  }
  graph.replaceSource(SOURCE, contextualTuples);
  try {
    return ask();
  } finally {
    graph.replaceSource(SOURCE, []);
  }
}
