import { setTimeout as wait } from 'node:timers/promises';
import type { Bucket } from '../archive/bucket-place.ts';
import type { AuditRow } from '../audit.ts';
import type { NameOf } from '../sentences/object-names.ts';

/**
 * Pushes the log to a bucket as events of OCSF, so that each entry is in exactly one object.
 *
 * 1. Objects are planned in the database before they are written: entries after the last object, up to a high-water mark.
 *    At or below the mark nothing can appear any more, because every transaction that could add an entry there is over.
 * 2. So an object always has the same name and entries. A process that ends between writing it and noting it repeats it,
 *    and so do two processes that push at the same time.
 * 3. What has not been pushed is not archived.
 */
export interface AuditPushStore {
  /** Whether it is this process's turn. It lasts until then, unless it is prolonged. */
  claim(now: Date, until: Date): Promise<boolean>;
  /** Sets the next turn, here or elsewhere. `isComplete`: everything was pushed at that moment. */
  prolong(until: Date, isComplete: boolean): Promise<void>;
  /** Settled if nothing can appear any more at or below the mark. */
  position(): Promise<{ readonly last: bigint; readonly mark: bigint; readonly isSettled: boolean }>;
  /** Sets the mark to the newest entry. */
  plan(): Promise<void>;
  entries(after: bigint, mark: bigint, limit: number): Promise<AuditRow[]>;
  /** False if another process did so meanwhile. */
  advance(from: bigint, to: bigint): Promise<boolean>;
  /** Whether entries from before the moment are not pushed yet. */
  isBehind(before: Date): Promise<boolean>;
}

export interface AuditPushParts {
  readonly store: AuditPushStore;
  readonly open: () => Promise<Bucket>;
  /** Where in the bucket: nothing, or a path. */
  readonly prefix: string;
  readonly everyMinutes: number;
  readonly namesOf: (rows: readonly AuditRow[]) => Promise<NameOf>;
  readonly line: (row: AuditRow, nameOf: NameOf) => string;
  readonly settle: () => Promise<void>;
  readonly onPushed: (key: string, entries: number) => void;
}

export type AuditPush = ReturnType<typeof createAuditPush>;

/** A few MiB. */
const OBJECT_ENTRIES = 2000;
const BATCH = 250;
/** How long a turn lasts after its process ended, and how long a push rests after a failure. */
const TURN_MS = 300_000;
const SETTLE_MS = 1000;
const SETTLE_TRIES = 10;
const MINUTE_MS = 60_000;
/** The upkeep that pushes comes once a minute, and not to the millisecond. */
const EARLIER_MS = 10_000;

export function createAuditPush(parts: AuditPushParts) {
  const { store, open, prefix, everyMinutes, namesOf, line, settle, onPushed } = parts;
  let isRunning = false;
  return { run, isBehind: store.isBehind };

  /** Pushes everything, if a push is due. */
  async function run(now: Date): Promise<void> {
    if (isRunning || !(await store.claim(now, later(now, TURN_MS)))) return;
    isRunning = true;
    try {
      await settle();
      const isComplete = await pushAll();
      const next = isComplete ? later(now, everyMinutes * MINUTE_MS - EARLIER_MS) : now;
      await store.prolong(next, isComplete);
    } finally {
      isRunning = false;
    }
  }

  /** False if a transaction takes long that can still add entries. */
  async function pushAll(): Promise<boolean> {
    const bucket = await open();
    let hasPlanned = false;
    for (let tries = 0; tries < SETTLE_TRIES; ) {
      const { last, mark, isSettled } = await store.position();
      if (mark > last && !isSettled) {
        tries++;
        await wait(SETTLE_MS);
      } else if (mark > last) {
        await pushNext(bucket, last, mark);
        await store.prolong(later(new Date(), TURN_MS), false);
      } else {
        // What was left by an earlier run was pushed first.
        if (hasPlanned) return true;
        hasPlanned = true;
        await store.plan();
      }
    }
    return false;
  }

  async function pushNext(bucket: Bucket, last: bigint, mark: bigint): Promise<void> {
    const lines: string[] = [];
    let [first, end]: (AuditRow | undefined)[] = [];
    while (lines.length < OBJECT_ENTRIES) {
      const rows = await store.entries(end?.id ?? last, mark, BATCH);
      const nameOf = await namesOf(rows);
      for (const row of rows) lines.push(`${line(row, nameOf)}\n`);
      first ??= rows[0];
      end = rows.at(-1) ?? end;
      if (rows.length < BATCH) break;
    }
    if (first && end) {
      const key = keyOf(first, end);
      await bucket.put(key, lines.join(''), false);
      onPushed(key, lines.length);
    }
    await store.advance(last, lines.length < OBJECT_ENTRIES ? mark : (end?.id ?? mark));
  }

  /** Sorted by name, objects are in the order of their entries. */
  function keyOf(first: AuditRow, last: AuditRow): string {
    const [year, month, day] = first.at.slice(0, 10).split('-');
    const name = `audit-${padded(first.id)}-${padded(last.id)}.ndjson`;
    return [...(prefix === '' ? [] : [prefix]), 'ocsf', year, month, day, name].join('/');
  }
}

function padded(id: bigint): string {
  return String(id).padStart(12, '0');
}

function later(moment: Date, milliseconds: number): Date {
  return new Date(moment.getTime() + milliseconds);
}
