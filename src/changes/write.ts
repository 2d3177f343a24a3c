import type { Query } from '../db/db.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { ChangeKind } from './object-kinds.ts';

/** The organization ID of the deployment itself: its tuples are in every graph. */
export const PLATFORM = 0n;

export interface Change {
  readonly kind: ChangeKind;
  readonly id: bigint;
  /** The account whose authorization graph the change belongs to, if any. PLATFORM means every graph. */
  readonly organizationId?: bigint | null;
}

export type Work<T> = (
  query: Query,
  touch: (change: Change) => void,
  record: (entry: AuditEntry) => void,
) => Promise<T>;
/**
 * A transaction that can affect who a caller is or what they may do. It names everything that it touches, so that every
 * replica forgets exactly that, and records what it did in the audit log.
 */
export type Write = <T>(work: Work<T>) => Promise<T>;
