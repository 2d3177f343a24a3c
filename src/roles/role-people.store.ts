import { type Db, sql } from '../db/db.ts';
import type { Crowd, RolePeopleStore } from './role-people.ts';

interface CrowdRow {
  team_ids: bigint[];
  people: number;
}

// Reads each membership once, however many roles the team has: the rows of all roles together could be millions.
const CROWDS = sql(
  'rolePeople.crowds',
  `select j.team_ids, count(*)::integer as people
     from (select array_agg(m.team_id order by m.team_id) as team_ids
             from team t join team_member m on m.team_id = t.id
            where t.organization_id = $1 and exists (select 1 from role_team r where r.team_id = t.id)
            group by m.account_id) j
    group by j.team_ids`,
);

export function createRolePeopleStore(db: Db): RolePeopleStore {
  return {
    async crowds(organizationId): Promise<Crowd[]> {
      const rows = await db.query<CrowdRow>(CROWDS, [organizationId]);
      return rows.map(({ team_ids, people }) => ({ teamIds: team_ids, people }));
    },
  };
}
