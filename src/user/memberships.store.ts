import { type Db, sql } from '../db/db.ts';
import type { Memberships, OrganizationDetails, TeamDetails } from './memberships.ts';

interface OrganizationRow {
  organization_id: bigint;
  organization_name: string;
  full_name: string;
  organization_description: string;
  website: string;
  location: string;
  visibility: OrganizationDetails['visibility'];
  org_type: string;
}

interface TeamRow extends OrganizationRow {
  id: bigint;
  name: string;
  description: string;
  permission: TeamDetails['permission'];
  type: TeamDetails['type'];
  units: string[];
  role_ids: bigint[];
}

const ORGANIZATION = `o.id as organization_id, o.name as organization_name, o.full_name,
  o.description as organization_description, o.website, o.location, o.visibility, o.org_type`;

// The byte order of names is the same in every database, whatever its language.
const TEAMS = sql(
  'memberships.teams',
  `select t.id, t.name, t.description, t.permission, t.type, t.units, ${ORGANIZATION},
          array(select r.role_id from role_team r where r.team_id = t.id order by r.role_id) as role_ids
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
    async teams(accountId) {
      const rows = await db.query<TeamRow>(TEAMS, [accountId]);
      return rows.map((row) => {
        const { id, name, description, permission, type, units, role_ids } = row;
        return { id, name, description, permission, type, units, roleIds: role_ids, organization: toOrganization(row) };
      });
    },

    async organizations(accountId) {
      return (await db.query<OrganizationRow>(ORGANIZATIONS, [accountId])).map(toOrganization);
    },
  };
}

function toOrganization(row: OrganizationRow): OrganizationDetails {
  return {
    id: row.organization_id,
    name: row.organization_name,
    fullName: row.full_name,
    description: row.organization_description,
    website: row.website,
    location: row.location,
    visibility: row.visibility,
    orgType: row.org_type,
  };
}
