import type { ServerTuple } from './openfga-server.ts';

/** A tuple in the graph of an account. */
export interface AccountTuple extends ServerTuple {
  readonly accountId: bigint;
}

/** A tuple and the row that it comes from. Two rows may state the same tuple. */
export interface SourcedTuple extends AccountTuple {
  readonly sourceKind: string;
  readonly sourceId: bigint;
}

/** What happens to one tuple. */
export interface TupleChange {
  readonly tuple: AccountTuple;
  /** Undefined if the store has it before and after, or neither: only its sources are others. */
  readonly effect: 'write' | 'delete' | undefined;
  readonly added: readonly SourcedTuple[];
  readonly removed: readonly SourcedTuple[];
}

/** How many sources state each tuple so far, of those that change and of all other tuples. */
export type CountSources = (tuples: readonly AccountTuple[]) => Promise<ReadonlyMap<string, number>>;

export function keyOf({ accountId, object, relation, user }: AccountTuple): string {
  return `${accountId} ${object} ${relation} ${user}`;
}

/** What turns the tuples that some sources stated when they were published into those that they state now. */
export async function differenceOf(
  now: Iterable<SourcedTuple>,
  published: Iterable<SourcedTuple>,
  countSources: CountSources,
): Promise<TupleChange[]> {
  const gone = new Map<string, SourcedTuple>();
  for (const tuple of published) gone.set(sourcedKey(tuple), tuple);
  const added: SourcedTuple[] = [];
  const seen = new Set<string>();
  for (const tuple of now) {
    const key = sourcedKey(tuple);
    if (seen.has(key)) continue;
    seen.add(key);
    if (!gone.delete(key)) added.push(tuple);
  }
  const addedByTuple = Map.groupBy(added, keyOf);
  const removedByTuple = Map.groupBy(gone.values(), keyOf);
  const changed = new Map([...added, ...gone.values()].map((tuple) => [keyOf(tuple), tuple]));
  if (changed.size === 0) return [];
  const counts = await countSources([...changed.values()]);
  return [...changed].map(([key, { accountId, object, relation, user }]) => {
    const more = addedByTuple.get(key) ?? [];
    const fewer = removedByTuple.get(key) ?? [];
    const before = counts.get(key) ?? 0;
    const after = before + more.length - fewer.length;
    const effect = before === 0 && after > 0 ? 'write' : before > 0 && after === 0 ? 'delete' : undefined;
    return { tuple: { accountId, object, relation, user }, effect, added: more, removed: fewer };
  });
}

function sourcedKey(tuple: SourcedTuple): string {
  return `${keyOf(tuple)} ${tuple.sourceKind}:${tuple.sourceId}`;
}
