import type { Plan, Step } from './plan.ts';

/**
 * What is known about a slot. A union is the largest of its operands.
 *
 * - `NO`: it does not hold, and that is certain.
 * - `FAULT`: it depends on a condition that cannot be evaluated.
 * - `OPEN`: it cannot be determined, because it depends on itself. OpenFGA denies it, and denies whatever excludes it.
 * - `YES`: it holds.
 */
export const NO = 0;
export const FAULT = 1;
export const OPEN = 2;
export const YES = 3;

/** What follows from two operands: by `left * 4 + right`. */
export interface Logic {
  readonly or: Uint8Array;
  readonly and: Uint8Array;
  readonly not: Uint8Array;
}

/**
 * An operand that is open leaves the result open, except in a union with one that holds. OpenFGA evaluates operands at
 * the same time and takes the first that decides. With this rule the answer does not depend on which one is faster, and
 * what is granted here is granted there in any case.
 */
export const CERTAIN: Logic = {
  or: table(Math.max),
  and: table((a, b) => (a === OPEN || b === OPEN ? OPEN : meet(a, b))),
  not: table((base, subtract) => (base === OPEN || subtract === OPEN ? OPEN : without(base, subtract))),
};

/** An operand that decides does so although another is open, which is what happens in OpenFGA as a rule. */
export const LIKELY: Logic = { or: CERTAIN.or, and: table(meet), not: table(without) };

/** What is open is a circle, in which OpenFGA denies. In a union, a fault is heard nevertheless. */
export const DENYING: Logic = {
  ...LIKELY,
  or: table((a, b) => (Math.max(a, b) === OPEN && Math.min(a, b) === FAULT ? FAULT : Math.max(a, b))),
};

function meet(a: number, b: number): number {
  if (a === NO || b === NO) return NO;
  return a === YES ? b : b === YES ? a : Math.max(a, b);
}

function without(base: number, subtract: number): number {
  if (base === NO || subtract === YES) return NO;
  return meet(base, subtract === NO ? YES : subtract);
}

/** Runs a plan's steps over a frame. */
export function runSteps(plan: Plan, cells: Uint8Array, base: number): void {
  const { steps } = plan;
  const { and, not } = CERTAIN;
  for (let i = 0; i < steps.length; i++) {
    const { op, out, from } = steps[i] as Step;
    let value = cells[base + (from[0] as number)] as number;
    for (let j = 1; j < from.length; j++) {
      const operand = cells[base + (from[j] as number)] as number;
      if (op === 'or') value = operand > value ? operand : value;
      else value = (op === 'and' ? and : not)[value * 4 + operand] as number;
    }
    if (value > (cells[base + out] as number)) cells[base + out] = value;
  }
}

/** The same by another logic. */
export function runStepsBy(logic: Logic, plan: Plan, cells: Uint8Array, base: number): void {
  for (const { op, out, from } of plan.steps) {
    const operands = from.map((slot) => cells[base + slot] as number);
    const value = operands.reduce((left, right) => logic[op][left * 4 + right] as number);
    cells[base + out] = logic.or[(cells[base + out] as number) * 4 + value] as number;
  }
}

function table(result: (left: number, right: number) => number): Uint8Array {
  return Uint8Array.from({ length: 16 }, (_, at) => result(at >> 2, at & 3));
}
