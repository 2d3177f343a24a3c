import type { ListReader, ShownObjects } from '../authz/shown-objects.ts';
import type { VisibleClusters } from '../authz/visible-clusters.ts';
import { AppError } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Person } from '../identity/callers.ts';
import { listedIds, type MaybeLimits, reachesOrganization } from '../identity/tokens/token-limits.ts';
import type { Cluster, Phase } from './cluster.ts';

export type ClusterOrder = 'id' | 'name' | 'heartbeat' | 'nodes' | 'created';

export interface ClusterSearch {
  /** Exactly this name. */
  readonly name?: string | undefined;
  /** Part of the name or the display name, or the beginning of the UID; empty for all clusters. */
  readonly text: string;
  /** In any letter case. */
  readonly provider?: string | undefined;
  /** As they are shown at `now`. */
  readonly phases?: readonly Phase[] | undefined;
  readonly now: Date;
  readonly orderBy: ClusterOrder;
  readonly isDescending: boolean;
}

export interface ClusterListStore {
  /** Without a request, the whole list. */
  ofOwner(ownerId: bigint, search: ClusterSearch, request?: PageRequest): Promise<Page<Cluster>>;
  withIds(ids: readonly bigint[], search: ClusterSearch, request?: PageRequest): Promise<Page<Cluster>>;
  /**
   * Those of all organizations, and of this user. The total is exact up to `MAX_COUNTED`. Undefined if there are more,
   * and the whole list is wanted, or an order that no index has.
   */
  everywhere(userId: bigint, search: ClusterSearch, request?: PageRequest): Promise<Page<Cluster> | undefined>;
}

export type ClusterList = ReturnType<typeof createClusterList>;

type Viewer = Pick<Person, 'id' | 'isAdmin' | 'organizations'>;

export function createClusterList(
  store: ClusterListStore,
  visible: Pick<VisibleClusters, 'visibleTo'>,
  shownObjects: ShownObjects,
) {
  return { ofOwner, ofOrganization, visibleTo };

  /** Every cluster of the caller's own, or those that the caller's token is limited to. */
  async function ofOwner(ownerId: bigint, search: ClusterSearch, request?: PageRequest, limits?: MaybeLimits) {
    if (reachesOrganization(limits, ownerId)) return await store.ofOwner(ownerId, search, request);
    return await store.withIds(listedIds(limits, 'cluster', ownerId), search, request);
  }

  /** Those of an organization that the caller may view. */
  async function ofOrganization(reader: ListReader, id: bigint, search: ClusterSearch, request?: PageRequest) {
    const ids = await shownObjects(reader, id, 'cluster');
    return ids === undefined ? await store.ofOwner(id, search, request) : await store.withIds(ids, search, request);
  }

  /**
   * Every cluster that the user can view: their own, and those in all organizations. By the model, a site administrator
   * holds everything in every organization, so the graphs of all organizations are not asked.
   */
  async function visibleTo(
    person: Viewer,
    search: ClusterSearch,
    request?: PageRequest,
    limits?: MaybeLimits,
  ): Promise<Page<Cluster>> {
    if (person.isAdmin && !limits) {
      const found = await store.everywhere(person.id, search, request);
      if (found) return found;
      const advice = request ? 'sort by ID, name or time of creation, or narrow the list' : 'pass page and limit';
      throw new AppError('invalid', `too many clusters for this list: ${advice}`);
    }
    return await store.withIds(await visible.visibleTo(person, limits), search, request);
  }
}
