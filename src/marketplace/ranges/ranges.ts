import { createAddressSet } from './address-set.ts';
import { type RangeFile, readRangeFile } from './range-file.ts';

export interface KnownRanges extends RangeFile {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly lastSeenAt: Date;
}

export interface RangeStore {
  /** The newest version of a source, and all versions last seen between `since` and `until`. */
  versions(source: string, since: Date, until: Date): Promise<KnownRanges[]>;
  save(source: string, version: Omit<KnownRanges, 'lastSeenAt'>, seenAt: Date): Promise<void>;
}

/** The response of a source: its text and the validators for the next request, or that nothing changed. */
export type Fetched =
  | { readonly changed: false }
  | {
      readonly changed: true;
      readonly text: string;
      readonly etag: string | null;
      readonly lastModified: string | null;
    };

export type FetchRanges = (source: string, known: KnownRanges | undefined) => Promise<Fetched>;

interface RangesOptions {
  readonly source: string | undefined;
  readonly allow: readonly string[];
  readonly report: (problem: string, error: unknown) => void;
}

export type Ranges = ReturnType<typeof createRanges>;

const UNION_MS = 72 * 3_600_000;
/** A list that lost more than a fifth of its prefixes is considered broken, unless it was small to begin with. */
const MAX_LOSS = 0.2;
const SMALL = 100;

/**
 * The addresses that marketplace A may call from. The published list changes several times a day, and single ranges
 * come and go by the hour, so everything that was published within the last three days counts.
 */
export function createRanges(store: RangeStore, fetchRanges: FetchRanges, { source, allow, report }: RangesOptions) {
  const allowed = createAddressSet(allow);
  // If there is no source, the allow list is the whole list.
  let published = source === undefined && allow.length > 0 ? createAddressSet([]) : undefined;
  let newest: KnownRanges | undefined;
  return { prepare, refresh, judge, age };

  /**
   * When it resolves, there is a list: the stored copy, or else a first download, unless that takes longer than
   * `patienceMs`.
   */
  async function prepare(now: Date, patienceMs: number): Promise<void> {
    if (source === undefined) return;
    await loadStored(source, now);
    if (published) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, patienceMs);
    await Promise.race([refresh(now), late]);
    clearTimeout(timer);
  }

  /** Undefined if there is no list, so the answer is unknown. */
  function judge(address: string): boolean | undefined {
    if (allowed.has(address)) return true;
    return published?.has(address);
  }

  /** Seconds since the source last confirmed the newest list. */
  function age(now: Date): number | undefined {
    return newest && Math.max(0, (now.getTime() - newest.lastSeenAt.getTime()) / 1000);
  }

  /** Never throws: whatever goes wrong, the last good copy stays. */
  async function refresh(now: Date): Promise<void> {
    if (source === undefined) return;
    await loadStored(source, now);
    try {
      const fetched = await fetchRanges(source, newest);
      const version = fetched.changed ? { ...accept(readRangeFile(fetched.text)), ...rest(fetched) } : newest;
      if (version) await store.save(source, version, now);
      await load(source, now);
    } catch (error) {
      report('the address ranges were not renewed', error);
    }
  }

  function accept(file: RangeFile): RangeFile {
    if (!newest) return file;
    if (file.syncToken < newest.syncToken) throw new Error('the list is older than the current one');
    const isBroken = newest.prefixes.length >= SMALL && file.prefixes.length < newest.prefixes.length * (1 - MAX_LOSS);
    if (isBroken) throw new Error(`the list shrank from ${newest.prefixes.length} to ${file.prefixes.length} prefixes`);
    return file;
  }

  async function loadStored(from: string, now: Date): Promise<void> {
    await load(from, now).catch((error: unknown) => report('the stored address ranges cannot be read', error));
  }

  async function load(from: string, now: Date): Promise<void> {
    // A clock that was set back leaves versions in the future. They count as long as those of the past do, not longer.
    const [since, until] = [now.getTime() - UNION_MS, now.getTime() + UNION_MS];
    const versions = await store.versions(from, new Date(since), new Date(until));
    if (versions.length === 0) return;
    newest = versions.reduce((a, b) => (b.syncToken > a.syncToken ? b : a));
    published = createAddressSet([...new Set(versions.flatMap((one) => one.prefixes))]);
  }
}

function rest({ etag, lastModified }: { etag: string | null; lastModified: string | null }) {
  return { etag, lastModified };
}
