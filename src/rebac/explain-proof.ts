import type { Evidence, Lead } from './evidence.ts';
import type { Rewrite } from './model-types.ts';
import type { Tuple } from './tuple.ts';

export type Rule = 'self' | 'direct' | 'everyone' | 'userset' | 'parent' | 'computed' | 'and' | 'but not';

/** One step in a chain of reasons. It rests on the steps that follow it and are one level deeper. */
export interface Step {
  readonly depth: number;
  readonly object: string;
  readonly relation: string;
  readonly rule: Rule;
  /** The tuple that the step uses, if any. */
  readonly tuple?: Tuple;
  /** The step as a human-readable sentence. */
  readonly text: string;
}

/**
 * Why a relation holds, as steps. A proof uses only facts about other objects that became certain in an earlier round,
 * so it never goes in circles.
 */
export function proofOf(evidence: Evidence, frame: number, relation: number): Step[] {
  return new Proof(evidence).relation(frame, relation, 0) ?? [];
}

class Proof {
  readonly #evidence: Evidence;
  readonly #open = new Set<string>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  relation(frame: number, relation: number, depth: number): Step[] | undefined {
    const key = `${frame}:${relation}`;
    if (!this.#evidence.holds(frame, relation) || this.#open.has(key)) return;
    const { name, rewrite } = this.#evidence.relation(frame, relation);
    const step = (rule: Rule, text: string, tuple?: Tuple): Step => {
      const object = this.#evidence.object(frame);
      return { depth, object, relation: name, rule, ...(tuple && { tuple }), text: `${object} ${name}: ${text}` };
    };
    if (this.#evidence.isSelf(frame, relation)) return [step('self', `${this.#evidence.user} is it by definition`)];
    this.#open.add(key);
    const steps = this.#rewrite(frame, relation, rewrite, depth, step);
    this.#open.delete(key);
    return steps;
  }

  #rewrite(frame: number, relation: number, rewrite: Rewrite, depth: number, step: MakeStep): Step[] | undefined {
    if (rewrite.op === 'this') return this.#direct(frame, relation, depth, step);
    if (rewrite.op === 'computed') {
      const { name } = this.#evidence.relation(frame, rewrite.relation);
      const rest = this.relation(frame, rewrite.relation, depth + 1);
      return rest && [step('computed', `whoever is ${name}`), ...rest];
    }
    if (rewrite.op === 'parent') {
      const leads = this.#evidence.parents(frame, rewrite.tupleset, rewrite.relation);
      return this.#lead(frame, relation, leads, depth, (lead) =>
        step('parent', `whoever is ${rewrite.relation} of its ${lead.tuple.relation} ${lead.tuple.user}`, lead.tuple),
      );
    }
    if (rewrite.op === 'not') {
      const base = this.#rewrite(frame, relation, rewrite.base, depth + 1, deeper(step));
      return base && [step('but not', 'and is not excluded'), ...base];
    }
    const found: Step[] = [];
    for (const operand of rewrite.of) {
      const below = rewrite.op === 'and';
      const steps = this.#rewrite(frame, relation, operand, below ? depth + 1 : depth, below ? deeper(step) : step);
      if (!below && steps) return steps;
      if (below && !steps) return;
      found.push(...(steps ?? []));
    }
    return rewrite.op === 'and' ? [step('and', 'all of these hold'), ...found] : undefined;
  }

  #direct(frame: number, relation: number, depth: number, step: MakeStep): Step[] | undefined {
    const stated = this.#evidence.stated(frame, relation);
    if (stated?.user.endsWith(':*') && stated.user !== this.#evidence.user) {
      return [step('everyone', `everybody (${stated.user})`, stated)];
    }
    if (stated) return [step('direct', `${stated.user} directly`, stated)];
    return this.#lead(frame, relation, this.#evidence.usersets(frame, relation), depth, (lead) =>
      step('userset', `whoever is ${lead.tuple.user}`, lead.tuple),
    );
  }

  #lead(frame: number, relation: number, leads: readonly Lead[], depth: number, first: (lead: Lead) => Step) {
    const before = this.#evidence.rank(frame, relation);
    for (const lead of leads) {
      if (this.#evidence.rank(lead.frame, lead.relation) >= before) continue;
      const rest = this.relation(lead.frame, lead.relation, depth + 1);
      if (rest) return [first(lead), ...rest];
    }
    return;
  }
}

type MakeStep = (rule: Rule, text: string, tuple?: Tuple) => Step;

function deeper(step: MakeStep): MakeStep {
  return (rule, text, tuple) => {
    const made = step(rule, text, tuple);
    return { ...made, depth: made.depth + 1 };
  };
}
