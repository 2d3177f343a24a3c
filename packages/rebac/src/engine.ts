/**
 * The relation engine: decides which relations a user has to an object, from a model in OpenFGA's language and a set of
 * tuples.
 *
 *   const model = await readModel(text)               // model.ts: parses, validates (validation/), compiles
 *   const graph = createGraph(model, tuples)          // graph.ts: integers; knows its `size`, `bytes` and `revision`
 *   graph.replaceSource('role:7', tuples)             // the next revision, in place, between two queries
 *   check(graph, { user, relation, object })          // one relation
 *   allowed(graph, user, object, { prefix: 'can_' })  // every relation, in one walk, in the order of the model
 *   allowedMany(graph, user, objects)                 // the same for many objects; finds the caller's closure once
 *   listObjects / listUsers / explain                 // list-objects.ts, list-users.ts, explanation.ts
 *
 * A model becomes plans (plan.ts): for some relations of a type, which slots are filled from tuples and parents, and
 * the steps over them. One walk (walk.ts) over the graph, from the object towards the caller's closure (caller.ts),
 * gives an answer. Most walks only follow verdicts that were computed before (verdicts.ts), and a large graph often
 * needs no walk (look-alikes.ts). All operations walk the same plans with the same steps (steps.ts), so they cannot
 * disagree. Walks are synchronous; nothing here waits.
 */
import { contextually, type QueryContext } from './contextual.ts';
import type { Graph } from './graph.ts';
import { choiceOf, queryTargetOf, validObject, validUser, walkOf } from './query.ts';
import { RebacError } from './rebac-error.ts';
import { YES } from './steps.ts';
import type { Walk } from './walk.ts';

export interface CheckQuery extends QueryContext {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

export interface Selection extends QueryContext {
  /** Only relations whose name starts with this prefix. */
  readonly prefix?: string | undefined;
}

/**
 * Whether the user has the relation. Throws if the answer depends on a condition that cannot be evaluated, or on a
 * chain that is too long.
 */
export function check(graph: Graph, question: CheckQuery): boolean {
  const { user, object } = question;
  const read = validObject(graph.model, object);
  const relation = read.type.relationIndex.get(question.relation);
  if (relation === undefined)
    throw new RebacError('validation', `${read.type.name} has no relation ${question.relation}`);
  validUser(graph.model, user);
  return contextually(graph, question, () => {
    const { plan, node, slot } = queryTargetOf(graph, object, read, relation);
    const walk = walkOf(graph);
    const quick = walk.quick(user, node, plan);
    if (quick !== undefined) return quick.cells[slot] === YES;
    walk.run(user, object, node, plan, question.context);
    const answer = walk.answer(slot);
    if (answer instanceof RebacError) throw answer;
    return answer;
  });
}

/**
 * All relations for which `check` is true. A relation that cannot be decided because context is missing is left out.
 */
export function allowed(graph: Graph, user: string, object: string, selection: Selection = {}): readonly string[] {
  const { context, contextualTuples } = selection;
  if (context === undefined && contextualTuples === undefined) {
    return answers(graph, walkOf(graph), user, object, selection);
  }
  return contextually(graph, selection, () => answers(graph, walkOf(graph), user, object, selection));
}

/**
 * `allowed` for each object, in their order. If one object is not of the form `type:id`, the whole batch is rejected.
 */
export function allowedMany(
  graph: Graph,
  user: string,
  objects: readonly string[],
  selection: Selection = {},
): (readonly string[])[] {
  return contextually(graph, selection, () => {
    const walk = walkOf(graph);
    return objects.map((object) => answers(graph, walk, user, object, selection));
  });
}

function answers(graph: Graph, walk: Walk, user: string, object: string, selection: Selection): readonly string[] {
  const read = validObject(graph.model, object);
  const caller = walk.caller.announce(user);
  const choice = choiceOf(graph.model, read.type, selection.prefix ?? '');
  const { plan, names, slots } = choice;
  const known = walk.lookAlikes.recall(caller, read, plan);
  if (known !== undefined) return known.namesOf(choice);
  graph.warm(user, caller, object, read);
  const node = graph.nodes.find(read.kind, object, read.from, read.to, read.number);
  const quick = walk.quick(user, node, plan);
  if (quick !== undefined) {
    walk.lookAlikes.learn(caller, read, node, quick);
    return quick.namesOf(choice);
  }
  walk.run(user, object, node, plan, selection.context);
  const found: string[] = [];
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as number;
    if (walk.frames.cells[slot] === YES && !walk.tooDeep(slot)) found.push(names[i] as string);
  }
  return found;
}
