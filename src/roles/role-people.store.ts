import { type Db, sql } from '../db/db.ts';
import type { RolePeopleStore, TeamsCount } from './role-people.ts';

interface CountRow {
  team_ids: bigint[];
  people: number;
}

// Reads each membership once, however many roles the team has: the rows of all roles together could be millions.
const COUNTS = sql(
  'rolePeople.counts',
  `select j.team_ids, count(*)::integer as people
     from (select array_agg(m.team_id order by m.team_id) as team_ids
             from team t join team_member m on m.team_id = t.id
            where t.organization_id = $1 and exists (select 1 from role_team r where r.team_id = t.id)
            group by m.account_id) j
    group by j.team_ids`,
);

export function createRolePeopleStore(db: Db): RolePeopleStore {
  return {
    async counts(organizationId): Promise<TeamsCount[]> {
      const rows = await db.query<CountRow>(COUNTS, [organizationId]);
      return rows.map(({ team_ids, people }) => ({ teamIds: team_ids, people }));
    },
  };
}
