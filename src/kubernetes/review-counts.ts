import type { ReviewedCluster } from './reviewed-cluster.ts';

export interface ReviewCount {
  /** The number of changes/principal.ts. */
  readonly personId: bigint;
  readonly allowed: number;
  readonly refused: number;
  readonly lastAt: Date;
}

export type ReviewCounts = ReturnType<typeof createReviewCounts>;

interface Counting {
  allowed: number;
  refused: number;
  lastMs: number;
}

const MAX_CLUSTERS = 1_000;
const MAX_PEOPLE = 1_000;

/**
 * How many requests of whom were allowed and refused lately: counts only, in the memory of this process, and bounded. The
 * clusters and people that were not asked about for the longest time are forgotten first.
 */
export function createReviewCounts(start: Date) {
  const clusters = new Map<bigint, Map<bigint, Counting>>();
  return { note, of };

  function note({ id }: Pick<ReviewedCluster, 'id'>, personId: bigint, isAllowed: boolean): void {
    const people = clusters.get(id) ?? added(clusters, id, new Map<bigint, Counting>(), MAX_CLUSTERS);
    const count = people.get(personId) ?? added(people, personId, { allowed: 0, refused: 0, lastMs: 0 }, MAX_PEOPLE);
    if (isAllowed) count.allowed++;
    else count.refused++;
    count.lastMs = Date.now();
  }

  function of(id: bigint): { readonly since: Date; readonly counts: readonly ReviewCount[] } {
    const counts = [...(clusters.get(id) ?? [])].map(([personId, { allowed, refused, lastMs }]) => ({
      personId,
      allowed,
      refused,
      lastAt: new Date(lastMs),
    }));
    return { since: start, counts: counts.sort((one, other) => other.lastAt.getTime() - one.lastAt.getTime()) };
  }
}

/** Instead of the oldest one, if there are too many. */
function added<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): Value {
  if (map.size >= most) {
    const [oldest] = map.keys();
    if (oldest !== undefined) map.delete(oldest);
  }
  map.set(key, value);
  return value;
}
