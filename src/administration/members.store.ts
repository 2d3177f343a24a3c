import { type Db, type Statement, sql } from '../db/db.ts';
import { PROFILE, type ProfileRow, toProfile } from '../directory/profile.rows.ts';
import type { MemberReads, NamedTeam } from './members.ts';

const EMAIL = 'left join email e on e.account_id = a.id and e.is_primary';
const IN_ORGANIZATION = `exists (select 1 from team t join team_member m on m.team_id = t.id
  where t.organization_id = $1 and m.account_id = a.id)`;
const IN_TEAM = 'exists (select 1 from team_member m where m.team_id = $1 and m.account_id = a.id)';

/** The page first: what belongs to a person is gathered for those on it alone. */
const pageOf = (condition: string) => `select ${PROFILE} from (
    select * from account a where ${condition} order by a.id offset $2 limit $3
  ) a ${EMAIL} order by a.id`;
const OF_ORGANIZATION = sql('administration.membersOfOrganization', pageOf(IN_ORGANIZATION));
const COUNT_ORGANIZATION = sql(
  'administration.countMembersOfOrganization',
  `select count(distinct m.account_id)::integer as total
     from team t join team_member m on m.team_id = t.id where t.organization_id = $1`,
);
const OF_TEAM = sql('administration.membersOfTeam', pageOf(IN_TEAM));
const COUNT_TEAM = sql(
  'administration.countMembersOfTeam',
  'select count(*)::integer as total from team_member where team_id = $1',
);
const MEMBER = sql(
  'administration.memberOfTeam',
  `select ${PROFILE} from account a ${EMAIL} where ${IN_TEAM} and a.id = $2`,
);
const TEAM_NAMED = sql(
  'administration.teamNamed',
  'select id, type, permission from team where organization_id = $1 and name_key = lower($2)',
);

export function createMemberReads(db: Db): MemberReads {
  return {
    ofOrganization: (id, slice) => list(OF_ORGANIZATION, COUNT_ORGANIZATION, id, slice),
    ofTeam: (id, slice) => list(OF_TEAM, COUNT_TEAM, id, slice),

    async inTeam(teamId, accountId) {
      const [row] = await db.query<ProfileRow>(MEMBER, [teamId, accountId]);
      return row && toProfile(row);
    },

    async teamNamed(organizationId, name) {
      const [row] = await db.query<NamedTeam & Record<string, unknown>>(TEAM_NAMED, [organizationId, name]);
      return row;
    },
  };

  async function list(page: Statement, count: Statement, id: bigint, slice: { offset: number; limit: number }) {
    const [counted] = await db.query<{ total: number }>(count, [id]);
    const rows = await db.query<ProfileRow>(page, [id, slice.offset, slice.limit]);
    return { entries: rows.map(toProfile), total: counted?.total ?? 0 };
  }
}
