import type { Actor } from '../../changes/audit-entry.ts';
import type { Quotas } from '../../changes/quotas.store.ts';
import { PLATFORM, type Write } from '../../changes/write.ts';
import { type Db, type Query, sql } from '../../db/db.ts';
import { joinTeam, leaveTeam } from '../../organizations/members.store.ts';
import type { GroupMapping } from '../provider.ts';
import type { GroupPlan, GroupSyncStore, ManagedTeam } from './group-sync.ts';

const RESOLVE = sql(
  'groupSync.resolve',
  `select o.id as organization_id, t.id as team_id from unnest($1::text[], $2::text[]) with ordinality as m (org, team, place)
     left join account o on o.kind = 'organization' and o.name_key = lower(m.org)
     left join team t on t.organization_id = o.id and t.name_key = lower(m.team) order by m.place`,
);
const MANAGED = sql(
  'groupSync.managed',
  `select t.id as team_id, t.organization_id, o.name as organization from provider_membership p
     join team t on t.id = p.team_id join account o on o.id = t.organization_id
    where p.account_id = $1 and p.provider = $2 order by t.id`,
);
const OTHERS = sql(
  'groupSync.others',
  'select provider from provider_membership where account_id = $1 and team_id = $2 and provider <> $3',
);
// A user whom SCIM deactivated has no membership in the organization, whatever their groups are.
const IS_DEACTIVATED = sql(
  'groupSync.isDeactivated',
  `select 1 from scim_user s join team t on t.organization_id = s.organization_id
    where s.account_id = $1 and t.id = $2 and not s.active`,
);
const MARK = sql(
  'groupSync.mark',
  'insert into provider_membership (provider, account_id, team_id) values ($3, $1, $2) on conflict do nothing',
);
const UNMARK = sql(
  'groupSync.unmark',
  'delete from provider_membership where account_id = $1 and team_id = $2 and provider = $3',
);

interface ManagedRow {
  team_id: bigint;
  organization_id: bigint;
  organization: string;
}

export function createGroupSyncStore(db: Db, write: Write, quotas: Quotas): GroupSyncStore {
  return {
    async resolve(mappings) {
      if (mappings.length === 0) return [];
      const [organizations, teams] = [mappings.map((one) => one.organization), mappings.map((one) => one.team)];
      const rows = await db.query<{ organization_id: bigint | null; team_id: bigint | null }>(RESOLVE, [
        organizations,
        teams,
      ]);
      return mappings.map((mapping: GroupMapping, place) => ({
        ...mapping,
        teamId: rows[place]?.team_id ?? undefined,
        organizationId: rows[place]?.organization_id ?? undefined,
      }));
    },

    managed: (provider, accountId) => managed(db.query, provider, accountId),

    async apply(plan, actor) {
      return await write(async (query, touch, record) => {
        const { provider, accountId } = plan;
        const transaction = { query, touch, record };
        const kept: bigint[] = [];
        const present = (await managed(query, provider, accountId)).map(({ teamId }) => teamId);
        for (const { teamId, isWanted } of turnsOf(plan, present)) {
          const key = [accountId, teamId, provider];
          const change = { teamId, accountId, condition: () => undefined, actor };
          const isShared = (await query(OTHERS, key)).length > 0;
          if (isWanted && (await query(IS_DEACTIVATED, [accountId, teamId])).length > 0) continue;
          if (isWanted) {
            const outcome = await joinTeam(transaction, quotas, change);
            // A membership that no group gave stays in the hands of the users who gave it.
            if (outcome === 'joined' || (outcome === 'was a member' && isShared)) await query(MARK, key);
          } else if (isShared) {
            await query(UNMARK, key);
          } else if ((await leaveTeam(transaction, change)) === 'last owner') {
            kept.push(teamId);
          }
        }
        return kept;
      });
    },

    async report({ id, name }, accountId, after, actor: Actor) {
      await write(async (_query, _touch, record) => {
        const about = { organizationId: PLATFORM, objectType: 'user', objectId: accountId };
        const provider = id === 0n ? { provider: name } : { provider: name, providerId: id };
        record({ actor, ...about, action: 'provider.groups', after: { ...provider, ...after } });
      });
    },
  };
}

/** In the order of the IDs of teams, which is the one in which every transaction locks them. */
function turnsOf({ teamIds, removalsOnly }: GroupPlan, present: readonly bigint[]) {
  const wanted = new Set(teamIds);
  const added = removalsOnly ? [] : teamIds.filter((id) => !present.includes(id));
  const removed = present.filter((id) => !wanted.has(id));
  return [...added, ...removed]
    .sort((one, other) => (one < other ? -1 : 1))
    .map((teamId) => ({ teamId, isWanted: wanted.has(teamId) }));
}

async function managed(query: Query, provider: string, accountId: bigint): Promise<ManagedTeam[]> {
  const rows = await query<ManagedRow>(MANAGED, [accountId, provider]);
  return rows.map(({ team_id, organization_id, organization }) => ({
    teamId: team_id,
    organizationId: organization_id,
    organization,
  }));
}
