import type { Graph } from './graph.ts';
import type { Model } from './model.ts';
import type { TypeDef } from './model-types.ts';
import type { Plan, PlanTable } from './plan.ts';
import { RebacError } from './rebac-error.ts';
import { type Reference, readObject, readReference } from './tuple.ts';
import { Walk } from './walk.ts';

/** Each graph keeps one walk, whose memory is reused by all queries on the graph. */
const walks = new WeakMap<Graph, Walk>();

export function walkOf(graph: Graph): Walk {
  let walk = walks.get(graph);
  if (walk === undefined) {
    walk = new Walk(graph);
    walks.set(graph, walk);
  }
  return walk;
}

export function validUser(model: Model, user: string): void {
  const read = readReference(model, user);
  if (typeof read === 'string') throw new RebacError('validation', `user: ${read}`);
}

export function validObject(model: Model, object: string): Reference {
  const read = readObject(model, object);
  if (typeof read === 'string') throw new RebacError('validation', `object: ${read}`);
  return read;
}

/** Where to find the answer for one relation of an object. */
export interface Place {
  readonly plan: Plan;
  readonly relation: number;
  readonly slot: number;
  /** -1 if no tuple names the object. */
  readonly node: number;
}

export function placeOf(graph: Graph, object: string, read: Reference, relation: number): Place {
  const plan = graph.model.plans.forOne(read.type, relation);
  const node = graph.nodes.find(read.kind, object, read.from, read.to);
  return { plan, relation, slot: plan.slotOf[relation] as number, node };
}

/** The relations of a type whose names share a prefix: their plan, and the slot of each in the order of the model. */
export interface Choice {
  readonly plan: Plan;
  readonly names: readonly string[];
  readonly slots: readonly number[];
}

/** By type, the choice that was requested last. Usually there is only one. */
const choices = new WeakMap<PlanTable, (Choice & { readonly prefix: string })[]>();

export function choiceOf(model: Model, type: TypeDef, prefix: string): Choice {
  let known = choices.get(model.plans);
  if (known === undefined) {
    known = [];
    choices.set(model.plans, known);
  }
  let found = known[type.index];
  if (found === undefined || found.prefix !== prefix) {
    const relations = type.relations.filter(({ name }) => name.startsWith(prefix));
    const indexes = relations.map(({ index }) => index);
    const plan = model.plans.forRelations(type, indexes);
    const slots = indexes.map((index) => plan.slotOf[index] as number);
    found = { prefix, plan, names: relations.map(({ name }) => name), slots };
    known[type.index] = found;
  }
  return found;
}
