import type { ModelJson, RewriteJson, TypeJson } from '../syntax.ts';
import type { ModelPart } from './model-source.ts';

export interface Fault extends ModelPart {
  readonly message: string;
}

/** Names are looked up in maps, because a relation may be named like a built-in property. */
export interface TypeTable {
  readonly types: readonly TypeJson[];
  readonly conditions: ReadonlySet<string>;
  relation(type: string, relation: string): RewriteJson | undefined;
  has(type: string): boolean;
}

export function tableOf(model: ModelJson): TypeTable {
  const types = model.type_definitions ?? [];
  const relations = new Map<string, Map<string, RewriteJson>>();
  // Of two types with the same name the last one counts, as in OpenFGA. The duplicate is reported anyway.
  for (const { type, relations: own } of types) relations.set(type, new Map(Object.entries(own ?? {})));
  return {
    types,
    conditions: new Set(Object.keys(model.conditions ?? {})),
    relation: (type, relation) => relations.get(type)?.get(relation),
    has: (type) => relations.has(type),
  };
}

export function restrictionsOf(type: TypeJson, relation: string) {
  const all = type.metadata?.relations ?? {};
  return (Object.hasOwn(all, relation) ? all[relation]?.directly_related_user_types : undefined) ?? [];
}

/** The operands of an operator. A leaf has none. */
export function operandsOf({ union, intersection, difference }: RewriteJson): readonly RewriteJson[] {
  if (difference) return [difference.base ?? {}, difference.subtract ?? {}];
  return (union ?? intersection)?.child ?? [];
}

export function* leavesOf(rewrite: RewriteJson): IterableIterator<RewriteJson> {
  if (rewrite.union || rewrite.intersection || rewrite.difference) {
    for (const operand of operandsOf(rewrite)) yield* leavesOf(operand);
  } else yield rewrite;
}
