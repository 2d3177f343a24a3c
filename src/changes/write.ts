import type { Query, TransactionQuery } from '../db/db.ts';
import type { Actor, AuditEntry } from './audit-entry.ts';
import type { ChangeKind } from './object-kinds.ts';

export type { Query, TransactionQuery } from '../db/db.ts';

/** The organization ID of the deployment itself: its tuples are in every graph. */
export const PLATFORM = 0n;

export interface Change {
  readonly kind: ChangeKind;
  readonly id: bigint;
  /** The account whose authorization graph the change belongs to, if any. PLATFORM means every graph. */
  readonly organizationId?: bigint | null;
  /** It is created by the same transaction, so nothing was a part of it before. */
  readonly isNew?: boolean;
}

/** A request that must have its effect once, however often its client sends it (idempotency/). */
export interface Once<Made> {
  /** First in the transaction. Throws if the request has been answered already, or is being handled elsewhere. */
  begin(query: Query): Promise<void>;
  /** Stores the answer to the request next to what was made: both are committed, or neither. */
  keep(query: Query, made: Made): Promise<void>;
}

export type Work<T, Made = never> = (
  query: TransactionQuery,
  touch: (change: Change) => void,
  record: (entry: AuditEntry) => void,
  keep: (made: Made) => void,
) => Promise<T>;
/**
 * A transaction that can affect who a caller is or what they may do. It names everything that it touches, so that every
 * replica forgets exactly that, and records what it did in the audit log. If it creates something for a request, it
 * keeps what the request is answered with, for a client that asks again.
 */
export type Write = <T, Made = never>(work: Work<T, Made>, once?: Once<Made>, options?: WriteOptions) => Promise<T>;

export interface WriteOptions {
  /** It has happened already, elsewhere or by the passage of time: guards take note of it, and cannot reject it. */
  readonly isFact?: boolean;
}

/** What a transaction has done, just before it commits. No other transaction can write until then. */
export interface Written {
  readonly query: Query;
  readonly revision: bigint;
  readonly stamp: string;
  /** Changes whenever a guardrail of the deployment does. */
  readonly guardrails: string;
  readonly touched: readonly Change[];
  /** Who makes the change, if it is recorded. */
  readonly actor: Actor | undefined;
  readonly isFact: boolean;
}

/**
 * Checks what every transaction has written while there are guardrails. It is called before the audit log and the
 * revision are locked, and prepares whatever takes long. The function that it returns is called under the lock of the
 * revision, and throws to undo the transaction.
 */
export type WriteGuard = (query: Query, touched: readonly Change[]) => Promise<(written: Written) => Promise<void>>;

/**
 * Completes every transaction that has touched something: what follows from the state at its end is done, touched and
 * recorded with it. The entries say what was done, and who did it.
 */
export type Finisher = (
  query: Query,
  touched: readonly Change[],
  touch: (change: Change) => void,
  record: (entry: AuditEntry) => void,
  entries: readonly AuditEntry[],
) => Promise<void>;

/** For a transaction that makes only a part of what the request is answered with. */
export function onceFor<Part, Made>(
  once: Once<Made> | undefined,
  complete: (part: Part) => Made,
): Once<Part> | undefined {
  return once && { begin: once.begin, keep: (query, part) => once.keep(query, complete(part)) };
}
