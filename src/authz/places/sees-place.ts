import type { Judge } from '../judge.ts';
import type { Place } from './places.ts';

export type SeesPlace = ReturnType<typeof createSeesPlace>;

/** Whether a member may see what a role is assigned on. Every member sees the organization. */
export function createSeesPlace(judge: Pick<Judge, 'holds'>) {
  return async (readerId: bigint, organizationId: bigint, { type, id }: Place): Promise<boolean> => {
    if (type === 'organization') return true;
    const organization = { type: 'organization', id: organizationId } as const;
    const isSet = type === 'cluster_set';
    if (isSet && (await judge.holds(readerId, organizationId, 'can_view_clusters', organization))) return true;
    if (id === undefined) return false;
    const holds = (relation: string) => judge.holds(readerId, organizationId, relation, { type, id });
    // A robot that reviews requests of a cluster knows what it is called, and nothing else of it.
    if (!isSet) return (await holds('can_view')) || (type === 'cluster' && (await holds('can_review')));
    return (await holds('view_clusters')) || (await holds('view_in_namespaces'));
  };
}
