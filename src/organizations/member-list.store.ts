import { type Db, only, type Statement, sql } from '../db/db.ts';
import { likeText } from '../db/like-text.ts';
import { PROFILE, type ProfileRow, toProfile } from '../users/profile.rows.ts';
import type { Member, MemberListStore, MemberOrder, MemberSearch, MemberTeam } from './member-list.ts';

const EMAIL = 'left join email e on e.account_id = a.id and e.is_primary';
/** Each member once, with the time at which the earliest of their memberships began. */
const FOUND = `from (select m.account_id, min(m.created_at) as joined_at,
                 case when count(m.expires_at) = count(*) then max(m.expires_at) end as expires_at from team t join team_member m on m.team_id = t.id
          where t.organization_id = $1 group by m.account_id) j
    join account a on a.id = j.account_id ${EMAIL}
   where ($2::text is null or a.name_key like $2 or lower(a.full_name) like $2 or e.address_key like $2)
     and ($3::bigint is null or exists (select 1 from team_member f where f.team_id = $3 and f.account_id = a.id))`;
// An ID is text in JSON: as a number it would lose digits.
const TEAMS = `(select json_agg(json_build_object('id', t.id::text, 'name', t.name, 'permission', t.permission,
                                                'expires_at', (extract(epoch from m.expires_at) * 1000)::bigint)
                               order by t.permission <> 'owner', t.name_key collate "C")
     from team_member m join team t on t.id = m.team_id
    where m.account_id = a.id and t.organization_id = $1 and t.id = any($4::bigint[]))`;
const PROVISIONED =
  'exists (select 1 from scim_user s where s.organization_id = $1 and s.account_id = a.id) as is_provisioned';
const COUNT = sql('memberList.count', `select count(*)::integer as total ${FOUND}`);
const ORDERS: Readonly<Record<MemberOrder, readonly string[]>> = {
  id: ['a.id'],
  // By bytes, which gives the same order in every database, whatever its locale.
  name: ['a.name_key collate "C"'],
  joined: ['joined_at', 'a.id'],
};

interface MemberRow extends ProfileRow {
  joined_at: Date;
  expires_at: Date | null;
  is_provisioned: boolean;
  teams: { id: string; name: string; permission: MemberTeam['permission']; expires_at: number | null }[] | null;
}

export function createMemberListStore(db: Db): MemberListStore {
  return {
    async find(organizationId, search, { offset, limit }) {
      const found = [organizationId, search.text === '' ? null : likeText(search.text), search.teamId];
      const { total } = only(await db.query<{ total: number }>(COUNT, found));
      const rows = await db.query<MemberRow>(pageOf(search), [...found, search.visibleTeamIds, offset, limit]);
      return { items: rows.map(toMember), total };
    },
  };
}

/** Selects the rows of the page first, so that details are read for those rows only. */
function pageOf({ orderBy, isDescending }: MemberSearch): Statement {
  const direction = isDescending ? 'desc' : 'asc';
  const order = ORDERS[orderBy].map((column) => `${column} ${direction}`).join(', ');
  return sql(
    `memberList.by.${orderBy}.${direction}`,
    `select ${PROFILE}, a.joined_at, a.expires_at, ${TEAMS} as teams, ${PROVISIONED}
       from (select a.*, j.joined_at, j.expires_at ${FOUND} order by ${order} offset $5 limit $6) a ${EMAIL} order by ${order}`,
  );
}

function toMember(row: MemberRow): Member {
  const teams = (row.teams ?? []).map(({ id, name, permission, expires_at }) => ({
    ...{ id: BigInt(id), name, permission },
    expiresAt: expires_at === null ? null : new Date(expires_at),
  }));
  const ends = { joinedAt: row.joined_at, expiresAt: row.expires_at };
  return { profile: toProfile(row), teams, ...ends, isProvisioned: row.is_provisioned };
}
