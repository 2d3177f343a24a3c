/**
 * The relation engine: who is related how to what, by a model in OpenFGA's language and a set of tuples.
 *
 *   const model = await readModel(text)                        // model.ts: parsed, validated, compiled; throws naming line and fault
 *   const graph = createGraph(model, tuples)                   // graph.ts: integers; knows its `size`, `bytes` and `revision`
 *   graph.replaceSource('role:7', tuples)                      // the next revision, in place, between two questions
 *   check(graph, { user, relation, object })                   // one relation
 *   allowed(graph, user, object, { prefix: 'can_' })           // every relation, in one walk, in the order of the model
 *   allowedMany(graph, user, objects)                          // the same for many objects, with the caller's closure found once
 *   listObjects / listUsers / explain                          // list-objects.ts, list-users.ts, explain.ts
 *
 * A model becomes plans (plan.ts): for some relations of a type, which slots are filled from tuples and parents, and the steps over them.
 * A graph becomes an answer by one walk (walk.ts) from the object towards the caller's closure (caller.ts). All operations walk the same
 * plans with the same steps (steps.ts), so that they cannot disagree. Walks are synchronous; nothing here waits.
 */
import { contextually, type Surroundings } from './contextual.ts';
import type { Graph } from './graph.ts';
import { choiceOf, placeOf, validObject, validUser, walkOf } from './query.ts';
import { RebacError } from './rebac-error.ts';
import { YES } from './steps.ts';
import type { Walk } from './walk.ts';

export interface Question extends Surroundings {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

export interface Selection extends Surroundings {
  /** Only relations whose name begins so. */
  readonly prefix?: string | undefined;
}

/** Whether the user has the relation. Throws where the answer hangs on a condition that cannot be evaluated, or on too long a chain. */
export function check(graph: Graph, question: Question): boolean {
  const { user, object } = question;
  const read = validObject(graph.model, object);
  const relation = read.type.relationIndex.get(question.relation);
  if (relation === undefined)
    throw new RebacError('validation', `${read.type.name} has no relation ${question.relation}`);
  validUser(graph.model, user);
  return contextually(graph, question, () => {
    const { plan, node, slot } = placeOf(graph, object, read, relation);
    const walk = walkOf(graph);
    walk.run(user, object, node, plan, question.context);
    const answer = walk.answer(slot);
    if (answer instanceof RebacError) throw answer;
    return answer;
  });
}

/** All relations for which `check` is true. One that cannot be decided for want of context is not among them. */
export function allowed(graph: Graph, user: string, object: string, selection: Selection = {}): string[] {
  return contextually(graph, selection, () => answers(graph, walkOf(graph), user, object, selection));
}

/** `allowed` for each object, in their order. An object that is not of the form `type:id` refuses the whole batch. */
export function allowedMany(
  graph: Graph,
  user: string,
  objects: readonly string[],
  selection: Selection = {},
): string[][] {
  return contextually(graph, selection, () => {
    const walk = walkOf(graph);
    return objects.map((object) => answers(graph, walk, user, object, selection));
  });
}

function answers(graph: Graph, walk: Walk, user: string, object: string, selection: Selection): string[] {
  const read = validObject(graph.model, object);
  graph.warm(user, walk.caller.announce(user), object, read);
  const { plan, names, slots } = choiceOf(graph.model, read.type, selection.prefix ?? '');
  walk.run(user, object, graph.nodes.find(read.kind, object, read.from, read.to), plan, selection.context);
  const found: string[] = [];
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as number;
    if (walk.frames.cells[slot] === YES && !walk.tooDeep(slot)) found.push(names[i] as string);
  }
  return found;
}
