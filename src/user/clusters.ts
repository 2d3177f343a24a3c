export interface Cluster {
  readonly id: bigint;
  readonly name: string;
  readonly displayName: string;
  readonly uid: string;
  readonly ownerId: bigint;
  readonly ownerName: string;
  readonly provider: string;
  readonly vendor: string;
  readonly orchestratorVersion: string;
  readonly nodeCount: number;
  readonly endpoint: string;
  readonly location: string;
  readonly hubClusterName: string;
  readonly clusterSetName: string;
  readonly isMonitoringCluster: boolean;
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  readonly createdAt: Date;
}

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

/** How long ago, in the largest unit that fits: 43m, 8d, 6mo. */
export function ageOf(createdAt: Date, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - createdAt.getTime()) / 1000));
  const [size, unit] = UNITS.find(([least]) => seconds >= least) ?? [1, 's'];
  return `${Math.floor(seconds / size)}${unit}`;
}

const DAY = 86_400;
const UNITS: readonly (readonly [number, string])[] = [
  [365 * DAY, 'y'],
  [30 * DAY, 'mo'],
  [DAY, 'd'],
  [3600, 'h'],
  [60, 'm'],
];
