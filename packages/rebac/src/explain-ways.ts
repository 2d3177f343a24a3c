/**
 * All minimal ways in which a relation holds.
 *
 * 1. A way is a proof. The tuples that it rests on are enough for the answer, and none of them can be spared.
 * 2. If no way was left out, removing one tuple of each way gives the answer no. What a tuple excludes by a `but not`
 *    is no part of a way.
 * 3. A minimal proof never uses a relation of an object to prove the same relation of the same object, so relations
 *    whose proof is being searched are not searched again.
 * 4. What was found for a relation is kept, unless a relation that is still being searched was skipped on the way.
 */
import type { Evidence, Lead } from './evidence.ts';
import type { Rule, Step } from './explain-proof.ts';
import type { Rewrite } from './model-types.ts';
import { YES } from './steps.ts';
import type { Tuple } from './tuple.ts';

export interface Ways {
  /** Those that rest on the fewest tuples first. */
  readonly ways: readonly (readonly Step[])[];
  /** Whether there are more than these. */
  readonly hasMore: boolean;
}

/** One proof. The depth of its steps counts from the relation that it proves. */
interface Way {
  readonly steps: readonly Step[];
  readonly tuples: ReadonlySet<string>;
  /** How many tuples and steps, without putting them together. More than there are if a tuple is used twice. */
  readonly size: number;
  readonly length: number;
}

/** For each relation of an object, at most this many ways are kept. */
const MAX_KEPT = 32;
/** A relation of an object is followed along at most this many tuples: a user can be in a thousand teams. */
const MAX_LEADS = 2 * MAX_KEPT;
/** So many ways are combined in all before the search ends. */
const MAX_COMBINED = 50_000;
/** So many relations are looked at in all: in a graph full of circles, there is no end of ways to go. */
const MAX_LOOKS = 20_000;

export function waysOf(evidence: Evidence, frame: number, relation: number, max: number): Ways {
  const search = new Search(evidence);
  const found = search.relation(frame, relation);
  return { ways: found.slice(0, max).map(({ steps }) => steps), hasMore: search.isCut || found.length > max };
}

class Search {
  /** Whether ways were left out. */
  isCut = false;
  readonly #evidence: Evidence;
  readonly #known = new Map<string, readonly Way[]>();
  /** The relations whose ways are being searched, each with its place on the way from the first. */
  readonly #open = new Map<string, number>();
  /** The place of the outermost open relation that was skipped. */
  #skipped = Number.POSITIVE_INFINITY;
  #combined = 0;
  #looks = 0;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  relation(frame: number, relation: number): readonly Way[] {
    if (!this.#evidence.holds(frame, relation)) return [];
    const key = `${frame}:${relation}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const place = this.#open.get(key);
    if (place !== undefined) {
      this.#skipped = Math.min(this.#skipped, place);
      return [];
    }
    if (++this.#looks > MAX_LOOKS) {
      this.isCut = true;
      this.#skipped = -1;
      return [];
    }
    const { name, rewrite } = this.#evidence.relation(frame, relation);
    const step: MakeStep = (rule, because = {}) => {
      return { depth: 0, object: this.#evidence.object(frame), relation: name, rule, ...because };
    };
    if (this.#evidence.isSelf(frame, relation)) return [wayOf([step('self')], new Set())];
    const outside = this.#skipped;
    this.#skipped = Number.POSITIVE_INFINITY;
    const here = this.#open.size;
    this.#open.set(key, here);
    const found = this.#minimal(this.#rewrite(frame, relation, rewrite, step));
    this.#open.delete(key);
    const isWhole = this.#skipped >= here;
    if (isWhole) this.#known.set(key, found);
    this.#skipped = isWhole ? outside : Math.min(this.#skipped, outside);
    return found;
  }

  #rewrite(frame: number, relation: number, rewrite: Rewrite, step: MakeStep): readonly Way[] {
    switch (rewrite.op) {
      case 'this':
        return this.#direct(frame, relation, step);
      case 'computed': {
        const { name } = this.#evidence.relation(frame, rewrite.relation);
        const first = () => step('computed', { from: name });
        return this.relation(frame, rewrite.relation).map((rest) => new Below(first, 0, rest));
      }
      case 'parent': {
        const leads = this.#evidence.parents(frame, rewrite.tupleset, rewrite.relation);
        return this.#along(leads, ({ tuple }) => step('parent', { from: rewrite.relation, tuple }));
      }
      case 'not':
        // The relation may hold for another reason, while the user is excluded here.
        if (this.#evidence.valueOf(frame, relation, rewrite) !== YES) return [];
        return this.#rewrite(frame, relation, rewrite.base, step).map((rest) => {
          return new Below(() => step('but not'), 0, rest);
        });
      case 'or':
        return rewrite.of.flatMap((operand) => this.#rewrite(frame, relation, operand, step));
      case 'and': {
        const parts = rewrite.of.map((operand) => this.#minimal(this.#rewrite(frame, relation, operand, step)));
        const both = parts.reduce((left, right) => this.#both(left, right));
        return both.map((rest) => new Below(() => step('and'), 0, rest));
      }
    }
  }

  #direct(frame: number, relation: number, step: MakeStep): Way[] {
    const stated = this.#evidence.statements(frame, relation).map((tuple): Way => {
      const isEveryone = tuple.user.endsWith(':*') && tuple.user !== this.#evidence.user;
      return wayOf([step(isEveryone ? 'everyone' : 'direct', { tuple })], new Set([keyOf(tuple)]));
    });
    const leads = this.#evidence.usersets(frame, relation);
    return [...stated, ...this.#along(leads, ({ tuple }) => step('userset', { tuple }))];
  }

  #along(leads: readonly Lead[], first: (lead: Lead) => Step): Way[] {
    return this.#nearest(leads).flatMap((lead) =>
      this.relation(lead.frame, lead.relation).map((rest) => new Below(() => first(lead), 1, rest)),
    );
  }

  /** Those that hold; if there are many, those that became certain first, which have the shortest proofs. */
  #nearest(leads: readonly Lead[]): readonly Lead[] {
    const holding = leads.filter(({ frame, relation }) => this.#evidence.holds(frame, relation));
    if (holding.length <= MAX_LEADS) return holding;
    this.isCut = true;
    const rank = ({ frame, relation }: Lead) => this.#evidence.rank(frame, relation);
    return holding.sort((one, other) => rank(one) - rank(other)).slice(0, MAX_LEADS);
  }

  #both(left: readonly Way[], right: readonly Way[]): readonly Way[] {
    return this.#minimal(
      left.flatMap((one) =>
        right.map((other) => wayOf([...one.steps, ...other.steps], new Set([...one.tuples, ...other.tuples]))),
      ),
    );
  }

  /** Without those that need all tuples of another one. The fewest tuples come first, then the fewest steps. */
  #minimal(ways: readonly Way[]): readonly Way[] {
    this.#combined += ways.length;
    if (this.#combined > MAX_COMBINED) {
      this.isCut = true;
      return ways.slice(0, 1);
    }
    const kept: Way[] = [];
    const nearest = [...ways].sort((a, b) => a.size - b.size || a.length - b.length);
    for (const way of nearest) {
      // A way that uses a tuple twice needs fewer than it seemed to.
      if (way.tuples.size < way.size) {
        this.#combined -= ways.length;
        return this.#minimal(ways.map(({ steps, tuples }) => wayOf(steps, tuples)));
      }
      if (kept.some(({ tuples }) => isWithin(tuples, way.tuples))) continue;
      if (kept.length === MAX_KEPT) {
        this.isCut = true;
        break;
      }
      kept.push(way);
    }
    return kept;
  }
}

type MakeStep = (rule: Rule, because?: Pick<Step, 'tuple' | 'from'>) => Step;

function wayOf(steps: readonly Step[], tuples: ReadonlySet<string>): Way {
  return { steps, tuples, size: tuples.size, length: steps.length };
}

/**
 * A way below another step. Of tens of thousands few are kept, so its steps are put together only when something looks at
 * them.
 */
class Below implements Way {
  readonly size: number;
  readonly length: number;
  readonly #first: () => Step;
  readonly #rest: Way;
  #built: Pick<Way, 'steps' | 'tuples'> | undefined;

  constructor(first: () => Step, tuples: 0 | 1, rest: Way) {
    this.#first = first;
    this.#rest = rest;
    this.size = rest.size + tuples;
    this.length = rest.length + 1;
  }

  get steps(): readonly Step[] {
    return this.#build().steps;
  }

  get tuples(): ReadonlySet<string> {
    return this.#build().tuples;
  }

  #build(): Pick<Way, 'steps' | 'tuples'> {
    if (this.#built === undefined) {
      const first = this.#first();
      const { steps, tuples } = this.#rest;
      const own = first.tuple === undefined ? tuples : new Set([keyOf(first.tuple), ...tuples]);
      this.#built = { steps: [first, ...steps.map(deeper)], tuples: own };
    }
    return this.#built;
  }
}

/** Most differ in the first tuple, and then this is faster than `isSubsetOf`. */
function isWithin(few: ReadonlySet<string>, many: ReadonlySet<string>): boolean {
  for (const tuple of few) if (!many.has(tuple)) return false;
  return true;
}

function deeper(step: Step): Step {
  return { ...step, depth: step.depth + 1 };
}

function keyOf({ user, relation, object }: Tuple): string {
  return `${object}#${relation}@${user}`;
}
