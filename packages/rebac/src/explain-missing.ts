import type { Evidence, Lead } from './evidence.ts';
import { proofOf, type Step } from './explain-proof.ts';
import type { Rewrite } from './model-types.ts';
import { NO, OPEN, YES } from './steps.ts';
import type { Tuple } from './tuple.ts';
import { MAX_HOPS } from './walk.ts';

export interface Exclusion {
  readonly object: string;
  readonly relation: string;
  readonly steps: readonly Step[];
}

/** What keeps a relation from holding, along the path that needs the fewest changes. */
export interface MissingLink {
  /** Tuples that would have to be added. */
  readonly add: readonly Tuple[];
  /** Relations that exclude the user and would have to be removed. */
  readonly excludedBy: readonly Exclusion[];
  /** Tuples on the path that exist already. */
  readonly trail: readonly Tuple[];
}

/**
 * Paths that use existing tuples are nearer than paths that add something new higher up. Tuples that are ruled out are
 * not suggested.
 */
export function nearestMissingLink(
  evidence: Evidence,
  relation: number,
  isRuledOut: (tuple: Tuple) => boolean = () => false,
): MissingLink | undefined {
  return new Gap(evidence, isRuledOut).relation(0, relation, 0);
}

class Gap {
  readonly #evidence: Evidence;
  readonly #isRuledOut: (tuple: Tuple) => boolean;
  readonly #known = new Map<string, MissingLink | undefined>();

  constructor(evidence: Evidence, isRuledOut: (tuple: Tuple) => boolean) {
    this.#evidence = evidence;
    this.#isRuledOut = isRuledOut;
  }

  relation(frame: number, relation: number, hops: number): MissingLink | undefined {
    if (this.#evidence.holds(frame, relation)) return { add: [], excludedBy: [], trail: [] };
    const key = `${frame}:${relation}`;
    if (this.#known.has(key) || hops >= MAX_HOPS) return this.#known.get(key);
    this.#known.set(key, undefined);
    const found = this.#rewrite(frame, relation, this.#evidence.relation(frame, relation).rewrite, hops);
    this.#known.set(key, found);
    return found;
  }

  #rewrite(frame: number, relation: number, rewrite: Rewrite, hops: number): MissingLink | undefined {
    switch (rewrite.op) {
      case 'computed':
        return this.relation(frame, rewrite.relation, hops);
      case 'this':
        return this.#direct(frame, relation, hops);
      case 'parent':
        return this.#along(this.#evidence.parents(frame, rewrite.tupleset, rewrite.relation), hops);
      case 'or':
        return nearest(rewrite.of.map((operand) => this.#rewrite(frame, relation, operand, hops)));
      case 'and':
        return together(rewrite.of.map((operand) => this.#rewrite(frame, relation, operand, hops)));
      case 'not':
        return together([
          this.#rewrite(frame, relation, rewrite.base, hops),
          this.#exclusion(frame, relation, rewrite.subtract),
        ]);
    }
  }

  #direct(frame: number, relation: number, hops: number): MissingLink | undefined {
    const nothing = { add: [], excludedBy: [], trail: [] };
    if (this.#evidence.stated(frame, relation)) return nothing;
    const through = this.#along(this.#evidence.usersets(frame, relation), hops);
    if (this.#evidence.valueOf(frame, relation, { op: 'this' }) === YES) return nearest([through, nothing]);
    const tuple = this.#evidence.assignable(frame, relation);
    if (tuple === undefined || this.#isRuledOut(tuple)) return through;
    return nearest([through, { add: [tuple], excludedBy: [], trail: [] }]);
  }

  #along(leads: readonly Lead[], hops: number): MissingLink | undefined {
    let best: { readonly lead: Lead; readonly rest: MissingLink } | undefined;
    for (const lead of leads) {
      const rest = this.relation(lead.frame, lead.relation, hops + 1);
      if (rest && (best === undefined || isNearer(rest, best.rest))) best = { lead, rest };
    }
    return best && { ...best.rest, trail: [best.lead.tuple, ...best.rest.trail] };
  }

  /** The relations behind a `but not` that are in the way, including those that are undecided. */
  #exclusion(frame: number, relation: number, subtract: Rewrite): MissingLink {
    const excludedBy: Exclusion[] = [];
    const visit = (rewrite: Rewrite): void => {
      // What does not hold excludes no caller, whatever a part of it may be.
      if (this.#evidence.valueOf(frame, relation, rewrite) === NO) return;
      if (rewrite.op === 'computed') excludedBy.push(this.#excluding(frame, rewrite.relation));
      else if (rewrite.op === 'parent') {
        for (const lead of this.#evidence.parents(frame, rewrite.tupleset, rewrite.relation)) {
          if (!this.#evidence.isRuledOut(lead.frame, lead.relation))
            excludedBy.push(this.#excluding(lead.frame, lead.relation));
        }
      } else if (rewrite.op === 'not') {
        visit(rewrite.base);
        // A circle on either side leaves the whole undecided.
        if (this.#evidence.valueOf(frame, relation, rewrite.subtract) === OPEN) visit(rewrite.subtract);
      } else if (rewrite.op === 'this') {
        const { name } = this.#evidence.relation(frame, relation);
        excludedBy.push({ object: this.#evidence.object(frame), relation: name, steps: [] });
      } else rewrite.of.forEach(visit);
    };
    visit(subtract);
    return { add: [], excludedBy, trail: [] };
  }

  #excluding(frame: number, relation: number): Exclusion {
    const { name } = this.#evidence.relation(frame, relation);
    const steps = proofOf(this.#evidence, frame, relation);
    return { object: this.#evidence.object(frame), relation: name, steps };
  }
}

function nearest(ways: readonly (MissingLink | undefined)[]): MissingLink | undefined {
  let best: MissingLink | undefined;
  for (const way of ways) if (way && (best === undefined || isNearer(way, best))) best = way;
  return best;
}

function isNearer(one: MissingLink, other: MissingLink): boolean {
  return cost(one) < cost(other) || (cost(one) === cost(other) && one.trail.length > other.trail.length);
}

function together(ways: readonly (MissingLink | undefined)[]): MissingLink | undefined {
  const all = ways.filter((way) => way !== undefined);
  if (all.length !== ways.length) return;
  return {
    add: all.flatMap(({ add }) => add),
    excludedBy: all.flatMap(({ excludedBy }) => excludedBy),
    trail: all.flatMap(({ trail }) => trail),
  };
}

function cost({ add, excludedBy }: MissingLink): number {
  return add.length + excludedBy.length;
}
