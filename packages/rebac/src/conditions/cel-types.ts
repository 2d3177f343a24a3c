/** A static type. `param` is a type that is not known yet; `any` and `dyn` are decided by the value. */
export interface Type {
  readonly kind: TypeKind;
  /** Of a parameter or a message, otherwise the kind. */
  readonly name: string;
  readonly params: readonly Type[];
}

type Simple =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'int'
  | 'string'
  | 'uint'
  | 'null_type'
  | 'google.protobuf.Duration'
  | 'google.protobuf.Timestamp'
  | 'any'
  | 'dyn';
export type TypeKind = Simple | 'list' | 'map' | 'type' | 'message' | 'param';

function make(kind: TypeKind, params: readonly Type[] = [], name: string = kind): Type {
  return { kind, name, params };
}

export const BOOL = make('bool');
export const DYN = make('dyn');
export const STRING = make('string');

export function listOf(item: Type): Type {
  return make('list', [item]);
}

export function mapOf(key: Type, value: Type): Type {
  return make('map', [key, value]);
}

export function typeOf(type: Type): Type {
  return make('type', [type]);
}

export function unknown(name: string): Type {
  return make('param', [], name);
}

const SIMPLE = /^(bool|bytes|double|int|string|uint|null_type|google\.protobuf\.(Duration|Timestamp)|any|dyn)$/;

/** Reads `list(A)`, `map(string, int)` and the like. A single capital letter is a type parameter. */
export function readType(text: string): Type {
  const open = text.indexOf('(');
  if (open !== -1) {
    const params = text
      .slice(open + 1, -1)
      .split(', ')
      .map(readType);
    return make(text.slice(0, open) as TypeKind, params);
  }
  if (/^[A-Z]$/.test(text)) return unknown(text);
  return SIMPLE.test(text) ? make(text as Simple) : make('message', [], text);
}

export function isSame(a: Type, b: Type): boolean {
  return (
    a.kind === b.kind &&
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((param, index) => isSame(param, b.params[index] as Type))
  );
}

export function isDynamic({ kind }: Type): boolean {
  return kind === 'dyn' || kind === 'any';
}

/** Which types the unknown ones have turned out to be. The rules are those of cel-go's checker. */
export class Substitutions {
  #known: Map<string, Type>;

  constructor(known: ReadonlyMap<string, Type> = new Map()) {
    this.#known = new Map(known);
  }

  /** True if every type may stand where the other is expected; remembers what this says about unknown types. */
  admits(given: readonly Type[], expected: readonly Type[]): boolean {
    const attempt = new Substitutions(this.#known);
    if (!attempt.#all(given, expected)) return false;
    this.#known = attempt.#known;
    return true;
  }

  resolve(type: Type): Type {
    const known = type.kind === 'param' ? this.#known.get(type.name) : undefined;
    if (known !== undefined) return this.resolve(known);
    return type.params.length === 0 ? type : { ...type, params: type.params.map((param) => this.resolve(param)) };
  }

  #all(given: readonly Type[], expected: readonly Type[]): boolean {
    return given.length === expected.length && given.every((type, index) => this.#fits(type, expected[index] as Type));
  }

  #fits(given: Type, expected: Type): boolean {
    if (expected.kind === 'param') {
      const fit = this.#substitute(given, expected);
      if (fit !== 'unbound') return fit;
    }
    if (given.kind === 'param') return this.#substitute(expected, given) === true;
    if (isDynamic(given) || isDynamic(expected)) return true;
    if (given.kind === 'null_type') return isNullable(expected);
    if (expected.kind === 'null_type') return isNullable(given);
    if (given.kind !== expected.kind) return false;
    if (given.kind === 'type') return true;
    return given.name === expected.name && this.#all(given.params, expected.params);
  }

  /** Whether the parameter can be this type. It stays unbound if it occurs within the type. */
  #substitute(type: Type, param: Type): boolean | 'unbound' {
    if (isSame(type, param)) return true;
    const known = this.#known.get(param.name);
    if (known !== undefined) {
      if (isSame(type, known)) return true;
      if (!this.#fits(type, known)) return false;
      const general = isMoreGeneral(type, known) ? type : known;
      if (!this.#occurs(param, general)) this.#known.set(param.name, general);
      return true;
    }
    if (this.#occurs(param, type)) return 'unbound';
    this.#known.set(param.name, type);
    return true;
  }

  #occurs(param: Type, type: Type): boolean {
    if (isSame(param, type)) return true;
    if (type.kind !== 'param') return type.params.some((part) => this.#occurs(param, part));
    const known = this.#known.get(type.name);
    return known !== undefined && this.#occurs(param, known);
  }
}

function isNullable({ kind }: Type): boolean {
  return kind === 'null_type' || kind === 'message' || kind.startsWith('google.protobuf.');
}

export function isMoreGeneral(a: Type, b: Type): boolean {
  if (isDynamic(a) || a.kind === 'param') return true;
  if (isDynamic(b) || b.kind === 'param' || a.kind !== b.kind) return false;
  if (a.kind === 'list' || a.kind === 'map') {
    return a.params.every((param, index) => isMoreGeneral(param, b.params[index] as Type));
  }
  return a.kind === 'type' || isSame(a, b);
}
