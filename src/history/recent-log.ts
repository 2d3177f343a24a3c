import { AppError } from '../base/errors.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { kindOf } from '../changes/object-kinds.ts';
import { beforeTheArchived, beforeTheLog, type Fields, type LoggedChange, unknownBefore } from './logged-change.ts';

/** An entry of the audit log as it is stored. */
export interface ChangeRow {
  readonly id: bigint;
  /** RFC 3339 in UTC. */
  readonly at: string;
  readonly actor: { readonly id: bigint; readonly name: string };
  readonly action: string;
  readonly object: { readonly type: string; readonly id: bigint };
  readonly before: string | null;
  readonly after: string | null;
}

export interface LogSearch {
  readonly actions: readonly string[];
  /** In the chain of the deployment. */
  readonly platformActions: readonly string[];
  readonly max: number;
}

/** What the log says since a moment, newest first, and what shows whether it says all of it. */
export interface RecentLog {
  readonly isOrganization: boolean;
  /** When the first entry of its chain was written. */
  readonly begins: Date | undefined;
  /** When the first entry was written that is kept, of each log that the question needs and that was archived in part. */
  readonly kept: readonly Date[];
  readonly chain: readonly ChangeRow[];
  readonly platform: readonly ChangeRow[];
  /** Rows that are clearly newer than the moment, see `unexplained`. */
  readonly newer: readonly { readonly key: string; readonly at: Date }[];
}

/** Each takes some memory until all are undone. */
export const MAX_CHANGES = 50_000;

/** The changes since a moment, newest first, and the rows that were made without an entry. Rejects what nothing is known about. */
export async function readRecentLog(
  log: RecentLog,
  at: Date,
): Promise<{ readonly changes: LoggedChange[]; readonly strangers: string[] }> {
  rejectTooEarly(log, at);
  const yieldIfDue = createYielder();
  const changes: LoggedChange[] = [];
  for (const row of [...log.chain, ...log.platform]) {
    changes.push(readChange(row));
    await yieldIfDue();
  }
  return { changes, strangers: unexplained(log, changes) };
}

function rejectTooEarly({ isOrganization, begins, kept, chain, platform }: RecentLog, at: Date): void {
  const latest = kept.toSorted((one, other) => other.getTime() - one.getTime())[0];
  if (latest && at < latest) throw beforeTheArchived(latest.toISOString());
  if (isOrganization && begins === undefined) {
    throw new AppError('invalid', 'the audit log of the organization is empty, so nothing is known about its past', {
      reason: 'before_audit_log',
    });
  }
  if (isOrganization && begins !== undefined && at < begins) throw beforeTheLog(begins.toISOString());
  const [first] = [chain, platform].filter(({ length }) => length > MAX_CHANGES);
  const last = first?.[MAX_CHANGES - 1];
  if (last) throw unknownBefore(last, `more than ${MAX_CHANGES.toLocaleString('en')} changes were made since`);
}

/**
 * Rows that were made after the moment without an entry did not exist then. Users get their first token like that, and a
 * new deployment its first administrator. In an organization it must not happen, so nothing is known before it.
 */
function unexplained({ isOrganization, newer }: RecentLog, changes: readonly LoggedChange[]): string[] {
  const explained = new Set(changes.flatMap(explains));
  const strangers = newer.filter(({ key }) => !explained.has(key));
  const wrong = isOrganization ? strangers.filter(({ key }) => !key.startsWith('admin:')) : [];
  const latest = wrong.sort((one, other) => other.at.getTime() - one.at.getTime())[0];
  if (latest) throw unknownBefore({ at: latest.at.toISOString() }, `${latest.key} was made without an entry`);
  return strangers.map(({ key }) => key);
}

/** What an entry says about the rows that it made, by the keys of the store. */
function explains({ action, objectType, objectId, after }: LoggedChange): string[] {
  if (action === 'team.add_member') return [`member:${objectId}:${after.userId}`];
  if (objectType === 'user') return [`admin:${objectId}`];
  const made = action.endsWith('.create') ? [`${kindOf(objectType)?.word ?? objectType}:${objectId}`] : [];
  if (action === 'assignment.create') return [...made, `assigned:${after.roleId}`];
  return objectType === 'role' ? [...made, `assigned:${objectId}`] : made;
}

function readChange({ at, action, object, before, after }: ChangeRow): LoggedChange {
  const common = { at, action, objectType: object.type, objectId: String(object.id) };
  return { ...common, before: readState(before), after: readState(after) };
}

export function readState(text: string | null): Fields {
  const state: unknown = text === null ? {} : JSON.parse(text);
  return typeof state === 'object' && state !== null ? (state as Fields) : {};
}
