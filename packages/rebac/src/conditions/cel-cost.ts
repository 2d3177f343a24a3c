import type { CostRule } from './cel-overloads.ts';
import { Bytes, CelMap, lengthOf, type Value } from './cel-values.ts';

/** What OpenFGA lets an evaluation cost unless it is configured otherwise. The unit is roughly one step. */
export const MAX_COST = 100;
export const LIST_COST = 10;
export const MAP_COST = 30;

/** Ends an evaluation immediately, unlike an error, which `||` can hide. */
export class CostExceeded extends Error {}

/** One evaluation: the values of the variables by slot, and what it has cost so far. */
export class Run {
  readonly slots: Value[];
  cost = 0;

  constructor(slots: Value[]) {
    this.slots = slots;
  }

  spend(cost: number): void {
    this.cost += cost;
    if (this.cost > MAX_COST) throw new CostExceeded(`the evaluation costs more than ${MAX_COST}`);
  }
}

/** What a call costs, counted before it happens. A character costs a tenth of a step, a character of a pattern a quarter. */
export function costOf(rule: CostRule | undefined, first: Value, second: Value): number {
  switch (rule) {
    case undefined:
      return 1;
    case 'first':
      return tenth(sizeOf(first));
    case 'list':
      return sizeOf(second);
    case 'shorter':
      return tenth(Math.min(sizeOf(first), sizeOf(second)));
    case 'both':
      return tenth(sizeOf(first) + sizeOf(second));
    case 'pattern':
      return tenth(1 + sizeOf(first)) * Math.ceil(sizeOf(second) * 0.25);
    case 'product':
      return tenth(sizeOf(first)) * tenth(sizeOf(second));
  }
}

function tenth(size: number): number {
  return Math.ceil(size * 0.1);
}

/** Characters, bytes, items or entries. Everything else has the size 1. */
function sizeOf(value: Value): number {
  if (typeof value === 'string') return lengthOf(value);
  if (value instanceof Bytes) return value.octets.length;
  if (Array.isArray(value)) return value.length;
  return value instanceof CelMap ? value.size : 1;
}
