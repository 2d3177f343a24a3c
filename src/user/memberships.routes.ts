import Type from 'typebox';
import { callerOf, signedIn } from '../http/access.ts';
import { PageQuery, readPage, showPage } from '../http/paging.ts';
import { Int64 } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import type { Memberships, OrganizationDetails, TeamDetails } from './memberships.ts';
import { avatarUrl } from './user.view.ts';

const Organization = Type.Object({
  id: Int64,
  name: Type.String(),
  username: Type.String(),
  full_name: Type.String(),
  avatar_url: Type.String(),
  description: Type.String(),
  website: Type.String(),
  location: Type.String(),
  visibility: Type.String(),
  orgType: Type.String(),
});

const Team = Type.Object({
  id: Int64,
  name: Type.String(),
  description: Type.String(),
  organization: Organization,
  permission: Type.String({ description: 'none, read, write, admin or owner' }),
  units: Type.Array(Type.String()),
  type: Type.String(),
  role_ids: Type.Array(Int64),
});

export function membershipRoutes(scope: Scope, memberships: Memberships, baseUrl: () => string): void {
  const tags = ['user'];

  scope.get(
    '/user/teams',
    {
      config: { access: signedIn('user') },
      schema: {
        summary: 'All teams that the caller is in; in pages only when asked for',
        tags,
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(Team) },
      },
    },
    async (request, reply) => {
      const teams = (await memberships.teams(callerOf(request).person.id)).map((team) => presentTeam(team, baseUrl()));
      const { page, limit } = request.query;
      if (page === undefined && limit === undefined) {
        reply.header('X-Total-Count', String(teams.length));
        return teams;
      }
      const wanted = readPage(request.query);
      showPage(request, reply, baseUrl(), wanted, teams.length);
      return teams.slice(wanted.offset, wanted.offset + wanted.limit);
    },
  );

  scope.get(
    '/user/settings/organizations',
    {
      config: { access: signedIn('user') },
      schema: { summary: 'The organizations that the caller is in', tags, response: { 200: Type.Array(Organization) } },
    },
    async (request) => {
      const found = await memberships.organizations(callerOf(request).person.id);
      return found.map((organization) => presentOrganization(organization, baseUrl()));
    },
  );
}

function presentTeam(team: TeamDetails, baseUrl: string) {
  const { id, name, description, permission, type, units, roleIds } = team;
  const organization = presentOrganization(team.organization, baseUrl);
  return { id, name, description, organization, permission, units: [...units], type, role_ids: [...roleIds] };
}

function presentOrganization(organization: OrganizationDetails, baseUrl: string) {
  const { id, name, fullName, description, website, location, visibility, orgType } = organization;
  const avatar_url = avatarUrl(name, baseUrl);
  return {
    id,
    name,
    username: name,
    full_name: fullName,
    avatar_url,
    description,
    website,
    location,
    visibility,
    orgType,
  };
}
