import { type Db, sql } from '../db/db.ts';
import type { FurtherHolders, RolePeopleStore, TeamsCount } from './role-people.ts';

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
            where t.organization_id = $1 and exists (
               select 1 from assignment r where r.team_id = t.id or r.to_team_id = t.id)
            group by m.account_id) j
    group by j.team_ids`,
);

const TEAMS_ON_OBJECTS = sql(
  'rolePeople.teamsOnObjects',
  `select role_id, array_agg(distinct to_team_id) as team_ids from assignment
    where organization_id = $1 and to_team_id is not null group by role_id`,
);
const DIRECT = sql(
  'rolePeople.direct',
  `select d.role_id, array(select m.team_id from team_member m join team t on t.id = m.team_id
                            where m.account_id = d.user_id and t.organization_id = $1) as team_ids
     from (select distinct role_id, user_id from assignment where organization_id = $1 and user_id is not null) d`,
);

export function createRolePeopleStore(db: Db): RolePeopleStore {
  return {
    async counts(organizationId): Promise<TeamsCount[]> {
      const rows = await db.query<CountRow>(COUNTS, [organizationId]);
      return rows.map(({ team_ids, people }) => ({ teamIds: team_ids, people }));
    },

    async further(organizationId): Promise<FurtherHolders[]> {
      const teams = await db.query<{ role_id: bigint; team_ids: bigint[] }>(TEAMS_ON_OBJECTS, [organizationId]);
      const direct = await db.query<{ role_id: bigint; team_ids: bigint[] }>(DIRECT, [organizationId]);
      const users = Map.groupBy(direct, (row) => row.role_id);
      const teamIds = new Map(teams.map((row) => [row.role_id, row.team_ids]));
      return [...new Set([...users.keys(), ...teamIds.keys()])].map((roleId) => ({
        roleId,
        teamIds: teamIds.get(roleId) ?? [],
        users: users.get(roleId)?.map((row) => row.team_ids) ?? [],
      }));
    },
  };
}
