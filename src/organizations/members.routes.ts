import Type from 'typebox';
import { dropAbsent } from '../http/absent-fields.ts';
import { actorOf, callerIn, holdsIn, holdsOn, member, ownerIn } from '../http/access.ts';
import { PageQuery, readPage, showPage } from '../http/paging.ts';
import { NoBody, named, PathId, readId } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import type { Profile } from '../users/profile.ts';
import { presentProfile, User } from '../users/user.view.ts';
import type { Members } from './members.ts';

const OrgMember = Type.Object({ org: Type.String(), username: Type.String() });
const NewMember = named(
  'NewMember',
  Type.Object({
    team: Type.Optional(Type.String({ maxLength: 100, description: 'Name of the team. By default, Viewers.' })),
  }),
);
const TeamPath = Type.Object({ id: PathId });
const TeamMember = Type.Object({ id: PathId, username: Type.String() });
const tags = ['administration'];

/** Who is in an organization. */
export function memberRoutes(scope: Scope, members: Members): void {
  for (const [list, summary] of [
    ['members', 'Check whether a user is a member of an organization: 204 if so, otherwise 404'],
    ['public_members', 'The same as the check under members'],
  ] as const) {
    scope.get(
      `/orgs/:org/${list}/:username`,
      {
        config: { access: holdsIn('view_members:org', 'organization') },
        schema: {
          summary,
          tags,
          extension: true,
          params: OrgMember,
          response: { 204: NoBody },
        },
      },
      async (request, reply) => {
        await members.requireMember(callerIn(request).organization.id, request.params.username);
        return reply.code(204).send();
      },
    );
  }

  scope.put(
    '/orgs/:org/members/:username',
    {
      preValidation: dropAbsent('team'),
      config: { access: holdsIn('add_member:org', 'organization') },
      schema: {
        summary: 'Add a user to an organization, as a member of one of its teams',
        tags,
        extension: true,
        params: OrgMember,
        optionalBody: true,
        body: NewMember,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { id } = callerIn(request).organization;
      await members.add(id, request.params.username, request.body.team, actorOf(request));
      return reply.code(204).send();
    },
  );

  scope.delete(
    '/orgs/:org/members/:username',
    {
      config: { access: member('organization', { about: 'path' }) },
      schema: {
        summary: 'Remove a user from all teams of an organization; removing others requires remove_member:org',
        tags,
        extension: true,
        params: OrgMember,
        querystring: Type.Object({
          orphan: Type.Optional(
            Type.Boolean({
              description: 'Leave even as the last owner. Site administrators then manage the organization.',
            }),
          ),
        }),
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { id } = callerIn(request).organization;
      await members.remove(id, request.params.username, actorOf(request), request.query.orphan);
      return reply.code(204).send();
    },
  );
}

/** Who is in a team. */
export function teamMemberRoutes(scope: Scope, members: Members, baseUrl: () => string): void {
  const present = (profile: Profile) => presentProfile(profile, baseUrl());
  const idOf = (params: { id: string }) => readId(params.id, 'team ID');

  scope.get(
    '/teams/:id/members',
    {
      config: { access: holdsOn('view:team', 'organization') },
      schema: {
        summary: 'List the members of a team',
        tags,
        extension: true,
        params: TeamPath,
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(User) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { items, total } = await members.ofTeam(idOf(request.params), page);
      showPage(request, reply, baseUrl(), page, total);
      return items.map(present);
    },
  );

  scope.get(
    '/teams/:id/members/:username',
    {
      config: { access: holdsOn('view:team', 'organization') },
      schema: { summary: 'Get a member of a team', tags, extension: true, params: TeamMember, response: { 200: User } },
    },
    async (request) => present(await members.inTeam(idOf(request.params), request.params.username)),
  );

  scope.put(
    '/teams/:id/members/:username',
    {
      config: { access: holdsOn('add_member:team', 'organization') },
      schema: {
        summary: 'Add a user to a team',
        tags,
        extension: true,
        grows: true,
        params: TeamMember,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { username } = request.params;
      await members.addToTeam(ownerIn(request), idOf(request.params), username, actorOf(request));
      return reply.code(204).send();
    },
  );

  scope.delete(
    '/teams/:id/members/:username',
    {
      config: { access: holdsOn('remove_member:team', 'organization') },
      schema: {
        summary: 'Remove a user from a team',
        tags,
        extension: true,
        params: TeamMember,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await members.removeFromTeam(idOf(request.params), request.params.username, actorOf(request));
      return reply.code(204).send();
    },
  );
}
