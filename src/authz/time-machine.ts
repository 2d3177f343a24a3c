import { missingRelation } from '../base/errors.ts';
import type { Past } from '../history/past.ts';
import type { ChangeRow } from '../history/recent-log.ts';
import type { Graphs } from './graphs.ts';
import type { Judge } from './judge.ts';

/** Who asks about the past, and of which organization. */
export interface Historian {
  readonly personId: bigint;
  readonly organizationId: bigint;
  /** Site administrators also see what other site administrators did. */
  readonly isAdmin: boolean;
}

export type TimeMachine = ReturnType<typeof createTimeMachine>;

/** Lets the rules about graphs answer as of a past moment. */
export function createTimeMachine(past: Past, present: Pick<Graphs, 'together'>, judge: Pick<Judge, 'holds'>) {
  return { graphsAt, requireReader, changesSince };

  /** The graphs of the moment, or those of the present. */
  function graphsAt(at: Date | undefined): Pick<Graphs, 'together'> {
    return at === undefined ? present : past.graphsAt(at);
  }

  /** The past of other users is in the audit log, so a caller who asks about it must be able to read the log. */
  async function requireReader(historian: Historian): Promise<void> {
    if (!(await isReader(historian))) throw missingRelation('can_view_audit_log');
  }

  /** What has changed since then. Undefined for callers who may not view the audit log. */
  async function changesSince(
    historian: Historian,
    at: Date,
  ): Promise<{ readonly total: number; readonly items: readonly ChangeRow[] } | undefined> {
    if (!(await isReader(historian))) return undefined;
    return await past.since(historian.organizationId, at, historian.isAdmin ? 'everything' : 'organization');
  }

  async function isReader({ personId, organizationId }: Historian): Promise<boolean> {
    const organization = { type: 'organization', id: organizationId } as const;
    return await judge.holds(personId, organizationId, 'can_view_audit_log', organization);
  }
}
