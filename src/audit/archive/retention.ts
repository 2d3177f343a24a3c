import { type Period, periodBefore } from '../../base/period.ts';
import type { ArchiveOutcome, ArchivePlace, AuditArchive } from './audit-archive.ts';

export interface RetentionStore {
  /** Whether this process is the first to archive on that day. */
  claim(day: string): Promise<boolean>;
  /** Another try is possible on that day. */
  giveBack(day: string): Promise<void>;
}

export interface RetentionParts {
  readonly store: RetentionStore;
  readonly archive: Pick<AuditArchive, 'archive'>;
  readonly keep: Period;
  /** A new archive with this name. */
  readonly placeFor: (name: string) => ArchivePlace;
  readonly onArchived: (name: string, outcome: ArchiveOutcome) => void;
}

export type Retention = ReturnType<typeof createRetention>;

const RETRY_AFTER_MS = 3_600_000;

/**
 * Once a day, one process archives entries that are older than the period. After a failure, one tries again an hour
 * later.
 */
export function createRetention({ store, archive, keep, placeFor, onArchived }: RetentionParts) {
  let isRunning = false;
  let restUntil = 0;
  let doneOn = '';
  return { run };

  async function run(now: Date): Promise<void> {
    const day = now.toISOString().slice(0, 10);
    if (isRunning || doneOn === day || now.getTime() < restUntil) return;
    isRunning = true;
    try {
      if (await store.claim(day)) await archiveOn(day, now);
      doneOn = day;
    } finally {
      isRunning = false;
    }
  }

  async function archiveOn(day: string, now: Date): Promise<void> {
    const before = periodBefore(keep, now);
    const made = now.toISOString().replace(/[-:]|\.\d+/g, '');
    const name = `audit-before-${before.toISOString().slice(0, 10)}-made-${made}.ndjson`;
    try {
      const outcome = await archive.archive({ place: placeFor(name), before }, now);
      if (outcome) onArchived(name, outcome);
    } catch (error) {
      restUntil = now.getTime() + RETRY_AFTER_MS;
      await store.giveBack(day);
      throw error;
    }
  }
}
