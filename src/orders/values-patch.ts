import type { Reason } from '../base/reasons.ts';
import { indexIn, has as isAt, type Place, PointerFault, parentOf, readPointer, valueAt } from './json-pointer.ts';
import { areEqual, copyValue, limitDepth, TooDeep } from './json-value.ts';
import { type OrderBudget, WorkExceeded } from './order-budget.ts';

/** One step of RFC 6902. */
export interface PatchStep {
  readonly op: string;
  readonly path: string;
  readonly from?: string | null;
  readonly value?: unknown;
}

/** A step that cannot be applied; the message says why. */
export class PatchFault extends Error {
  readonly reason: Reason;
  constructor(message: string, reason: Reason = 'validation_failed') {
    super(message);
    this.reason = reason;
  }
}

/** Moving the items behind a position of a list is much cheaper for each item than anything else about a value. */
const ITEMS_PER_WORK = 64;

/**
 * Applies the patch in place. It is meant for a chart's own defaults, which only Helm knows. So a path that does not
 * exist yet is created, and removing a value that is not there sets it to null, which is how Helm drops a default. The
 * steps keep their values: what is put into the document is a copy.
 */
export function patchValues(document: Place, steps: readonly PatchStep[], budget: OrderBudget): void {
  const actions: Readonly<Record<string, (step: PatchStep, keys: readonly string[]) => void>> = {
    add: (step, keys) => put(keys, copyValue(operandOf(step), keys.length, budget)),
    replace: (step, keys) => replace(keys, copyValue(operandOf(step), keys.length, budget)),
    remove: (_step, keys) => remove(keys),
    copy: (step, keys) => put(keys, copyValue(valueAt(document, sourceOf(step)), keys.length, budget)),
    move: (step, keys) => move(sourceOf(step), keys),
    test: (step, keys) => {
      if (!areEqual(valueAt(document, keys), operandOf(step), budget)) throw new PatchFault('Test failed');
    },
  };
  for (const step of steps) {
    try {
      apply(step);
    } catch (error) {
      const { op, path } = step;
      throw asFault(error, `${op} ${path.slice(0, 200)}`);
    }
  }

  function apply(step: PatchStep): void {
    const keys = readPointer(step.path);
    budget.work(keys.length);
    const act = actions[step.op];
    if (!act) throw new PatchFault('unknown operation');
    act(step, keys);
  }

  function sourceOf({ from }: PatchStep): string[] {
    if (typeof from !== 'string') throw new PatchFault('from is required');
    const keys = readPointer(from);
    budget.work(keys.length);
    return keys;
  }

  /** Inserts into a list; sets in an object. */
  function put(keys: readonly string[], value: unknown): void {
    const [place, key] = [parentOf(document, keys), keys.at(-1) ?? ''];
    if (Array.isArray(place)) splice(place, indexIn(place, key, true), 0, value);
    else place[key] = value;
  }

  function replace(keys: readonly string[], value: unknown): void {
    const [place, key] = [parentOf(document, keys), keys.at(-1) ?? ''];
    if (Array.isArray(place)) place[indexIn(place, key, false)] = value;
    else place[key] = value;
  }

  function remove(keys: readonly string[]): void {
    const [place, key] = [parentOf(document, keys), keys.at(-1) ?? ''];
    if (Array.isArray(place)) splice(place, indexIn(place, key, false), 1);
    else if (isAt(place, key)) delete place[key];
    else place[key] = null;
  }

  function move(from: readonly string[], to: readonly string[]): void {
    const value = valueAt(document, from);
    if (from.every((key, at) => key === to[at])) throw new PatchFault('cannot move a value into itself');
    limitDepth(value, to.length, budget);
    remove(from);
    put(to, value);
  }

  function splice(list: unknown[], at: number, removed: number, ...added: unknown[]): void {
    budget.work(Math.ceil((list.length - at) / ITEMS_PER_WORK));
    list.splice(at, removed, ...added);
  }
}

function operandOf({ value }: PatchStep): unknown {
  if (value === undefined) throw new PatchFault('value is required');
  return value;
}

/** What is wrong with a step, in words; everything else that was thrown stays what it is. */
function asFault(error: unknown, where: string): unknown {
  if (error instanceof PatchFault) return new PatchFault(`${where}: ${error.message}`, error.reason);
  if (error instanceof PointerFault) return new PatchFault(`${where}: ${error.message}`);
  if (error instanceof TooDeep) return new PatchFault(`${where}: ${error.message}`, 'order_too_large');
  if (error instanceof WorkExceeded) {
    return new PatchFault(`${where}: the compared, moved and copied values are too large`, 'order_too_large');
  }
  return error;
}
