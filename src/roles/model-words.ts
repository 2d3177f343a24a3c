import type { Model, RelationDef, Rewrite, TypeDef } from '../../packages/rebac/src/rebac.ts';
import { describeRelation, doing } from '../authz/explain/explanation-text.ts';
import { permissionName } from '../authz/explain/permission-names.ts';
import { kindOf } from '../changes/object-kinds.ts';
import { CATALOG, type PermissionPair } from './catalog.ts';

export interface DescribedType {
  readonly type: string;
  readonly relations: readonly DescribedRelation[];
}

export interface DescribedRelation {
  readonly relation: string;
  /** A few words, such as "connect to the cluster". */
  readonly title: string;
  /** One sentence: what it is for, or who holds it. */
  readonly description: string;
  /** The permission of a custom role that grants it, if there is one. */
  readonly catalog: PermissionPair | undefined;
}

/** The model in words, for people who choose a permission or want to know what it means. */
export function describeModel(model: Model): DescribedType[] {
  return model.types.map((type) => ({
    type: type.name,
    relations: type.relations.map((relation) => describe(type, relation)),
  }));
}

/** One permission in as few words as a table has room for: "edit clusters" of an organization, "edit" of a cluster. */
export function nameOfRelation(type: string, relation: string): string {
  const entry = type === 'organization' ? CATALOG.find((one) => one.relation === relation) : undefined;
  if (entry) return permissionName(entry.action);
  return doing(relation, '%')
    .replace(/ (?:(?:of|in|into|from|to) )?%$/, '')
    .replaceAll('the ', '');
}

/** The same in a few words more: "connect to the cluster". */
export function titleOfRelation(type: string, relation: string): string {
  const object = `the ${kindOf(type)?.title ?? type}`;
  return relation.startsWith('can_') ? doing(relation, object) : describeRelation(relation, object);
}

function describe(type: TypeDef, { name, rewrite }: RelationDef): DescribedRelation {
  const entry = type.name === 'organization' ? CATALOG.find((one) => one.relation === name) : undefined;
  const holders = `Held by ${holdersOf(type, rewrite)}.`;
  return {
    relation: name,
    title: titleOfRelation(type.name, name),
    description: entry ? `${entry.description} ${holders}` : holders,
    catalog: entry && { namespace: entry.namespace, action: entry.action },
  };
}

/** Who holds a relation, read from its rule. */
function holdersOf(type: TypeDef, rewrite: Rewrite): string {
  switch (rewrite.op) {
    case 'this':
      return 'the users and robots it is assigned to';
    case 'computed':
      return `all who have ${type.relations[rewrite.relation]?.name}`;
    case 'parent':
      return `all who have ${rewrite.relation} on its ${type.relations[rewrite.tupleset]?.name}`;
    case 'or':
      return rewrite.of.map((one) => holdersOf(type, one)).join(', or ');
    case 'and':
      return rewrite.of.map((one) => holdersOf(type, one)).join(' who is also ');
    case 'not':
      return `${holdersOf(type, rewrite.base)}, except ${holdersOf(type, rewrite.subtract)}`;
  }
}
