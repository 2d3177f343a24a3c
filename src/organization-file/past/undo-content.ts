import type { AuditAction } from '../../changes/audit-actions.ts';
import type { PlaceType, PrincipalType } from '../../changes/object-kinds.ts';
import { principalOfRobot } from '../../changes/principal.ts';
import { GUARDRAIL_KINDS, type GuardedType, type Guardrail } from '../../guardrails/guardrail.ts';
import {
  doesNotFit,
  type Fields,
  type LoggedChange,
  listIn,
  textIn,
  unknownBefore,
} from '../../history/logged-change.ts';
import { WALLS, wallBefore } from '../../history/undo.ts';
import type { Permission } from '../../identity/callers.ts';
import { findPermission, inCatalogOrder } from '../../roles/catalog.ts';
import type { AssignmentThen, PastContent, RoleThen } from './past-content.ts';

type Undo = (content: PastContent, change: LoggedChange, id: bigint) => void;
type ActionOn<Kind extends string> = Extract<AuditAction, `${Kind}.${string}`>;
type ToldAction = ActionOn<'team'> | ActionOn<'role'> | ActionOn<'assignment'> | ActionOn<'guardrail'>;

/** Every action about what a file of the past shows. Entries are undone newest first. */
const UNDO: Readonly<Record<ToldAction, Undo>> = {
  'team.create': undoTeamCreate,
  'team.update': undoTeamUpdate,
  'team.delete': undoTeamDelete,
  'team.provision': undoProvision,
  'team.add_member': undoJoin,
  'team.update_member': undoTerm,
  'team.remove_member': undoLeave,
  'team.expire_member': undoLeave,
  'role.create': undoRole,
  'role.update': undoRole,
  'role.expire': undoRole,
  'role.delete': undoRole,
  'assignment.create': undoAssign,
  'assignment.update': undoReassign,
  'assignment.delete': undoUnassign,
  'assignment.expire': undoUnassign,
  'assignment.end': undoUnassign,
  'guardrail.create': undoGuardrail,
  'guardrail.update': undoGuardrail,
  'guardrail.delete': undoGuardrail,
};

/** The actions that the question needs. Walls are in the chain of the organization or of the deployment. */
export const TOLD_ACTIONS: readonly string[] = [...Object.keys(UNDO), ...WALLS];

export function undoContent(content: PastContent, change: LoggedChange): void {
  if ((WALLS as readonly string[]).includes(change.action)) throw wallBefore(change);
  (UNDO as Readonly<Record<string, Undo>>)[change.action]?.(content, change, BigInt(change.objectId));
}

function undoTeamCreate({ teams }: PastContent, change: LoggedChange, id: bigint): void {
  const team = teams.get(id);
  if (team?.name !== change.after.name || team?.members.size !== 0) throw doesNotFit(change);
  teams.delete(id);
}

function undoTeamUpdate({ teams }: PastContent, change: LoggedChange, id: bigint): void {
  const team = teams.get(id);
  if (team === undefined || team.name !== change.after.name || team.permission !== change.after.permission) {
    throw doesNotFit(change);
  }
  teams.set(id, { ...team, ...describedIn(change), permission: permissionIn(change) });
}

function undoTeamDelete({ teams, roles }: PastContent, change: LoggedChange, id: bigint): void {
  const { isScim, memberEnds, roleEnds } = change.before;
  if (typeof isScim !== 'boolean') {
    throw unknownBefore(
      change,
      'the entry about the deletion of a team does not tell when its memberships were to end',
    );
  }
  if (teams.has(id)) throw doesNotFit(change);
  const members = listIn(change, 'before', 'members').map((user) => {
    return [BigInt(user), { login: '', expiresAt: endIn(memberEnds, user), isProvided: undefined }] as const;
  });
  // Only teams that are not built in can be deleted.
  const common = { ...describedIn(change), permission: permissionIn(change), isBuiltIn: false };
  teams.set(id, { ...common, isScim, members: new Map(members) });
  for (const roleId of listIn(change, 'before', 'roleIds')) {
    const role = roles.get(BigInt(roleId));
    if (role === undefined || role.teams.has(id)) throw doesNotFit(change);
    role.teams.set(id, endIn(roleEnds, roleId));
  }
}

/** A team that had no external ID may have been SCIM's all the same: nothing matters if it was only created then. */
function undoProvision({ teams }: PastContent, change: LoggedChange, id: bigint): void {
  const team = teams.get(id);
  if (team === undefined) throw doesNotFit(change);
  if (typeof change.before.externalId !== 'string') teams.set(id, { ...team, isScim: undefined });
}

function undoJoin({ teams }: PastContent, change: LoggedChange, id: bigint): void {
  if (!teams.get(id)?.members.delete(BigInt(textIn(change, 'after', 'userId')))) throw doesNotFit(change);
}

function undoTerm({ teams }: PastContent, change: LoggedChange, id: bigint): void {
  const [members, user] = [teams.get(id)?.members, BigInt(textIn(change, 'after', 'userId'))];
  const member = members?.get(user);
  if (members === undefined || member === undefined) throw doesNotFit(change);
  members.set(user, { ...member, expiresAt: dateOf(change.before.expiresAt) });
}

function undoLeave({ teams }: PastContent, change: LoggedChange, id: bigint): void {
  const [members, user] = [teams.get(id)?.members, BigInt(textIn(change, 'before', 'userId'))];
  if (members === undefined || members.has(user)) throw doesNotFit(change);
  const { username, expiresAt } = change.before;
  members.set(user, { login: String(username ?? ''), expiresAt: dateOf(expiresAt), isProvided: undefined });
}

/** An entry about a role tells all of it before, and all but the ends after. */
function undoRole({ roles }: PastContent, change: LoggedChange, id: bigint): void {
  const [before, after] = [roleIn(change, 'before'), roleIn(change, 'after')];
  if (!isSameRole(roles.get(id), after)) throw doesNotFit(change);
  if (before) roles.set(id, before);
  else roles.delete(id);
}

function isSameRole(one: RoleThen | undefined, other: RoleThen | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const said = ({ name, permissions, teams }: RoleThen) =>
    JSON.stringify([
      name,
      permissions.map((pair) => [pair.namespace, pair.action]),
      [...teams.keys()].map(String).sort(),
    ]);
  return said(one) === said(other);
}

function roleIn(change: LoggedChange, when: 'before' | 'after'): RoleThen | undefined {
  const { name, description, permissions, teamExpiries } = change[when];
  if (typeof name !== 'string') return undefined;
  const pairs = (Array.isArray(permissions) ? permissions : []) as { namespace: string; action: string }[];
  const found = pairs.map((pair) => {
    const entry = findPermission(pair);
    if (entry) return entry;
    throw unknownBefore(change, `a role had the permission "${pair.action}", which this release does not have`);
  });
  const teams = listIn(change, when, 'teamIds').map((team) => [BigInt(team), endIn(teamExpiries, team)] as const);
  return { name, description: String(description ?? ''), permissions: inCatalogOrder(found), teams: new Map(teams) };
}

interface AssignmentFields {
  readonly roleId: string;
  readonly to: { readonly type: PrincipalType; readonly id: string; readonly name: string };
  readonly on: { readonly type: PlaceType; readonly id?: string; readonly name: string };
  readonly namespaces?: readonly string[];
  readonly reason?: string;
  readonly expiresAt?: string;
}

function assignmentIn(change: LoggedChange, when: 'before' | 'after') {
  const fields = change[when] as unknown as AssignmentFields;
  const { roleId, to, on } = fields;
  if (typeof roleId !== 'string' || to === undefined || on === undefined) {
    throw unknownBefore(change, `the entry ${change.action} does not tell what was assigned`);
  }
  // A team that has a role in the whole organization is a part of the role.
  return { ...fields, isOfRole: to.type === 'team' && on.type === 'organization', end: dateOf(fields.expiresAt) };
}

function undoAssign({ roles, assignments }: PastContent, change: LoggedChange, id: bigint): void {
  const { isOfRole, roleId, to } = assignmentIn(change, 'after');
  const was = isOfRole ? roles.get(BigInt(roleId))?.teams.delete(BigInt(to.id)) : assignments.delete(id);
  if (!was) throw doesNotFit(change);
}

function undoReassign({ roles, assignments }: PastContent, change: LoggedChange, id: bigint): void {
  const { isOfRole, roleId, to, reason = '', end } = assignmentIn(change, 'before');
  const [teams, team] = [roles.get(BigInt(roleId))?.teams, BigInt(to.id)];
  const current = assignments.get(id);
  if (isOfRole && teams?.has(team)) teams.set(team, end);
  else if (!isOfRole && current) assignments.set(id, { ...current, reason, expiresAt: end });
  else throw doesNotFit(change);
}

function undoUnassign({ roles, assignments }: PastContent, change: LoggedChange, id: bigint): void {
  const fields = assignmentIn(change, 'before');
  const teams = roles.get(BigInt(fields.roleId))?.teams;
  const team = BigInt(fields.to.id);
  if (fields.isOfRole && (teams === undefined || teams.has(team))) throw doesNotFit(change);
  if (!fields.isOfRole && (teams === undefined || assignments.has(id))) throw doesNotFit(change);
  if (fields.isOfRole) teams?.set(team, fields.end);
  else assignments.set(id, assignmentThen(id, fields));
}

function assignmentThen(id: bigint, fields: ReturnType<typeof assignmentIn>): AssignmentThen {
  const { roleId, to, on, namespaces, reason = '', end } = fields;
  return {
    ...{ id, roleId: BigInt(roleId), reason, expiresAt: end, isRequested: undefined },
    to: { ...to, id: BigInt(to.id) },
    on: {
      ...{ type: on.type, id: on.id === undefined ? undefined : BigInt(on.id), name: on.name },
      ...(namespaces && { namespaces: namespaces.toSorted() }),
    },
  };
}

function undoGuardrail({ guardrails }: PastContent, change: LoggedChange, id: bigint): void {
  const current = guardrails.get(id);
  const [before, after] = [change.before.name, change.after.name];
  if (current?.name !== after) throw doesNotFit(change);
  if (before === undefined) guardrails.delete(id);
  else guardrails.set(id, guardrailIn(change, id, current));
}

function guardrailIn(change: LoggedChange, id: bigint, current: Guardrail | undefined): Guardrail {
  const { name, description, enforce } = change.before;
  const kind = GUARDRAIL_KINDS.find((one) => change.before[one] !== undefined);
  if (kind === undefined) throw unknownBefore(change, `the entry ${change.action} does not tell what was stated`);
  const said = change.before[kind] as Fields;
  const object = (said.object ?? {}) as Fields;
  const ids = (list: unknown) => (Array.isArray(list) ? list.map((one) => BigInt(String(one))) : []);
  const idIn = (value: unknown) => (value === undefined ? undefined : BigInt(String(value)));
  return {
    ...{ id, organizationId: 0n, version: 0, statement: 0, createdAt: new Date(0), updatedAt: new Date(0), names: {} },
    ...current,
    ...{ name: String(name), description: String(description ?? ''), enforce: enforce === true, kind },
    userIds: [...ids(said.userIds), ...ids(said.robotIds).map(principalOfRobot)],
    ...{ teamId: idIn(said.teamId), count: said.count === undefined ? undefined : Number(said.count) },
    ...{ relation: String(said.relation), objectType: object.type as GuardedType, objectId: idIn(object.id) },
  };
}

function describedIn(change: LoggedChange) {
  return { name: textIn(change, 'before', 'name'), description: String(change.before.description ?? '') };
}

function permissionIn(change: LoggedChange): Permission {
  return textIn(change, 'before', 'permission') as Permission;
}

function endIn(ends: unknown, key: string): Date | null {
  return dateOf(((ends ?? {}) as Fields)[key]);
}

function dateOf(value: unknown): Date | null {
  return typeof value === 'string' ? new Date(value) : null;
}
