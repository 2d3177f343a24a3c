import type { Gift } from '../authz/places/held-places.ts';
import { effectiveOn, type Place } from '../authz/places/places.ts';
import { type Limits, limitReached } from '../base/config/limits.ts';
import { AppError, type FieldFault, missingRelation } from '../base/errors.ts';
import { endsBefore, requireExpiryTerm } from '../base/expiry.ts';
import type { Reason } from '../base/reasons.ts';
import type { PlaceType, PrincipalType } from '../changes/object-kinds.ts';
import { isPrincipal } from '../changes/principal.ts';
import { type AssignmentEntry, assignmentWords, placeOfFault, titleOf } from './assignment-entry.ts';
import type { CatalogEntry } from './catalog.ts';
import { byName } from './role-document.ts';
import type { Plan, StoredRole } from './role-plan.ts';

export interface Whom {
  readonly type: PrincipalType;
  readonly id: bigint;
  readonly name: string;
}

/** With the only namespaces in which an assignment counts, in order. */
export interface Where extends Place {
  readonly name: string;
  /** Another contract has the same name. */
  readonly isAmbiguous?: boolean;
}

/** An assignment that is not a team of a role. */
export interface StoredAssignment {
  readonly id: bigint;
  readonly roleId: bigint;
  readonly to: Whom;
  readonly on: Where;
  readonly reason: string;
  readonly expiresAt: Date | null;
  /** It comes from an access request, so it is never in a file. */
  readonly isRequested: boolean;
}

/** The assignments of an organization at one moment, and what a file names. */
export interface AssignmentsNow {
  readonly stored: readonly StoredAssignment[];
  /** By type and name, as `nameOf` writes them. Those that the file names by their ID: `contract#5`. */
  readonly found: ReadonlyMap<string, readonly Where[]>;
  /** How many there are, wherever they come from, also by type and ID of whom they are to, such as `user:5`. */
  readonly total: number;
  readonly byPrincipal: ReadonlyMap<string, number>;
}

/** An entry of a file, with its place in it. */
export interface WantedAssignment extends Omit<AssignmentEntry, 'expiresAt'> {
  readonly place: number;
  /** Undefined: as it is, and never for a new one. */
  readonly end: Date | null | undefined;
}

/** A role as it is after the file. */
export interface RoleAfter {
  /** Undefined for one that the file creates. */
  readonly id: bigint | undefined;
  readonly name: string;
  readonly permissions: readonly CatalogEntry[];
}

export interface NewFileAssignment {
  readonly role: RoleAfter;
  readonly to: Whom;
  readonly on: Where;
  readonly reason: string;
  readonly expiresAt: Date | null;
}

export interface AssignmentPlan {
  readonly creates: readonly NewFileAssignment[];
  readonly updates: readonly {
    readonly current: StoredAssignment;
    readonly next: Pick<StoredAssignment, 'reason' | 'expiresAt'>;
  }[];
  readonly deletes: readonly StoredAssignment[];
  readonly unchanged: number;
  readonly unmanaged: readonly StoredAssignment[];
  /** What the plan gives, with the words for it. */
  readonly gifts: readonly (Gift & { readonly words: string })[];
  /** The objects that the file names, with the field that does. */
  readonly named: readonly { readonly on: Where; readonly fault: FieldFault }[];
}

export interface AssignmentChange {
  readonly assignment: string;
  readonly kind: 'create' | 'update' | 'delete';
  readonly words: readonly string[];
}

const MAX_FAULTS = 10;
const HIDDEN = '(hidden)';

/** Names of users and teams are the same in lower and upper case, and others are not. */
export function nameOf(type: PrincipalType | PlaceType, name: string): string {
  return `${type}:${type === 'user' || type === 'team' ? name.toLowerCase() : name}`;
}

/** An assignment whose end has passed is none, as with the teams of a role. */
export function readAssignments(entries: readonly AssignmentEntry[], now: Date): WantedAssignment[] {
  return entries.flatMap(({ expiresAt, ...entry }, place) => {
    const end = typeof expiresAt === 'string' ? new Date(expiresAt) : expiresAt;
    if (end && end <= now) return [];
    try {
      requireExpiryTerm(end, now);
    } catch (error) {
      throw rejection([placeOfFault(place, 'expires_at', (error as AppError).message)]);
    }
    return [{ ...entry, place, end }];
  });
}

/** The roles as the plan leaves them, by name in lower case. */
export function rolesAfter(roles: readonly StoredRole[], { creates, updates, deletes }: Plan): Map<string, RoleAfter> {
  const gone = new Set(deletes.map(({ id }) => id));
  const next = new Map(updates.map((update) => [update.current.id, update.next]));
  const kept = roles.filter(({ id }) => !gone.has(id)).map((role) => ({ ...(next.get(role.id) ?? role), id: role.id }));
  const all = [...kept, ...creates.map((draft) => ({ ...draft, id: undefined }))];
  return new Map(all.map(({ id, name, permissions }) => [name.toLowerCase(), { id, name, permissions }] as const));
}

/** Assignments are matched by role, to, on and namespaces. What the file leaves out stays, unless it prunes. */
export function planAssignments(
  { stored, found: known }: AssignmentsNow,
  { roles, plan, organizationId }: { roles: readonly StoredRole[]; plan: Plan; organizationId: bigint },
  wanted: readonly WantedAssignment[],
  prunes: boolean,
  now: Date,
): AssignmentPlan {
  const after = rolesAfter(roles, plan);
  const byId = new Map([...after.values()].flatMap((role) => (role.id === undefined ? [] : [[role.id, role]])));
  // The assignments of a role that the file deletes end with it.
  const present = new Map(stored.filter(({ roleId }) => byId.has(roleId)).map((one) => [keyOf(one.roleId, one), one]));
  const organization: Where = { type: 'organization', id: organizationId, name: '' };
  const faults: (FieldFault & { readonly reason?: Reason })[] = [];
  const entries = wanted.flatMap((entry) => {
    const role = after.get(entry.role.toLowerCase());
    if (!role) faults.push(placeOfFault(entry.place, 'role', `no role is called ${quote(entry.role)}`));
    const to = only(entry.to, entry.place, 'to') as Whom | undefined;
    const found = entry.on ? only(entry.on, entry.place, 'on') : organization;
    const on = found && (entry.namespaces ? { ...found, namespaces: entry.namespaces } : found);
    return role && to && on ? [{ ...entry, role, to, on }] : [];
  });
  const places = new Map<string, number>();
  for (const { place, role, to, on } of entries) {
    const key = keyOf(role.id ?? role.name, { to, on });
    const first = places.get(key);
    if (first !== undefined) faults.push(placeOfFault(place, 'role', `the same as assignments[${first}]`));
    else places.set(key, place);
  }
  if (faults.length > 0) throw rejection(faults);

  const creates: NewFileAssignment[] = [];
  const updates: AssignmentPlan['updates'][number][] = [];
  const gifts: AssignmentPlan['gifts'][number][] = [];
  let unchanged = 0;
  for (const { place, role, to, on, end, reason } of entries) {
    const current = role.id === undefined ? undefined : present.get(keyOf(role.id, { to, on }));
    const words = `assignments[${place}], ${assignmentWords(role.name, to, on)}`;
    if (!current) {
      requireEffect(role, on, place);
      creates.push({ role, to, on, reason: reason ?? '', expiresAt: end ?? null });
      gifts.push({ place: on, grants: role.permissions, until: end ?? null, words });
      continue;
    }
    if (current.isRequested) {
      const message = `${words}: ${to.name} has this role there already, through an access request`;
      throw new AppError('conflict', message, { reason: 'already_assigned' });
    }
    present.delete(keyOf(current.roleId, current));
    const isOver = current.expiresAt !== null && current.expiresAt <= now;
    const next = {
      reason: reason ?? current.reason,
      expiresAt: end === undefined ? (isOver ? null : current.expiresAt) : end,
    };
    const isSame = next.reason === current.reason && next.expiresAt?.getTime() === current.expiresAt?.getTime();
    if (isSame) unchanged++;
    else updates.push({ current, next });
    if (endsBefore(current.expiresAt, next.expiresAt)) {
      gifts.push({ place: on, grants: role.permissions, until: next.expiresAt, words });
    }
  }
  const others = [...present.values()].filter(({ isRequested }) => !isRequested);
  const named = entries.flatMap(({ on, place, on: { type, name } }) =>
    type === 'organization' || type === 'cluster_set'
      ? []
      : [{ on, fault: placeOfFault(place, 'on', noneCalled(type, name)) }],
  );
  return {
    ...{ creates, updates, gifts, named, unchanged },
    deletes: prunes ? others : [],
    unmanaged: prunes ? [] : others,
  };

  function only(
    reference: { readonly type: PrincipalType | PlaceType; readonly name: string; readonly id?: bigint },
    place: number,
    field: string,
  ): Where | undefined {
    const { type, name, id } = reference;
    if (type === 'cluster_set') return known.get(nameOf(type, name))?.[0] ?? { type, id: undefined, name };
    const list = known.get(id === undefined ? nameOf(type, name) : `${type}#${id}`) ?? [];
    const [one, another] = list;
    if (one && !another) return one;
    const shown = id === undefined ? name : String(id);
    const message = another
      ? `more than one ${titleOf(type)} is called ${quote(shown)}: use the ID as a number`
      : noneCalled(type, shown);
    faults.push({ ...placeOfFault(place, field, message), ...(type === 'user' && { reason: 'not_a_member' }) });
    return undefined;
  }
}

function noneCalled(type: PrincipalType | PlaceType, name: string): string {
  if (type === 'user') return `no member of the organization is called ${quote(name)}`;
  return `no ${titleOf(type)} of the organization is called ${quote(name)}`;
}

function requireEffect(role: RoleAfter, on: Where, place: number): void {
  if (effectiveOn(on, role.permissions).effective.length > 0) return;
  const message = `the role ${role.name} has no permission that concerns ${on.namespaces ? 'namespaces of ' : ''}this ${titleOf(on.type)}`;
  throw rejection([{ ...placeOfFault(place, 'role', message), reason: 'no_effect' }]);
}

function keyOf(role: bigint | string, { to, on }: { readonly to: Whom; readonly on: Where }): string {
  return `${role} ${to.type}:${to.id} ${placeKey(on)} ${on.namespaces?.join() ?? ''}`;
}

/** What is seen or not, whatever the namespaces. A set that is not stored yet has only its name. */
export function placeKey({ type, id, name }: Where): string {
  if (type === 'organization') return type;
  return id === undefined ? `${type}:${JSON.stringify(name)}` : `${type}:${id}`;
}

export function rejection(faults: readonly (FieldFault & { readonly reason?: Reason })[]): AppError {
  const shown = faults.slice(0, MAX_FAULTS);
  const [first] = shown;
  return new AppError('malformed', shown.map(({ message }) => message).join('; '), {
    errors: shown.map(({ field, message }) => ({ field, message })),
    ...(first?.reason && { reason: first.reason }),
  });
}

/** Users and robots may end their own assignments. */
export function requireAssigner(plan: AssignmentPlan, held: ReadonlySet<string>, callerId: bigint): void {
  const { creates, updates, deletes } = plan;
  const others = deletes.filter(({ to }) => !isPrincipal(to, callerId));
  if (creates.length + updates.length + others.length === 0) return;
  if (!held.has('can_assign_roles') && !held.has('can_edit_roles')) throw missingRelation('assign_roles:org');
}

/** No other request can create an assignment meanwhile, so the numbers are what they are. */
export function requireRoomForAssignments(
  { creates, deletes }: AssignmentPlan,
  { total, byPrincipal }: AssignmentsNow,
  limits: Pick<Limits, 'assignmentsPerOrganization' | 'assignmentsPerPrincipal'>,
): void {
  const added = new Map<string, number>();
  for (const { to } of creates) count(to, 1);
  for (const { to } of deletes) count(to, -1);
  const { assignmentsPerOrganization: all, assignmentsPerPrincipal: each } = limits;
  for (const [to, more] of added) {
    const taken = byPrincipal.get(to) ?? 0;
    if (more > 0 && taken + more > each) throw limitReached('assignmentsPerPrincipal', each, taken);
  }
  const more = creates.length - deletes.length;
  if (more > 0 && total + more > all) throw limitReached('assignmentsPerOrganization', all, total);

  function count({ type, id }: Whom, step: number): void {
    added.set(`${type}:${id}`, (added.get(`${type}:${id}`) ?? 0) + step);
  }
}

/** What the plan changes in words. Objects that the caller may not see have no name. */
export function assignmentReport(
  { creates, updates, deletes, unchanged, unmanaged }: AssignmentPlan,
  roles: readonly Pick<StoredRole, 'id' | 'name'>[],
  seen: ReadonlySet<string>,
) {
  const names = new Map(roles.map(({ id, name }) => [id, name]));
  const shown = ({ roleId, to, on }: StoredAssignment) => {
    const place = on.type === 'organization' || seen.has(placeKey(on)) ? on : { ...on, name: HIDDEN };
    return assignmentWords(names.get(roleId) ?? String(roleId), to, place);
  };
  const changes: AssignmentChange[] = [
    ...creates.map(({ role, to, on, reason, expiresAt }) => ({
      assignment: assignmentWords(role.name, to, on),
      kind: 'create' as const,
      words: [
        ...(expiresAt ? [`expires at ${expiresAt.toISOString()}`] : []),
        ...(reason === '' ? [] : [`reason ${JSON.stringify(reason)}`]),
      ],
    })),
    ...updates.map(({ current, next }) => ({
      assignment: shown(current),
      kind: 'update' as const,
      words: [
        ...(current.expiresAt?.getTime() === next.expiresAt?.getTime()
          ? []
          : [next.expiresAt ? `expires at ${next.expiresAt.toISOString()}` : 'does not expire']),
        ...(current.reason === next.reason
          ? []
          : [`reason ${JSON.stringify(current.reason)} → ${JSON.stringify(next.reason)}`]),
      ],
    })),
    ...deletes.map((one) => ({ assignment: shown(one), kind: 'delete' as const, words: [] })),
  ];
  return {
    changes: changes.sort((a, b) => byName(a.assignment, b.assignment)),
    unchanged,
    unmanaged: unmanaged.map(shown).sort(byName),
  };
}

/** As a document has it. */
export function entryOfStored({ to, on, reason, expiresAt }: StoredAssignment, role: string): AssignmentEntry {
  const { type, name, id, isAmbiguous, namespaces } = on;
  return {
    ...{ role, to: { type: to.type, name: to.name }, reason },
    on: type === 'organization' ? undefined : { type, name, ...(isAmbiguous && id !== undefined && { id }) },
    ...(namespaces && { namespaces }),
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
