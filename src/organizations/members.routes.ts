import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import {
  actorOf,
  callerIn,
  callerOf,
  holdsIn,
  holdsOn,
  member,
  ownerIn,
  requireProven,
  seesAsSelf,
} from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsentExcept } from '../http/wire/absent-fields.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { NoBody, named, PathId, readId } from '../http/wire/schemas.ts';
import { ListedUser, presentListed } from '../users/user.view.ts';
import { Expiry, NewExpiry, presentExpiry, readTerm } from './expires-at.view.ts';
import type { Members, TeamMember as TeamMemberValue } from './members.ts';

const OrgMember = Type.Object({ org: Type.String(), username: Type.String() });
const NewMember = named(
  'NewMember',
  Type.Object({
    team: Type.Optional(Type.String({ maxLength: 100, description: 'Name of the team. By default, Viewers.' })),
    expires_at: NewExpiry,
  }),
);
const Membership = named('Membership', Type.Object({ expires_at: NewExpiry }));
const TeamMember = named('TeamMember', Type.Object({ ...ListedUser.properties, expires_at: Expiry }));
const TeamPath = Type.Object({ id: PathId });
const MemberPath = Type.Object({ id: PathId, username: Type.String() });
const tags = ['members'];

/** For what makes a user an owner: the session must have been proven lately. */
const proofIn = (request: FastifyRequest) => () => requireProven(callerOf(request), new Date());

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
      preValidation: dropAbsentExcept(['expires_at'], 'team', 'expires_at'),
      config: { access: holdsIn('add_member:org', 'organization', { proven: 'owners' }) },
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
      const { team, expires_at } = request.body;
      const term = readTerm(expires_at, new Date());
      await members.add(id, request.params.username, team, actorOf(request), term, proofIn(request));
      return reply.code(204).send();
    },
  );

  scope.delete(
    '/orgs/:org/members/:username',
    {
      config: { access: member('organization', 'as users', { about: 'path' }) },
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
  /** A user who is in a team sees who else is, but not more of them than of other users. */
  const presenterFor = async (request: FastifyRequest) => {
    const caller = callerOf(request);
    const seesAll = await members.seesMembers(caller.person.id, ownerIn(request));
    return ({ profile, expiresAt }: TeamMemberValue) => ({
      ...presentListed(profile, baseUrl(), seesAll || seesAsSelf(caller, profile.id)),
      ...presentExpiry(expiresAt),
    });
  };
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
        response: { 200: Type.Array(TeamMember) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { items, total } = await members.ofTeam(idOf(request.params), page);
      showPage(request, reply, baseUrl(), page, total);
      return items.map(await presenterFor(request));
    },
  );

  scope.get(
    '/teams/:id/members/:username',
    {
      config: { access: holdsOn('view:team', 'organization') },
      schema: {
        summary: 'Get a member of a team',
        tags,
        extension: true,
        params: MemberPath,
        response: { 200: TeamMember },
      },
    },
    async (request) => {
      const present = await presenterFor(request);
      return present(await members.inTeam(idOf(request.params), request.params.username));
    },
  );

  scope.put(
    '/teams/:id/members/:username',
    {
      preValidation: dropAbsentExcept(['expires_at'], 'expires_at'),
      config: { access: holdsOn('add_member:team', 'organization', { proven: 'owners' }) },
      schema: {
        summary: 'Add a user to a team, or change when the membership ends',
        tags,
        extension: true,
        grows: true,
        params: MemberPath,
        optionalBody: true,
        body: Membership,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { username } = request.params;
      const term = readTerm(request.body.expires_at, new Date());
      const [owner, team] = [ownerIn(request), idOf(request.params)];
      await members.addToTeam(owner, team, username, actorOf(request), term, proofIn(request));
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
        params: MemberPath,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await members.removeFromTeam(idOf(request.params), request.params.username, actorOf(request));
      return reply.code(204).send();
    },
  );
}
