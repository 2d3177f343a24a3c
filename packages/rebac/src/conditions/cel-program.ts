import type { Checked } from './cel-checker.ts';
import { CONVERSIONS } from './cel-conversions.ts';
import { costOf, LIST_COST, MAP_COST } from './cel-cost.ts';
import { ABSENT, FUNCTIONS, matching } from './cel-functions.ts';
import { index, present } from './cel-index.ts';
import {
  choice,
  constant,
  converted,
  type Eval,
  indexed,
  isConstant,
  itemsOf,
  logical,
  membership,
  Path,
  type Plan,
  spent,
} from './cel-plan.ts';
import { ACCUMULATOR, CelRejection, type Expr, type FoldExpr } from './cel-syntax.ts';
import { Bytes, CelError, CelMap, TypeName, type Value } from './cel-values.ts';

export interface Program {
  readonly eval: Eval;
  /** How many slots a run needs. The first are the variables, in their order. */
  readonly slots: number;
}

/** Throws a CelRejection for what cel-go rejects when it plans: a constant that cannot be converted, a bad pattern. */
export function compileCel(expr: Expr, checked: Checked, variables: Iterable<string>): Program {
  const compiler = new Compiler(checked, [...variables]);
  const { eval: evaluate } = compiler.plan(expr);
  return { eval: evaluate, slots: compiler.slots };
}

class Compiler {
  readonly #checked: Checked;
  readonly #names: Map<string, number>[];
  slots: number;

  constructor(checked: Checked, variables: readonly string[]) {
    this.#checked = checked;
    this.#names = [new Map(variables.map((name, slot) => [name, slot]))];
    this.slots = variables.length;
  }

  plan(expr: Expr): Plan {
    const typeName = this.#checked.typeNames.get(expr);
    if (typeName !== undefined) return constant(new TypeName(typeName));
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value);
      case 'name':
        return this.#variable(expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr.items);
      case 'map':
        return this.#map(expr.entries);
      case 'fold':
        return this.#fold(expr);
    }
  }

  #variable(name: string): Plan {
    const slot = this.#names.findLast((names) => names.has(name))?.get(name) as number;
    return new Path((run) => run.slots[slot] as Value, 1).plan();
  }

  #select({ operand, field, presence }: Expr & { kind: 'select' }): Plan {
    const plan = this.plan(operand);
    const path = plan.path ?? new Path(plan.eval, 1);
    path.extend((run, of) => {
      run.spend(1);
      return presence ? present(of, field) : index(of, field);
    });
    return path.plan();
  }

  #call(expr: Expr & { kind: 'call' }): Plan {
    const plans = (expr.target === undefined ? expr.args : [expr.target, ...expr.args]).map((arg) => this.plan(arg));
    const [first, second, third] = plans as [Plan, Plan, Plan];
    if (expr.fn === '_&&_') return { eval: logical(plans, false) };
    if (expr.fn === '_||_') return { eval: logical(plans, true) };
    if (expr.fn === '_?_:_') return choice(first, second, third);
    if (expr.fn === '_[_]') return indexed(first, second);
    if (expr.fn === '@not_strictly_false') {
      return {
        eval: (run) => {
          const value = first.eval(run);
          run.spend(1);
          return typeof value === 'boolean' ? value : true;
        },
      };
    }
    if (expr.fn === '@in' && this.#checked.costs.get(expr) === 'list' && second.constant !== undefined) {
      const member = membership(first, second.constant as readonly Value[]);
      if (member !== undefined) return member;
    }
    if (CONVERSIONS.has(expr.fn) && first.constant !== undefined) return converted(expr.fn, first.constant);
    if (expr.fn === 'matches' && typeof second.constant === 'string') {
      return { eval: this.#apply(expr, first, second, matching(second.constant)) };
    }
    return { eval: this.#apply(expr, first, plans.length === 1 ? undefined : second) };
  }

  /** The second argument is evaluated even if the first is an error, and the call is paid for. */
  #apply(expr: Expr & { kind: 'call' }, first: Plan, second: Plan | undefined, apply = FUNCTIONS.get(expr.fn)): Eval {
    if (apply === undefined) throw new CelRejection(`undeclared reference to ${expr.fn}`);
    const rule = this.#checked.costs.get(expr);
    return (run) => {
      const a = first.eval(run);
      const b = second === undefined ? ABSENT : second.eval(run);
      run.spend(costOf(rule, a, b));
      if (a instanceof CelError) return a;
      return b instanceof CelError && b !== ABSENT ? b : apply(a, b);
    };
  }

  #list(items: readonly Expr[]): Plan {
    const plans = items.map((item) => this.plan(item));
    if (plans.every(isConstant)) return constant(plans.map((plan) => plan.constant as Value));
    return {
      eval: (run) => {
        const values: Value[] = [];
        for (const plan of plans) {
          const value = plan.eval(run);
          if (value instanceof CelError) return spent(run, LIST_COST, value);
          values.push(value);
        }
        return spent(run, LIST_COST, values);
      },
    };
  }

  #map(entries: readonly (readonly [Expr, Expr])[]): Plan {
    const plans = entries.map(([key, value]) => [this.plan(key), this.plan(value)] as const);
    const evaluate: Eval = (run) => {
      const map = new CelMap();
      for (const [keyPlan, valuePlan] of plans) {
        const key = keyPlan.eval(run);
        if (key instanceof CelError) return spent(run, MAP_COST, key);
        const value = valuePlan.eval(run);
        if (value instanceof CelError) return spent(run, MAP_COST, value);
        if (key instanceof Bytes) return spent(run, MAP_COST, new CelError('unsupported key'));
        map.set(key, value);
      }
      return spent(run, MAP_COST, map);
    };
    if (!plans.flat().every(isConstant)) return { eval: evaluate };
    const map = new CelMap();
    for (const [{ constant: key = null }, value] of plans) {
      map.set(key, value.constant as Value);
    }
    return constant(map);
  }

  #fold(expr: FoldExpr): Plan {
    const init = this.plan(expr.init);
    const range = this.plan(expr.range);
    const [soFar, item] = [this.slots++, this.slots++];
    this.#names.push(new Map([[ACCUMULATOR, soFar]]), new Map([[expr.variable, item]]));
    const condition = this.plan(expr.condition);
    const step = this.plan(expr.step);
    this.#names.pop();
    const result = this.plan(expr.result);
    this.#names.pop();
    return {
      eval: (run) => {
        const items = itemsOf(range.eval(run));
        if (items instanceof CelError) return items;
        run.slots[soFar] = init.eval(run);
        for (const one of items) {
          run.slots[item] = one;
          if (condition.eval(run) === false) break;
          run.slots[soFar] = step.eval(run);
        }
        return result.eval(run);
      },
    };
  }
}
