import type { Judge } from '../authz/judge.ts';
import { AppError, missingRelation } from '../base/errors.ts';
import { createExactCache, type Loaded } from '../changes/exact-cache.ts';
import type { Revisions } from '../changes/revision.ts';
import type { KubernetesSettings } from '../clusters/kubernetes-access.ts';
import { authOff } from '../clusters/kubernetes-guard.ts';
import type { RobotIdentity } from '../identity/callers.ts';
import { type MaybeLimits, reachesObject } from '../identity/tokens/token-limits.ts';

/** A cluster, as far as Kubernetes asks about it. */
export interface ReviewedCluster {
  readonly id: bigint;
  readonly uid: string;
  readonly name: string;
  readonly ownerId: bigint;
  readonly ownerName: string;
  readonly isOrganization: boolean;
  readonly kubernetes: KubernetesSettings;
}

export interface ReviewedClusterStore {
  cluster(id: bigint): Promise<Loaded<ReviewedCluster>>;
}

/** Who reviews, with what kind of credential. */
export interface Reviewer {
  readonly person: { readonly id: bigint };
  readonly robot?: RobotIdentity;
  readonly limits?: MaybeLimits;
}

const MAX_CLUSTERS = 10_000;

export type ReviewedClusters = ReturnType<typeof createReviewedClusters>;

/** The clusters that are asked about, and who may ask. Exact, and without the database once a cluster is known. */
export function createReviewedClusters(
  store: ReviewedClusterStore,
  revisions: Revisions,
  judge: Pick<Judge, 'holds' | 'atHand'>,
) {
  const clusters = createExactCache<ReviewedCluster>({
    revisions,
    load: (id) => store.cluster(BigInt(id)),
    dependsOn: ({ ownerId }) => [ownerId],
    keyOf: ({ kind, id }) => (kind === 'cluster' ? String(id) : undefined),
    max: MAX_CLUSTERS,
  });
  return { forReviewer, forAgent, atHand };

  /** The same as `forReviewer` if everything is in memory and nothing stands against it; otherwise undefined. */
  function atHand(id: bigint, { person, robot, limits }: Reviewer): ReviewedCluster | undefined {
    const cluster = clusters.remembered(String(id));
    if (cluster === undefined || robot === undefined || cluster.kubernetes.auth !== 'webhook') return undefined;
    const { ownerId } = cluster;
    const object = { type: 'cluster', id } as const;
    if (!reachesObject(limits, { ownerId, ...object })) return undefined;
    return judge.atHand?.holds(person.id, ownerId, 'can_review', object) ? cluster : undefined;
  }

  /** For the webhooks: only while the API server of the cluster is to ask. */
  async function forReviewer(id: bigint, reviewer: Reviewer): Promise<ReviewedCluster> {
    const cluster = await forAgent(id, reviewer);
    if (cluster.kubernetes.auth !== 'webhook') throw authOff('set kubernetes.auth to webhook first');
    return cluster;
  }

  async function forAgent(id: bigint, { person, robot, limits }: Reviewer): Promise<ReviewedCluster> {
    const key = String(id);
    const cluster = clusters.remembered(key) ?? (await clusters.get(key));
    if (robot === undefined) throw notForPeople(cluster, person.id);
    const object = { type: 'cluster', id } as const;
    if (cluster === undefined) throw noSuch();
    const keptFrom = { ownerId: cluster.ownerId, ...object };
    if (!reachesObject(limits, keptFrom)) throw noSuch(keptFrom);
    const holds = (relation: string) => judge.holds(person.id, cluster.ownerId, relation, object);
    if (await holds('can_review')) return cluster;
    if (await holds('can_view')) throw missingRelation('review:cluster', '', keptFrom);
    throw noSuch(keptFrom);
  }
}

/** Of their own cluster, which no robot works for, a user learns that. */
function notForPeople(cluster: ReviewedCluster | undefined, personId: bigint): AppError {
  if (cluster?.ownerId === personId) return authOff('clusters of users have no robots that could ask');
  return new AppError('forbidden', 'only robots can call this route: use the token of a robot', {
    reason: 'not_for_people',
  });
}

function noSuch(keptFrom?: { readonly ownerId: bigint; readonly type: string; readonly id: bigint }): AppError {
  return new AppError('notFound', 'cluster does not exist', {
    reason: 'cluster_not_found',
    ...(keptFrom && { keptFrom }),
  });
}
