import { doesNotFit, itself, type LoggedChange, noteEnd, unknownBefore } from './logged-change.ts';
import type { PastState } from './past-state.ts';

const OWNERS = 'Owners';

/** A team that has a role in the whole organization is a part of the role. */
function isOfRole({ to, on }: AssignmentFields): boolean {
  return to.type === 'team' && on.type === 'organization';
}

export function ofAssignment(change: LoggedChange): string[] {
  const fields = assignmentIn(change);
  return isOfRole(fields) ? [`role:${fields.roleId}`] : itself(change);
}

interface AssignmentFields {
  readonly roleId: string;
  readonly to: { readonly type: string; readonly id: string };
  readonly on: { readonly type: string; readonly id?: string; readonly name: string };
  readonly namespaces?: readonly string[] | undefined;
}

/** Entries about an assignment tell all of it: what was made, or what ended. */
function assignmentIn(change: LoggedChange): AssignmentFields {
  const fields = change.action === 'assignment.create' ? change.after : change.before;
  const { roleId, to, on, namespaces } = fields as unknown as AssignmentFields;
  if (typeof roleId === 'string' && to !== undefined && on !== undefined) return { roleId, to, on, namespaces };
  throw unknownBefore(change, `the entry ${change.action} does not tell what was assigned`);
}

export function undoAssign({ roles, assigned, ends }: PastState, change: LoggedChange): void {
  const fields = assignmentIn(change);
  const was = isOfRole(fields)
    ? roles.get(fields.roleId)?.teams.delete(fields.to.id)
    : assigned.delete(change.objectId);
  if (!was) throw doesNotFit(change);
  ends.delete(isOfRole(fields) ? `role:${fields.roleId} ${fields.to.id}` : `assignment:${change.objectId}`);
}

export function undoUnassign(state: PastState, change: LoggedChange): void {
  const fields = assignmentIn(change);
  const { roleId, to, on, namespaces } = fields;
  if (isOfRole(fields)) {
    const role = state.roles.get(roleId);
    if (role === undefined || role.teams.has(to.id)) throw doesNotFit(change);
    role.teams.add(to.id);
    noteEnd(state.ends, `role:${roleId} ${to.id}`, change.before.expiresAt);
    return;
  }
  if (state.assigned.has(change.objectId)) throw doesNotFit(change);
  const place = on.type === 'cluster_set' ? state.setIds.get(on.name) : on.id;
  if (on.type !== 'organization' && place === undefined) throw doesNotFit(change);
  state.assigned.set(change.objectId, {
    roleId,
    to: `${to.type}:${to.id}`,
    on: on.type === 'organization' ? undefined : `${on.type}:${place}`,
    // No other team can have the name of a built-in one.
    isOnOwners: on.type === 'team' && on.name === OWNERS,
    namespaces,
  });
  noteEnd(state.ends, `assignment:${change.objectId}`, change.before.expiresAt);
}
