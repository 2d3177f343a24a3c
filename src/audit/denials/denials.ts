import { type Actor, type AuditEntry, SERVER } from '../../changes/audit-entry.ts';
import { PLATFORM } from '../../changes/write.ts';

/** A change or an administrative call that was denied. */
export interface Denial {
  readonly actor: Actor;
  /** The account whose chain it belongs to, or PLATFORM. */
  readonly ownerId: bigint;
  /** The actor has nothing to do with that account. */
  readonly isStranger: boolean;
  readonly objectType: string;
  readonly objectId: bigint;
  /** What was tried, in the words of the API. */
  readonly attempt: object;
}

export interface DenialStore {
  /** Appends to the chain of one account. */
  append(entries: readonly AuditEntry[]): Promise<void>;
}

export interface DenialLimits {
  /** By one actor, anywhere. */
  readonly actor: number;
  /** In one chain, by those who belong to the account. */
  readonly members: number;
  /**
   * In one chain, by all other callers together: they must not hide what members do, nor fill the log of another
   * account.
   */
  readonly strangers: number;
}

interface DenialsParts {
  readonly store: DenialStore;
  /** Called when entries could not be written; they are kept and tried again. */
  readonly onError: (error: unknown) => void;
  readonly limits?: DenialLimits;
}

/** What was left out of one chain in a window. */
interface Omission {
  readonly ownerId: bigint;
  readonly actor: Actor;
  readonly since: Date;
  count: number;
}

export type Denials = ReturnType<typeof createDenials>;

export const LIMITS: DenialLimits = { actor: 30, members: 200, strangers: 30 };
const WINDOW_MS = 3_600_000;
const WRITE_AFTER_MS = 1000;
const RETRY_AFTER_MS = 10_000;
const MAX_ACTORS = 10_000;
/** More than one window can hold only if the database does not take what was noted. */
const MAX_WAITING = 10_000;

/**
 * Denied changes, in the audit log.
 *
 * 1. A denied request never waits for its entry: entries are written a second later, many together, and before any
 *    reader sees the log through this process.
 * 2. In each hour, the number of entries is limited for every actor and for every chain. What exceeds a limit is
 *    counted, and the count becomes one entry when the hour is over or the server stops.
 * 3. Entries take no revision, and each transaction locks one chain only, so denials cannot slow down writers.
 */
export function createDenials({ store, onError, limits = LIMITS }: DenialsParts) {
  const byActor = new Map<string, number>();
  const byChain = new Map<string, number>();
  const omissions = new Map<string, Omission>();
  let waiting: AuditEntry[] = [];
  let began = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  return { note, flush, close };

  function note(denial: Denial, now: Date): void {
    closeWindow(now);
    const { actor, ownerId, isStranger } = denial;
    const actorKey = `${actor.id} ${actor.name}`;
    const chainKey = `${ownerId} ${isStranger}`;
    const ofActor = byActor.get(actorKey) ?? 0;
    const ofChain = byChain.get(chainKey) ?? 0;
    if (ofActor >= limits.actor) {
      // Strangers can name any account, so what they do too often is counted in one place.
      omit(isStranger ? PLATFORM : ownerId, { ...actor, requestId: '' }, now);
    } else if (ofChain >= (isStranger ? limits.strangers : limits.members) || byActor.size >= MAX_ACTORS) {
      omit(isStranger ? PLATFORM : ownerId, SERVER, now);
    } else {
      byActor.set(actorKey, ofActor + 1);
      byChain.set(chainKey, ofChain + 1);
      add(denial);
    }
  }

  function add({ actor, ownerId: organizationId, objectType, objectId, attempt: after }: Denial): void {
    if (waiting.length >= MAX_WAITING) return;
    waiting.push({ actor, organizationId, action: 'access.denied', objectType, objectId, after });
    schedule(WRITE_AFTER_MS);
  }

  function schedule(afterMs: number): void {
    timer ??= setTimeout(() => void write(), afterMs).unref();
  }

  function omit(ownerId: bigint, actor: Actor, now: Date): void {
    const key = `${ownerId} ${actor.id} ${actor.name}`;
    const known = omissions.get(key);
    if (known) known.count++;
    else omissions.set(key, { ownerId, actor, since: now, count: 1 });
  }

  function closeWindow(now: Date): void {
    if (now.getTime() - began < WINDOW_MS) return;
    endWindow(now);
    began = now.getTime();
  }

  function endWindow(now: Date): void {
    for (const { ownerId, actor, since, count } of omissions.values()) {
      const object = ownerId === PLATFORM ? 'platform' : 'organization';
      const attempt = { suppressed: count, since: since.toISOString(), until: now.toISOString() };
      add({ actor, ownerId, isStranger: false, objectType: object, objectId: ownerId, attempt });
    }
    omissions.clear();
    byActor.clear();
    byChain.clear();
  }

  /** Resolves when everything that was noted before is in the log, or could not be written. */
  async function flush(now: Date): Promise<void> {
    if (began !== 0) closeWindow(now);
    await write();
  }

  /** Ends the window, so that nothing that was counted is lost. */
  async function close(now: Date): Promise<void> {
    endWindow(now);
    await write();
  }

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(writeWaiting);
    return writing;
  }

  async function writeWaiting(): Promise<void> {
    const chains = Map.groupBy(waiting, ({ organizationId }) => organizationId);
    waiting = [];
    for (const entries of chains.values()) {
      try {
        await store.append(entries);
      } catch (error) {
        waiting.push(...entries);
        schedule(RETRY_AFTER_MS);
        onError(error);
      }
    }
  }
}
