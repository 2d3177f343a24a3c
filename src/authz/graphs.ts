/**
 * The graphs that are in use, exact as of the latest revision that this process has read.
 *
 * 1. A graph is exact from `since` to `revision` and, while it is not stale, up to the latest revision.
 * 2. A stale graph is patched with what the changes name. It is loaded whole if it is unknown or too far behind.
 * 3. A request never gets a graph of an older moment than the latest revision at the time of its call.
 * 4. Two graphs are queried together only as of one and the same moment.
 * 5. A graph is built in slices, and other requests are served in between. No reader sees it before it is complete.
 *    Whether it is stale is decided at that moment: changes that were announced meanwhile named a graph that was not
 *    there yet.
 * 6. A graph that readers can see changes in one piece, so a patch is small. After a large change, such as an import of
 *    hundreds of roles, a new graph takes the place of the old one.
 * 7. If all graphs together exceed their maximum of bytes, the longest unused ones are dropped. The graph in use is
 *    kept, however large it is. Nothing keeps a dropped graph exact, so it is stale.
 */

import { createGraph, type Graph, type Model } from '../../packages/rebac/src/rebac.ts';
import { AppError } from '../base/errors.ts';
import { apart, createYielder, yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import type { ChangeKind } from '../changes/object-kinds.ts';
import type { Moment, Revisions } from '../changes/revision.ts';
import { TupleLines } from '../changes/tuple-lines.ts';
import { type Change, PLATFORM } from '../changes/write.ts';
import type { NowGraphs } from '../history/past.ts';

/**
 * Queries two graphs. If they are of a past moment, it also gets those of the present, which decide what the caller may
 * see.
 */
export type Ask<T> = (first: Graph, second: Graph, now?: NowGraphs) => T;

export type { GraphTuple } from '../changes/graph-tuple.ts';

/** Tuples as of one moment. */
export interface Snapshot extends Moment {
  readonly tuples: Iterable<GraphTuple>;
}

/** What changed since a revision: every source that is named, with the tuples that it has now. */
export interface Patch extends Snapshot {
  readonly sources: readonly string[];
  /**
   * Changes that old are no longer known, or are of another history, or they are too many: the graph must be loaded again.
   */
  readonly isUseless: boolean;
}

export interface GraphStore {
  load(accountId: bigint): Promise<Snapshot & { readonly count: number }>;
  /** `kinds` are those that are known to have changed since. */
  patch(accountId: bigint, since: Moment, kinds: ReadonlySet<ChangeKind>): Promise<Patch>;
}

/** The graph of one account: an organization's, or that of the resources that a user owns. */
interface Entry {
  readonly graph: Graph;
  /** The first revision for which the graph is known to be exact. */
  since: bigint;
  /** The last revision for which it is known to be exact. See invariant 1 for a graph that is not stale. */
  revision: bigint;
  /** Of that revision. */
  stamp: string;
  isStale: boolean;
  /** What made it stale. */
  changed: Set<ChangeKind>;
  /** What it counts for in the total: its size after its last refresh. */
  bytes: number;
}

const TUPLES_IN_SLICE = 4_000;
const TUPLES_IN_PIECE = 100;
/** Takes about as long as three slices. */
const MAX_READ = 12_000;
/** Two graphs meet after a few refreshes, however much is written, unless they come from two different servers. */
const MAX_REFRESHES = 100;

export type Graphs = ReturnType<typeof createGraphs>;

/** Keeps the graphs that are in use. */
export function createGraphs(
  store: GraphStore,
  revisions: Pick<Revisions, 'latest' | 'isLatest' | 'requireAfter' | 'listen'>,
  model: Model,
  maxBytes: number,
) {
  const entries = new Map<bigint, Entry>();
  const refreshing = new Map<bigint, Promise<Entry>>();
  /** Of all entries. Kept up to date, because there can be thousands of graphs, and each refresh asks for it. */
  let totalBytes = 0;
  const counts = { loads: 0, drops: 0 };
  /** The tuples of the graph that was read last, as of that revision of it: a few megabytes. */
  let lastRead:
    | { readonly graph: Graph; readonly revision: number; readonly tuples: readonly GraphTuple[] }
    | undefined;

  revisions.listen({
    forget(change: Change) {
      if (change.organizationId === PLATFORM) for (const entry of entries.values()) makeStale(entry, change.kind);
      const entry = change.organizationId == null ? undefined : entries.get(change.organizationId);
      if (entry) makeStale(entry, change.kind);
    },
    forgetAll() {
      for (const accountId of entries.keys()) drop(accountId);
    },
  });

  return { of, now, together, togetherNow, eachTuple, bytes: () => totalBytes, count: () => entries.size, counts };

  /**
   * Exact as of the latest revision that was read; that read began after the request arrived. Query the graph
   * immediately.
   */
  async function of(accountId: bigint): Promise<Graph> {
    return (await entryOf(accountId)).graph;
  }

  /** The same without waiting, if the graph is known and exact already. */
  function now(accountId: bigint): Graph | undefined {
    return entryNow(accountId)?.graph;
  }

  function entryNow(accountId: bigint): Entry | undefined {
    const known = entries.get(accountId);
    return known && !known.isStale ? touched(accountId, known) : undefined;
  }

  /** Queries two graphs as of one and the same moment, which is over when `ask` returns. */
  async function together<T>(one: bigint, other: bigint, ask: Ask<T>): Promise<T> {
    for (let refreshes = 0; refreshes < MAX_REFRESHES; refreshes++) {
      // Side by side, because a graph that is not there yet is a query to the database.
      const [first, second] = await Promise.all([entryOf(one), entryOf(other)]);
      if (isOneMoment(first, second)) return ask(first.graph, second.graph);
      const [firstEnd, secondEnd] = [exactUntil(first), exactUntil(second)];
      // Reads from the database, because this process may learn of a write later than the database shows it.
      await refreshOnce(firstEnd < secondEnd ? one : other);
    }
    throw new AppError('unavailable', 'the database does not show one moment of two organizations', { retryAfter: 1 });
  }

  async function entryOf(accountId: bigint): Promise<Entry> {
    const known = entryNow(accountId);
    if (known) return known;
    const needed = revisions.latest;
    const isShared = refreshing.has(accountId);
    const first = await refreshOnce(accountId);
    // A refresh that another request started may have seen an older moment than this request needs (invariant 3), or an
    // earlier server.
    const entry = isShared && !revisions.isLatest(first) ? await refreshOnce(accountId) : first;
    revisions.requireAfter(needed, entry);
    return entry;
  }

  /** Both graphs as of one and the same moment, if that needs no waiting. */
  function togetherNow(one: bigint, other: bigint): readonly [Graph, Graph] | undefined {
    const first = entryNow(one);
    const second = first && entryNow(other);
    return second && isOneMoment(first, second) ? [first.graph, second.graph] : undefined;
  }

  function isOneMoment(first: Entry, second: Entry): boolean {
    if (first.revision === second.revision && first.stamp !== second.stamp) return false;
    return first.since <= exactUntil(second) && second.since <= exactUntil(first);
  }

  function exactUntil({ revision, isStale }: Entry): bigint {
    return isStale || revisions.latest < revision ? revision : revisions.latest;
  }

  /**
   * Every tuple as of the latest revision, to try out what a change would do. A graph that can be read in one piece is
   * read; a large one could change between two slices, so the tuples are read again.
   */
  async function eachTuple(accountId: bigint, note: (tuple: GraphTuple) => void): Promise<void> {
    const { graph } = await entryOf(accountId);
    if (graph.size <= MAX_READ) {
      for (const tuple of tuplesIn(graph)) note(tuple);
      return;
    }
    const { tuples } = await store.load(accountId);
    const yieldIfDue = createYielder();
    let read = 0;
    for (const tuple of tuples) {
      note(tuple);
      if (++read % TUPLES_IN_PIECE === 0) await yieldIfDue();
    }
  }

  /** One request reads an organization several times, to try out one thing after another. */
  function tuplesIn(graph: Graph): readonly GraphTuple[] {
    if (lastRead?.graph !== graph || lastRead.revision !== graph.revision) {
      lastRead = { graph, revision: graph.revision, tuples: [...graph.tuples()] };
    }
    return lastRead.tuples;
  }

  async function build(tuples: Iterable<GraphTuple>, count: number): Promise<Graph> {
    const graph = createGraph(model);
    const parts =
      tuples instanceof TupleLines
        ? graph.loadLines(tuples.text, count, TUPLES_IN_SLICE)
        : graph.loadInParts(tuples, count, TUPLES_IN_SLICE);
    for (const _ of parts) await yieldToEventLoop();
    return graph;
  }

  function refreshOnce(accountId: bigint): Promise<Entry> {
    const under = refreshing.get(accountId);
    if (under) return under;
    const started = apart(() => refresh(accountId)).finally(() => refreshing.delete(accountId));
    refreshing.set(accountId, started);
    return started;
  }

  async function refresh(accountId: bigint): Promise<Entry> {
    const known = entries.get(accountId);
    const since = known && { revision: known.revision, stamp: known.stamp };
    const patch = since && (await store.patch(accountId, since, new Set(known.changed)));
    const entry = known && patch && !patch.isUseless ? patched(known, patch) : await loaded(accountId);
    entry.isStale = !revisions.isLatest(entry);
    if (!entry.isStale) entry.changed.clear();
    // Readers that still hold the replaced graph must not take it for exact from now on.
    if (entry !== known) drop(accountId);
    // The account may have been dropped meanwhile, so it is counted anew.
    if (entries.get(accountId) === entry) totalBytes -= entry.bytes;
    entry.bytes = entry.graph.bytes;
    totalBytes += entry.bytes;
    touched(accountId, entry);
    dropUnused();
    return entry;
  }

  async function loaded(accountId: bigint): Promise<Entry> {
    const { revision, stamp, tuples, count } = await store.load(accountId);
    counts.loads += 1;
    return {
      graph: await build(tuples, count),
      since: revision,
      revision,
      stamp,
      isStale: false,
      changed: new Set(),
      bytes: 0,
    };
  }

  function patched(entry: Entry, patch: Patch): Entry {
    const bySource = new Map(patch.sources.map((source) => [source, [] as GraphTuple[]]));
    for (const tuple of patch.tuples) bySource.get(tuple.source)?.push(tuple);
    for (const [source, tuples] of bySource) {
      // Much that changes states nothing, such as an access request. What was found in the graph then stays true.
      const isSilent = tuples.length === 0 && entry.graph.tuplesOf(source).next().done;
      if (!isSilent) entry.graph.replaceSource(source, tuples);
    }
    if (patch.sources.length > 0) entry.since = patch.revision;
    entry.revision = patch.revision;
    entry.stamp = patch.stamp;
    return entry;
  }

  function makeStale(entry: Entry, kind: ChangeKind): void {
    entry.isStale = true;
    entry.changed.add(kind);
  }

  /** Marks a graph as just used, so it is the last to be dropped. The graph in use is kept, however large it is. */
  function touched(accountId: bigint, entry: Entry): Entry {
    entries.delete(accountId);
    entries.set(accountId, entry);
    return entry;
  }

  function dropUnused(): void {
    for (const accountId of entries.keys()) {
      if (totalBytes <= maxBytes || entries.size === 1) return;
      counts.drops += 1;
      drop(accountId);
    }
  }

  /** Tells callers that still hold the entry that nothing keeps it exact any more. */
  function drop(accountId: bigint): void {
    const entry = entries.get(accountId);
    if (!entry) return;
    entry.isStale = true;
    entries.delete(accountId);
    totalBytes -= entry.bytes;
    if (lastRead?.graph === entry.graph) lastRead = undefined;
  }
}
