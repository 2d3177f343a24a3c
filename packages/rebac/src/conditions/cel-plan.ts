import { noOverload } from './cel-compare.ts';
import { CONVERSIONS } from './cel-conversions.ts';
import type { Run } from './cel-cost.ts';
import { index } from './cel-index.ts';
import { CelRejection } from './cel-syntax.ts';
import { Bytes, CelError, CelMap, isKey, spell, spellings, Uint, type Value } from './cel-values.ts';

export type Eval = (run: Run) => Value;

/**
 * A compiled expression. What it costs follows the plan of cel-go: a constant nothing, a variable 1, each field or
 * index 1. A variable, a condition `?:` and their fields form one path, which is paid for once.
 */
export interface Plan {
  readonly eval: Eval;
  readonly constant?: Value;
  readonly path?: Path;
}

export class Path {
  readonly #base: Eval;
  readonly #steps: ((run: Run, of: Value) => Value)[] = [];
  readonly #cost: number;

  constructor(base: Eval, cost: number) {
    this.#base = base;
    this.#cost = cost;
  }

  extend(step: (run: Run, of: Value) => Value): void {
    this.#steps.push(step);
  }

  /** Without the cost of the path itself. */
  follow(run: Run): Value {
    let value = this.#base(run);
    for (const step of this.#steps) {
      if (value instanceof CelError) return value;
      value = step(run, value);
    }
    return value;
  }

  plan(): Plan {
    const evaluate: Eval = (run) => {
      const value = this.follow(run);
      run.spend(this.#cost);
      return value;
    };
    return { eval: evaluate, path: this };
  }
}

export function constant(value: Value): Plan {
  return { eval: () => value, constant: value };
}

export function isConstant(plan: Plan): boolean {
  return plan.constant !== undefined;
}

export function spent(run: Run, cost: number, value: Value): Value {
  run.spend(cost);
  return value;
}

/** `&&` if the decisive value is false, `||` if it is true. An error counts only if no operand decides. */
export function logical(plans: readonly Plan[], decisive: boolean): Eval {
  return (run) => {
    let error: CelError | undefined;
    for (const plan of plans) {
      const value = plan.eval(run);
      if (value === decisive) return decisive;
      if (typeof value !== 'boolean') error ??= value instanceof CelError ? value : noOverload('a logical operator');
    }
    return error ?? !decisive;
  };
}

export function choice(condition: Plan, truthy: Plan, falsy: Plan): Plan {
  const branch = (plan: Plan): Eval => (plan.path === undefined ? plan.eval : (run) => (plan.path as Path).follow(run));
  const [yes, no] = [branch(truthy), branch(falsy)];
  return new Path((run) => {
    const value = condition.eval(run);
    if (typeof value === 'boolean') return value ? yes(run) : no(run);
    return value instanceof CelError ? value : noOverload('?:');
  }, 0).plan();
}

export function indexed(of: Plan, key: Plan): Plan {
  if (key.constant === null) throw new CelRejection('null is no index');
  const path = of.path ?? new Path(of.eval, 1);
  const read: Eval = key.path === undefined ? key.eval : (run) => (key.path as Path).follow(run);
  path.extend((run, value) => {
    const at = read(run);
    run.spend(1);
    return at instanceof CelError ? at : index(value, at);
  });
  return path.plan();
}

/** `x in ["a", "b"]` is a lookup, which costs nothing. `undefined` if an item is not a simple value. */
export function membership(value: Plan, items: readonly Value[]): Plan | undefined {
  if (items.length === 0) return constant(false);
  if (!items.every(isKey)) return;
  const members = new Set(items.flatMap(spellings));
  // A whole number is also found as a double, but not as one that it was rounded to.
  for (const item of items) {
    if (typeof item === 'bigint') members.add(spell(Number(item)));
    if (item instanceof Uint) members.add(spell(Number(item.value)));
  }
  return {
    eval: (run) => {
      const given = value.eval(run);
      if (given instanceof CelError) return given;
      if (given instanceof Bytes) return noOverload('in');
      return isKey(given) && !Number.isNaN(given) && members.has(spell(given));
    },
  };
}

export function converted(fn: string, value: Value): Plan {
  const result = CONVERSIONS.get(fn)?.(value) as Value;
  if (result instanceof CelError) throw new CelRejection(result.message);
  return constant(result);
}

export function itemsOf(range: Value): readonly Value[] | CelError {
  if (range instanceof CelMap) return range.keys();
  if (Array.isArray(range)) return range;
  return range instanceof CelError ? range : new CelError('a macro needs a list or a map');
}
