import type { RelationDef, Rewrite, TypeDef } from './model-types.ts';
import { everyLeaf } from './paths.ts';

/** A step that computes one slot from others. */
export interface Step {
  readonly op: 'or' | 'and' | 'not';
  readonly out: number;
  readonly from: readonly number[];
}

/** One `x from y`: the parents are the subjects of tupleset y, and their result for x goes into the slot. */
export interface ParentStep {
  readonly relation: string;
  readonly slot: number;
  /** The relation that is defined by it. */
  readonly of: number;
}

/**
 * What must be known about one object to answer some relations of its type: slots, filled first from tuples and
 * parents, then by steps, ordered so that operands come before what is computed from them. Relations of a type never refer
 * to each other in a circle: such a model is rejected.
 */
export interface Plan {
  readonly id: number;
  readonly type: TypeDef;
  readonly slots: number;
  /** By relation: its slot, or -1 if this plan does not need it. */
  readonly slotOf: Int16Array;
  /** By relation: the slot that its direct assignments fill, or -1. */
  readonly directSlotOf: Int16Array;
  /** By tupleset relation: what is read through it. */
  readonly parents: readonly (readonly ParentStep[] | undefined)[];
  readonly steps: readonly Step[];
  /** Some relation is guarded (`ClosureTables`). */
  readonly guarded: boolean;
  /** By tupleset and type of the parent: the results of `forParent`. */
  readonly known: (ParentPlan | null)[][];
}

/** How to query a parent of a given type: its plan, and which of its slots goes into which of ours. */
export interface ParentPlan {
  readonly plan: Plan;
  readonly theirs: readonly number[];
  readonly ours: readonly number[];
  /** By position in `theirs`: which relation of the parent it is. */
  readonly relations: readonly number[];
}

/** The relations of a type whose names share a prefix: their plan, and the slot of each in the order of the model. */
export interface Choice {
  readonly prefix: string;
  readonly plan: Plan;
  readonly names: readonly string[];
  readonly slots: readonly number[];
}

export interface PlanTable {
  /** By type, the choice that was requested last. Usually there is only one. */
  readonly choices: Choice[];
  /** The plan for these relations of the type. The same arguments always return the same object. */
  forRelations(type: TypeDef, relations: readonly number[]): Plan;
  forAll(type: TypeDef): Plan;
  forOne(type: TypeDef, relation: number): Plan;
  /** `null` if the parent's type has none of the requested relations. */
  forParent(plan: Plan, tupleset: number, parent: TypeDef): ParentPlan | null;
}

export function createPlanTable(guarded: Uint8Array): PlanTable {
  const plans = new Map<string, Plan>();
  const ones = new Map<number, Plan>();
  const alls: Plan[] = [];

  function forRelations(type: TypeDef, relations: readonly number[]): Plan {
    const key = `${type.index}:${relations.join()}`;
    let plan = plans.get(key);
    if (plan === undefined) {
      plan = compilePlan(plans.size, type, relations, guarded);
      plans.set(key, plan);
    }
    return plan;
  }

  function forAll(type: TypeDef): Plan {
    alls[type.index] ??= forRelations(type, [...type.relations.keys()]);
    return alls[type.index] as Plan;
  }

  function forOne(type: TypeDef, relation: number): Plan {
    const kind = type.firstUserset + relation;
    let plan = ones.get(kind);
    if (plan === undefined) {
      plan = forRelations(type, [relation]);
      ones.set(kind, plan);
    }
    return plan;
  }

  function forParent(plan: Plan, tupleset: number, parent: TypeDef): ParentPlan | null {
    const row = plan.known[tupleset] ?? [];
    plan.known[tupleset] = row;
    const found = row[parent.index] ?? parentPlan(plan.parents[tupleset] ?? [], parent);
    row[parent.index] = found;
    return found;
  }

  function parentPlan(asked: readonly ParentStep[], parent: TypeDef): ParentPlan | null {
    const answered = asked.filter(({ relation }) => parent.relationIndex.has(relation));
    if (answered.length === 0) return null;
    const relations = answered.map(({ relation }) => parent.relationIndex.get(relation) as number);
    const plan = forRelations(
      parent,
      [...new Set(relations)].sort((a, b) => a - b),
    );
    const theirs = relations.map((relation) => plan.slotOf[relation] as number);
    return { plan, theirs, ours: answered.map(({ slot }) => slot), relations };
  }

  return { choices: [], forRelations, forAll, forOne, forParent };
}

function compilePlan(id: number, type: TypeDef, relations: readonly number[], guardedKinds: Uint8Array): Plan {
  const slotOf = new Int16Array(type.relations.length).fill(-1);
  const directSlotOf = new Int16Array(type.relations.length).fill(-1);
  const parents: ParentStep[][] = [];
  const steps: Step[] = [];
  let slots = 0;

  function relationSlot(index: number): number {
    if (slotOf[index] !== -1) return slotOf[index] as number;
    const slot = slots++;
    slotOf[index] = slot;
    const relation = type.relations[index] as RelationDef;
    // Direct assignments and parents of a plain union need no slot of their own: slots only ever gain.
    const operands = relation.rewrite.op === 'or' ? relation.rewrite.of : [relation.rewrite];
    // A direct assignment that occurs elsewhere as well, say behind `but not`, is read on its own.
    const repeated = [...everyLeaf(relation.rewrite)].filter(({ op }) => op === 'this').length > 1;
    const isOwn = (operand: Rewrite): boolean => repeated && operand.op === 'this';
    const others = operands
      .filter((operand) => isOwn(operand) || !fills(index, operand, slot))
      .map((operand) => slotFor(index, operand));
    if (others.length > 0) steps.push({ op: 'or', out: slot, from: others });
    return slot;
  }

  /** Returns true for a leaf that is read from tuples, after assigning the leaf to the slot. */
  function fills(index: number, rewrite: Rewrite, slot: number): boolean {
    if (rewrite.op === 'this') directSlotOf[index] = slot;
    else if (rewrite.op === 'parent') {
      const through = parents[rewrite.tupleset] ?? [];
      through.push({ relation: rewrite.relation, slot, of: index });
      parents[rewrite.tupleset] = through;
    } else return false;
    return true;
  }

  function slotFor(index: number, rewrite: Rewrite): number {
    if (rewrite.op === 'computed') return relationSlot(rewrite.relation);
    if (rewrite.op === 'or' || rewrite.op === 'and') {
      const from = rewrite.of.map((operand) => slotFor(index, operand));
      return push(rewrite.op, from);
    }
    if (rewrite.op === 'not') {
      return push('not', [slotFor(index, rewrite.base), slotFor(index, rewrite.subtract)]);
    }
    if (rewrite.op === 'this' && directSlotOf[index] !== -1) return directSlotOf[index] as number;
    const slot = slots++;
    fills(index, rewrite, slot);
    return slot;
  }

  function push(op: Step['op'], from: readonly number[]): number {
    const out = slots++;
    steps.push({ op, out, from });
    return out;
  }

  for (const relation of relations) relationSlot(relation);
  const guarded = relations.some((relation) => guardedKinds[type.firstUserset + relation] === 1);
  return { id, type, slots, slotOf, directSlotOf, parents, steps, guarded, known: [] };
}
