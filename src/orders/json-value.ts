import { MAX_DEPTH, type OrderBudget } from './order-budget.ts';

/** A key of a large object takes about this many times as long to copy or to find as an item of a list. */
const WORK_PER_KEY = 15;

/** A value would be nested too deeply. */
export class TooDeep extends Error {
  constructor() {
    super(`values would be nested more than ${MAX_DEPTH} levels deep`);
  }
}

/** A copy that shares nothing with the value, for a place at this depth. */
export function copyValue(value: unknown, depth: number, { work }: OrderBudget): unknown {
  return copy(value, depth);

  function copy(one: unknown, level: number): unknown {
    work(1);
    if (typeof one !== 'object' || one === null) return one;
    if (level >= MAX_DEPTH) throw new TooDeep();
    if (Array.isArray(one)) return one.map((item) => copy(item, level + 1));
    const keys = Object.keys(one);
    work(keys.length * WORK_PER_KEY);
    const copied: Record<string, unknown> = {};
    for (const key of keys) copied[key] = copy(field(one, key), level + 1);
    return copied;
  }
}

/** Throws if the value is nested too deeply for a place at this depth. */
export function limitDepth(value: unknown, depth: number, { work }: OrderBudget): void {
  visit(value, depth);

  function visit(one: unknown, level: number): void {
    work(1);
    if (typeof one !== 'object' || one === null) return;
    if (level >= MAX_DEPTH) throw new TooDeep();
    const items = Array.isArray(one) ? one : Object.values(one);
    if (items !== one) work(items.length * WORK_PER_KEY);
    for (const item of items) visit(item, level + 1);
  }
}

/**
 * Equal as JSON means it: numbers by their value, however they are written, lists by position, and objects without
 * regard to the order of their keys. Every pair of values is compared once.
 */
export function areEqual(one: unknown, other: unknown, budget: OrderBudget): boolean {
  budget.work(1);
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return one === other || (isNumber(one) && isNumber(other) && isSameNumber(one, other));
  }
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, at) => areEqual(item, other[at], budget));
  }
  if (Array.isArray(other)) return false;
  const keys = Object.keys(one);
  const count = Object.keys(other).length;
  // Listing the keys of a large object is work even if the objects turn out to differ immediately.
  budget.work(keys.length * WORK_PER_KEY + count);
  if (keys.length !== count) return false;
  return keys.every((key) => Object.hasOwn(other, key) && areEqual(field(one, key), field(other, key), budget));
}

function field(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Integers beyond 2^53 are BigInts if they were written as integers, and numbers if they have an exponent. */
function isSameNumber(one: number | bigint, other: number | bigint): boolean {
  if (typeof one === typeof other) return one === other;
  const [number, integer] = typeof one === 'number' ? [one, other] : [Number(other), one];
  return Number.isInteger(number) && BigInt(number) === integer;
}
