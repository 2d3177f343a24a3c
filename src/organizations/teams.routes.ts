import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import type { ShownObjects } from '../authz/shown-objects.ts';
import { actorOf, callerIn, holdsIn, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { unchanged, versionEtag } from '../http/wire/etag.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { NoBody, named, PathId, readId } from '../http/wire/schemas.ts';
import type { Permission } from '../identity/callers.ts';
import { presentTeam, Team } from './organization.view.ts';
import type { Teams, Team as TeamValue } from './teams.ts';

const OrgPath = Type.Object({ org: Type.String() });
const TeamPath = Type.Object({ id: PathId });

export const EditTeam = named(
  'EditTeam',
  Type.Object({
    name: Type.Optional(Type.String({ maxLength: 200 })),
    description: Type.Optional(Type.String({ maxLength: 1000 })),
    permission: Type.Optional(
      Type.Unsafe<Permission>({
        type: 'string',
        enum: ['none', 'read', 'write', 'admin', 'owner'],
        description: 'One of none, read, write or admin. Only the built-in Owners team has owner.',
      }),
    ),
    units: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 })),
  }),
);
const CreateTeam = named('NewTeam', Type.Object({ ...EditTeam.properties, name: Type.String({ maxLength: 200 }) }));

export function teamRoutes(scope: Scope, teams: Teams, shownObjects: ShownObjects, baseUrl: () => string): void {
  const tags = ['teams'];
  const preValidation = dropAbsent('permission');
  const present = (team: TeamValue) => presentTeam(team, baseUrl());
  const show = (reply: FastifyReply, team: TeamValue) => {
    reply.header('ETag', versionEtag(team));
    return present(team);
  };
  const idOf = (params: { id: string }) => readId(params.id, 'team ID');

  scope.get(
    '/orgs/:org/teams',
    {
      config: { access: holdsIn('view_teams:org', 'organization', { limited: 'filtered' }) },
      schema: {
        summary: 'List the teams of an organization',
        tags,
        extension: true,
        params: OrgPath,
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(Team) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const caller = callerIn(request);
      const among = await shownObjects(caller, caller.organization.id, 'team');
      const { items, total } = await teams.list(caller.organization.id, '', page, among);
      showPage(request, reply, baseUrl(), page, total);
      return items.map(present);
    },
  );

  scope.get(
    '/orgs/:org/teams/search',
    {
      config: { access: holdsIn('view_teams:org', 'organization', { limited: 'filtered' }) },
      schema: {
        summary: 'Search the teams of an organization by name',
        tags,
        extension: true,
        params: OrgPath,
        querystring: Type.Object({ q: Type.Optional(Type.String()), ...PageQuery }),
        response: { 200: named('TeamSearchResult', Type.Object({ ok: Type.Boolean(), data: Type.Array(Team) })) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const text = request.query.q?.trim() ?? '';
      const caller = callerIn(request);
      const among = await shownObjects(caller, caller.organization.id, 'team');
      const { items, total } = await teams.list(caller.organization.id, text, page, among);
      showPage(request, reply, baseUrl(), page, total);
      return { ok: true, data: items.map(present) };
    },
  );

  scope.post(
    '/orgs/:org/teams',
    {
      preValidation,
      config: { access: holdsIn('create_team:org', 'organization'), creates: true },
      schema: {
        summary: 'Create a team',
        tags,
        extension: true,
        params: OrgPath,
        body: CreateTeam,
        etag: true,
        response: { 201: Team },
      },
    },
    async (request, reply) => {
      const organizationId = callerIn(request).organization.id;
      const input = { permission: 'read' as const, ...request.body, organizationId };
      return await createOnce(
        request,
        reply.code(201),
        (once) => teams.create(input, actorOf(request), once),
        (team: TeamValue) => show(reply, team),
      );
    },
  );

  scope.get(
    '/teams/:id',
    {
      config: { access: holdsOn('view:team', 'organization') },
      schema: { summary: 'Get a team', tags, extension: true, params: TeamPath, etag: true, response: { 200: Team } },
    },
    async (request, reply) => show(reply, await teams.get(idOf(request.params))),
  );

  scope.patch(
    '/teams/:id',
    {
      preValidation,
      config: { access: holdsOn('edit:team', 'organization', { limited: 'whole' }) },
      schema: {
        summary: 'Update a team; omitted fields stay unchanged',
        tags,
        extension: true,
        params: TeamPath,
        optionalBody: true,
        body: EditTeam,
        etag: true,
        ifMatch: true,
        response: { 200: Team },
      },
    },
    async (request, reply) => {
      const where = [ownerIn(request), idOf(request.params)] as const;
      return show(reply, await teams.update(...where, request.body, unchanged(request), actorOf(request)));
    },
  );

  scope.delete(
    '/teams/:id',
    {
      config: { access: holdsOn('delete:team', 'organization') },
      schema: {
        summary: 'Delete a team',
        tags,
        extension: true,
        params: TeamPath,
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await teams.remove(idOf(request.params), unchanged(request), actorOf(request));
      return reply.code(204).send();
    },
  );
}
