import { describePermission, type RoleGrant } from '../../authz/escalation.ts';
import { idOf } from '../../authz/object-ref.ts';
import { inAssignment } from '../../authz/places/held-places.ts';
import { coversNamespace } from '../../authz/places/namespaces.ts';
import { type Place, relationOn } from '../../authz/places/places.ts';
import { AppError } from '../../base/errors.ts';
import { endsBefore } from '../../base/expiry.ts';
import type { PlaceType } from '../../changes/object-kinds.ts';
import { holdsUntil } from '../../simulation/holds-until.ts';
import { typeOf } from '../../simulation/object-classes.ts';
import type { AssignmentState } from '../../simulation/organization-state.ts';
import type { Simulation } from '../../simulation/simulation.ts';
import type { Changing } from './changing.ts';
import { entriesOf } from './role-changes.ts';

/** What a change gives on a place. */
export interface PlannedGift {
  /** Such as `cluster:1`. Undefined means the organization. */
  readonly on: string | undefined;
  /** The only namespaces in which it counts. */
  readonly namespaces: readonly string[] | undefined;
  readonly grants: readonly RoleGrant[];
  readonly until: Date | null;
}

type Holds = (relation: string, object: string) => boolean;

/**
 * No caller gives more than they hold, at that place and until that time: as `held-places.ts` says it of real changes.
 */
export function rejectGiving({ simulation }: Changing, gifts: readonly PlannedGift[]): void {
  const missing = gifts.flatMap((gift) => {
    const now = gift.grants.filter((grant) => !isHeld(simulation, gift, grant, simulation.holds));
    const rest = gift.grants.filter((grant) => !now.includes(grant));
    const later = holdsUntil(simulation, gift.until, (holds) =>
      rest.filter((grant) => !isHeld(simulation, gift, grant, holds)),
    );
    return [...now, ...later];
  });
  if (missing.length === 0) return;
  const names = [...new Set(missing.map(describePermission))];
  const message = `you cannot grant what you do not hold yourself, there and for as long: ${names.join(', ')}`;
  throw new AppError('forbidden', message, { reason: 'escalation' });
}

/** What an assignment gives, perhaps on another object than it is on. */
export function giftOf(
  { simulation }: Changing,
  { roleId, on, namespaces, expiresAt }: Omit<AssignmentState, 'id' | 'to'>,
): PlannedGift {
  const role = simulation.roles.get(roleId);
  return { on, namespaces, grants: role ? entriesOf(role) : [], until: expiresAt };
}

/** What a team has on single objects. A membership gives it for no longer than it lasts. */
export function giftsOfTeam(changing: Changing, teamId: bigint, until: Date | null): PlannedGift[] {
  const own = changing.simulation.assignments.values().filter(({ to }) => to === `team:${teamId}`);
  return [...own].map((one) => {
    const gift = giftOf(changing, one);
    return { ...gift, until: endsBefore(until, gift.until) ? until : gift.until };
  });
}

/** What a role is assigned on, in the words of `places.ts`. */
export function placeIn(
  { teams, organizationId }: Simulation,
  on: string | undefined,
  namespaces?: readonly string[],
): Place {
  if (on === undefined) return { type: 'organization', id: organizationId };
  const [type, id] = [typeOf(on) as PlaceType, idOf(on)];
  return {
    type,
    id,
    namespaces: namespaces ?? null,
    isOwners: type === 'team' && teams.get(id)?.permission === 'owner',
  };
}

function isHeld(simulation: Simulation, gift: PlannedGift, { relation }: RoleGrant, holds: Holds): boolean {
  const { on, namespaces } = gift;
  const place = placeIn(simulation, on, namespaces);
  const there = relationOn(place, relation);
  if (there === undefined) return true;
  const isOnAll = place.type === 'organization' || place.type === 'cluster_set';
  if (isOnAll && holds(relation, simulation.organization)) return true;
  if (on === undefined) return false;
  if (holds(there, on)) return true;
  const own = assignmentsOn(simulation, on);
  const isHeldIn = (namespace: string) =>
    own.some(
      ({ id, namespaces: patterns = [] }) =>
        patterns.some((pattern) => coversNamespace(pattern, namespace)) &&
        holds(inAssignment(relation), `assignment:${id}`),
    );
  return namespaces?.every(isHeldIn) ?? false;
}

/** Those of a cluster, and of its set. */
function assignmentsOn({ assignments, setOf }: Simulation, on: string): AssignmentState[] {
  const set = on.startsWith('cluster:') ? setOf(on) : undefined;
  return [...assignments.values()].filter((one) => one.on === on || (set !== undefined && one.on === set));
}
