import { SERVER } from '../changes/audit-entry.ts';
import type { Expirer } from '../changes/revision.ts';
import { sql } from '../db/db.ts';
import { about, memberState, touchBoth } from './members.store.ts';

// By the clock of the database, at the start of the transaction. That is after the moment at which a request noticed that
// something has expired.
const EXPIRED = sql(
  'expiredMembers.find',
  'select team_id, account_id from team_member where expires_at <= now() order by expires_at limit $1',
);
// As in every removal, the teams are locked first. What was extended meanwhile is not deleted.
const LOCK_TEAMS = sql(
  'expiredMembers.lockTeams',
  'select id from team where id = any($1::bigint[]) order by id for update',
);
const DELETE = sql(
  'expiredMembers.delete',
  `with gone as (
     delete from team_member m using unnest($1::bigint[], $2::bigint[]) as e (team_id, account_id)
      where m.team_id = e.team_id and m.account_id = e.account_id and m.expires_at <= now()
     returning m.team_id, m.account_id, m.expires_at)
   select t.id, t.organization_id, t.name, t.permission, gone.account_id, a.name as username, gone.expires_at
     from gone join team t on t.id = gone.team_id join account a on a.id = gone.account_id
    order by gone.expires_at, t.id, gone.account_id`,
);
const EMPTY = sql(
  'expiredMembers.empty',
  `select t.id from unnest($1::bigint[]) as t (id)
    where not exists (select 1 from team_member m where m.team_id = t.id)`,
);

interface GoneRow {
  id: bigint;
  organization_id: bigint;
  name: string;
  permission: string;
  account_id: bigint;
  username: string;
  expires_at: Date;
}

/** Ends memberships whose time has come, with the same effects as any other removal from a team. */
export const expireMembers: Expirer = async (query, touch, record, max) => {
  const found = await query<{ team_id: bigint; account_id: bigint }>(EXPIRED, [max]);
  if (found.length === 0) return 0;
  const teamIds = found.map((one) => one.team_id);
  await query(LOCK_TEAMS, [teamIds]);
  const gone = await query<GoneRow>(DELETE, [teamIds, found.map((one) => one.account_id)]);
  const owned = gone.filter(({ permission }) => permission === 'owner').map(({ id }) => id);
  const empty = owned.length === 0 ? [] : await query<{ id: bigint }>(EMPTY, [owned]);
  const lastOf = new Map(gone.map((row) => [row.id, row]));
  for (const row of gone) {
    touchBoth(touch, row, row.account_id);
    const before = memberState(row, row.account_id, row.username, row.expires_at);
    // Only if the last owner whose membership did not expire has left the organization to the site administrators.
    const isLastOwner = lastOf.get(row.id) === row && empty.some(({ id }) => id === row.id);
    record({ ...about(SERVER, 'team.expire_member', row), before, ...(isLastOwner && { after: { owners: 0 } }) });
  }
  return found.length;
};
