import type { Organization } from './organizations.ts';
import type { Team } from './teams.ts';

export interface OrganizationRow {
  organization_id: bigint;
  organization_name: string;
  full_name: string;
  organization_description: string;
  website: string;
  location: string;
  visibility: Organization['visibility'];
  org_type: string;
  organization_version: number;
}

/** The columns of an account `o`. */
export const ORGANIZATION = `o.id as organization_id, o.name as organization_name, o.full_name,
  o.description as organization_description, o.website, o.location, o.visibility, o.org_type, o.version as organization_version`;

export function toOrganization(row: OrganizationRow): Organization {
  return {
    id: row.organization_id,
    name: row.organization_name,
    fullName: row.full_name,
    description: row.organization_description,
    website: row.website,
    location: row.location,
    visibility: row.visibility,
    orgType: row.org_type,
    version: row.organization_version,
  };
}

export interface TeamRow extends OrganizationRow {
  id: bigint;
  name: string;
  description: string;
  permission: Team['permission'];
  type: Team['type'];
  units: string[];
  role_ids: bigint[];
  member_count: number;
  version: number;
}

/** The columns of a team `t` and of the account `o` that it belongs to. */
export const TEAM = `t.id, t.name, t.description, t.permission, t.type, t.units, t.version, ${ORGANIZATION},
  array(select r.role_id from assignment r where r.team_id = t.id order by r.role_id) as role_ids,
  (select count(*)::integer from team_member n where n.team_id = t.id) as member_count`;

export function toTeam(row: TeamRow): Team {
  const { id, name, description, permission, type, units, role_ids, member_count, version } = row;
  const same = { id, name, description, permission, type, units, version };
  return { ...same, roleIds: role_ids, memberCount: member_count, organization: toOrganization(row) };
}
