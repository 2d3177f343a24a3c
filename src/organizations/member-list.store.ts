import { type Db, only, type Statement, sql } from '../db/db.ts';
import { likeText } from '../db/like-text.ts';
import { PROFILE, type ProfileRow, toProfile } from '../users/profile.rows.ts';
import { managerOf } from './manager.rows.ts';
import type { Member, MemberListStore, MemberOrder, MemberSearch, MemberTeam } from './member-list.ts';

// There can be fifty thousand members, and every request waits for the only connection of the built-in database. So
// each step is a statement of its own: who the members are, who of them is found, who of those is on the page, and what
// is shown of them. IDs that are many go from one to the next as PostgreSQL writes them, and are not read here.
const MEMBERS = sql(
  'memberList.members',
  `select count(*)::integer as total, coalesce(array_agg(account_id), '{}')::text as ids
     from (select m.account_id from team t join team_member m on m.team_id = t.id
            where t.organization_id = $1 and ($2::bigint is null or t.id = $2) group by m.account_id) member`,
);
const EMAIL = 'left join email e on e.account_id = a.id and e.is_primary';
const MATCHING = sql(
  'memberList.matching',
  `select count(*)::integer as total, coalesce(array_agg(a.id), '{}')::text as ids
     from account a ${EMAIL}
    where a.id = any($1::bigint[]) and (a.name_key like $2 or lower(a.full_name) like $2 or e.address_key like $2)`,
);
const ORDERED: Readonly<Record<MemberOrder, (direction: string) => string>> = {
  id: (direction) => `select id from unnest($1::bigint[]) as id order by id ${direction}`,
  // By bytes, which gives the same order in every database, whatever its locale.
  name: (direction) =>
    `select a.id from account a where a.id = any($1::bigint[]) order by a.name_key collate "C" ${direction}`,
  joined: (direction) =>
    `select m.account_id as id from team t join team_member m on m.team_id = t.id
      where t.organization_id = $4 and ($1::bigint[] is null or m.account_id in (select unnest($1::bigint[])))
      group by m.account_id order by min(m.created_at) ${direction}, m.account_id ${direction}`,
};
// An ID is text in JSON: as a number it would lose digits.
const TEAMS = `(select json_agg(json_build_object('id', t.id::text, 'name', t.name, 'permission', t.permission,
                                                'expires_at', (extract(epoch from m.expires_at) * 1000)::bigint)
                               order by t.permission <> 'owner', t.name_key collate "C")
     from team_member m join team t on t.id = m.team_id
    where m.account_id = a.id and t.organization_id = $1)`;
// A manager who has left the organization is only known by the name that the provider gives.
const MANAGER = `(select json_build_object('id', g.id::text, 'name', g.name) from account g
   where g.id = ${managerOf('s')} and exists (
     select 1 from team_member gm join team gt on gt.id = gm.team_id
      where gm.account_id = g.id and gt.organization_id = $1))`;
const WORK = `s.account_id is not null as is_provisioned, s.title, s.department, s.employee_number, s.cost_center,
  s.manager_name, ${MANAGER} as manager`;
// Each with the time at which the earliest of their memberships began. A user who has left meanwhile has none.
const DETAILS = sql(
  'memberList.details',
  `select ${PROFILE}, j.joined_at, j.expires_at, ${TEAMS} as teams, ${WORK}
     from unnest($2::bigint[]) with ordinality as p (id, place) join account a on a.id = p.id ${EMAIL}
     left join scim_user s on s.organization_id = $1 and s.account_id = a.id
     cross join lateral (
       select min(m.created_at) as joined_at,
              case when count(m.expires_at) = count(*) then max(m.expires_at) end as expires_at
         from team_member m join team t on t.id = m.team_id where m.account_id = a.id and t.organization_id = $1) j
    where j.joined_at is not null order by p.place`,
);

interface Found {
  readonly total: number;
  /** The text of an array. */
  readonly ids: string;
}

interface MemberRow extends ProfileRow {
  joined_at: Date;
  expires_at: Date | null;
  is_provisioned: boolean;
  title: string | null;
  department: string | null;
  employee_number: string | null;
  cost_center: string | null;
  manager_name: string | null;
  manager: { id: string; name: string } | null;
  teams: { id: string; name: string; permission: MemberTeam['permission']; expires_at: number | null }[];
}

export function createMemberListStore(db: Db): MemberListStore {
  return {
    async find(organizationId, search, { offset, limit }) {
      const { text, teamId, visibleTeamIds } = search;
      const members = only(await db.query<Found>(MEMBERS, [organizationId, teamId]));
      const { ids, total } =
        text === '' ? members : only(await db.query<Found>(MATCHING, [members.ids, likeText(text)]));
      // All members are sorted without looking each one up among all members.
      const among = text === '' && teamId === undefined ? null : ids;
      const place = search.orderBy === 'joined' ? [among, offset, limit, organizationId] : [ids, offset, limit];
      const page = await db.query<{ id: bigint }>(pageOf(search), place);
      const rows = await db.query<MemberRow>(DETAILS, [organizationId, page.map(({ id }) => id)]);
      const visible = new Set(visibleTeamIds);
      return { items: rows.map((row) => toMember(row, visible)), total };
    },
  };
}

function pageOf({ orderBy, isDescending }: MemberSearch): Statement {
  const direction = isDescending ? 'desc' : 'asc';
  return sql(`memberList.by.${orderBy}.${direction}`, `${ORDERED[orderBy](direction)} offset $2 limit $3`);
}

function toMember(row: MemberRow, visible: ReadonlySet<bigint>): Member {
  const all = row.teams.map(({ id, name, permission, expires_at }) => ({
    ...{ id: BigInt(id), name, permission },
    expiresAt: expires_at === null ? null : new Date(expires_at),
  }));
  const teams = all.filter(({ id }) => visible.has(id));
  const ends = { joinedAt: row.joined_at, expiresAt: row.expires_at };
  return { profile: toProfile(row), teams, ...ends, isProvisioned: row.is_provisioned, work: toWork(row) };
}

function toWork({ title, department, employee_number, cost_center, manager_name, manager }: MemberRow): Member['work'] {
  return {
    ...{ title: title ?? '', department: department ?? '', employeeNumber: employee_number ?? '' },
    ...{ costCenter: cost_center ?? '', managerName: manager_name ?? '' },
    manager: manager && { id: BigInt(manager.id), name: manager.name },
  };
}
