import type { Graph } from './graph.ts';
import type { Model } from './model.ts';
import type { TypeDef } from './model-types.ts';
import type { Choice, Plan } from './plan.ts';
import { RebacError } from './rebac-error.ts';
import { type Reference, readObject, readReference } from './tuple.ts';
import { Walk } from './walk.ts';

/** Each graph keeps one walk, whose memory is reused by all queries on the graph. */
export function walkOf(graph: Graph): Walk {
  graph.walk ??= new Walk(graph);
  return graph.walk as Walk;
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
export interface QueryTarget {
  readonly plan: Plan;
  readonly relation: number;
  readonly slot: number;
  /** -1 if no tuple names the object. */
  readonly node: number;
}

export function queryTargetOf(graph: Graph, object: string, read: Reference, relation: number): QueryTarget {
  const plan = graph.model.plans.forOne(read.type, relation);
  const node = graph.nodes.find(read.kind, object, read.from, read.to);
  return { plan, relation, slot: plan.slotOf[relation] as number, node };
}

export function choiceOf(model: Model, type: TypeDef, prefix: string): Choice {
  let found = model.plans.choices[type.index];
  if (found === undefined || found.prefix !== prefix) {
    const relations = type.relations.filter(({ name }) => name.startsWith(prefix));
    const indexes = relations.map(({ index }) => index);
    const plan = model.plans.forRelations(type, indexes);
    const slots = indexes.map((index) => plan.slotOf[index] as number);
    found = { prefix, plan, names: relations.map(({ name }) => name), slots };
    model.plans.choices[type.index] = found;
  }
  return found;
}
