import type { Judge } from '../authz/judge.ts';
import { givesMore, type HeldPlaces } from '../authz/places/held-places.ts';
import { createSeesPlace } from '../authz/places/sees-place.ts';
import { AppError } from '../base/errors.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { type AssignmentPlan, placeKey, rejection, type StoredAssignment, type Where } from './assignment-plan.ts';

/** What the caller may do, found out before the transaction in which nothing else can be asked. */
export interface Approval {
  /** The objects that the caller may see. */
  readonly seen: ReadonlySet<string>;
  /** Throws if the plan gives something, or names an object, that was not looked at. */
  require(plan: AssignmentPlan): void;
}

export type AssignmentFile = ReturnType<typeof createAssignmentFile>;

/** The assignments of a role file: what of them a caller may see and give. */
export function createAssignmentFile(judge: Pick<Judge, 'holds'>, held: Pick<HeldPlaces, 'notHeld'>) {
  const sees = createSeesPlace(judge);
  return { approve, seesAll };

  /** An object that the caller may not see does not exist for them. No caller gives more than they hold, there. */
  async function approve(
    organizationId: bigint,
    callerId: bigint,
    plan: AssignmentPlan,
    stored: readonly StoredAssignment[],
  ): Promise<Approval> {
    const places = [...stored.map(({ on }) => on), ...plan.named.map(({ on }) => on)];
    const seen = await seenOf(organizationId, callerId, places);
    const hidden = plan.named.filter(({ on }) => !seen.has(placeKey(on))).map(({ fault }) => fault);
    if (hidden.length > 0) throw rejection(hidden);
    const missing = await held.notHeld(callerId, organizationId, plan.gifts);
    const [first] = missing;
    if (first) {
      const words = plan.gifts.find((gift) => gift === first.gift)?.words ?? '';
      const { kind, message, detail } = givesMore(missing.filter(({ gift }) => gift === first.gift));
      throw new AppError(kind, `${words}: ${message}`, detail);
    }
    const given = new Set(plan.gifts.map(giftKey));
    return {
      seen,
      require(next) {
        const isKnown = next.gifts.every((gift) => given.has(giftKey(gift)));
        if (isKnown && next.named.every(({ on }) => seen.has(placeKey(on)))) return;
        throw new AppError('stale', 'roles or assignments have changed at the same time: send the file again');
      },
    };
  }

  async function seesAll(organizationId: bigint, callerId: bigint, stored: readonly StoredAssignment[]) {
    const places = stored.map(({ on }) => on);
    const seen = await seenOf(organizationId, callerId, places);
    return places.every((place) => place.type === 'organization' || seen.has(placeKey(place)));
  }

  async function seenOf(organizationId: bigint, callerId: bigint, places: readonly Where[]): Promise<Set<string>> {
    const seen = new Set<string>();
    const yieldIfDue = createYielder();
    for (const [key, place] of new Map(places.map((one) => [placeKey(one), one]))) {
      if (await sees(callerId, organizationId, place)) seen.add(key);
      await yieldIfDue();
    }
    return seen;
  }
}

function giftKey({ place, grants, until }: AssignmentPlan['gifts'][number]): string {
  const relations = grants.map(({ relation }) => relation).sort();
  return `${place.type}:${place.id} ${place.namespaces?.join() ?? ''} ${until?.getTime()} ${relations.join(' ')}`;
}
