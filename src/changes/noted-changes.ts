import type { AuditAction } from './audit-actions.ts';
import type { AuditEntry } from './audit-entry.ts';
import { kindOf } from './object-kinds.ts';
import type { Change } from './write.ts';

/** A change with what happened to it in the words of the audit log; null if the log says nothing about it. */
export interface NotedChange extends Change {
  readonly action: AuditAction | null;
}

/**
 * What a revision notes, in a stable order: the place of a change in it is a part of the ID of an event. Each object is in
 * it once for each action that the audit log has about it, and once if it has none.
 */
export function notedChanges(touched: readonly Change[], entries: readonly AuditEntry[]): NotedChange[] {
  const actions = new Map<string, Set<AuditAction>>();
  for (const { objectType, objectId, action } of entries) {
    const key = `${kindOf(objectType)?.source ?? objectType} ${objectId}`;
    actions.set(key, (actions.get(key) ?? new Set()).add(action));
  }
  const noted = new Map<string, NotedChange>();
  for (const change of touched) {
    const key = `${change.kind} ${change.id}`;
    for (const action of actions.get(key) ?? [null]) {
      const place = `${key} ${change.organizationId ?? ''} ${action}`;
      if (!noted.has(place)) noted.set(place, { ...change, action });
    }
  }
  return [...noted.values()];
}
