import Type from 'typebox';
import { Int64, named } from '../http/wire/schemas.ts';
import { avatarUrl } from '../users/user.view.ts';
import type { Organization as OrganizationValue } from './organizations.ts';
import type { Team as TeamValue } from './teams.ts';

export const Organization = named(
  'Organization',
  Type.Object({
    id: Int64,
    name: Type.String(),
    username: Type.String(),
    full_name: Type.String(),
    avatar_url: Type.String(),
    description: Type.String(),
    website: Type.String(),
    location: Type.String(),
    visibility: Type.String({ enum: ['public', 'limited', 'private'] }),
    orgType: Type.String(),
  }),
);

export const Team = named(
  'Team',
  Type.Object({
    id: Int64,
    name: Type.String(),
    description: Type.String(),
    organization: Organization,
    permission: Type.String({ enum: ['none', 'read', 'write', 'admin', 'owner'] }),
    units: Type.Array(Type.String()),
    type: Type.String({ enum: ['builtin', 'custom'] }),
    role_ids: Type.Array(Int64),
    member_count: Type.Integer({ description: 'Users who may see a team may also list its members.' }),
  }),
);

export function presentTeam(team: TeamValue, baseUrl: string) {
  const { id, name, description, permission, type, units, roleIds, memberCount } = team;
  const organization = presentOrganization(team.organization, baseUrl);
  const rest = { permission, units: [...units], type, role_ids: [...roleIds], member_count: memberCount };
  return { id, name, description, organization, ...rest };
}

export function presentOrganization(organization: OrganizationValue, baseUrl: string) {
  const { id, name, fullName, description, website, location, visibility, orgType } = organization;
  return {
    id,
    name,
    username: name,
    full_name: fullName,
    avatar_url: avatarUrl(name, baseUrl),
    description,
    website,
    location,
    visibility,
    orgType,
  };
}
