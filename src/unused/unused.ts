import type { Graphs } from '../authz/graphs.ts';
import type { Judge } from '../authz/judge.ts';
import { inOneMoment } from '../authz/one-moment.ts';
import type { Place } from '../authz/places/places.ts';
import { DAY_MS, dayText } from '../authz/uses/access-uses.ts';
import { missingRelation } from '../base/errors.ts';
import type { PrincipalType } from '../changes/object-kinds.ts';
import { creditUses, type Use } from './credits.ts';

interface Named {
  readonly id: bigint;
  readonly name: string;
}

/** Something that gives access, and that can be ended. */
export type Grant = {
  /** The same text as `credits.ts` uses. */
  readonly key: string;
  /** Of the assignment, of the team, or of the role. */
  readonly id: bigint;
  /** Of a permission: when its role last changed. */
  readonly createdAt: Date;
} & (
  | { readonly kind: 'membership'; readonly team: Named; readonly to: GrantedTo }
  | {
      readonly kind: 'assignment';
      readonly role: Named;
      readonly to: GrantedTo;
      readonly on: Place & { readonly name: string };
    }
  | {
      readonly kind: 'permission';
      readonly role: Named;
      readonly permission: { readonly namespace: string; readonly action: string };
    }
);

export interface GrantedTo extends Named {
  readonly type: PrincipalType;
}

export type UnusedGrant = Grant & {
  /** Such as `2026-11-18`. Undefined if it was not used since uses are noted, or not for more than a year. */
  readonly lastUsedOn: string | undefined;
};

export interface UnusedStore {
  trackedSince(): Promise<Date>;
  uses(organizationId: bigint): Promise<Use[]>;
  grants(organizationId: bigint): Promise<Grant[]>;
}

export interface UnusedReport {
  /** Since when uses are noted. */
  readonly trackedSince: Date;
  /** False if that is not long enough to call anything unused. */
  readonly isComplete: boolean;
  /** Memberships, assignments and permissions. */
  readonly grants: readonly UnusedGrant[];
  /** How many there are of each kind, used or not. */
  readonly all: Readonly<Record<Grant['kind'], number>>;
}

export const GRANT_KINDS = ['membership', 'assignment', 'permission'] as const satisfies readonly Grant['kind'][];
export const MAX_DAYS = 365;
const NEEDED = ['can_view_members', 'can_view_teams', 'can_view_roles'] as const;
const COUNTED_FOR_MS = 600_000;
const MAX_COUNTED = 1000;

export type Unused = ReturnType<typeof createUnused>;

/** Access that has not been used for some time, so that ending it takes away nothing that was needed. */
export function createUnused(
  store: UnusedStore,
  graphs: Pick<Graphs, 'together'>,
  judge: Pick<Judge, 'holds'>,
  flushUses: () => Promise<void>,
) {
  const counted = new Map<bigint, { readonly at: number; readonly counts: UnusedCounts }>();
  return { requireReader, report, counts, grants: store.grants };

  /** The report names members, teams and roles. */
  async function requireReader(organizationId: bigint, callerId: bigint): Promise<void> {
    const organization = { type: 'organization', id: organizationId } as const;
    for (const relation of NEEDED) {
      if (await judge.holds(callerId, organizationId, relation, organization)) continue;
      throw missingRelation(`${relation.slice('can_'.length)}:org`);
    }
  }

  /** What was not used within so many days, and existed all the time. With 0, everything. */
  async function report(organizationId: bigint, days: number, now: Date): Promise<UnusedReport> {
    await flushUses();
    const [trackedSince, uses, grants] = [
      await store.trackedSince(),
      await store.uses(organizationId),
      await store.grants(organizationId),
    ];
    const begin = new Date(now.getTime() - days * DAY_MS);
    const since = days === 0 ? '' : dayText(Math.floor(begin.getTime() / DAY_MS));
    const memberships = Map.groupBy(
      grants.filter((grant) => grant.kind === 'membership'),
      ({ to }) => `${to.type}:${to.id}`,
    );
    const teamsOf = (user: string) => memberships.get(user)?.map(({ key }) => key) ?? [];
    const { used, earlier } = await inOneMoment(graphs, organizationId, organizationId, (graph) =>
      creditUses(graph, uses, since, teamsOf),
    );
    const isComplete = trackedSince <= begin;
    const isUnused = ({ key, createdAt }: Grant) => isComplete && createdAt <= begin && !used.has(key);
    const found = days === 0 ? grants : grants.filter(isUnused);
    return {
      trackedSince,
      isComplete: days === 0 || isComplete,
      all: {
        membership: countOf(grants, 'membership'),
        assignment: countOf(grants, 'assignment'),
        permission: countOf(grants, 'permission'),
      },
      grants: found.map((grant) => ({ ...grant, lastUsedOn: used.get(grant.key) ?? earlier.get(grant.key) })),
    };
  }

  /** Only the numbers, for an overview: they can be ten minutes old. */
  async function counts(organizationId: bigint, days: number, now: Date): Promise<UnusedCounts> {
    const known = counted.get(organizationId);
    if (known && now.getTime() - known.at < COUNTED_FOR_MS) return known.counts;
    const { trackedSince, isComplete, grants, all } = await report(organizationId, days, now);
    const found = {
      days,
      trackedSince,
      isComplete,
      memberships: countOf(grants, 'membership'),
      assignments: countOf(grants, 'assignment'),
      permissions: countOf(grants, 'permission'),
      all: { memberships: all.membership, assignments: all.assignment, permissions: all.permission },
    };
    if (counted.size >= MAX_COUNTED) counted.clear();
    counted.set(organizationId, { at: now.getTime(), counts: found });
    return found;
  }
}

function countOf(grants: readonly Grant[], kind: Grant['kind']): number {
  return grants.filter((grant) => grant.kind === kind).length;
}

export interface UnusedCounts {
  readonly days: number;
  readonly trackedSince: Date;
  readonly isComplete: boolean;
  readonly memberships: number;
  readonly assignments: number;
  readonly permissions: number;
  /** How many there are, used or not. */
  readonly all: { readonly memberships: number; readonly assignments: number; readonly permissions: number };
}
