import Type from 'typebox';
import { writeListInSlices } from '../base/json.ts';
import { callerOf, signedIn, siteAdmin } from '../http/access.ts';
import { PageQuery, readPage, showPage } from '../http/paging.ts';
import { type Scope, sendText } from '../http/server.ts';
import { reachesObject } from '../identity/token-limits.ts';
import type { Users } from '../users/users.ts';
import type { Memberships } from './memberships.ts';
import { Organization, presentOrganization, presentTeam, Team } from './organization.view.ts';
import type { Team as TeamValue } from './teams.ts';

export function membershipRoutes(
  scope: Scope,
  memberships: Memberships,
  users: Pick<Users, 'idOf'>,
  baseUrl: () => string,
): void {
  const tags = ['user'];

  scope.get(
    '/user/teams',
    {
      config: { access: signedIn('user', { limited: 'filtered' }) },
      schema: {
        summary: 'List the teams of the caller; in pages only if page or limit is given',
        tags,
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(Team) },
      },
    },
    async (request, reply) => {
      const { person, limits } = callerOf(request);
      const found = await memberships.teams(person.id);
      const teams = found.filter(({ id, organization }) =>
        reachesObject(limits, { type: 'team', id, ownerId: organization.id }),
      );
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
    '/admin/users/:username/teams',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'List the teams of a user, in all organizations',
        tags: ['administration'],
        extension: true,
        params: Type.Object({ username: Type.String() }),
        response: { 200: Type.Array(Team) },
      },
    },
    async (request, reply) => {
      const teams = await memberships.teams(await users.idOf(request.params.username));
      sendText(reply, await writeListInSlices(teams, (team) => presentTeam(team, baseUrl())));
      return reply;
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
