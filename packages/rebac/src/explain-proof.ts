import type { Evidence, Lead } from './evidence.ts';
import type { Rewrite } from './model-types.ts';
import { YES } from './steps.ts';
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
  /** The relation that the step is derived from: on the same object, or on that of the tuple. */
  readonly from?: string;
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
    const step: MakeStep = (rule, because = {}) => {
      const object = this.#evidence.object(frame);
      return { depth, object, relation: name, rule, ...because };
    };
    if (this.#evidence.isSelf(frame, relation)) return [step('self')];
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
      return rest && [step('computed', { from: name }), ...rest];
    }
    if (rewrite.op === 'parent') {
      const leads = this.#evidence.parents(frame, rewrite.tupleset, rewrite.relation);
      return this.#lead(frame, relation, leads, depth, ({ tuple }) =>
        step('parent', { from: rewrite.relation, tuple }),
      );
    }
    if (rewrite.op === 'not') {
      // The relation may hold for another reason, while the user is excluded here.
      if (this.#evidence.valueOf(frame, relation, rewrite) !== YES) return;
      const base = this.#rewrite(frame, relation, rewrite.base, depth + 1, deeper(step));
      return base && [step('but not'), ...base];
    }
    const found: Step[] = [];
    for (const operand of rewrite.of) {
      const below = rewrite.op === 'and';
      const steps = this.#rewrite(frame, relation, operand, below ? depth + 1 : depth, below ? deeper(step) : step);
      if (!below && steps) return steps;
      if (below && !steps) return;
      found.push(...(steps ?? []));
    }
    return rewrite.op === 'and' ? [step('and'), ...found] : undefined;
  }

  #direct(frame: number, relation: number, depth: number, step: MakeStep): Step[] | undefined {
    const stated = this.#evidence.stated(frame, relation);
    if (stated?.user.endsWith(':*') && stated.user !== this.#evidence.user) {
      return [step('everyone', { tuple: stated })];
    }
    if (stated) return [step('direct', { tuple: stated })];
    return this.#lead(frame, relation, this.#evidence.usersets(frame, relation), depth, ({ tuple }) =>
      step('userset', { tuple }),
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

type MakeStep = (rule: Rule, because?: Pick<Step, 'tuple' | 'from'>) => Step;

function deeper(step: MakeStep): MakeStep {
  return (rule, because) => {
    const made = step(rule, because);
    return { ...made, depth: made.depth + 1 };
  };
}
