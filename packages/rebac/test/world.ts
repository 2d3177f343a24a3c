import { fc } from '../../../test/support/checks/properties.ts';
import type { ModelJson, RestrictionJson, RewriteJson, TypeJson } from '../src/syntax.ts';
import type { Tuple } from '../src/tuple.ts';
import { validateModel } from '../src/validation/model-validation.ts';

export interface World {
  readonly model: ModelJson;
  readonly tuples: readonly (Tuple & { readonly source: string })[];
  readonly users: readonly string[];
  readonly objects: readonly string[];
  readonly context: Readonly<Record<string, unknown>>;
}

const PLACES = ['group', 'folder', 'doc'] as const;
const RELATIONS = ['a', 'b', 'c', 'can_d', 'can_e'] as const;
const IDS = ['1', '2', '3'] as const;

/**
 * A world is derived from a list of numbers. Smaller numbers mean simpler elements, so failures shrink to small worlds.
 */
export const worlds: fc.Arbitrary<World> = fc
  .noBias(fc.array(fc.nat(0xffff), { minLength: 360, maxLength: 360, size: 'max' }))
  .map((numbers) => readWorld(new Choices(numbers)))
  .filter(({ model }) => isValid(model));

function isValid(model: ModelJson): boolean {
  try {
    validateModel(model);
    return true;
  } catch {
    return false;
  }
}

class Choices {
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  below(limit: number): number {
    return (this.#numbers[this.#next++ % this.#numbers.length] ?? 0) % limit;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** True in this many of a hundred cases. A zero is false. */
  percent(chance: number): boolean {
    return this.below(100) >= 100 - chance;
  }
}

function readWorld(choices: Choices): World {
  const model = readModelJson(choices);
  const places = PLACES.flatMap((type) => IDS.map((id) => `${type}:${id}`));
  const tuples = Array.from({ length: 8 + choices.below(42) }, () => readTuple(choices, model));
  const users = ['user:1', 'user:2', 'user:3', 'robot:1', 'user:*', `${choices.of(places)}#${choices.of(RELATIONS)}`];
  users.push(choices.of(places));
  return { model, tuples, users, objects: places, context: choices.percent(70) ? { x: choices.below(16) } : {} };
}

function readModelJson(choices: Choices): ModelJson {
  // Each world favours one kind of operator and of restriction, because an even mixture would bury each of them.
  const taste = { and: choices.below(30), not: choices.below(40), condition: choices.of([0, 0, 30, 75]) };
  const places = PLACES.map((type): TypeJson => {
    const relations: Record<string, RewriteJson> = { parent: { this: {} } };
    const parents: RestrictionJson[] = [{ type: choices.of(PLACES) }, { type: choices.of(PLACES) }];
    if (taste.condition > 0 && choices.percent(30)) parents.push({ type: choices.of(PLACES), condition: 'small' });
    // Now and then all parents need the condition.
    if (parents.length === 3 && choices.percent(25)) parents.splice(0, 2);
    const metadata: Record<string, { directly_related_user_types: RestrictionJson[] }> = {
      parent: { directly_related_user_types: distinct(parents) },
    };
    for (const [index, name] of RELATIONS.entries()) {
      const direct = index < 2 || choices.percent(75);
      relations[name] = readRewrite(choices, index, direct, taste, 2);
      const count = hasDirect(relations[name]) ? 1 + choices.below(4) : 0;
      metadata[name] = {
        directly_related_user_types: distinct(Array.from({ length: count }, () => readRestriction(choices, taste))),
      };
    }
    return { type, relations, metadata: { relations: metadata } };
  });
  const conditions = JSON.stringify(places).includes('"condition"') ? { conditions: { small: SMALL } } : {};
  return { schema_version: '1.1', type_definitions: [{ type: 'user' }, { type: 'robot' }, ...places], ...conditions };
}

const SMALL = { name: 'small', expression: 'x < 10', parameters: { x: { type_name: 'TYPE_NAME_INT' } } };

function distinct<T>(list: readonly T[]): T[] {
  return [...new Map(list.map((one) => [JSON.stringify(one), one])).values()];
}

interface Taste {
  readonly and: number;
  readonly not: number;
  readonly condition: number;
}

/** Direct assignment comes first or not at all, as the language requires. */
function readRewrite(choices: Choices, index: number, direct: boolean, taste: Taste, depth: number): RewriteJson {
  const operator = choices.below(100);
  if (depth === 0 || operator < 25) return readLeaf(choices, index, direct);
  const first = readRewrite(choices, index, direct, taste, depth - 1);
  let second = readRewrite(choices, index, false, taste, depth - 1);
  // An operand may not be stated twice.
  for (let tries = 0; tries < 3 && JSON.stringify(second) === JSON.stringify(first); tries++)
    second = readLeaf(choices, index, false);
  if (operator < 25 + taste.not) return { difference: { base: first, subtract: second } };
  if (operator < 25 + taste.not + taste.and) return { intersection: { child: [first, second] } };
  const third = choices.percent(30) ? [readLeaf(choices, index, false)] : [];
  return { union: { child: distinct([first, second, ...third]) } };
}

function readLeaf(choices: Choices, index: number, direct: boolean): RewriteJson {
  // JSON can state direct assignments twice, which text cannot.
  if (direct || choices.percent(3)) return { this: {} };
  // A relation is computed from earlier ones only: a model may not have circles within a type.
  const relation = RELATIONS[choices.below(Math.max(index, 1))];
  if (index > 0 && choices.below(100) < 60) return { computedUserset: { relation: relation ?? 'a' } };
  return { tupleToUserset: { tupleset: { relation: 'parent' }, computedUserset: { relation: choices.of(RELATIONS) } } };
}

function hasDirect(rewrite: RewriteJson): boolean {
  const { union, intersection, difference } = rewrite;
  const parts = [...(union?.child ?? []), ...(intersection?.child ?? [])];
  return (
    rewrite.this !== undefined ||
    parts.some(hasDirect) ||
    (difference?.base !== undefined && hasDirect(difference.base)) ||
    (difference?.subtract !== undefined && hasDirect(difference.subtract))
  );
}

function readRestriction(choices: Choices, taste: Taste): RestrictionJson {
  const condition = choices.percent(taste.condition) ? { condition: 'small' } : {};
  const kind = choices.below(100);
  if (kind < 38) return { type: 'user', ...condition };
  if (kind < 48) return { type: 'user', wildcard: {}, ...condition };
  if (kind < 53) return { type: 'robot', ...condition };
  if (kind < 56) return { type: choices.of(PLACES), ...condition };
  return { type: choices.of(PLACES), relation: choices.of(RELATIONS), ...condition };
}

function readTuple(choices: Choices, model: ModelJson): Tuple & { readonly source: string } {
  const type = choices.of(model.type_definitions.slice(2));
  const relation = choices.percent(20) ? 'parent' : choices.of(RELATIONS);
  const allowed = type.metadata?.relations?.[relation]?.directly_related_user_types ?? [];
  const source = `s${choices.below(4)}`;
  const object = `${type.type}:${choices.of(IDS)}`;
  // Some tuples are stale: the model does not allow them (any more).
  const one =
    allowed.length === 0 || choices.percent(6)
      ? readRestriction(choices, { and: 0, not: 0, condition: 10 })
      : choices.of(allowed);
  const id = one.wildcard ? '*' : choices.of(IDS);
  const user = `${one.type}:${id}${one.relation ? `#${one.relation}` : ''}`;
  if (one.condition === undefined) return { user, relation, object, source };
  const context = choices.percent(40) ? { context: { x: choices.below(20) } } : {};
  return { user, relation, object, source, condition: { name: one.condition, ...context } };
}

/** The result of a tuple's condition, computed by hand. */
export function weigh(context: Readonly<Record<string, unknown>>): (tuple: Tuple) => 'yes' | 'no' | 'error' {
  return (tuple) => {
    if (tuple.condition === undefined) return 'yes';
    const x = tuple.condition.context?.x ?? context.x;
    if (x === undefined) return 'error';
    return (x as number) < 10 ? 'yes' : 'no';
  };
}
