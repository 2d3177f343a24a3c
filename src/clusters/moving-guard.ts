import type { Judge } from '../authz/judge.ts';
import type { HeldPlaces } from '../authz/places/held-places.ts';
import { missingRelation } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';

export type MovingGuard = ReturnType<typeof createMovingGuard>;

/**
 * Who reaches a cluster depends on its set. So moving one into a set, out of it, or importing one into it is assigning
 * roles: it needs that right, and the caller must hold on the cluster whatever is assigned on the set.
 */
export function createMovingGuard(judge: Pick<Judge, 'holds'>, held: Pick<HeldPlaces, 'ofSet' | 'rejectGiving'>) {
  /** @param clusterId undefined if it is imported */
  return async (
    actor: Actor,
    organizationId: bigint,
    clusterId: bigint | undefined,
    setName: string,
  ): Promise<void> => {
    const organization = { type: 'organization', id: organizationId } as const;
    if (!(await judge.holds(actor.id, organizationId, 'assigner', organization))) {
      throw missingRelation('can_assign_roles', ': the set of a cluster decides who reaches it');
    }
    if (setName === '') return;
    const { id, gifts } = await held.ofSet(organizationId, setName);
    const place = clusterId === undefined ? { type: 'cluster_set', id } : { type: 'cluster', id: clusterId };
    await held.rejectGiving(
      actor.id,
      organizationId,
      gifts.map((gift) => ({ ...gift, place: { ...place, namespaces: gift.place.namespaces } as typeof gift.place })),
    );
  };
}
