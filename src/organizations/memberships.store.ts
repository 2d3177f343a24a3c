import { type Db, sql } from '../db/db.ts';
import type { Memberships } from './memberships.ts';
import { ORGANIZATION, type OrganizationRow, TEAM, type TeamRow, toOrganization, toTeam } from './organization.rows.ts';

// Sorted by bytes, which gives the same order in every database, whatever its locale.
const TEAMS = sql(
  'memberships.teams',
  `select ${TEAM}
     from team_member m join team t on t.id = m.team_id join account o on o.id = t.organization_id
    where m.account_id = $1
    order by o.name_key collate "C", t.permission <> 'owner', t.name_key collate "C"`,
);
const ORGANIZATIONS = sql(
  'memberships.organizations',
  `select ${ORGANIZATION} from account o
    where o.kind = 'organization'
      and exists (select 1 from team t join team_member m on m.team_id = t.id where t.organization_id = o.id and m.account_id = $1)
    order by o.id`,
);

export function createMembershipStore(db: Db): Memberships {
  return {
    teams: async (accountId) => (await db.query<TeamRow>(TEAMS, [accountId])).map(toTeam),
    organizations: async (accountId) =>
      (await db.query<OrganizationRow>(ORGANIZATIONS, [accountId])).map(toOrganization),
  };
}
