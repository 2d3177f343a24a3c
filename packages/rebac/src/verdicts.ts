import type { Choice, ParentPlan, Plan } from './plan.ts';
import { runSteps, YES } from './steps.ts';

/** Beyond this many, all are forgotten: a graph with thousands of different roles must not remember every combination. */
const MAX_VERDICTS = 2_000;

/**
 * What is known about an object: the slots of a plan. Whatever is learned leads to another verdict, and the same always
 * leads to the same one. So each combination is computed once for a graph. After that, it is only followed.
 */
export class Verdict {
  readonly plan: Plan;
  readonly cells: Uint8Array;
  /** Counts from 0 in each graph. */
  readonly id: number;
  /** By the number of a relation set: its relations when the next verdict was computed. A number can be used again. */
  readonly sets: (readonly number[])[] = [];
  readonly afterSet: Verdict[] = [];
  readonly afterRelation: Verdict[] = [];
  /** By tupleset relation and the ID of the parent's verdict. */
  readonly afterParent: Verdict[][] = [];
  /** With the steps of the plan. */
  final: Verdict | undefined;
  #choice: Choice | undefined;
  #names: readonly string[] = [];

  constructor(plan: Plan, cells: Uint8Array, id: number) {
    this.plan = plan;
    this.cells = cells;
    this.id = id;
  }

  /** The relations of a choice that hold. */
  namesOf(choice: Choice): readonly string[] {
    if (this.#choice === choice) return this.#names;
    this.#choice = choice;
    this.#names = Object.freeze(choice.names.filter((_, at) => this.cells[choice.slots[at] as number] === YES));
    return this.#names;
  }
}

/** The verdicts of one graph. */
export class Verdicts {
  #first: Verdict[] = [];
  #byCells = new Map<string, Verdict>();
  #byId: Verdict[] = [];

  /**
   * Call it before a query: what was remembered may be forgotten between two of them only. Returns whether it was; if
   * so, other verdicts get the same IDs.
   */
  limit(): boolean {
    if (this.#byCells.size <= MAX_VERDICTS) return false;
    this.#byCells = new Map();
    this.#byId = [];
    this.#first = [];
    return true;
  }

  withId(id: number): Verdict | undefined {
    return this.#byId[id];
  }

  /** Nothing is known yet. */
  first(plan: Plan): Verdict {
    return this.#first[plan.id] ?? this.#begin(plan);
  }

  /** The caller has the relations of a set. */
  withSet(known: Verdict, set: number, relations: readonly number[]): Verdict {
    if (known.sets[set] === relations) return known.afterSet[set] as Verdict;
    const cells = known.cells.slice();
    for (const relation of relations) fill(known.plan, cells, relation);
    known.sets[set] = relations;
    known.afterSet[set] = this.#of(known.plan, cells);
    return known.afterSet[set] as Verdict;
  }

  /** The caller is in a userset that has this relation. */
  withRelation(known: Verdict, relation: number): Verdict {
    const found = known.afterRelation[relation];
    if (found !== undefined) return found;
    const cells = known.cells.slice();
    fill(known.plan, cells, relation);
    known.afterRelation[relation] = this.#of(known.plan, cells);
    return known.afterRelation[relation] as Verdict;
  }

  /** The object has a parent. */
  withParent(known: Verdict, relation: number, { theirs, ours }: ParentPlan, parent: Verdict): Verdict {
    known.afterParent[relation] ??= [];
    const after = known.afterParent[relation] as Verdict[];
    const found = after[parent.id];
    if (found !== undefined) return found;
    const cells = known.cells.slice();
    for (const [at, slot] of ours.entries()) {
      cells[slot] = Math.max(cells[slot] as number, parent.cells[theirs[at] as number] as number);
    }
    after[parent.id] = this.#of(known.plan, cells);
    return after[parent.id] as Verdict;
  }

  /** Everything about the object is known. */
  finalOf(known: Verdict): Verdict {
    if (known.final !== undefined) return known.final;
    const cells = known.cells.slice();
    runSteps(known.plan, cells, 0);
    known.final = this.#of(known.plan, cells);
    return known.final;
  }

  #begin(plan: Plan): Verdict {
    const verdict = this.#of(plan, new Uint8Array(plan.slots));
    this.#first[plan.id] = verdict;
    return verdict;
  }

  #of(plan: Plan, cells: Uint8Array): Verdict {
    const key = `${plan.id}:${cells.join('')}`;
    let verdict = this.#byCells.get(key);
    if (verdict === undefined) {
      verdict = new Verdict(plan, cells, this.#byCells.size);
      this.#byCells.set(key, verdict);
      this.#byId.push(verdict);
    }
    return verdict;
  }
}

function fill(plan: Plan, cells: Uint8Array, relation: number): void {
  const slot = plan.directSlotOf[relation] as number;
  if (slot !== -1) cells[slot] = YES;
}
