import type { RoleGrant } from '../authz/escalation.ts';
import type { ObjectRef } from '../authz/object-ref.ts';
import type { HeldPlaces } from '../authz/places/held-places.ts';
import { effectiveOn, type Place, relationOn } from '../authz/places/places.ts';
import { assignmentTuplesOf } from '../changes/derived-tuples.ts';
import { PLACE_TYPES, type PlaceType } from '../changes/object-kinds.ts';
import type { RoleState } from '../simulation/organization-state.ts';
import type { Assigning, Candidate, CandidateLimits } from './candidate.ts';
import type { RelationSet } from './remedy-effects.ts';
import type { VisibleOrganization } from './visible-organization.ts';

interface Setting {
  readonly visible: VisibleOrganization;
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly object: ObjectRef;
  readonly catalog: readonly RoleGrant[];
  readonly limits: CandidateLimits;
  readonly held: Pick<HeldPlaces, 'notHeld'>;
  /** What the least permission gives on the object. */
  readonly least: RelationSet;
}

/** The ID of an assignment that exists nowhere else. */
export const NEW_ASSIGNMENT = '0';
const ASSIGNERS = ['can_assign_roles', 'can_edit_roles'];
/** What `places.ts` calls otherwise than callers ask for it. */
const SHOWN: ReadonlyMap<string, string> = new Map([
  ['remover', 'can_delete'],
  ['manager', 'can_add_member'],
]);

/**
 * Roles that could be assigned to the user or robot on exactly this object, or on the organization if roles cannot be
 * assigned on such an object. No other user gets anything by it.
 */
export async function assignmentCandidates(setting: Setting, roles: readonly RoleState[]): Promise<Candidate[]> {
  const { visible, organizationId, callerId, catalog, limits, held, least } = setting;
  const { caller, subject, object } = visible;
  const { perOrganization, perPrincipal } = visible.assignmentCounts;
  const isFull = perOrganization >= limits.assignmentsPerOrganization || perPrincipal >= limits.assignmentsPerPrincipal;
  if (isFull) return [];
  const place = placeFor(setting);
  const on = place.type === 'organization' ? undefined : `${place.type}:${place.id}`;
  const grantsOf = ({ relations }: RoleState) => catalog.filter(({ relation }) => relations.includes(relation));
  const counting = roles.filter((role) => effectiveOn(place, grantsOf(role)).effective.length > 0);
  const gifts = counting.map((role) => ({ place, grants: grantsOf(role), until: null }));
  const missing = new Set((await held.notHeld(callerId, organizationId, gifts)).map(({ gift }) => gift.grants));
  const mayAssign = ASSIGNERS.some((relation) => caller.held.has(relation));
  return counting.map((role, index): Candidate => {
    const given = gifts[index]?.grants ?? [];
    const { effective } = effectiveOn(place, given);
    const further = effective.filter(({ relation }) => !least.has(shownOn(place, relation)));
    const isOnOwners = place.isOwners ?? false;
    const inGraph = { id: NEW_ASSIGNMENT, roleId: role.id, to: subject, on: on && object, isOnOwners };
    return {
      changes: [{ action: 'assignment.create', roleId: role.id, on: { type: place.type, id: place.id } }],
      tuples: assignmentTuplesOf(inGraph),
      teams: [],
      assigns: { roleId: role.id, place, on },
      isAllowed: mayAssign && !missing.has(given),
      needs: effective.map(({ relation }) => shownOn(place, relation)),
      estimate: [further.length, 0],
    };
  });
}

function placeFor({ object: { type, id }, organizationId, visible }: Setting): Assigning['place'] {
  if (!isPlace(type)) return { type: 'organization', id: organizationId };
  return { type, id, isOwners: type === 'team' && visible.teams.get(id)?.permission === 'owner' };
}

function isPlace(type: string): type is PlaceType {
  return (PLACE_TYPES as readonly string[]).includes(type);
}

/** What a permission of the organization is on the place, as callers ask for it. */
function shownOn(place: Place, permission: string): string {
  const relation = relationOn(place, permission) ?? permission;
  return SHOWN.get(relation) ?? relation;
}
