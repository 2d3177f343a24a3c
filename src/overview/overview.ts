import type { Judge } from '../authz/judge.ts';
import {
  BELONGING_TYPES,
  type BelongingType,
  OBJECT_KINDS,
  type PluralOf,
  RESOURCE_TYPES,
} from '../changes/object-kinds.ts';
import type { Phase } from '../clusters/cluster.ts';
import type { Unused, UnusedCounts } from '../unused/unused.ts';

/** What an organization has, in numbers. A part is absent if the caller may not see the list that it counts. */
export type Overview = Partial<Counts>;

export interface Counts extends Readonly<Record<PlainList, number>>, DetailedCounts {
  readonly members: number;
  /** Who owns the organization. */
  readonly owners: number;
  readonly guardrails: number;
  readonly assignments: number;
  readonly expiring: ExpiringCounts;
  readonly unusedAccess: UnusedCounts;
  /** Absent if nothing was changed yet. */
  readonly lastChange: LastChange;
}

/** Of any other list of an organization, only the length is counted. */
interface DetailedCounts {
  readonly tokens: TokenCounts;
  readonly clusters: ClusterCounts;
  readonly contracts: ContractCounts;
}

export type PlainList = Exclude<PluralOf<BelongingType>, keyof DetailedCounts>;

export interface TokenCounts {
  readonly all: number;
  /** Those that still work, and will stop working soon. */
  readonly expiring: number;
  /** Those that still work, and were not used for a long time. */
  readonly unused: number;
  readonly days: EndingDay[];
}

export interface ClusterCounts {
  readonly all: number;
  /** Every phase, as it is shown now. */
  readonly byPhase: Readonly<Record<Phase, number>>;
}

export interface ContractCounts {
  readonly all: number;
  /** Those that are not revoked and end soon. */
  readonly ending: number;
  readonly days: EndingDay[];
}

/** How many of those that end soon end on one day of UTC, such as 2026-11-20. Days without any are absent. */
export interface EndingDay {
  readonly day: string;
  readonly count: number;
}

/** What ends by itself soon. */
export interface ExpiringCounts {
  readonly memberships: number;
  readonly assignments: number;
  readonly days: Readonly<Record<'memberships' | 'assignments', EndingDay[]>>;
}

export interface LastChange {
  readonly at: Date;
  readonly actor: { readonly id: bigint; readonly name: string };
  readonly action: string;
  readonly object: { readonly type: string; readonly id: bigint };
}

export type Part = keyof Counts;

const DETAILED = {
  // Tokens are listed robot by robot.
  tokens: [OBJECT_KINDS.token.viewAll, OBJECT_KINDS.robot_ac.viewAll],
  clusters: [OBJECT_KINDS.cluster.viewAll],
  contracts: [OBJECT_KINDS.contract.viewAll],
} satisfies Readonly<Record<keyof DetailedCounts, readonly string[]>>;

export const PLAIN_LISTS = BELONGING_TYPES.flatMap(({ type, ...where }) => {
  const { plural, title, viewAll } = OBJECT_KINDS[type];
  return plural in DETAILED ? [] : [{ list: plural as PlainList, title, viewAll, ...where }];
});

/** The parts of an overview, and the relations on the organization that their lists require. */
export const PARTS = {
  members: [OBJECT_KINDS.user.viewAll],
  owners: [OBJECT_KINDS.user.viewAll, OBJECT_KINDS.team.viewAll],
  ...(Object.fromEntries(PLAIN_LISTS.map(({ list, viewAll }) => [list, [viewAll]])) as Record<PlainList, string[]>),
  ...DETAILED,
  guardrails: [OBJECT_KINDS.role.viewAll],
  assignments: [OBJECT_KINDS.user.viewAll, OBJECT_KINDS.team.viewAll, OBJECT_KINDS.role.viewAll],
  expiring: [OBJECT_KINDS.user.viewAll, OBJECT_KINDS.team.viewAll, OBJECT_KINDS.role.viewAll],
  unusedAccess: [OBJECT_KINDS.user.viewAll, OBJECT_KINDS.team.viewAll, OBJECT_KINDS.role.viewAll],
  lastChange: ['can_view_audit_log'],
} satisfies Readonly<Record<Part, readonly string[]>>;

export interface OverviewSpan {
  readonly now: Date;
  /** Before this, something ends or expires soon. */
  readonly soon: Date;
  /** What was not used since then is unused. */
  readonly longAgo: Date;
}

/** By list: the single objects that the caller may see, if they may not see all of them. */
export type Among = ReadonlyMap<Part, readonly bigint[]>;

export interface OverviewStore {
  /** Only the wanted parts are counted. What is unused is not for the database to say. */
  count(organizationId: bigint, parts: readonly Part[], span: OverviewSpan, among: Among): Promise<Overview>;
}

export type GetOverview = ReturnType<typeof createOverview>;

const DAY_MS = 86_400_000;
export const SOON_DAYS = 30;
export const UNUSED_DAYS = 90;

/** `flushUsage` writes when tokens were used, as far as this process knows and has not written yet. */
export function createOverview(
  store: OverviewStore,
  judge: Pick<Judge, 'allowed' | 'objects'>,
  countUnused: Unused['counts'],
  flushUsage: () => Promise<void>,
) {
  return async (organizationId: bigint, callerId: bigint, now: Date): Promise<Overview> => {
    const [held = []] = await judge.allowed(callerId, organizationId, [{ type: 'organization', id: organizationId }]);
    const among = new Map<Part, readonly bigint[]>();
    for (const type of held.includes('can_view') ? RESOURCE_TYPES : []) {
      const { viewAll, plural, isSeenSingly } = OBJECT_KINDS[type];
      if (!isSeenSingly || held.includes(viewAll)) continue;
      const ids = await judge.objects(callerId, organizationId, 'can_view', type);
      if (ids.length > 0) among.set(plural, ids);
    }
    const isShown = (part: Part) => among.has(part) || PARTS[part].every((one) => held.includes(one));
    const parts = (Object.keys(PARTS) as Part[]).filter(isShown);
    if (parts.includes('tokens')) await flushUsage();
    const after = (days: number) => new Date(now.getTime() + days * DAY_MS);
    const span = { now, soon: after(SOON_DAYS), longAgo: after(-UNUSED_DAYS) };
    const counts = await store.count(organizationId, parts, span, among);
    if (!parts.includes('unusedAccess')) return counts;
    return { ...counts, unusedAccess: await countUnused(organizationId, UNUSED_DAYS, now) };
  };
}
