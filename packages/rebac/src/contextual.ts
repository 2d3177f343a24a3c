import type { Context } from './conditions/condition.ts';
import { contextFault } from './conditions/context.ts';
import type { Graph } from './graph.ts';
import { RebacError } from './rebac-error.ts';
import { admit, type Tuple } from './tuple.ts';

/** What a query brings in addition to the graph. */
export interface QueryContext {
  /** Parameters for conditions. Parameters on the tuple take precedence. */
  readonly context?: Context | undefined;
  /** Tuples that apply to this query only. A tuple that the model does not admit is rejected. */
  readonly contextualTuples?: readonly Tuple[] | undefined;
}

/** No caller uses a source with this name. */
const SOURCE = '\0contextual';

/**
 * Every query begins here, so a fault in the context of the request is reported in one way, whatever is asked and
 * whether or not a condition matters: OpenFGA rejects such a request before it looks at any tuple.
 *
 * Contextual tuples are a source like any other, but exist only during one synchronous query, and a contextual tuple
 * about a plain user takes the place of a stored one.
 */
export function contextually<T>(graph: Graph, { context, contextualTuples }: QueryContext, ask: () => T): T {
  const fault = contextFault(context);
  if (fault !== undefined) throw new RebacError('validation', `invalid context: ${fault}`);
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
