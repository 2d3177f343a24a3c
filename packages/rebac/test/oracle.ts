import type { ModelJson, RestrictionJson, RewriteJson, TypeJson } from '../src/syntax.ts';
import type { Tuple } from '../src/tuple.ts';

export type Verdict = 'yes' | 'no' | 'error';
export type Weigh = (tuple: Tuple) => Verdict;

/** What the evaluator knows of a pair of object and relation. Nothing is known of a pair that depends on itself. */
export type Value = 'yes' | 'no' | 'fault' | 'open';

/**
 * The second evaluator: sets of strings, with every rule applied to everything until nothing changes. It has no
 * closure, no plan and no order, and shares only the model's JSON with the engine.
 *
 * At first every pair of object and relation is open. A pair gets its value as soon as its operands have theirs. What is
 * open in the end depends on itself and is denied, and so is what excludes it.
 */
export class Oracle {
  readonly #model: ModelJson;
  readonly #types: ReadonlyMap<string, TypeJson>;
  /** By object and relation. */
  readonly #tuples: ReadonlyMap<string, Tuple[]>;
  readonly #user: string;
  readonly #weigh: Weigh;
  readonly #objects: ReadonlySet<string>;
  readonly #paths: ReadonlySet<string>;
  readonly #contextual: readonly Tuple[];
  readonly #values = new Map<string, Value>();

  constructor(
    model: ModelJson,
    tuples: readonly Tuple[],
    user: string,
    objects: readonly string[],
    weigh: Weigh,
    contextual: readonly Tuple[] = [],
  ) {
    this.#model = model;
    this.#types = new Map(model.type_definitions.map((type) => [type.type, type]));
    this.#contextual = contextual;
    const admitted = [...contextual, ...tuples].filter((tuple) => this.#isAdmitted(tuple));
    this.#tuples = Map.groupBy(admitted, ({ object, relation }) => `${object}#${relation}`);
    this.#user = user;
    this.#weigh = weigh;
    const mentioned = admitted.flatMap((tuple) => [tuple.object, tuple.user.split('#')[0] as string]);
    this.#objects = new Set([...objects, ...mentioned, user.split('#')[0] as string]);
    this.#paths = this.#pathsFrom(user);
    const certain = this.#solve(CERTAIN, new Map());
    const denied = this.#solve(DENYING, this.#solve(LIKELY, certain));
    for (const [pair, value] of certain) this.#values.set(pair, value);
    // The other rules only tell whether an open pair is a fault. They must not grant anything.
    for (const [pair, value] of denied) if (!certain.has(pair) && value === 'fault') this.#values.set(pair, value);
  }

  /** Everything that holds. */
  get granted(): ReadonlySet<string> {
    return new Set([...this.#values].filter(([, value]) => value === 'yes').map(([pair]) => pair));
  }

  answer(object: string, relation: string): Value {
    return this.#values.get(`${object}#${relation}`) ?? 'open';
  }

  #solve(logic: Logic, before: ReadonlyMap<string, Value>): Map<string, Value> {
    const found = new Map(before);
    for (let size = -1; size !== found.size; ) {
      size = found.size;
      for (const object of this.#objects) {
        for (const relation of this.#relations(object)) {
          const pair = `${object}#${relation}`;
          if (found.has(pair)) continue;
          const value = this.#relation(object, relation, (other) => found.get(other) ?? 'open', logic);
          if (value !== 'open') found.set(pair, value);
        }
      }
    }
    return found;
  }

  #relation(object: string, relation: string, known: (pair: string) => Value, logic: Logic): Value {
    if (`${object}#${relation}` === this.#user) return 'yes';
    // Without a path in the model, OpenFGA reads no tuple.
    if (!this.#paths.has(`${typeOf(object)}#${relation}`)) return 'no';
    const rewrite = this.#types.get(typeOf(object))?.relations?.[relation] ?? {};
    return this.#rewrite(object, relation, rewrite, known, logic);
  }

  #rewrite(
    object: string,
    relation: string,
    rewrite: RewriteJson,
    known: (pair: string) => Value,
    logic: Logic,
  ): Value {
    const valueIn = (part: RewriteJson): Value => this.#rewrite(object, relation, part, known, logic);
    if (rewrite.union) return logic.or((rewrite.union.child ?? []).map(valueIn));
    if (rewrite.intersection) return logic.and((rewrite.intersection.child ?? []).map(valueIn));
    if (rewrite.difference) {
      const { base = {}, subtract = {} } = rewrite.difference;
      return logic.but(valueIn(base), valueIn(subtract));
    }
    if (rewrite.computedUserset) return known(`${object}#${rewrite.computedUserset.relation}`);
    if (rewrite.tupleToUserset) {
      const tupleset = rewrite.tupleToUserset.tupleset?.relation ?? '';
      const asked = rewrite.tupleToUserset.computedUserset?.relation ?? '';
      return this.#list(this.#stated(object, tupleset), logic, ({ user }) =>
        this.#relations(user).includes(asked) ? known(`${user}#${asked}`) : 'no',
      );
    }
    const stated = this.#stated(object, relation);
    const own = stated.filter(({ user }) => user === this.#user && !user.includes('#'));
    const everybody = stated.filter(({ user }) => user !== this.#user && isEverybody(user, this.#user));
    // OpenFGA takes the tuple of the user itself from the contextual ones, if it is among them.
    const instead = own.find((tuple) => this.#contextual.includes(tuple) && !tuple.user.endsWith(':*'));
    const direct = [...(instead ? [instead] : own), ...everybody];
    const values = direct.map((tuple) => verdict(this.#weigh(tuple)));
    const usersets = stated.filter((tuple) => tuple.user.includes('#'));
    return logic.or([
      ...values,
      this.#list(usersets, logic, ({ user }) => (user === this.#user ? 'yes' : known(user))),
    ]);
  }

  /** Reads a list of tuples as OpenFGA does: an error in it counts only if no tuple of the list is usable. */
  #list(list: readonly Tuple[], logic: Logic, leads: (tuple: Tuple) => Value): Value {
    const usable = list.filter((tuple) => this.#weigh(tuple) === 'yes');
    if (usable.length > 0) return logic.or(usable.map(leads));
    return list.some((tuple) => this.#weigh(tuple) === 'error') ? 'fault' : 'no';
  }

  /** All relations of types that some tuples could give to the user, over whatever operators. */
  #pathsFrom(user: string): ReadonlySet<string> {
    const [object = '', userset] = user.split('#');
    const type = typeOf(object);
    const found = new Set(userset === undefined ? [type, `${type}:*`] : [`${type}#${userset}`]);
    const reads = (own: TypeJson, name: string, rewrite: RewriteJson): string[] => {
      const parts = [...(rewrite.union?.child ?? []), ...(rewrite.intersection?.child ?? [])];
      if (rewrite.difference) parts.push(rewrite.difference.base ?? {}, rewrite.difference.subtract ?? {});
      if (parts.length > 0) return parts.flatMap((part) => reads(own, name, part));
      if (rewrite.computedUserset) return [`${own.type}#${rewrite.computedUserset.relation}`];
      const types = (relation: string) => own.metadata?.relations?.[relation]?.directly_related_user_types ?? [];
      const { tupleset, computedUserset } = rewrite.tupleToUserset ?? {};
      if (tupleset) return types(tupleset.relation ?? '').map((one) => `${one.type}#${computedUserset?.relation}`);
      return types(name).map(
        (one) => `${one.type}${one.wildcard ? ':*' : ''}${one.relation ? `#${one.relation}` : ''}`,
      );
    };
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const own of this.#model.type_definitions) {
        for (const [name, rewrite] of Object.entries(own.relations ?? {})) {
          if (reads(own, name, rewrite).some((source) => found.has(source))) found.add(`${own.type}#${name}`);
        }
      }
    }
    return found;
  }

  #stated(object: string, relation: string): readonly Tuple[] {
    return this.#tuples.get(`${object}#${relation}`) ?? [];
  }

  #relations(object: string): string[] {
    return object.endsWith(':*') ? [] : Object.keys(this.#types.get(typeOf(object))?.relations ?? {});
  }

  #isAdmitted({ user, relation, object, condition }: Tuple): boolean {
    if (user === `${object}#${relation}`) return false;
    const allowed = this.#types.get(typeOf(object))?.metadata?.relations?.[relation]?.directly_related_user_types ?? [];
    const [subject, userset] = user.split('#');
    return allowed.some(
      (one: RestrictionJson) =>
        one.type === typeOf(user) &&
        one.relation === userset &&
        (one.wildcard !== undefined) === (subject === `${one.type}:*`) &&
        one.condition === condition?.name,
    );
  }
}

/** `user:*` means every user, but not a userset. */
function isEverybody(subject: string, user: string): boolean {
  return subject === `${typeOf(user)}:*` && !user.includes('#');
}

function typeOf(text: string): string {
  return text.slice(0, text.indexOf(':'));
}

function verdict(weighed: Verdict): Value {
  return weighed === 'error' ? 'fault' : weighed;
}

interface Logic {
  or(values: readonly Value[]): Value;
  and(values: readonly Value[]): Value;
  but(base: Value, subtract: Value): Value;
}

/** The first of these values that occurs, or else the last. */
function first(values: readonly Value[], ...order: readonly Value[]): Value {
  return order.find((one) => values.includes(one)) ?? (order.at(-1) as Value);
}

/** Everything that is certain in OpenFGA, whichever of its operands it happens to evaluate first. */
const CERTAIN: Logic = {
  or: (values) => first(values, 'yes', 'open', 'fault', 'no'),
  and: (values) => first(values, 'open', 'no', 'fault', 'yes'),
  but(base, subtract) {
    if (base === 'open' || subtract === 'open') return 'open';
    if (base === 'no' || subtract === 'yes') return 'no';
    return base === 'fault' || subtract === 'fault' ? 'fault' : 'yes';
  },
};

/** One operand that decides is enough. */
const LIKELY: Logic = {
  or: CERTAIN.or,
  and: (values) => first(values, 'no', 'open', 'fault', 'yes'),
  but(base, subtract) {
    if (base === 'no' || subtract === 'yes') return 'no';
    return first([base, subtract], 'open', 'fault', 'yes');
  },
};

/** In a union, OpenFGA reports a fault although it has found a circle. */
const DENYING: Logic = { ...LIKELY, or: (values) => first(values, 'yes', 'fault', 'open', 'no') };
