import type { Graph } from './graph.ts';
import { GRANTS, LINKS, REACHES, USES } from './tables/nodes.ts';
import { readReference } from './tuple.ts';

/**
 * What tuples state, without anything that follows from it. The model knows neither users nor objects by name, so two of
 * them about which the same is stated have the same relations. Numbers of nodes are valid until the graph changes.
 */
export interface Stated {
  readonly relation: string;
  readonly object: string;
}

/** The node of `team:4` or `team:4#member`, or -1 if no tuple names it. */
export function nodeOf(graph: Graph, text: string): number {
  const read = readReference(graph.model, text);
  if (typeof read === 'string') return -1;
  const node = graph.nodes.find(read.kind, text, read.from, read.to);
  return node === -1 || read.userset === -1 ? node : graph.nodes.findUserset(node, read.userset);
}

/** The tuples without a condition whose user is this subject. */
export function statedTo(graph: Graph, subject: string): Stated[] {
  const { edges } = graph;
  return [...edgesOut(graph, nodeOf(graph, subject))].flatMap((edge) => {
    const object = edges.object(edge);
    const { type } = graph.kind(object);
    return edges
      .relations(edge)
      .map((relation) => ({ relation: type.relations[relation]?.name ?? '', object: graph.text(object) }));
  });
}

/** The objects that a relation of this object names directly, such as its parents. */
export function statedAbout(graph: Graph, object: string, relation: string): string[] {
  const { nodes, edges } = graph;
  const node = nodeOf(graph, object);
  if (node === -1) return [];
  const wanted = graph.kind(node).type.relationIndex.get(relation) ?? -1;
  const found: string[] = [];
  for (const list of [LINKS, GRANTS]) {
    for (let edge = nodes.first(node, list); edge !== -1; edge = edges.nextIn(edge)) {
      const subject = edges.subject(edge);
      const isObject = graph.kind(subject).relation === undefined;
      if (isObject && edges.relations(edge).includes(wanted)) found.push(graph.text(subject));
    }
  }
  return found;
}

/** By object: what is stated to a subject about it. Two subjects with the same texts have the same relations. */
export function textsByObject(graph: Graph, subject: number): Map<number, string> {
  const texts = new Map<number, string>();
  for (const edge of edgesOut(graph, subject)) {
    const text = textOf(graph, edge, subject);
    if (text !== '') texts.set(graph.edges.object(edge), text);
  }
  return texts;
}

/** All that is stated to a subject, as one text. */
export function textOfSubject(graph: Graph, subject: number): string {
  const texts = textsByObject(graph, subject);
  return [...texts.entries().map(([object, text]) => `${object}:${text}`)].sort().join(' ');
}

/**
 * What is stated about an object, as one text, without what is stated to single users: to any other user, two objects
 * with the same text are alike.
 */
export function textOfObject(graph: Graph, object: number): string {
  const { nodes, edges } = graph;
  const user = graph.model.typeIndex.get('user');
  const texts: string[] = [];
  if (object === -1) return '';
  for (const list of [LINKS, GRANTS]) {
    for (let edge = nodes.first(object, list); edge !== -1; edge = edges.nextIn(edge)) {
      const subject = edges.subject(edge);
      const { type, relation, wildcard } = graph.kind(subject);
      if (type === user && relation === undefined && !wildcard) continue;
      const text = textOf(graph, edge, object);
      if (text !== '') texts.push(`${subject}:${text}`);
    }
  }
  return texts.sort().join(' ');
}

/**
 * Whether something is stated about this object to a subject that leads to no other object, such as an assignment of a
 * role on it. Then no other object has the same text, and there is no need to write it.
 */
export function isUnlikeOthers(graph: Graph, object: number): boolean {
  const { nodes, edges } = graph;
  for (let edge = nodes.first(object, LINKS); edge !== -1; edge = edges.nextIn(edge)) {
    const subject = edges.subject(edge);
    const [uses, reaches] = [nodes.first(subject, USES), nodes.first(subject, REACHES)];
    const only = uses === -1 ? reaches : reaches === -1 ? uses : -1;
    if (only === edge && edges.nextOut(edge) === -1) return true;
  }
  return false;
}

function* edgesOut(graph: Graph, subject: number): IterableIterator<number> {
  const { nodes, edges } = graph;
  if (subject === -1) return;
  for (const list of [USES, REACHES]) {
    for (let edge = nodes.first(subject, list); edge !== -1; edge = edges.nextOut(edge)) yield edge;
  }
}

/** Conditions are not compared: whatever has one is like nothing else. */
function textOf(graph: Graph, edge: number, end: number): string {
  const relations = graph.edges.relations(edge).join('.');
  return graph.edges.conditional(edge) > 0 ? `${relations}?${end}` : relations;
}
