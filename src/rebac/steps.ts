import type { Plan, Step } from './plan.ts';

/**
 * What is known about a slot, as two bits: bit 0 means that it certainly holds, bit 1 that it may hold. So a union is
 * `|`, an intersection is `&`, and an answer that cannot be determined (a condition without its context, a circle
 * through `but not`) is neither certain nor ruled out.
 */
export const NO = 0;
export const UNSURE = 2;
export const YES = 3;

const NEGATED = Uint8Array.of(YES, UNSURE, UNSURE, NO);

/**
 * Runs a plan's steps over a frame. Negated operands are read from `denied`, which is the frame itself except while a
 * circle is being solved.
 */
export function runSteps(plan: Plan, cells: Uint8Array, base: number, denied: Uint8Array, deniedBase: number): void {
  const { steps } = plan;
  for (let i = 0; i < steps.length; i++) {
    const { op, out, from } = steps[i] as Step;
    let value = cells[base + (from[0] as number)] as number;
    if (op === 'or') {
      for (let j = 1; j < from.length; j++) value |= cells[base + (from[j] as number)] as number;
    } else if (op === 'and') {
      for (let j = 1; j < from.length; j++) value &= cells[base + (from[j] as number)] as number;
    } else {
      value &= NEGATED[denied[deniedBase + (from[1] as number)] as number] as number;
    }
    cells[base + out] = (cells[base + out] as number) | value;
  }
}
