import type { Revisions } from '../changes/revision.ts';
import { type Change, PLATFORM } from '../changes/write.ts';
import { createGraph, type Graph } from '../rebac/graph.ts';
import type { Model } from '../rebac/model.ts';

export interface GraphTuple {
  readonly object: string;
  readonly relation: string;
  readonly user: string;
  /** The row that the tuple comes from; a change of it replaces all its tuples. */
  readonly source: string;
}

/** Tuples as of one revision. */
export interface Snapshot {
  readonly revision: bigint;
  readonly tuples: Iterable<GraphTuple>;
}

/** What changed since a revision: every source named, with the tuples that it has now. */
export interface Patch extends Snapshot {
  readonly sources: readonly string[];
  /** Changes that old are forgotten: only loading anew helps. */
  readonly isTooLate: boolean;
}

export interface GraphStore {
  load(accountId: bigint): Promise<Snapshot & { readonly count: number }>;
  patch(accountId: bigint, since: bigint): Promise<Patch>;
}

/** The graph of one account: an organization's, or the resources that a person owns. */
interface Entry {
  readonly graph: Graph;
  /** Exact from this revision on, as far as it is known to have been … */
  since: bigint;
  /** … up to this one, and while it is not stale up to the clock's. */
  revision: bigint;
  isStale: boolean;
}

export type Graphs = ReturnType<typeof createGraphs>;

/**
 * Keeps the graphs that are in use, exact as of the clock's revision: patched with what a change names, loaded whole when
 * unknown or too far behind, the longest unused dropped when together they exceed their bytes.
 */
export function createGraphs(
  store: GraphStore,
  revisions: Pick<Revisions, 'latest' | 'listen'>,
  model: Model,
  mostBytes: number,
) {
  const entries = new Map<bigint, Entry>();
  const refreshing = new Map<bigint, Promise<Entry>>();

  revisions.listen({
    forget(change: Change) {
      if (change.organizationId === PLATFORM) for (const entry of entries.values()) entry.isStale = true;
      const entry = change.organizationId == null ? undefined : entries.get(change.organizationId);
      if (entry) entry.isStale = true;
    },
    forgetAll() {
      for (const accountId of entries.keys()) drop(accountId);
    },
  });

  return { of, now, together, togetherNow, copyOf, bytes, count: () => entries.size };

  /** Exact as of the clock's latest reading, which began after the request arrived. To be asked at once. */
  async function of(accountId: bigint): Promise<Graph> {
    return (await entryOf(accountId)).graph;
  }

  /** The same without waiting, where it is known and exact already. */
  function now(accountId: bigint): Graph | undefined {
    return entryNow(accountId)?.graph;
  }

  function entryNow(accountId: bigint): Entry | undefined {
    const known = entries.get(accountId);
    return known && !known.isStale ? touched(accountId, known) : undefined;
  }

  /** Asks two graphs of one and the same moment, which is over when `ask` returns. */
  async function together<T>(one: bigint, other: bigint, ask: (first: Graph, second: Graph) => T): Promise<T> {
    for (;;) {
      const first = await entryOf(one);
      const second = await entryOf(other);
      if (isOneMoment(first, second)) return ask(first.graph, second.graph);
      const [firstEnd, secondEnd] = [exactUntil(first), exactUntil(second)];
      // Asking the database and not the clock, which may know of a write later than the database shows it.
      await refreshOnce(firstEnd < secondEnd ? one : other);
    }
  }

  async function entryOf(accountId: bigint): Promise<Entry> {
    const known = entryNow(accountId);
    if (known) return known;
    const needed = revisions.latest;
    for (;;) {
      const entry = await refreshOnce(accountId);
      // A refresh that another request began may have seen an older moment than this request is owed.
      if (entry.revision >= needed) return entry;
    }
  }

  /** Both graphs of one and the same moment, where that needs no waiting. */
  function togetherNow(one: bigint, other: bigint): readonly [Graph, Graph] | undefined {
    const first = entryNow(one);
    const second = first && entryNow(other);
    return second && isOneMoment(first, second) ? [first.graph, second.graph] : undefined;
  }

  function isOneMoment(first: Entry, second: Entry): boolean {
    return first.since <= exactUntil(second) && second.since <= exactUntil(first);
  }

  function exactUntil({ revision, isStale }: Entry): bigint {
    return isStale || revisions.latest < revision ? revision : revisions.latest;
  }

  /** A graph of one's own, to try out what a change would do. */
  async function copyOf(accountId: bigint): Promise<Graph> {
    const { tuples, count } = await store.load(accountId);
    return createGraph(model, tuples, count);
  }

  function refreshOnce(accountId: bigint): Promise<Entry> {
    const under = refreshing.get(accountId);
    if (under) return under;
    const started = refresh(accountId).finally(() => refreshing.delete(accountId));
    refreshing.set(accountId, started);
    return started;
  }

  async function refresh(accountId: bigint): Promise<Entry> {
    const known = entries.get(accountId);
    const patch = known && (await store.patch(accountId, known.revision));
    const entry = known && patch && !patch.isTooLate ? patched(known, patch) : await loaded(accountId);
    entry.isStale = entry.revision < revisions.latest;
    touched(accountId, entry);
    dropUnused();
    return entry;
  }

  async function loaded(accountId: bigint): Promise<Entry> {
    const { revision, tuples, count } = await store.load(accountId);
    return { graph: createGraph(model, tuples, count), since: revision, revision, isStale: false };
  }

  function patched(entry: Entry, patch: Patch): Entry {
    const bySource = new Map(patch.sources.map((source) => [source, [] as GraphTuple[]]));
    for (const tuple of patch.tuples) bySource.get(tuple.source)?.push(tuple);
    for (const [source, tuples] of bySource) entry.graph.replaceSource(source, tuples);
    if (patch.sources.length > 0) entry.since = patch.revision;
    entry.revision = patch.revision;
    return entry;
  }

  /** Used now, so the last to be dropped; the one in use is kept however large it is. */
  function touched(accountId: bigint, entry: Entry): Entry {
    entries.delete(accountId);
    entries.set(accountId, entry);
    return entry;
  }

  function dropUnused(): void {
    let total = bytes();
    for (const [accountId, entry] of entries) {
      if (total <= mostBytes || entries.size === 1) return;
      drop(accountId);
      total -= entry.graph.bytes;
    }
  }

  /** Whoever still holds it is told that nobody keeps it exact any more. */
  function drop(accountId: bigint): void {
    const entry = entries.get(accountId);
    if (entry) entry.isStale = true;
    entries.delete(accountId);
  }

  function bytes(): number {
    let total = 0;
    for (const entry of entries.values()) total += entry.graph.bytes;
    return total;
  }
}
