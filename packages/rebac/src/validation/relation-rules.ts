import type { RestrictionJson, RewriteJson, TypeJson } from '../syntax.ts';
import { type Fault, leavesOf, operandsOf, restrictionsOf, type TypeTable } from './model-faults.ts';

const FORMS = ['this', 'computedUserset', 'tupleToUserset', 'union', 'intersection', 'difference'] as const;

/** Everything that the definitions of a model refer to must exist and be of the right kind. */
export function* relationFaults(table: TypeTable): IterableIterator<Fault> {
  for (const [type, json] of table.types.entries()) {
    for (const [relation, rewrite] of Object.entries(json.relations ?? {})) {
      const at = { type, relation };
      const malformed = [...formFaults(rewrite)];
      for (const message of malformed) yield { ...at, message };
      if (malformed.length > 0) continue;
      const leaves = [...leavesOf(rewrite)];
      for (const leaf of leaves) {
        for (const message of leafFaults(table, json, relation, leaf)) yield { ...at, message };
      }
      if (
        leaves.every((leaf) => leaf.computedUserset || leaf.tupleToUserset) &&
        restrictionsOf(json, relation).length > 0
      )
        yield { ...at, message: `\`${relation}\` has type restrictions but cannot be assigned directly.` };
    }
  }
}

/** Only JSON can break these rules: the grammar of the language keeps them. */
function* formFaults(rewrite: RewriteJson): IterableIterator<string> {
  const forms = FORMS.filter((form) => rewrite[form] !== undefined && rewrite[form] !== null);
  if (forms.length !== 1) {
    yield forms.length === 0
      ? 'the relation is not defined by any rewrite.'
      : `the relation is defined by ${forms.join(' and ')} at once.`;
    return;
  }
  const operands = operandsOf(rewrite);
  if ((rewrite.union || rewrite.intersection) && operands.length < 2)
    yield `${forms[0]} needs at least two operands, got ${operands.length}.`;
  for (const operand of operands) yield* formFaults(operand);
}

function* leafFaults(table: TypeTable, type: TypeJson, relation: string, leaf: RewriteJson): IterableIterator<string> {
  if (leaf.this) {
    const restrictions = restrictionsOf(type, relation);
    if (restrictions.length === 0) yield `assignable relation '${relation}' must have types`;
    for (const restriction of restrictions) yield* restrictionFaults(table, restriction);
  } else if (leaf.computedUserset) {
    const { relation: name = '' } = leaf.computedUserset;
    if (table.relation(type.type, name) === undefined) yield `the relation \`${name}\` does not exist.`;
  } else if (leaf.tupleToUserset) yield* parentFaults(table, type, leaf.tupleToUserset);
}

function* restrictionFaults(table: TypeTable, restriction: RestrictionJson): IterableIterator<string> {
  const { type, relation, wildcard, condition } = restriction;
  if (!table.has(type)) yield `\`${type}\` is not a valid type.`;
  if (condition && !table.conditions.has(condition)) yield `\`${condition}\` is not a defined condition in the model.`;
  if (wildcard && relation)
    yield `type restriction \`${nameOf(restriction)}\` cannot contain both wildcard and relation`;
  else if (relation && table.relation(type, relation) === undefined)
    yield `\`${relation}\` is not a valid relation for \`${type}\`.`;
}

/** `x from y`: y is assigned plain objects only, and at least one of their types has x. */
function* parentFaults(
  table: TypeTable,
  type: TypeJson,
  { tupleset, computedUserset }: NonNullable<RewriteJson['tupleToUserset']>,
): IterableIterator<string> {
  const [from = '', asked = ''] = [tupleset?.relation, computedUserset?.relation];
  const rewrite = table.relation(type.type, from);
  if (rewrite === undefined) {
    yield `\`${from}\` is not a valid relation for \`${type.type}\`.`;
    return;
  }
  const parents = rewrite.this ? restrictionsOf(type, from) : [];
  if (parents.length === 0 || parents.some((parent) => parent.wildcard || parent.relation)) {
    yield `\`${from}\` relation used inside from allows only direct relation.`;
    return;
  }
  if (parents.some((parent) => table.relation(parent.type, asked) !== undefined)) return;
  for (const parent of new Set(parents.map((one) => one.type))) {
    yield `the \`${asked}\` relation definition on type \`${type.type}\` is not valid: \`${asked}\` does not exist on \`${from}\`, which is of type \`${parent}\`.`;
  }
}

/** Restrictions and operands that are stated twice. */
export function* duplicateFaults({ types }: TypeTable): IterableIterator<Fault> {
  for (const [type, json] of types.entries()) {
    for (const [relation, rewrite] of Object.entries(json.relations ?? {})) {
      for (const name of repeated(restrictionsOf(json, relation).map(nameOf))) {
        const message = `the type restriction \`${name}\` is a duplicate in the relation \`${relation}\`.`;
        yield { type, relation, message };
      }
      for (const name of repeated(operandsOf(rewrite).map(operandName))) {
        const message = `the partial relation definition \`${name}\` is a duplicate in the relation \`${relation}\`.`;
        yield { type, relation, message };
      }
    }
  }
}

function repeated(names: readonly (string | undefined)[]): Set<string> {
  return new Set(
    names.filter((name): name is string => name !== undefined).filter((name, at, all) => all.indexOf(name) < at),
  );
}

function operandName({ computedUserset, tupleToUserset }: RewriteJson): string | undefined {
  if (computedUserset) return computedUserset.relation;
  return tupleToUserset && `${tupleToUserset.computedUserset?.relation} from ${tupleToUserset.tupleset?.relation}`;
}

function nameOf({ type, relation, wildcard, condition }: RestrictionJson): string {
  const subject = `${type}${wildcard ? ':*' : ''}${relation ? `#${relation}` : ''}`;
  return condition ? `${subject} with ${condition}` : subject;
}
