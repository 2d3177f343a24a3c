/**
 * Which access was used, on which day.
 *
 * 1. A use is an answer that let something happen: a relation that a request needed and its caller held, or a question of
 *    a program about one relation or one object that was answered with yes. What the server asks to decide what it shows
 *    in a list is none.
 * 2. Noting a use only looks into memory, and is written later with many others. A use that was noted already that day is
 *    not written again, however often it is repeated.
 * 3. Who may do what never depends on it. If the database does not answer for long, the latest uses are lost, not requests.
 */
export interface AccessUse {
  readonly organizationId: bigint;
  /** The number of changes/principal.ts. */
  readonly principalId: bigint;
  readonly type: string;
  readonly objectId: bigint;
  /** `ANY_RELATION` if everything that is held on the object was asked for. */
  readonly relation: string;
  /** Such as `2026-11-18`, in UTC. */
  readonly day: string;
}

export interface AccessUseStore {
  /** Keeps the latest day of each. */
  write(uses: readonly AccessUse[]): Promise<void>;
  /** Forgets what was last used before this day. */
  prune(before: string): Promise<void>;
}

export type AccessUses = ReturnType<typeof createAccessUses>;
export type NoteUse = AccessUses['note'];

export const ANY_RELATION = '';
export const DAY_MS = 86_400_000;
/** Older uses are forgotten. Longer than a caller can ask about. */
const KEPT_DAYS = 400;
/** So many are remembered as noted, and so many wait to be written. */
const MAX_NOTED = 200_000;
const MAX_WAITING = 100_000;

type Noted = Map<bigint, Map<string, Map<string, Set<bigint>>>>;

export function createAccessUses(store: AccessUseStore, now: () => number = Date.now) {
  let noted: Noted = new Map();
  let count = 0;
  let waiting: AccessUse[] = [];
  let today = -1;
  let prunedOn = -1;
  return { note, flush };

  /** Synchronous and cheap: it is called in the middle of requests. */
  function note(principalId: bigint, organizationId: bigint, relation: string, type: string, objectId: bigint): void {
    // What users own themselves was granted by no one.
    if (organizationId === principalId) return;
    const day = Math.floor(now() / DAY_MS);
    if (day !== today || count >= MAX_NOTED) {
      noted = new Map();
      count = 0;
      today = day;
    }
    const types = at(noted, principalId, () => new Map<string, Map<string, Set<bigint>>>());
    const relations = at(types, type, () => new Map<string, Set<bigint>>());
    const objects = at(relations, relation, () => new Set<bigint>());
    if (objects.has(objectId)) return;
    objects.add(objectId);
    count += 1;
    if (waiting.length >= MAX_WAITING) return;
    waiting.push({ organizationId, principalId, type, objectId, relation, day: dayText(day) });
  }

  async function flush(): Promise<void> {
    const written = waiting;
    waiting = [];
    try {
      if (written.length > 0) await store.write(written);
    } catch (error) {
      waiting = [...written, ...waiting].slice(0, MAX_WAITING);
      throw error;
    }
    const day = Math.floor(now() / DAY_MS);
    if (prunedOn === day) return;
    await store.prune(dayText(day - KEPT_DAYS));
    prunedOn = day;
  }
}

/** The name of a day, which is counted from the beginning of Unix time. */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function at<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
