/**
 * Assignments that count in some namespaces of a cluster.
 *
 * 1. A question about a namespace gets what the cluster gives without one, and what the assignments of the cluster and of
 *    its set give that have this namespace. The model says the same with `namespace_assignment`, which questions would
 *    bring as contextual tuples. But those make a graph forget its answers, so each such assignment is asked instead.
 * 2. Which assignments count is read from the graph, so it is of the same moment as everything else.
 */

import { check, type Graph, statedAbout } from '../../../packages/rebac/src/rebac.ts';
import { AppError } from '../../base/errors.ts';
import { type AskedObject, nameOf } from '../object-ref.ts';

interface InNamespaces {
  /** What of a cluster must be held to hold it in every namespace. */
  readonly everywhere: string;
  /** What of an assignment gives it in a namespace. */
  readonly given: string;
  /** What of a cluster is held by users who hold it in at least one namespace, but perhaps not everywhere. */
  readonly somewhere: string;
}

/** By relation of a cluster that is about namespaces. The configuration of a cluster, and that it is there, are not. */
export const IN_NAMESPACES: ReadonlyMap<string, InNamespaces> = new Map([
  ['can_view', { everywhere: 'viewer', given: 'view_in_namespaces', somewhere: 'can_view' }],
  ['can_edit', { everywhere: 'can_edit', given: 'edit_clusters', somewhere: 'edit_in_namespaces' }],
  ['can_connect', { everywhere: 'can_connect', given: 'connect_clusters', somewhere: 'connect_in_namespaces' }],
  [
    'can_administer',
    { everywhere: 'can_administer', given: 'administer_clusters', somewhere: 'administer_in_namespaces' },
  ],
]);

/** The relation that decides about a namespace, without assignments that count in some namespaces only. */
export function everywhere(relation: string): string {
  return IN_NAMESPACES.get(relation)?.everywhere ?? relation;
}

const MAX_LENGTH = 63;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const PREFIX = /^[a-z0-9][-a-z0-9]*\*$/;
const MAX_KNOWN = 10_000;

/** Whether a text can be one of the namespaces of an assignment: a name, or a prefix that ends in `*`. */
export function isNamespacePattern(text: string): boolean {
  return isNamespace(text) || (PREFIX.test(text) && text.length <= MAX_LENGTH + 1);
}

export function isNamespace(text: string): boolean {
  return NAME.test(text) && text.length <= MAX_LENGTH;
}

const MAX_NAMESPACES = 50;

/** What is wrong with the namespaces of an assignment. What counts everywhere is an assignment without namespaces. */
export function faultInNamespaces(given: readonly string[]): string | undefined {
  if (given.length < 1 || given.length > MAX_NAMESPACES) {
    return `must have 1 to ${MAX_NAMESPACES} entries: leave it out for all of it`;
  }
  if (given.every(isNamespacePattern)) return undefined;
  return 'must be names of Kubernetes namespaces, or prefixes of such names that end in *';
}

export const NOT_A_NAMESPACE =
  'namespace must be the name of a Kubernetes namespace: up to 63 lower case letters, digits and hyphens';
export const ONLY_CLUSTERS = 'only a question about a cluster can have a namespace';

/** The namespace of a question. */
export function readNamespace<Asked extends AskedObject>(object: Asked, namespace: string | undefined): Asked {
  if (namespace === undefined) return object;
  if (object.type !== 'cluster') throw new AppError('invalid', ONLY_CLUSTERS);
  if (!isNamespace(namespace)) throw new AppError('invalid', NOT_A_NAMESPACE);
  return { ...object, namespace };
}

/** Whether everything that `wanted` names, a name or a prefix, is also named by `pattern`. */
export function coversNamespace(pattern: string, wanted: string): boolean {
  if (!pattern.endsWith('*')) return pattern === wanted;
  const prefix = pattern.slice(0, -1);
  return (wanted.endsWith('*') ? wanted.slice(0, -1) : wanted).startsWith(prefix);
}

const known = new WeakMap<Graph, { revision: number; readonly found: Map<string, readonly string[]> }>();

/** The assignments of a cluster and of its set, or of a set, that count in a namespace or in all that a prefix names. */
export function assignmentsIn(graph: Graph, object: string, wanted: string): readonly string[] {
  const memory = known.get(graph) ?? { revision: graph.revision, found: new Map<string, readonly string[]>() };
  known.set(graph, memory);
  if (memory.revision !== graph.revision || memory.found.size >= MAX_KNOWN) {
    memory.found.clear();
    memory.revision = graph.revision;
  }
  const key = `${object} ${wanted}`;
  const found = memory.found.get(key) ?? searched(graph, object, wanted);
  memory.found.set(key, found);
  return found;
}

function searched(graph: Graph, object: string, wanted: string): string[] {
  return assignmentsOn(graph, object).filter((assignment) =>
    namespacesOf(graph, assignment).some((pattern) => coversNamespace(pattern, wanted)),
  );
}

/** All that count in some namespaces of a cluster or of its set. */
export function assignmentsOn(graph: Graph, object: string): string[] {
  const sets = object.startsWith('cluster:') ? statedAbout(graph, object, 'set') : [];
  return [object, ...sets].flatMap((place) => statedAbout(graph, place, 'namespaced_assignment'));
}

function namespacesOf(graph: Graph, assignment: string): string[] {
  const named = (relation: string) =>
    statedAbout(graph, assignment, relation).map((one) => one.slice('namespace:'.length));
  return [...named('namespace'), ...named('namespace_prefix').map((prefix) => `${prefix}*`)];
}

interface Question {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

/** The assignments that let a user do something in a namespace. None for a relation that is not about a namespace. */
export function holdingIn(graph: Graph, { user, relation, object }: Question, namespace: string): string[] {
  const given = IN_NAMESPACES.get(relation)?.given;
  if (given === undefined) return [];
  return assignmentsIn(graph, object, namespace).filter((assignment) =>
    check(graph, { user, relation: given, object: assignment }),
  );
}

/** Whether a user can do something in a namespace. */
export function holdsIn(graph: Graph, question: Question, namespace: string): boolean {
  const isHeld = check(graph, { ...question, relation: everywhere(question.relation) });
  return isHeld || holdingIn(graph, question, namespace).length > 0;
}

/** What a user holds on an object, given what they hold without the namespace of the question. */
export function allowedIn(graph: Graph, user: string, asked: AskedObject, whole: readonly string[]): readonly string[] {
  const { namespace } = asked;
  if (namespace === undefined || asked.type !== 'cluster') return whole;
  const object = nameOf(asked);
  const held = (relation: string) =>
    IN_NAMESPACES.has(relation) ? holdsIn(graph, { user, relation, object }, namespace) : whole.includes(relation);
  return shownRelations(graph).filter(held);
}

function shownRelations({ model }: Pick<Graph, 'model'>): string[] {
  const all = model.typeIndex.get('cluster')?.relations ?? [];
  return all.map(({ name }) => name).filter((name) => name.startsWith('can_'));
}
