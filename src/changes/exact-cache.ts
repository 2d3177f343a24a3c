/**
 * Memory that is correct as of a revision.
 *
 * 1. A value is remembered only for as long as it is exact: a change of an account that it depends on drops it.
 * 2. Absence is not remembered: what does not exist now may be created by a write that names an account that is not
 *    known here.
 * 3. A loaded value is remembered only if its snapshot is of exactly the latest moment. The changes up to that revision
 *    have already been handed out, and an older snapshot may miss one of them. A later one may be of another history,
 *    if the database has been replaced meanwhile.
 * 4. `get` is exact as of `revisions.latest` at the time of the call. Callers that need more wait for the revision
 *    first.
 */
import type { Moment, Revisions } from './revision.ts';

/** What was loaded, and the moment of the snapshot that it was loaded from. */
export interface Loaded<V> extends Moment {
  readonly value: V | undefined;
}

interface ExactCacheOptions<V> {
  readonly revisions: Pick<Revisions, 'latest' | 'isLatest' | 'requireAfter' | 'listen'>;
  readonly load: (key: string) => Promise<Loaded<V>>;
  /** The accounts that a value depends on: a change of one of them drops it. */
  readonly dependsOn: (value: V) => readonly bigint[];
  readonly max: number;
}

/** Remembers what was loaded for as long as it is exact. */
export function createExactCache<V>({ revisions, load, dependsOn, max }: ExactCacheOptions<V>) {
  const values = new Map<string, V>();
  const keysOf = new Map<bigint, Set<string>>();
  const loading = new Map<string, Promise<Loaded<V>>>();

  revisions.listen({
    forget(change) {
      if (change.kind !== 'account') return;
      for (const key of keysOf.get(change.id) ?? []) drop(key);
    },
    forgetAll() {
      values.clear();
      keysOf.clear();
    },
  });

  return { get, remembered: (key: string) => values.get(key) };

  /** Exact as of the latest revision that was read (invariant 4). */
  async function get(key: string): Promise<V | undefined> {
    const known = values.get(key);
    if (known !== undefined) return known;
    const needed = revisions.latest;
    const isShared = loading.has(key);
    const first = await loadOnce(key);
    // A load that another request started may have seen an older moment than this request needs, or an earlier server.
    const fresh = isShared && !revisions.isLatest(first) ? await loadOnce(key) : first;
    revisions.requireAfter(needed, fresh);
    return fresh.value;
  }

  function loadOnce(key: string): Promise<Loaded<V>> {
    const under = loading.get(key);
    if (under) return under;
    const started = load(key)
      .then((fresh) => {
        // Invariant 3.
        if (fresh.value !== undefined && revisions.isLatest(fresh)) remember(key, fresh.value);
        return fresh;
      })
      .finally(() => loading.delete(key));
    loading.set(key, started);
    return started;
  }

  function remember(key: string, value: V): void {
    if (values.size >= max) {
      const oldest = values.keys().next().value;
      if (oldest !== undefined) drop(oldest);
    }
    values.set(key, value);
    for (const account of dependsOn(value)) {
      const keys = keysOf.get(account) ?? new Set();
      keysOf.set(account, keys.add(key));
    }
  }

  function drop(key: string): void {
    const value = values.get(key);
    if (value === undefined) return;
    values.delete(key);
    for (const account of dependsOn(value)) {
      const keys = keysOf.get(account);
      keys?.delete(key);
      if (keys?.size === 0) keysOf.delete(account);
    }
  }
}
