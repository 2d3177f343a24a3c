import { AppError, reasonOf } from '../../base/errors.ts';
import { type Actor, SERVER } from '../../changes/audit-entry.ts';
import type { GroupMapping, Provider } from '../provider.ts';
import type { ProviderActor } from '../provider-accounts.ts';

/** A mapping, and the team that it means now. */
export interface FoundMapping extends GroupMapping {
  readonly teamId: bigint | undefined;
  readonly organizationId: bigint | undefined;
}

/** What a sign-in is about to change. */
export interface GroupPlan {
  readonly provider: string;
  readonly accountId: bigint;
  /** The teams that the groups give. */
  readonly teamIds: readonly bigint[];
  /** Only take away. */
  readonly removalsOnly: boolean;
}

export interface ManagedTeam {
  readonly teamId: bigint;
  readonly organizationId: bigint;
  readonly organization: string;
}

export interface GroupSyncStore {
  /** What the names of mappings mean. */
  resolve(mappings: readonly GroupMapping[]): Promise<FoundMapping[]>;
  /** Whether there is anything to do: the teams that the provider manages for the account. */
  managed(provider: string, accountId: bigint): Promise<ManagedTeam[]>;
  /** In one transaction. Returns the teams that the account could not leave, because it is the last owner. */
  apply(plan: GroupPlan, actor: Actor): Promise<readonly bigint[]>;
  /** Only an audit entry. */
  report(provider: Provider, accountId: bigint, after: object, actor: Actor): Promise<void>;
}

/** A change of a membership that was not made. */
interface RejectedChange {
  readonly reason: string;
  readonly message: string;
}

export type GroupSync = (
  provider: Provider,
  accountId: bigint,
  groups: readonly string[] | undefined,
  by: ProviderActor,
) => Promise<void>;

/** Rejections of a change that an owner can do something about. Everything else is a fault, and ends the sign-in. */
const REJECTIONS = new Set(['guardrail_violated', 'limit_reached', 'last_owner', 'conflict']);

/**
 * Puts people into the teams that their groups mean, and takes them out of those that their groups no longer mean, at
 * each sign-in. Only memberships that a mapping has given are taken away. What the rules reject does not keep the user
 * from signing in: it is recorded.
 */
export function createGroupSync(store: GroupSyncStore): GroupSync {
  return async function sync(provider, accountId, groups, by) {
    const actor = { ...SERVER, ...by };
    if (groups === undefined) {
      const message = 'the provider has left out the groups, because there are too many: nothing was changed';
      return await store.report(provider, accountId, { message }, actor);
    }
    const held = new Set(groups);
    const meant = provider.groupMappings.filter(({ group }) => held.has(group));
    const managed = await store.managed(provider.name, accountId);
    if (meant.length === 0 && managed.length === 0) return;
    const found = await store.resolve(meant);
    const missing = found.filter(({ teamId }) => teamId === undefined).map(nameOf);
    const teamIds = [...new Set(found.flatMap(({ teamId }) => teamId ?? []))];
    const { refused, kept } = await attempt(store, { provider: provider.name, accountId, teamIds }, actor);
    if (missing.length === 0 && refused.length === 0 && kept.length === 0) return;
    const after = {
      ...(missing.length > 0 && { missingTeams: missing }),
      ...(refused.length > 0 && { refused }),
      ...(kept.length > 0 && { lastOwnerOfTeams: kept }),
    };
    await store.report(provider, accountId, after, actor);
  };
}

/**
 * Everything in one change. If that is rejected, at least the removals, because a new group must not protect
 * what an old one gave.
 */
async function attempt(store: GroupSyncStore, plan: Omit<GroupPlan, 'removalsOnly'>, actor: Actor) {
  const refused: RejectedChange[] = [];
  for (const removalsOnly of [false, true]) {
    try {
      return { refused, kept: await store.apply({ ...plan, removalsOnly }, actor) };
    } catch (error) {
      if (!(error instanceof AppError) || !REJECTIONS.has(reasonOf(error))) throw error;
      refused.push({ reason: reasonOf(error), message: error.message });
    }
  }
  return { refused, kept: [] };
}

export function nameOf({ organization, team }: GroupMapping): string {
  return `${organization}/${team}`;
}
