import { AppError } from '../base/errors.ts';
import { kindOf } from '../changes/object-kinds.ts';
import type { PastState } from './past-state.ts';

/** One entry of the audit log. IDs are decimal texts. */
export interface LoggedChange {
  /** RFC 3339 in UTC. */
  readonly at: string;
  readonly action: string;
  readonly objectType: string;
  readonly objectId: string;
  readonly before: Fields;
  readonly after: Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

/** What a permission of a role means in the model; undefined if there is no such permission. */
export type RelationOf = (permission: { readonly namespace: string; readonly action: string }) => string | undefined;

export function beforeTheLog(begins: string): AppError {
  return new AppError('invalid', `the audit log of the organization begins at ${begins}; at must not be earlier`, {
    reason: 'before_audit_log',
  });
}

export function beforeTheArchived(kept: string): AppError {
  return new AppError('invalid', `before ${kept} the log is archived; at must not be earlier`, {
    reason: 'before_audit_log',
  });
}

/** Nothing is answered that might be wrong. */
export function unknownBefore({ at }: Pick<LoggedChange, 'at'>, why: string): AppError {
  return new AppError('invalid', `what was true before ${at} is not known, because ${why}; at must not be earlier`, {
    reason: 'history_incomplete',
  });
}

/** The end that a row had before the change, if any. Older entries about tokens do not tell it. */
export function noteEnd(ends: PastState['ends'], row: string, end: unknown): void {
  if (typeof end === 'string') ends.set(row, new Date(end));
  else ends.delete(row);
}

/** The source of the object that the entry is about. */
export function itself({ objectType, objectId }: LoggedChange): [string] {
  return [`${kindOf(objectType)?.word ?? objectType}:${objectId}`];
}

export function textIn(change: LoggedChange, when: 'before' | 'after', field: string): string {
  const value = change[when][field];
  if (typeof value === 'string') return value;
  throw unknownBefore(change, `the entry ${change.action} does not tell ${field}`);
}

export function listIn(change: LoggedChange, when: 'before' | 'after', field: string): string[] {
  const value = change[when][field];
  return Array.isArray(value) ? value.map(String) : [];
}

export function doesNotFit(change: LoggedChange): AppError {
  const { action, objectType, objectId } = change;
  return unknownBefore(change, `the entry ${action} of ${objectType}:${objectId} does not fit what came after it`);
}
