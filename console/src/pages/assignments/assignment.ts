import type { NewAssignmentInput } from '../../../../client/api.gen.ts';
import type { Item } from '../../../../client/client.ts';
import { titleOf } from '../../../../client/object-kinds.ts';
import type { PlannedChange } from '../../parts/impact.tsx';

export type Assignment = Item<'GET /authz/assignments'>;
export type NewAssignment = NewAssignmentInput;

interface Named {
  readonly id: bigint;
  readonly name: string;
}

/** What the page that shows assignments is about. They all have it, and a new one gets it. */
export interface Given {
  readonly role?: Named | undefined;
  readonly to?: (Named & { readonly type: string }) | undefined;
  readonly on?: (Named & { readonly type: string }) | undefined;
}

/** What people call a type that a role is assigned to or on. */
export function kindWord(type: string): string {
  return type === 'user' ? 'person' : titleOf(type);
}

export function placeWords({ type, name }: Pick<Assignment['on'], 'type' | 'name'>): string {
  return type === 'organization' ? 'the organization' : `${titleOf(type)} ${name}`;
}

/** "cluster-operator for dan on cluster prod" */
export function assignmentWords({ role, to, on }: Pick<Assignment, 'role' | 'to' | 'on'>): string {
  return `${role.name} for ${to.name} on ${placeWords(on)}`;
}

/** Making an assignment, as a preview takes it. What teams have in the whole organization is a part of the role. */
export function plannedCreate({ role, to, on, expires_at }: NewAssignment): PlannedChange {
  const end = expires_at ? { expires_at } : {};
  if (to.type === 'team' && to.id != null && on === undefined && role.id !== undefined) {
    return { action: 'role.assign', id: role.id, team: to.id, ...end };
  }
  return { action: 'assignment.create', role, to, ...(on && { on }), ...end };
}

export function plannedUpdate(assignment: Assignment, expiresAt: string | null): PlannedChange {
  const { id, role, to } = assignment;
  if (isPartOfRole(assignment)) return { action: 'role.assign', id: role.id, team: to.id, expires_at: expiresAt };
  return { action: 'assignment.update', id, expires_at: expiresAt };
}

export function plannedEnd(assignment: Assignment): PlannedChange {
  const { id, role, to } = assignment;
  if (isPartOfRole(assignment)) return { action: 'role.unassign', id: role.id, team: to.id };
  return { action: 'assignment.delete', id };
}

/** Another set of clusters, with other roles assigned on it. */
export function plannedMove(id: bigint, clusterSetName: string): PlannedChange {
  return { action: 'cluster.update', id, cluster: { clusterSetName } };
}

function isPartOfRole({ to, on }: Assignment): boolean {
  return to.type === 'team' && on.type === 'organization';
}
