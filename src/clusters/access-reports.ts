import type { Judge } from '../authz/judge.ts';
import { missingRelation } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { type ReportedAccess, readCaBundle, readHttpsEndpoint } from './kubernetes-access.ts';

interface ReportingCluster {
  readonly ownerId: bigint;
  readonly id: bigint;
}

/** Recorded, and reported last. */
export interface AccessReport {
  readonly recorded: ReportedAccess;
  readonly reported: ReportedAccess;
}

export interface AccessReportStore {
  get(cluster: ReportingCluster): Promise<AccessReport | undefined>;
  /** `decide` sees what is stored while nothing else can change it. */
  report(cluster: ReportingCluster, decide: (current: AccessReport) => AccessReport, actor: Actor): Promise<void>;
}

export type AccessReports = ReturnType<typeof createAccessReports>;

/**
 * Where a cluster says that it is reached. kubectl of every user sends tokens there, so a report is believed only from
 * those who may review the cluster, and only while nothing is recorded. Later differences are kept next to it.
 */
export function createAccessReports(store: AccessReportStore, judge: Pick<Judge, 'holds'>) {
  return { take };

  async function take(
    callerId: bigint,
    cluster: ReportingCluster,
    said: { readonly endpoint?: string | undefined; readonly caBundle?: string | undefined },
    actor: Actor,
  ): Promise<void> {
    if (said.endpoint === undefined && said.caBundle === undefined) return;
    const object = { type: 'cluster', id: cluster.id } as const;
    if (!(await judge.holds(callerId, cluster.ownerId, 'can_review', object))) {
      throw missingRelation('can_review', ': endpoint and caBundle decide where tokens are sent', {
        ownerId: cluster.ownerId,
        ...object,
      });
    }
    const endpoint = said.endpoint === undefined ? '' : readHttpsEndpoint(said.endpoint);
    const caBundle = said.caBundle === undefined ? '' : readCaBundle(said.caBundle);
    const decide = (current: AccessReport): AccessReport => {
      const recorded = {
        endpoint: current.recorded.endpoint || endpoint,
        caBundle: current.recorded.caBundle || caBundle,
      };
      const reported = {
        endpoint: endpoint || current.reported.endpoint,
        caBundle: caBundle || current.reported.caBundle,
      };
      return { recorded, reported };
    };
    const current = await store.get(cluster);
    // Agents report the same every half minute, which writes nothing.
    if (current === undefined || isSame(current, decide(current))) return;
    await store.report(cluster, decide, actor);
  }
}

function isSame(one: AccessReport, other: AccessReport): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
