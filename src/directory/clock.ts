import type { Query } from '../db/db.ts';
import type { AuditEntry } from './audit.ts';

/** What a write touched, so that every replica can forget just that. */
export type ChangeKind = 'account' | 'platform' | 'team' | 'role' | 'cluster' | 'contract' | 'robot' | 'token';

export interface Change {
  readonly kind: ChangeKind;
  readonly id: bigint;
  /** The account whose authorization graph the change belongs to, if any; 0: everybody's. */
  readonly organizationId?: bigint | null;
}

export interface News {
  readonly revision: bigint;
  readonly pruned: bigint;
  readonly changes: readonly Change[];
}

export interface ClockStore {
  /** No other process writes, so the revision is known without asking. */
  readonly onlyWriter: boolean;
  news(since: bigint): Promise<News>;
  write<T>(work: Work<T>): Promise<{ result: T; revision: bigint | undefined }>;
  prune(keep: bigint): Promise<void>;
}

export type Work<T> = (
  query: Query,
  touch: (change: Change) => void,
  record: (entry: AuditEntry) => void,
) => Promise<T>;
/** A transaction that decides who a caller is or what they may do; it names all that it touches, and what it did. */
export type Write = <T>(work: Work<T>) => Promise<T>;

export type Done = (error?: unknown) => void;

export interface Listener {
  forget(change: Change): void;
  forgetAll(): void;
}

export interface Clock {
  /** Resolves when everything remembered is exact as of a moment after the call. */
  current(): Promise<void>;
  /** The same without a promise: calls back at once where nothing needs to be asked. */
  whenCurrent(done: Done): void;
  /** The revision that everything remembered is exact as of. */
  readonly revision: bigint;
  readonly write: Write;
  listen(listener: Listener): void;
  /** How often the database was asked; far less often than `current` was called. */
  readonly questions: number;
  prune(keep: bigint): Promise<void>;
}

/** Before the first reading. What was remembered by then may be of any moment, so it is forgotten, not patched. */
const NEVER = -1n;
const NO_CHANGES = 2n ** 63n - 1n;
const MOST_TURNS = 5;

/**
 * The one clock. A request waits for a reading of the revision that began after the request arrived; requests that
 * arrive while a reading is under way share the next one. So nothing stale is ever used, and the number of questions
 * does not grow with the number of requests.
 */
export function createClock(store: ClockStore): Clock {
  const listeners: Listener[] = [];
  let revision = NEVER;
  let ownRevision: bigint | undefined;
  let questions = 0;
  let isReading = false;
  let waiting: Done[] = [];

  return {
    current,
    whenCurrent,
    write,
    listen: (listener) => listeners.push(listener),
    prune: (keep) => store.prune(keep),
    get revision() {
      return revision;
    },
    get questions() {
      return questions;
    },
  };

  function current(): Promise<void> {
    return new Promise((resolve, reject) => whenCurrent((error) => (error === undefined ? resolve() : reject(error))));
  }

  function whenCurrent(done: Done): void {
    if (store.onlyWriter && revision === ownRevision) {
      done();
      return;
    }
    if (waiting.push(done) === 1 && !isReading) gather();
  }

  /**
   * The next reading begins after the one under way, and while every turn of the event loop brings more requests a few
   * turns later: twice as many share it then, and waking the database is dear.
   */
  function gather(turns = MOST_TURNS): void {
    const before = waiting.length;
    setImmediate(() => {
      if (waiting.length > before && turns > 1) gather(turns - 1);
      else begin();
    });
  }

  function begin(): void {
    const wave = waiting;
    waiting = [];
    isReading = true;
    const finish = (error?: unknown) => {
      isReading = false;
      if (waiting.length > 0) gather();
      for (const done of wave) tell(done, error);
    };
    read().then(() => finish(), finish);
  }

  async function read(): Promise<void> {
    questions++;
    const since = revision;
    const news = await store.news(since === NEVER ? NO_CHANGES : since);
    if (since < news.pruned || since === NEVER) for (const listener of listeners) listener.forgetAll();
    else for (const change of news.changes) for (const listener of listeners) listener.forget(change);
    revision = news.revision;
    ownRevision ??= news.revision;
  }

  async function write<T>(work: Work<T>): Promise<T> {
    const done = await store.write(work);
    if (done.revision !== undefined && (ownRevision === undefined || done.revision > ownRevision)) {
      ownRevision = done.revision;
    }
    return done.result;
  }
}

/** What one caller throws is its own fault, and must not keep the others waiting. */
function tell(done: Done, error: unknown): void {
  try {
    done(error);
  } catch (fault) {
    setImmediate(() => {
      throw fault;
    });
  }
}
