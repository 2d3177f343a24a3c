import assert from 'node:assert/strict';
import type { ModelJson, RewriteJson } from '../src/syntax.ts';
import type { Tuple } from '../src/tuple.ts';
import { Oracle, type Value } from './oracle.ts';
import { type World, weigh } from './world.ts';

/**
 * Counts what the generated worlds exercise. If the generator stops producing interesting worlds, the run fails instead
 * of passing.
 */
export class Coverage {
  decisions = 0;
  granted = 0;
  errors = 0;
  /** Decisions that depend on themselves. */
  open = 0;
  /** By construct: how many sampled decisions change if that construct is removed. */
  readonly #decided = new Map<string, number>();
  #sampled = 0;
  #turn = 0;

  count(due: Value, came: boolean | 'error'): void {
    this.decisions++;
    if (due === 'yes') this.granted++;
    if (came === 'error') this.errors++;
    if (due === 'open') this.open++;
  }

  /** For one user of every third world: how many answers depend on each construct. */
  sample(world: World): void {
    if (this.#turn++ % 3 !== 0) return;
    const user = world.users[this.#turn % world.users.length] as string;
    const solve = (model: ModelJson, tuples: readonly Tuple[]): ReadonlySet<string> =>
      new Oracle(model, tuples, user, world.objects, weigh(world.context)).granted;
    const full = solve(world.model, world.tuples);
    const without = (name: string, model: ModelJson, keep: (tuple: Tuple) => boolean): void => {
      const less = solve(model, world.tuples.filter(keep));
      const differing =
        [...full].filter((pair) => !less.has(pair)).length + [...less].filter((pair) => !full.has(pair)).length;
      this.#decided.set(name, (this.#decided.get(name) ?? 0) + differing);
    };
    this.#sampled += world.objects.length * 6;
    without('userset', world.model, (tuple) => !tuple.user.includes('#'));
    without('wildcard', world.model, (tuple) => !tuple.user.endsWith(':*'));
    without('parent', world.model, (tuple) => tuple.relation !== 'parent');
    without('condition', world.model, (tuple) => tuple.condition === undefined);
    without(
      'exclusion',
      rewritten(world.model, ({ difference }) => difference?.base),
      () => true,
    );
    without(
      'intersection',
      rewritten(world.model, ({ intersection }) => intersection && { union: intersection }),
      () => true,
    );
  }

  report(): void {
    const shares = [...this.#decided].map(([name, count]) => `${name} ${((100 * count) / this.#sampled).toFixed(2)} %`);
    const granted = this.granted / this.decisions;
    process.stdout.write(
      `# ${this.decisions} decisions, ${(100 * granted).toFixed(1)} % granted, ${this.errors} errors, ${this.open} in circles; hanging on ${shares.join(', ')}\n`,
    );
    // A short run is too small to judge shares.
    if (this.decisions < 100_000) return;
    assert.ok(granted > 0.04 && granted < 0.6, `the generator went blind: ${granted} of the answers are yes`);
    assert.ok(this.errors / this.decisions > 0.002, 'the generator went blind: hardly a condition failed');
    assert.ok(this.open / this.decisions > 0.002, 'the generator went blind: hardly a circle');
    for (const [name, count] of this.#decided) {
      assert.ok(count / this.#sampled > 0.002, `the generator went blind: hardly an answer hangs on ${name}`);
    }
  }
}

function rewritten(model: ModelJson, change: (rewrite: RewriteJson) => RewriteJson | undefined): ModelJson {
  const visit = (rewrite: RewriteJson): RewriteJson => {
    const changed = change(rewrite);
    if (changed) return visit(changed);
    const { union, intersection, difference } = rewrite;
    if (union) return { union: { child: (union.child ?? []).map(visit) } };
    if (intersection) return { intersection: { child: (intersection.child ?? []).map(visit) } };
    if (difference)
      return { difference: { base: visit(difference.base ?? {}), subtract: visit(difference.subtract ?? {}) } };
    return rewrite;
  };
  const type_definitions = model.type_definitions.map((type) => ({
    ...type,
    relations: Object.fromEntries(
      Object.entries(type.relations ?? {}).map(([name, rewrite]) => [name, visit(rewrite)]),
    ),
  }));
  return { ...model, type_definitions };
}
