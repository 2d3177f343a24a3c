import type { Graph } from './graph.ts';
import { GRANTS, LINKS } from './tables/nodes.ts';

const heights = new WeakMap<Graph, { revision: number; height: number }>();

/**
 * The length of the longest chain of closable usersets in the graph, or Infinity if some of them are in a circle. A walk
 * does not open closable usersets, so it would not notice that OpenFGA finds a circle or too many hops among them. That
 * makes a difference behind `but not` only, so it is computed only when a plan needs it, once for each revision.
 */
export function closureHeight(graph: Graph): number {
  let known = heights.get(graph);
  if (known === undefined || known.revision !== graph.revision) {
    known = { revision: graph.revision, height: measure(graph) };
    heights.set(graph, known);
  }
  return known.height;
}

/** Removes usersets from the bottom, one level after the other. What is in a circle, or above one, is never removed. */
function measure(graph: Graph): number {
  const above = new Map<number, number[]>();
  const waiting = new Map<number, number>();
  for (const userset of graph.nodes.usersets) {
    if (graph.model.closable[graph.nodes.kind(userset)] === 0) continue;
    const below = usersetsIn(graph, userset);
    waiting.set(userset, below.length);
    for (const one of below) above.set(one, [...(above.get(one) ?? []), userset]);
  }
  let level = [...waiting].filter(([, count]) => count === 0).map(([userset]) => userset);
  let height = 0;
  for (; level.length > 0; height++) {
    const next: number[] = [];
    for (const userset of level) {
      waiting.delete(userset);
      for (const one of above.get(userset) ?? []) {
        const left = (waiting.get(one) as number) - 1;
        waiting.set(one, left);
        if (left === 0) next.push(one);
      }
    }
    level = next;
  }
  return waiting.size > 0 ? Number.POSITIVE_INFINITY : height;
}

/** The closable usersets that are assigned to a closable userset. One that is assigned twice is listed twice. */
function usersetsIn({ nodes, edges, model }: Graph, userset: number): number[] {
  const object = nodes.base(userset);
  const within = model.within[nodes.kind(userset)];
  const found: number[] = [];
  for (const list of [LINKS, GRANTS]) {
    for (let edge = nodes.first(object, list); edge !== -1; edge = edges.nextIn(edge)) {
      const subject = edges.subject(edge);
      if (model.kinds[nodes.kind(subject)]?.relation === undefined) continue;
      if (edges.relations(edge).some((relation) => within?.[relation] === 1)) found.push(subject);
    }
  }
  return found;
}
