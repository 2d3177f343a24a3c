import type { ModelJson, RestrictionJson, RewriteJson, TypeJson } from '../../src/rebac/syntax.ts';
import type { Tuple } from '../../src/rebac/tuple.ts';

export type Verdict = 'yes' | 'no' | 'error';
export type Weigh = (tuple: Tuple) => Verdict;

/**
 * The second evaluator: sets of strings, with every rule applied to everything until nothing changes. It has no
 * closure, no plan and no order, and shares only the model's JSON with the engine.
 *
 * It keeps two sets: `sure` contains what certainly holds, `maybe` what cannot be ruled out (a condition failed, or a
 * relation excludes itself). `but not` looks at the other set of the previous pass, so the two sets approach the answer
 * from both sides.
 */
export class Oracle {
  readonly #types: ReadonlyMap<string, TypeJson>;
  /** By object and relation. */
  readonly #tuples: ReadonlyMap<string, Tuple[]>;
  readonly #user: string;
  readonly #weigh: Weigh;
  readonly #objects: ReadonlySet<string>;
  sure: ReadonlySet<string> = new Set();
  maybe: ReadonlySet<string> = new Set();

  constructor(model: ModelJson, tuples: readonly Tuple[], user: string, objects: readonly string[], weigh: Weigh) {
    this.#types = new Map(nameExclusions(model).type_definitions.map((type) => [type.type, type]));
    const admitted = tuples.filter((tuple) => this.#isAdmitted(tuple));
    this.#tuples = Map.groupBy(admitted, ({ object, relation }) => `${object}#${relation}`);
    this.#user = user;
    this.#weigh = weigh;
    const mentioned = admitted.flatMap((tuple) => [tuple.object, tuple.user.split('#')[0] as string]);
    this.#objects = new Set([...objects, ...mentioned, user.split('#')[0] as string]);
    this.#solve();
  }

  answer(object: string, relation: string): 'yes' | 'no' | 'open' {
    if (this.sure.has(`${object}#${relation}`)) return 'yes';
    return this.maybe.has(`${object}#${relation}`) ? 'open' : 'no';
  }

  /** True if nothing is undecided. */
  get isTotal(): boolean {
    return this.sure.size === this.maybe.size;
  }

  #solve(): void {
    const pairs = (object: string): string[] => this.#relations(object).map((relation) => `${object}#${relation}`);
    this.maybe = new Set([...this.#objects].flatMap(pairs));
    for (;;) {
      const sure = this.#grow(this.maybe, false);
      const maybe = this.#grow(this.sure, true);
      const settled = sure.size === this.sure.size && maybe.size === this.maybe.size;
      this.sure = sure;
      this.maybe = maybe;
      if (settled) return;
    }
  }

  /** Everything that follows if `but not` excludes what is in the other set. */
  #grow(excluded: ReadonlySet<string>, hopeful: boolean): Set<string> {
    const found = new Set<string>();
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const object of this.#objects) {
        for (const relation of this.#relations(object)) {
          const rewrite = this.#types.get(typeOf(object))?.relations?.[relation] ?? {};
          const pair = `${object}#${relation}`;
          if (pair === this.#user || this.#holds(object, relation, rewrite, found, excluded, hopeful)) found.add(pair);
        }
      }
    }
    return found;
  }

  #holds(
    object: string,
    relation: string,
    rewrite: RewriteJson,
    found: ReadonlySet<string>,
    excluded: ReadonlySet<string>,
    hopeful: boolean,
  ): boolean {
    const holds = (part: RewriteJson): boolean => this.#holds(object, relation, part, found, excluded, hopeful);
    if (rewrite.union) return (rewrite.union.child ?? []).some(holds);
    if (rewrite.intersection) return (rewrite.intersection.child ?? []).every(holds);
    if (rewrite.difference) {
      const hidden = rewrite.difference.subtract?.computedUserset?.relation;
      return holds(rewrite.difference.base ?? {}) && !excluded.has(`${object}#${hidden}`);
    }
    if (rewrite.computedUserset) return found.has(`${object}#${rewrite.computedUserset.relation}`);
    if (rewrite.tupleToUserset) {
      const tupleset = rewrite.tupleToUserset.tupleset?.relation ?? '';
      const asked = rewrite.tupleToUserset.computedUserset?.relation;
      return this.#any(this.#stated(object, tupleset), hopeful, (tuple) => found.has(`${tuple.user}#${asked}`));
    }
    const stated = this.#stated(object, relation);
    const direct = stated.filter(({ user }) => user === this.#user || isEverybody(user, this.#user));
    if (direct.some((tuple) => !tuple.user.includes('#') && this.#counts(tuple, hopeful))) return true;
    const usersets = stated.filter((tuple) => tuple.user.includes('#'));
    return this.#any(usersets, hopeful, (tuple) => tuple.user === this.#user || found.has(tuple.user));
  }

  /** Reads a list of tuples as OpenFGA does: an error in it counts only if no tuple of the list is usable. */
  #any(list: readonly Tuple[], hopeful: boolean, leads: (tuple: Tuple) => boolean): boolean {
    const usable = list.filter((tuple) => this.#weigh(tuple) === 'yes');
    if (usable.length === 0 && hopeful && list.some((tuple) => this.#weigh(tuple) === 'error')) return true;
    return usable.some(leads);
  }

  #counts(tuple: Tuple, hopeful: boolean): boolean {
    const verdict = this.#weigh(tuple);
    return verdict === 'yes' || (verdict === 'error' && hopeful);
  }

  #stated(object: string, relation: string): readonly Tuple[] {
    return this.#tuples.get(`${object}#${relation}`) ?? [];
  }

  #relations(object: string): string[] {
    return object.endsWith(':*') ? [] : Object.keys(this.#types.get(typeOf(object))?.relations ?? {});
  }

  #isAdmitted({ user, relation, object, condition }: Tuple): boolean {
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

/** Gives every expression after `but not` its own name, so that an exclusion always excludes a relation. */
function nameExclusions(model: ModelJson): ModelJson {
  const type_definitions = model.type_definitions.map((type) => {
    const relations: Record<string, RewriteJson> = {};
    let hiddenCount = 0;
    const visit = (rewrite: RewriteJson): RewriteJson => {
      if (rewrite.union) return { union: { child: (rewrite.union.child ?? []).map(visit) } };
      if (rewrite.intersection) return { intersection: { child: (rewrite.intersection.child ?? []).map(visit) } };
      if (!rewrite.difference) return rewrite;
      const hidden = `~${hiddenCount++}`;
      relations[hidden] = visit(rewrite.difference.subtract ?? {});
      return {
        difference: { base: visit(rewrite.difference.base ?? {}), subtract: { computedUserset: { relation: hidden } } },
      };
    };
    for (const [name, rewrite] of Object.entries(type.relations ?? {})) relations[name] = visit(rewrite);
    return { ...type, relations };
  });
  return { ...model, type_definitions };
}
