import type { OrganizationDetails, Profile, TeamDetails } from './profile.ts';

export interface ProfileRow {
  id: bigint;
  kind: Profile['kind'];
  name: string;
  full_name: string;
  email: string | null;
  location: string;
  website: string;
  description: string;
  created_at: Date;
  org_admin: boolean;
}

/**
 * Of an account `a` and its primary address `e`; asked of a page, not of all that is paged through. With `exists` the planner
 * might gather the administrators of all organizations first.
 */
export const PROFILE = `a.id, a.kind, a.name, a.full_name, e.address as email, a.location, a.website, a.description, a.created_at,
  coalesce((select true from team_member tm join team t on t.id = tm.team_id
             where tm.account_id = a.id and t.permission in ('owner', 'admin') limit 1), false) as org_admin`;

export function toProfile(row: ProfileRow): Profile {
  const { id, kind, name, full_name, email, location, website, description, created_at, org_admin } = row;
  const plain = { id, kind, login: name, location, website, description };
  return { ...plain, fullName: full_name, email: email ?? '', createdAt: created_at, orgAdmin: org_admin };
}

export interface OrganizationRow {
  organization_id: bigint;
  organization_name: string;
  full_name: string;
  organization_description: string;
  website: string;
  location: string;
  visibility: OrganizationDetails['visibility'];
  org_type: string;
  organization_version: number;
}

/** Of an account `o`. */
export const ORGANIZATION = `o.id as organization_id, o.name as organization_name, o.full_name,
  o.description as organization_description, o.website, o.location, o.visibility, o.org_type, o.version as organization_version`;

export function toOrganization(row: OrganizationRow): OrganizationDetails {
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
  permission: TeamDetails['permission'];
  type: TeamDetails['type'];
  units: string[];
  role_ids: bigint[];
  version: number;
}

/** Of a team `t` and the account `o` that it belongs to. */
export const TEAM = `t.id, t.name, t.description, t.permission, t.type, t.units, t.version, ${ORGANIZATION},
  array(select r.role_id from role_team r where r.team_id = t.id order by r.role_id) as role_ids`;

export function toTeam(row: TeamRow): TeamDetails {
  const { id, name, description, permission, type, units, role_ids, version } = row;
  const organization = toOrganization(row);
  return { id, name, description, permission, type, units, roleIds: role_ids, organization, version };
}
