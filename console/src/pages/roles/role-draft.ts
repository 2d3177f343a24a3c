import type { Answer } from '../../../../client/client.ts';
import { nameOfAction } from '../../../../client/permissions.ts';

export type Role = Answer<'GET /authz/roles/{id}'>;
export type Permission = Answer<'GET /authz/roles/available_permissions'>['permissions'][number];
export type PermissionName = Pick<Permission, 'namespace' | 'action'>;

/** A role as it is being edited. */
export interface Draft {
  readonly name: string;
  readonly description: string;
  /** Names of permissions, as `namespace:action`. */
  readonly permissions: readonly string[];
  /** Of a new role only. Afterwards, its assignments say which teams have it. */
  readonly teamIds: readonly string[];
}

export const EMPTY_DRAFT: Draft = { name: '', description: '', permissions: [], teamIds: [] };

export function draftOf(role: Role): Draft {
  return {
    name: role.name,
    description: role.description,
    permissions: role.permissions.map(keyOf).sort(),
    teamIds: [],
  };
}

export function keyOf({ namespace, action }: PermissionName): string {
  return `${namespace}:${action}`;
}

export function nameOf(key: string): PermissionName {
  const [namespace = '', action = ''] = key.split(/:(.*)/s);
  return { namespace, action };
}

export function bodyOf(draft: Draft) {
  return {
    name: draft.name,
    description: draft.description,
    permissions: draft.permissions.map(nameOf),
  };
}

export function newBodyOf(draft: Draft) {
  return { ...bodyOf(draft), teamIDs: draft.teamIds.map(BigInt) };
}

/** Saving the draft, as a preview takes it. A role that has no name yet can be previewed all the same. */
export function plannedRole(id: bigint | undefined, draft: Draft) {
  const named = { ...draft, name: draft.name || 'new role' };
  return id === undefined
    ? ({ action: 'role.create', role: newBodyOf(named) } as const)
    : ({ action: 'role.update', id, role: bodyOf(named) } as const);
}

export function isSame(one: Draft, other: Draft): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(draft: Draft): Draft {
  return { ...draft, permissions: [...draft.permissions].sort(), teamIds: [...draft.teamIds].sort() };
}

/** What a permission cannot do without, directly and through others. */
export function requiredBy(key: string, all: readonly Permission[]): readonly string[] {
  const found = new Set<string>();
  const visit = (name: string) => {
    const permission = all.find((one) => keyOf(one) === name);
    for (const other of permission?.associated ?? []) {
      if (!other.required || found.has(keyOf(other))) continue;
      found.add(keyOf(other));
      visit(keyOf(other));
    }
  };
  visit(key);
  found.delete(key);
  return [...found];
}

/** Ticking a permission ticks what it needs. Unticking one unticks what needs it. */
export function toggled(draft: Draft, key: string, isOn: boolean, all: readonly Permission[]): Draft {
  const set = new Set(draft.permissions);
  if (isOn) for (const one of [key, ...requiredBy(key, all)]) set.add(one);
  else {
    set.delete(key);
    for (const one of draft.permissions) if (requiredBy(one, all).includes(key)) set.delete(one);
  }
  return { ...draft, permissions: [...set].sort() };
}

/** What one side changed, in words, for two people who edited the same role. */
export function changesBetween(before: Draft, after: Draft): readonly string[] {
  const added = (one: readonly string[], other: readonly string[]) => other.filter((item) => !one.includes(item));
  const say = (key: string) => nameOfAction(nameOf(key).action);
  return [
    ...(before.name === after.name ? [] : [`name: ${before.name} → ${after.name}`]),
    ...(before.description === after.description ? [] : [`description: ${after.description || 'none'}`]),
    ...added(before.permissions, after.permissions).map((key) => `+ ${say(key)}`),
    ...added(after.permissions, before.permissions).map((key) => `− ${say(key)}`),
  ];
}
