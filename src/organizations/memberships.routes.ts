import Type from 'typebox';
import { writeListInSlices } from '../base/json.ts';
import { callerOf, signedIn, siteAdmin } from '../http/admission/access.ts';
import { type Scope, sendText } from '../http/server.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { listedIds, type MaybeLimits } from '../identity/tokens/token-limits.ts';
import type { Users } from '../users/users.ts';
import type { Memberships, TeamsAmong } from './memberships.ts';
import { Organization, presentOrganization, presentTeam, Team } from './organization.view.ts';

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
      config: { access: signedIn('user', 'never', { limited: 'filtered' }) },
      schema: {
        summary: 'List the teams of the caller; in pages only if page or limit is given',
        tags,
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(Team) },
      },
    },
    async (request, reply) => {
      const { person, limits } = callerOf(request);
      const { page: number, limit } = request.query;
      const page = number === undefined && limit === undefined ? undefined : readPage(request.query);
      const { items, total } = await memberships.teams(person.id, amongOf(limits), page);
      if (page) showPage(request, reply, baseUrl(), page, total);
      else reply.header('X-Total-Count', String(total));
      return sendText(reply, await writeListInSlices(items, (team) => presentTeam(team, baseUrl())));
    },
  );

  scope.get(
    '/admin/users/:username/teams',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'List the teams of a user, in all organizations',
        tags: ['members'],
        extension: true,
        params: Type.Object({ username: Type.String() }),
        response: { 200: Type.Array(Team) },
      },
    },
    async (request, reply) => {
      const { items } = await memberships.teams(await users.idOf(request.params.username));
      return sendText(reply, await writeListInSlices(items, (team) => presentTeam(team, baseUrl())));
    },
  );

  scope.get(
    '/user/settings/organizations',
    {
      config: { access: signedIn('user', 'never') },
      schema: { summary: 'List the organizations of the caller', tags, response: { 200: Type.Array(Organization) } },
    },
    async (request, reply) => {
      const found = await memberships.organizations(callerOf(request).person.id);
      return sendText(
        reply,
        await writeListInSlices(found, (organization) => presentOrganization(organization, baseUrl())),
      );
    },
  );
}

/** The teams that the caller's token reaches. */
function amongOf(limits: MaybeLimits): TeamsAmong | undefined {
  return limits && { organizationIds: limits.organizations.map(({ id }) => id), teamIds: listedIds(limits, 'team') };
}
