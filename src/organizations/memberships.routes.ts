import Type from 'typebox';
import { writeListInSlices } from '../base/json.ts';
import { callerOf, signedIn } from '../http/access.ts';
import { PageQuery, readPage, showPage } from '../http/paging.ts';
import { type Scope, sendText } from '../http/server.ts';
import type { Memberships } from './memberships.ts';
import { Organization, presentOrganization, presentTeam, Team } from './organization.view.ts';
import type { Team as TeamValue } from './teams.ts';

export function membershipRoutes(scope: Scope, memberships: Memberships, baseUrl: () => string): void {
  const tags = ['user'];

  scope.get(
    '/user/teams',
    {
      config: { access: signedIn('user') },
      schema: {
        summary: 'List the teams of the caller; in pages only if page or limit is given',
        tags,
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(Team) },
      },
    },
    async (request, reply) => {
      const teams = await memberships.teams(callerOf(request).person.id);
      const present = (team: TeamValue) => presentTeam(team, baseUrl());
      const { page, limit } = request.query;
      if (page === undefined && limit === undefined) {
        reply.header('X-Total-Count', String(teams.length));
        sendText(reply, await writeListInSlices(teams, present));
        return reply;
      }
      const wanted = readPage(request.query);
      showPage(request, reply, baseUrl(), wanted, teams.length);
      return teams.slice(wanted.offset, wanted.offset + wanted.limit).map(present);
    },
  );

  scope.get(
    '/user/settings/organizations',
    {
      config: { access: signedIn('user') },
      schema: { summary: 'List the organizations of the caller', tags, response: { 200: Type.Array(Organization) } },
    },
    async (request, reply) => {
      const found = await memberships.organizations(callerOf(request).person.id);
      sendText(reply, await writeListInSlices(found, (organization) => presentOrganization(organization, baseUrl())));
      return reply;
    },
  );
}
