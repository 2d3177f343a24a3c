import { type CostRule, OVERLOADS, type Overload } from './cel-overloads.ts';
import { ACCUMULATOR, CelRejection, type Expr, type FoldExpr } from './cel-syntax.ts';
import {
  BOOL,
  DYN,
  isDynamic,
  isMoreGeneral,
  isSame,
  listOf,
  mapOf,
  readType,
  STRING,
  Substitutions,
  type Type,
  typeOf,
  unknown,
} from './cel-types.ts';
import { Bytes, Uint, type Value } from './cel-values.ts';

/** The names of types, which are values as well. */
export const TYPE_NAMES: ReadonlyMap<string, Type> = new Map(
  'bool bytes double int null_type string type uint list map google.protobuf.Duration google.protobuf.Timestamp'
    .split(' ')
    .map((name) => {
      if (name === 'list') return [name, typeOf(readType('list(A)'))];
      if (name === 'map') return [name, typeOf(readType('map(A, B)'))];
      return [name, typeOf(name === 'type' ? typeOf(DYN) : readType(name))];
    }),
);

export interface Checked {
  /** By call: the rule of its cost. Absent if the types leave open which overload is called. */
  readonly costs: ReadonlyMap<Expr, CostRule>;
  /** Dotted names of types, such as `google.protobuf.Duration`. */
  readonly typeNames: ReadonlyMap<Expr, string>;
}

/** Checks the types as cel-go does. Throws a CelRejection, also if the expression is not a bool. */
export function checkTypes(expr: Expr, variables: ReadonlyMap<string, Type>): Checked {
  for (const name of variables.keys()) {
    if (TYPE_NAMES.has(name)) throw new CelRejection(`${name} is the name of a type`);
  }
  const checker = new Checker(variables);
  const type = checker.resolve(checker.check(expr));
  if (!isSame(type, BOOL)) throw new CelRejection(`expected a bool, but the expression is ${describe(type)}`);
  return checker;
}

class Checker implements Checked {
  readonly costs = new Map<Expr, CostRule>();
  readonly typeNames = new Map<Expr, string>();
  readonly #scopes: ReadonlyMap<string, Type>[];
  readonly #known = new Substitutions();
  #unknowns = 0;
  /** cel-go loses its list of disabled comparisons at the first macro. */
  #mixes = false;

  constructor(variables: ReadonlyMap<string, Type>) {
    this.#scopes = [variables];
  }

  resolve(type: Type): Type {
    return this.#known.resolve(type);
  }

  check(expr: Expr): Type {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value);
      case 'name':
        return this.#name(expr, expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return listOf(this.#join(expr.items));
      case 'map':
        return this.#map(expr.entries);
      case 'fold':
        return this.#fold(expr);
    }
  }

  #name(expr: Expr, name: string): Type {
    const declared = this.#scopes.findLast((scope) => scope.has(name))?.get(name);
    if (declared !== undefined) return declared;
    const type = TYPE_NAMES.get(name);
    if (type === undefined) throw new CelRejection(`undeclared reference to ${name}`);
    this.typeNames.set(expr, name);
    return type;
  }

  #select(expr: Expr & { kind: 'select' }): Type {
    const dotted = expr.presence ? undefined : this.#dotted(expr);
    if (dotted !== undefined && TYPE_NAMES.has(dotted)) return this.#name(expr, dotted);
    const operand = this.#known.resolve(this.check(expr.operand));
    if (operand.kind !== 'map' && operand.kind !== 'param' && !isDynamic(operand)) {
      throw new CelRejection(`${describe(operand)} has no fields`);
    }
    if (operand.kind === 'param') this.#known.admits([DYN], [operand]);
    const field = operand.kind === 'map' ? (operand.params[1] as Type) : DYN;
    return expr.presence ? BOOL : this.#known.resolve(field);
  }

  /** `a.b.c` as one name, unless `a` is a variable. */
  #dotted(expr: Expr): string | undefined {
    if (expr.kind === 'name') return this.#scopes.some((scope) => scope.has(expr.name)) ? undefined : expr.name;
    if (expr.kind !== 'select' || expr.presence) return;
    const operand = this.#dotted(expr.operand);
    return operand === undefined ? undefined : `${operand}.${expr.field}`;
  }

  #call(expr: Expr & { kind: 'call' }): Type {
    const args = expr.args.map((arg) => this.check(arg));
    const given = expr.target === undefined ? args : [this.check(expr.target), ...args];
    const overloads = OVERLOADS.get(expr.fn);
    if (overloads === undefined) throw new CelRejection(`undeclared reference to ${expr.fn}`);
    if (expr.fn === '_&&_' || expr.fn === '_||_') {
      for (const type of given) this.#require(type, BOOL);
      return BOOL;
    }
    const member = expr.target !== undefined;
    const matching: Overload[] = [];
    let result: Type | undefined;
    for (const overload of overloads) {
      if (overload.member !== member || (overload.mixed && !this.#mixes)) continue;
      const fresh = this.#instantiate(overload);
      if (!this.#known.admits(given, fresh.types)) continue;
      matching.push(overload);
      const type = this.#known.resolve(fresh.result);
      if (result === undefined) result = type;
      else if (!isDynamic(result) && !isSame(type, result)) result = DYN;
    }
    if (result === undefined) {
      const told = given.map((type) => describe(this.#known.resolve(type))).join(', ');
      throw new CelRejection(`no matching overload for ${expr.fn} applied to (${told})`);
    }
    const rule = matching[0]?.cost;
    if (matching.length === 1 && rule !== undefined) this.costs.set(expr, rule);
    return result;
  }

  #instantiate({ types, result }: Overload): { readonly types: readonly Type[]; readonly result: Type } {
    const names = new Map<string, Type>();
    const fresh = (type: Type): Type => {
      if (type.kind !== 'param') return { ...type, params: type.params.map(fresh) };
      const known = names.get(type.name) ?? this.#unknown();
      names.set(type.name, known);
      return known;
    };
    return { types: types.map(fresh), result: fresh(result) };
  }

  #map(entries: readonly (readonly [Expr, Expr])[]): Type {
    let key: Type | undefined;
    let value: Type | undefined;
    for (const [keyExpr, valueExpr] of entries) {
      const type = this.check(keyExpr);
      // cel-go lets other keys pass and fails on them later, if at all.
      if (!/^(bool|int|uint|double|string|null_type|any|dyn|param)$/.test(type.kind))
        throw new CelRejection(`${describe(type)} as a key`);
      key = this.#widen(key, type);
      value = this.#widen(value, this.check(valueExpr));
    }
    return mapOf(key ?? this.#unknown(), value ?? this.#unknown());
  }

  #join(items: readonly Expr[]): Type {
    let joined: Type | undefined;
    for (const item of items) joined = this.#widen(joined, this.check(item));
    return joined ?? this.#unknown();
  }

  #widen(before: Type | undefined, type: Type): Type {
    if (before === undefined) return type;
    if (!this.#known.admits([before], [type])) return DYN;
    return isMoreGeneral(before, type) ? before : type;
  }

  #fold(expr: FoldExpr): Type {
    const range = this.#known.resolve(this.check(expr.range));
    const soFar = this.check(expr.init);
    let item = DYN;
    if (range.kind === 'list' || range.kind === 'map') item = range.params[0] as Type;
    else if (range.kind === 'dyn' || range.kind === 'param') this.#known.admits([DYN], [range]);
    else throw new CelRejection(`${describe(range)} cannot be the range of a macro`);
    this.#mixes = true;
    this.#scopes.push(new Map([[ACCUMULATOR, soFar]]), new Map([[expr.variable, item]]));
    this.#require(BOOL, this.check(expr.condition));
    this.#require(soFar, this.check(expr.step));
    this.#scopes.pop();
    const result = this.check(expr.result);
    this.#scopes.pop();
    return this.#known.resolve(result);
  }

  #require(given: Type, expected: Type): void {
    if (this.#known.admits([given], [expected])) return;
    throw new CelRejection(`expected ${describe(given)}, but found ${describe(expected)}`);
  }

  #unknown(): Type {
    return unknown(`_${this.#unknowns++}`);
  }
}

function literalType(value: Value): Type {
  if (value === null) return readType('null_type');
  if (typeof value === 'boolean') return BOOL;
  if (typeof value === 'string') return STRING;
  if (typeof value === 'bigint') return readType('int');
  if (value instanceof Uint) return readType('uint');
  return readType(value instanceof Bytes ? 'bytes' : 'double');
}

function describe(type: Type): string {
  if (type.kind === 'param') return 'dyn';
  return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(describe).join(', ')})`;
}
