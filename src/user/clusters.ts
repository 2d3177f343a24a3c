import type { Cluster } from '../directory/clusters.ts';

export interface ClusterStore {
  ownedBy(accountId: bigint): Promise<Cluster[]>;
  withIds(ids: readonly bigint[]): Promise<Cluster[]>;
}

/** Answers which clusters authorization lets a person view, wherever they are. */
export interface VisibleClusters {
  visibleTo(person: ClusterViewer): Promise<bigint[]>;
}

export interface ClusterViewer {
  readonly id: bigint;
  readonly isAdmin: boolean;
  readonly organizations: ReadonlyMap<bigint, unknown>;
}

export type Clusters = ReturnType<typeof createClusters>;

export function createClusters(store: ClusterStore, visible: VisibleClusters) {
  return { list };

  /** The person's own clusters, or with `all` every one that they may view; by id. */
  async function list(person: ClusterViewer, all: boolean): Promise<Cluster[]> {
    return all ? await store.withIds(await visible.visibleTo(person)) : await store.ownedBy(person.id);
  }
}
