/** What credentials allow beyond their owner's own subjects, in the form in which it is stored and compared. */
export interface Grant {
  /** Cluster ID times 8, plus a bit for each right on it; ascending. */
  readonly rights: readonly bigint[];
  /** The accounts that own these clusters. */
  readonly grantedBy: readonly bigint[];
}

export interface ClusterOfGrant {
  readonly id: bigint;
  readonly ownerId: bigint;
  readonly relations: readonly string[];
}

/** `can_view` allows to subscribe, `can_connect` to publish, and `can_edit` to publish reports for the history. */
const BITS: readonly (readonly [relation: string, bit: bigint])[] = [
  ['can_view', 1n],
  ['can_connect', 2n],
  ['can_edit', 4n],
];
const ROOM = 3n;

export const NO_GRANT: Grant = { rights: [], grantedBy: [] };

export function grantOf(clusters: readonly ClusterOfGrant[]): Grant {
  const rights = clusters.map(({ id, relations }) => {
    const bits = BITS.filter(([relation]) => relations.includes(relation));
    return (id << ROOM) + bits.reduce((sum, [, bit]) => sum + bit, 0n);
  });
  return {
    rights: rights.sort((a, b) => (a < b ? -1 : 1)),
    grantedBy: [...new Set(clusters.map(({ ownerId }) => ownerId))].sort((a, b) => (a < b ? -1 : 1)),
  };
}

/** Whether `given` contains something that is no longer allowed. */
export function exceeds(given: readonly bigint[], allowed: readonly bigint[]): boolean {
  const present = new Map(allowed.map((right) => [right >> ROOM, right & 7n]));
  return given.some((right) => (right & 7n & ~(present.get(right >> ROOM) ?? 0n)) !== 0n);
}

export function isSame(one: readonly bigint[], other: readonly bigint[]): boolean {
  return one.length === other.length && one.every((right, place) => right === other[place]);
}
