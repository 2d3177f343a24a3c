import { AppError } from '../base/errors.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { Change, Once, Query, Work, Write, WriteOptions } from './write.ts';

/**
 * A revision of one history. After a failover that lost commits, or a restore to an earlier moment, numbers repeat, but
 * stamps are random.
 */
export interface Moment {
  readonly revision: bigint;
  readonly stamp: string;
}

export interface News extends Moment {
  /** Whether the database has been through the moment that it was asked about, and knows all changes since then. */
  readonly continues: boolean;
  readonly changes: readonly Change[];
  /** When something expires next, in milliseconds of Unix time. Absent if nothing does, or if nothing has changed. */
  readonly nextExpiry?: number | undefined;
}

export interface RevisionStore {
  /** No other process writes, so the revision is known without asking. */
  readonly onlyWriter: boolean;
  /**
   * What changed since a moment. Without one, there is nothing to continue. If something has expired by the clock of the
   * database, `expire` is called first.
   */
  news(since: Moment | undefined, expire: () => Promise<void>): Promise<News>;
  write<T, Made>(
    work: Work<T, Made>,
    once?: Once<Made>,
    options?: WriteOptions,
  ): Promise<{ result: T; revision: bigint | undefined }>;
  /** Looks up when something expires next. */
  renewExpiry(): Promise<void>;
  prune(keep: bigint): Promise<void>;
}

export type Done = (error?: unknown) => void;

export interface Listener {
  forget(change: Change): void;
  forgetAll(): void;
}

/**
 * Removes at most `max` of the rows that have expired by the clock of the database, as any other write would. Returns how
 * many it found.
 */
export type Expirer = (
  query: Query,
  touch: (change: Change) => void,
  record: (entry: AuditEntry) => void,
  max: number,
) => Promise<number>;

/** All of them pass the one row of the revision, so they wait for each other. */
export interface Writes {
  /** Begun, and neither committed nor rolled back. */
  underWay: number;
  /** How many have ended. */
  ended: number;
  /** How long those took together. */
  seconds: number;
}

export interface Revisions {
  /** Resolves once everything remembered is exact as of a moment after the call. */
  current(): Promise<void>;
  /** The same without a promise. Never calls back before it returns. */
  whenCurrent(done: Done): void;
  /** The revision that everything remembered is exact as of. */
  readonly latest: bigint;
  /** Whether this is the very moment that everything remembered is exact as of. Only what is of it may be remembered. */
  isLatest(moment: Moment): boolean;
  /** Rejects what cannot have been read after `needed` was the latest revision, in the same history. */
  requireAfter(needed: bigint, moment: Moment): void;
  readonly write: Write;
  listen(listener: Listener): void;
  /** What expires is removed by these, in writes of their own. */
  addExpirer(expirer: Expirer): void;
  /** How often the database was asked: far less often than `current` was called. */
  readonly queries: number;
  readonly writes: Readonly<Writes>;
  prune(keep: bigint): Promise<void>;
}

/** Before the first read. What was remembered by then may be of any moment, so it is forgotten, not patched. */
const NEVER: Moment = { revision: -1n, stamp: '' };
const MAX_TURNS = 5;
/** In one transaction: other requests wait for the only connection of the built-in database. */
const EXPIRED_AT_ONCE = 500;

/**
 * The revision of the deployment, as this process knows it.
 *
 * 1. A request waits for a read of the revision that began after the request arrived, so nothing stale is ever used.
 * 2. Requests that arrive while a read is under way share the next one, so the number of reads does not grow with the
 *    number of requests.
 * 3. Listeners hear of every change up to a revision before anyone waiting for that revision continues.
 * 4. If the database has not been through the moment that this process knows, its history is another one, whatever its
 *    number is now. Then listeners forget everything.
 * 5. Only what was read at exactly the latest moment is remembered. What was read at a later one is known to be of the
 *    same history only after the next read, and by then changes may have named it.
 * 6. What has expired is removed before any waiting request continues, and a request that arrives after the moment
 *    waits for a read that began after it. The clock is that of the database. The only writer of a built-in database
 *    has the same clock, and knows the next moment from its last read: only writes move it, and a read follows each of
 *    them. If nothing can be removed, the read fails, and no request is answered.
 */
export function createRevisions(store: RevisionStore): Revisions {
  const listeners: Listener[] = [];
  let latest = NEVER;
  let ownRevision: bigint | undefined;
  let queries = 0;
  const writes: Writes = { underWay: 0, ended: 0, seconds: 0 };
  let isReading = false;
  let waiting: Done[] = [];
  const expirers: Expirer[] = [];
  let nextExpiry = Number.POSITIVE_INFINITY;

  return {
    current,
    whenCurrent,
    write,
    listen: (listener) => listeners.push(listener),
    addExpirer: (expirer) => expirers.push(expirer),
    prune: (keep) => store.prune(keep),
    isLatest,
    requireAfter,
    writes,
    get latest() {
      return latest.revision;
    },
    get queries() {
      return queries;
    },
  };

  function current(): Promise<void> {
    return new Promise((resolve, reject) => whenCurrent((error) => (error === undefined ? resolve() : reject(error))));
  }

  function whenCurrent(done: Done): void {
    if (waiting.push(done) === 1 && !isReading) gather();
  }

  /**
   * The next read begins after the one under way. While every turn of the event loop brings more requests, it begins a
   * few turns later: then twice as many requests share it, and each read costs the database a wake-up.
   *
   * The only writer does so, too, although it seldom asks: what is answered together wakes the clients, or the network,
   * once. One by one, small responses take almost half as much processor time again.
   */
  function gather(turns = MAX_TURNS): void {
    const before = waiting.length;
    setImmediate(() => {
      if (waiting.length > before && turns > 1) gather(turns - 1);
      else begin();
    });
  }

  function begin(): void {
    const wave = waiting;
    waiting = [];
    if (isKnown()) {
      for (const done of wave) tell(done, undefined);
      return;
    }
    isReading = true;
    const finish = (error?: unknown) => {
      isReading = false;
      if (waiting.length > 0) gather();
      for (const done of wave) tell(done, error);
    };
    read().then(() => finish(), finish);
  }

  /** Whether everything is still as of the last read, because only this process writes, and it has not. */
  function isKnown(): boolean {
    return store.onlyWriter && latest.revision === ownRevision && Date.now() < nextExpiry;
  }

  async function read(): Promise<void> {
    queries++;
    const since = latest === NEVER ? undefined : latest;
    const news = await store.news(since, expire);
    const { revision, stamp, continues, changes } = news;
    if (since === undefined || !continues) for (const listener of listeners) listener.forgetAll();
    else for (const change of changes) for (const listener of listeners) listener.forget(change);
    latest = { revision, stamp };
    ownRevision ??= revision;
    if ('nextExpiry' in news) nextExpiry = news.nextExpiry ?? Number.POSITIVE_INFINITY;
  }

  /** Several processes may do this at the same time: the later ones find nothing. */
  async function expire(): Promise<void> {
    try {
      for (const expirer of expirers) {
        const removeSome: Work<number> = (query, touch, record) => expirer(query, touch, record, EXPIRED_AT_ONCE);
        while ((await write(removeSome, undefined, { isFact: true })) === EXPIRED_AT_ONCE);
      }
      await store.renewExpiry();
    } catch (cause) {
      if (cause instanceof AppError && cause.kind === 'unavailable') throw cause;
      throw new AppError('unavailable', 'what has expired could not be removed', { cause, retryAfter: 1 });
    }
  }

  function isLatest({ revision, stamp }: Moment): boolean {
    return revision === latest.revision && stamp === latest.stamp;
  }

  function requireAfter(needed: bigint, moment: Moment): void {
    const isOther = moment.revision === latest.revision && moment.stamp !== latest.stamp;
    if (moment.revision >= needed && !isOther) return;
    const what = 'the database returned to an earlier state while this was answered';
    throw new AppError('unavailable', what, { retryAfter: 1 });
  }

  async function write<T, Made>(work: Work<T, Made>, once?: Once<Made>, options?: WriteOptions): Promise<T> {
    const began = performance.now();
    writes.underWay += 1;
    const done = await store.write(work, once, options).finally(() => {
      writes.underWay -= 1;
      writes.ended += 1;
      writes.seconds += (performance.now() - began) / 1000;
    });
    if (done.revision !== undefined && (ownRevision === undefined || done.revision > ownRevision)) {
      ownRevision = done.revision;
    }
    return done.result;
  }
}

/** An exception of one caller must not keep other callers waiting. */
function tell(done: Done, error: unknown): void {
  try {
    done(error);
  } catch (fault) {
    setImmediate(() => {
      throw fault;
    });
  }
}
