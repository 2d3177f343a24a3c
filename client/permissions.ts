import { ACTION_NAMES, RELATION_NAMES } from './permissions.gen.ts';

/** What people read for a permission of a role: "edit clusters" for the action `reconfigure clusters`. */
export function nameOfAction(action: string): string {
  return ACTION_NAMES[action] ?? action;
}

/**
 * The same permission as a relation: "edit clusters" for `can_edit_clusters` of an organization, "edit" for a
 * cluster. Without a type, the first one that has it counts.
 */
export function nameOfRelation(type: string | undefined, relation: string): string {
  const tables = type === undefined ? Object.values(RELATION_NAMES) : [RELATION_NAMES[type] ?? {}];
  const name = tables.map((names) => names[relation]).find((one) => one !== undefined);
  return name ?? relation.replace(/^can_/, '').replaceAll('_', ' ');
}
