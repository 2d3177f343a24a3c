import type { Judge } from '../authz/judge.ts';
import type { Gift, HeldPlaces } from '../authz/places/held-places.ts';
import { effectiveOn } from '../authz/places/places.ts';
import { createSeesPlace } from '../authz/places/sees-place.ts';
import { AppError, invalidField, missingRelation } from '../base/errors.ts';
import { endsBefore } from '../base/expiry.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Reason } from '../base/reasons.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { PlaceType } from '../changes/object-kinds.ts';
import { isPrincipal } from '../changes/principal.ts';
import type { Once } from '../changes/write.ts';
import type {
  AssignedPlace,
  AssignedRole,
  Assignment,
  AssignmentChange,
  AssignmentFilter,
  AssignmentInput,
  Principal,
  Reference,
} from './assignment.ts';
import { requireAgreement, requireSame } from './assignment-input.ts';

/** The caller, the organization, and the request that a change is made for. */
export interface Setting {
  readonly organizationId: bigint;
  readonly actor: Actor;
}

export interface NewAssignment {
  readonly role: AssignedRole;
  readonly to: Principal;
  readonly on: AssignedPlace;
  readonly reason: string;
  readonly expiresAt: Date | null;
}

export interface AssignmentStore {
  /** By ID. Only what is assigned to `mine` or to a team of theirs, if it is given. */
  list(organizationId: bigint, filter: AssignmentFilter, page: PageRequest, mine?: bigint): Promise<Page<Assignment>>;
  get(organizationId: bigint, id: bigint): Promise<Assignment | undefined>;
  /** Whether it is assigned to the caller, or to a team that they are in. */
  isTo(assignment: Assignment, callerId: bigint): Promise<boolean>;
  role(organizationId: bigint, reference: AssignmentInput['role']): Promise<AssignedRole | undefined>;
  /** Undefined if the organization has no such team, robot or member. */
  principal(organizationId: bigint, reference: AssignmentInput['to']): Promise<Principal | undefined>;
  place(organizationId: bigint, reference: NonNullable<AssignmentInput['on']>): Promise<AssignedPlace | undefined>;
  create(
    setting: Setting,
    made: NewAssignment,
    once?: Once<Assignment>,
  ): Promise<Assignment | 'not a member' | 'already assigned'>;
  /** `decide` sees the assignment as it is while no other request can change it. */
  update(
    setting: Setting,
    id: bigint,
    decide: (current: Assignment) => Pick<Assignment, 'reason' | 'expiresAt'>,
  ): Promise<Assignment | undefined>;
  remove(setting: Setting, id: bigint, decide: (current: Assignment) => void): Promise<boolean>;
}

/** An assignment as a reader may see it. */
export interface SeenAssignment {
  readonly assignment: Assignment;
  readonly seesPlace: boolean;
  readonly seesCreator: boolean;
}

export type Unchanged = (current: Assignment) => void;
export type Assignments = ReturnType<typeof createAssignments>;

const NOT_FOUND: Readonly<Record<PlaceType, Reason>> = {
  cluster_set: 'not_found',
  team: 'team_not_found',
  robot_ac: 'robot_not_found',
  cluster: 'cluster_not_found',
  contract: 'contract_not_found',
  organization: 'organization_not_found',
};

const NONE: Page<never> = { items: [], total: 0 };

/** Assignments: who has which role, on the organization or on one of its objects. */
export function createAssignments(
  store: AssignmentStore,
  judge: Pick<Judge, 'allowed' | 'holds'>,
  held: Pick<HeldPlaces, 'rejectGiving'>,
) {
  const seesPlaceOf = createSeesPlace(judge);
  return { list, get, create, update, remove, requireChange };

  async function list(
    organizationId: bigint,
    readerId: bigint,
    filter: AssignmentFilter,
    page: PageRequest,
  ): Promise<Page<SeenAssignment>> {
    if (filter.on && !(await seesNamed(organizationId, readerId, filter.on))) return NONE;
    if (filter.reaching && !(await seesReached(organizationId, readerId, filter.reaching))) return NONE;
    const seesAll = await holds(organizationId, readerId, 'can_view_roles');
    const found = await store.list(organizationId, filter, page, seesAll ? undefined : readerId);
    return { ...found, items: await seenBy(organizationId, readerId, found.items) };
  }

  /** Otherwise a filter would tell what the name or the ID of a hidden object is. */
  async function seesNamed(organizationId: bigint, readerId: bigint, named: Reference<PlaceType>): Promise<boolean> {
    const place = await store.place(organizationId, named);
    return place !== undefined && (await seesPlaceOf(readerId, organizationId, place));
  }

  /** In which set a cluster is, and so what counts on it, is told only to those who see more of it than its name. */
  async function seesReached(organizationId: bigint, readerId: bigint, named: Reference<PlaceType>): Promise<boolean> {
    const place = await store.place(organizationId, named);
    if (place?.type !== 'cluster' || place.id === undefined) return await seesNamed(organizationId, readerId, named);
    return await judge.holds(readerId, organizationId, 'can_view', { type: 'cluster', id: place.id });
  }

  /** What the reader may not see does not exist for them. */
  async function get(organizationId: bigint, readerId: bigint, id: bigint): Promise<SeenAssignment> {
    const [seen] = await seenBy(organizationId, readerId, [await visible(organizationId, readerId, id)]);
    if (!seen) throw assignmentNotFound();
    return seen;
  }

  async function visible(organizationId: bigint, readerId: bigint, id: bigint): Promise<Assignment> {
    const found = await store.get(organizationId, id);
    if (!found) throw assignmentNotFound();
    const isSeen = (await holds(organizationId, readerId, 'can_view_roles')) || (await store.isTo(found, readerId));
    if (!isSeen) throw assignmentNotFound();
    return found;
  }

  async function create(setting: Setting, input: AssignmentInput, once?: Once<Assignment>): Promise<Assignment> {
    const { organizationId, actor } = setting;
    const role = await store.role(organizationId, input.role);
    if (!role) throw new AppError('notFound', 'role not found', { reason: 'role_not_found' });
    const to = await store.principal(organizationId, input.to);
    if (!to && input.to.type !== 'user') throw notFound(input.to.type);
    const place = await placeOf(organizationId, actor, input.on);
    const on = input.namespaces ? { ...place, namespaces: input.namespaces } : place;
    if (!to) throw notAMember();
    const { effective } = effectiveOn(on, role.permissions);
    if (effective.length === 0) {
      const message = `the role ${role.name} has no permission that concerns ${on.namespaces ? 'namespaces of ' : ''}this ${on.type}`;
      throw new AppError('malformed', message, { reason: 'no_effect', errors: [{ field: 'role', message }] });
    }
    await held.rejectGiving(actor.id, organizationId, [giftOf(on, role, input.expiresAt)]);
    const made = { role, to, on, reason: input.reason ?? '', expiresAt: input.expiresAt };
    const outcome = await store.create(setting, made, once);
    if (outcome === 'not a member') throw notAMember();
    if (outcome === 'already assigned') {
      throw new AppError('conflict', `${to.name} has this role there already`, { reason: 'already_assigned' });
    }
    return outcome;
  }

  /** An object that the caller may not see does not exist for them. Neither does one of another organization. */
  async function placeOf(
    organizationId: bigint,
    actor: Actor,
    reference: AssignmentInput['on'],
  ): Promise<AssignedPlace> {
    const on = await store.place(organizationId, reference ?? { type: 'organization', id: organizationId });
    if (!on) throw notFound(reference?.type ?? 'organization');
    const { type, id } = on;
    const isOpen = type === 'organization' || type === 'cluster_set' || id === undefined;
    const isSeen = isOpen || (await judge.holds(actor.id, organizationId, 'can_view', { type, id }));
    if (!isSeen) throw notFound(type);
    // Said only of what the caller may see: otherwise it would tell which IDs exist.
    if (reference && type !== 'cluster_set') requireAgreement('on', reference, on);
    return on;
  }

  /** Rejects a caller who may not change it. Users and robots may remove their own assignments. */
  async function requireChange(setting: Setting, id: bigint, change: 'update' | 'remove'): Promise<void> {
    const { organizationId, actor } = setting;
    const { to } = await visible(organizationId, actor.id, id);
    if (change === 'remove' && isPrincipal(to, actor.id)) return;
    if (!(await holds(organizationId, actor.id, 'assigner'))) throw missingRelation('assign_roles:org');
  }

  async function update(
    setting: Setting,
    id: bigint,
    change: AssignmentChange,
    precondition: Unchanged,
  ): Promise<SeenAssignment> {
    const { organizationId, actor } = setting;
    const present = await visible(organizationId, actor.id, id);
    requireSame(present, change);
    const end = change.expiresAt === undefined ? present.expiresAt : change.expiresAt;
    if (endsBefore(present.expiresAt, end)) {
      await held.rejectGiving(actor.id, organizationId, [giftOf(present.on, present.role, end)]);
    }
    const decide = (current: Assignment) => {
      precondition(current);
      const expiresAt = change.expiresAt === undefined ? current.expiresAt : change.expiresAt;
      if (
        endsBefore(end, expiresAt) ||
        (endsBefore(current.expiresAt, expiresAt) && !endsBefore(present.expiresAt, end))
      )
        throw new AppError('stale', 'the assignment has changed at the same time: read it again');
      return { expiresAt, reason: change.reason ?? current.reason };
    };
    const updated = await store.update(setting, id, decide);
    if (!updated) throw assignmentNotFound();
    const [seen] = await seenBy(organizationId, actor.id, [updated]);
    if (!seen) throw assignmentNotFound();
    return seen;
  }

  async function remove(setting: Setting, id: bigint, precondition: Unchanged): Promise<void> {
    if (!(await store.remove(setting, id, precondition))) throw assignmentNotFound();
  }

  async function seenBy(
    organizationId: bigint,
    readerId: bigint,
    found: readonly Assignment[],
  ): Promise<SeenAssignment[]> {
    const seesMembers = await holds(organizationId, readerId, 'can_view_members');
    const seen: SeenAssignment[] = [];
    for (const assignment of found) {
      const { createdBy } = assignment;
      const seesCreator = seesMembers || (createdBy !== null && isPrincipal(createdBy, readerId));
      const seesPlace = await seesPlaceOf(readerId, organizationId, assignment.on);
      seen.push({ assignment, seesPlace, seesCreator });
    }
    return seen;
  }

  async function holds(organizationId: bigint, userId: bigint, relation: string): Promise<boolean> {
    return await judge.holds(userId, organizationId, relation, { type: 'organization', id: organizationId });
  }
}

function giftOf(place: AssignedPlace, role: AssignedRole, until: Date | null): Gift {
  return { place, grants: role.permissions, until };
}

function notFound(type: string): AppError {
  return new AppError('notFound', `${type.slice(0, 40)} does not exist`, {
    reason: (NOT_FOUND as Readonly<Record<string, Reason>>)[type] ?? 'not_found',
  });
}

function notAMember(): AppError {
  const error = invalidField('to', 'to must be a member of the organization');
  return new AppError('malformed', error.message, { ...error.detail, reason: 'not_a_member' });
}

export function assignmentNotFound(): AppError {
  return new AppError('notFound', 'assignment does not exist', { reason: 'assignment_not_found' });
}
