import type { FastifyReply } from 'fastify';
import Type, { type Static } from 'typebox';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import { actorOf, callerIn, callerOf, holdsIn, signedIn, siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { unchanged, versionEtag } from '../http/wire/etag.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { Line, NoBody, named, Text, Website } from '../http/wire/schemas.ts';
import type { Users } from '../users/users.ts';
import type { SharedOrganizations } from './memberships.ts';
import { Organization, presentOrganization } from './organization.view.ts';
import type {
  NewOrganization,
  OrganizationInput,
  Organizations,
  Organization as OrganizationValue,
  Visibility,
} from './organizations.ts';

const Path = Type.Object({ org: Type.String() });

const EditOrganization = named(
  'EditOrganization',
  Type.Object({
    username: Type.Optional(Type.String({ description: 'The name of the organization.' })),
    full_name: Type.Optional(Line(100)),
    description: Type.Optional(Text(1000)),
    website: Type.Optional(Website),
    location: Type.Optional(Text(100)),
    visibility: Type.Optional(Type.Unsafe<Visibility>({ type: 'string', enum: ['public', 'limited', 'private'] })),
  }),
);
const CreateOrganization = named(
  'NewOrganization',
  Type.Object({ ...EditOrganization.properties, username: Type.String() }),
);

const NamePart = Type.Optional(Type.String({ description: 'Part of the name or the full name.' }));
const Ownerless = Type.Optional(
  Type.Boolean({ description: 'Only organizations without an owner, which site administrators manage.' }),
);

export function organizationRoutes(
  scope: Scope,
  organizations: Organizations,
  users: Pick<Users, 'idOf'>,
  sharedOrganizations: SharedOrganizations,
  baseUrl: () => string,
): void {
  const tags = ['organizations'];
  const preValidation = dropAbsent('visibility');
  const present = (organization: OrganizationValue) => presentOrganization(organization, baseUrl());
  const show = (reply: FastifyReply, organization: OrganizationValue) => {
    reply.header('ETag', versionEtag(organization));
    return present(organization);
  };

  const create = async (wanted: NewOrganization, actor: Actor, once?: Once<OrganizationValue>) => {
    const { id } = await organizations.create(wanted, actor, once);
    return await organizations.get(id);
  };

  for (const [url, access, summary] of [
    [
      '/orgs',
      signedIn('organization', 'as users', { limited: 'filtered' }),
      'List the organizations of the caller, or all for site administrators',
    ],
    [
      '/user/orgs',
      signedIn('user', 'as users', { limited: 'filtered' }),
      'List the organizations of the caller, in pages',
    ],
    ['/admin/orgs', siteAdmin('admin'), 'List all organizations'],
  ] as const) {
    scope.get(
      url,
      {
        config: { access, isSearch: url === '/admin/orgs' },
        schema: {
          summary,
          tags,
          extension: true,
          querystring: Type.Object({
            ...PageQuery,
            ...(url === '/admin/orgs' && { q: NamePart, ownerless: Ownerless }),
          }),
          response: { 200: Type.Array(Organization) },
        },
      },
      async (request, reply) => {
        const { person } = callerOf(request);
        const page = readPage(request.query);
        const isAll = url !== '/user/orgs' && person.isAdmin;
        const { q, ownerless } = request.query;
        const search = { text: typeof q === 'string' ? q : '', ownerless: ownerless === true };
        const found = await (isAll
          ? organizations.listAll(page, url === '/admin/orgs' ? search : undefined)
          : organizations.listOf(person, page));
        showPage(request, reply, baseUrl(), page, found);
        return found.items.map(present);
      },
    );
  }

  scope.get(
    '/users/:username/orgs',
    {
      config: { access: signedIn('organization', 'as users') },
      schema: {
        summary: 'List the organizations of a user in which the caller may see the members',
        tags,
        extension: true,
        params: Type.Object({ username: Type.String() }),
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(Organization) },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const shared = await sharedOrganizations(callerOf(request).person, request.params.username);
      const { items, total } = await organizations.listOf({ organizations: shared }, page);
      showPage(request, reply, baseUrl(), page, total);
      return items.map(present);
    },
  );

  scope.post(
    '/orgs',
    {
      preValidation,
      config: { access: signedIn('organization', 'never'), creates: true },
      schema: {
        summary: 'Create an organization; the caller becomes its owner',
        tags,
        extension: true,
        body: CreateOrganization,
        etag: true,
        response: { 201: Organization },
      },
    },
    async (request, reply) => {
      const input = { ...readInput(request.body), name: request.body.username };
      const { person } = callerOf(request);
      const founderId = person.id;
      return await createOnce(
        request,
        reply.code(201),
        (once) => create({ ...input, founderId, askedBy: person }, actorOf(request), once),
        (organization: OrganizationValue) => show(reply, organization),
      );
    },
  );

  scope.post(
    '/admin/users/:username/orgs',
    {
      preValidation,
      config: { access: siteAdmin('admin'), creates: true },
      schema: {
        summary: 'Create an organization for a user, who becomes its owner',
        tags,
        extension: true,
        params: Type.Object({ username: Type.String() }),
        body: CreateOrganization,
        etag: true,
        response: { 201: Organization },
      },
    },
    async (request, reply) => {
      const input = { ...readInput(request.body), name: request.body.username };
      const founderId = await users.idOf(request.params.username);
      return await createOnce(
        request,
        reply.code(201),
        (once) => create({ ...input, founderId }, actorOf(request), once),
        (organization: OrganizationValue) => show(reply, organization),
      );
    },
  );

  scope.get(
    '/orgs/:org',
    {
      config: { access: holdsIn('view:org', 'organization') },
      schema: {
        summary: 'Get an organization',
        tags,
        extension: true,
        params: Path,
        etag: true,
        response: { 200: Organization },
      },
    },
    async (request, reply) => show(reply, await organizations.get(callerIn(request).organization.id)),
  );

  scope.patch(
    '/orgs/:org',
    {
      preValidation,
      config: { access: holdsIn('edit:org', 'organization') },
      schema: {
        summary: 'Update an organization; omitted fields stay unchanged',
        tags,
        extension: true,
        params: Path,
        optionalBody: true,
        body: EditOrganization,
        etag: true,
        ifMatch: true,
        response: { 200: Organization },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      const input = readInput(request.body);
      const changed = await organizations.update(organization.id, input, unchanged(request), actorOf(request), person);
      return show(reply, changed);
    },
  );

  scope.delete(
    '/orgs/:org',
    {
      config: { access: holdsIn('delete:org', 'organization', { proven: true }) },
      schema: {
        summary: 'Delete an organization and everything it owns',
        tags,
        extension: true,
        params: Path,
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await organizations.remove(callerIn(request).organization.id, unchanged(request), actorOf(request));
      return reply.code(204).send();
    },
  );
}

function readInput({ username, full_name, ...same }: Static<typeof EditOrganization>): OrganizationInput {
  const { description, website, location, visibility } = same;
  return { name: username, fullName: full_name, description, website, location, visibility };
}
