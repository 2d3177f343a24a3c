import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { callerIn, callerOf, holdsIn, signedIn, siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { readLimit, wholeNumber } from '../http/wire/paging.ts';
import { Int64, media, named, Timestamp } from '../http/wire/schemas.ts';
import { ShownActor } from '../http/wire/shown-actor.ts';
import { showArchivedHeaders } from './archived-headers.view.ts';
import { type Audit, type AuditRow, COUNTED_DAYS } from './audit.ts';
import { auditLine } from './audit-line.view.ts';
import { AuditFilters, OrganizationFilter, optionalText, readQuestion } from './audit-question.view.ts';
import type { NameOf, ObjectNames, Reader } from './object-names.ts';
import { ocsfEvent } from './ocsf-event.view.ts';

const DEFAULT_LIMIT = 30;
const MAX_LIMIT = 200;
const JSON_TYPE = 'application/json; charset=utf-8';
const NDJSON_TYPE = 'application/x-ndjson; charset=utf-8';

const ExportQuery = Type.Object({
  ...AuditFilters,
  format: Type.Optional(
    Type.Enum(['json', 'ocsf'], {
      description:
        'json by default: entries as in a page. ocsf: events of the Open Cybersecurity Schema Framework, each with its entry in unmapped.',
    }),
  ),
});
const PageQuery = Type.Object({
  ...AuditFilters,
  cursor: optionalText('The next_cursor of the previous page.'),
  limit: Type.Optional(wholeNumber(`Entries per page: ${DEFAULT_LIMIT} by default, maximum ${MAX_LIMIT}.`)),
});
const AdminExportQuery = Type.Object({ ...ExportQuery.properties, org: OrganizationFilter });
const AdminPageQuery = Type.Object({ ...PageQuery.properties, org: OrganizationFilter });
const OrgPath = Type.Object({ org: Type.String() });

const State = Type.Unsafe<unknown>({ description: 'State before or after the change. Null if there is none.' });
const Entry = named(
  'AuditEntry',
  Type.Object({
    id: Int64,
    at: Timestamp,
    organization_id: Int64,
    actor: ShownActor,
    on_behalf_of: Type.Optional(
      Type.Object(
        { id: Int64, name: Type.String() },
        { description: 'The user for whom the actor, a site administrator, acted. Absent if there is none.' },
      ),
    ),
    via: Type.Optional(
      Type.Union(
        [
          named(
            'AuditedOutsideToken',
            Type.Object(
              {
                issuer: Type.String({ description: 'Its iss.' }),
                subject: Type.Unsafe<string | null>({
                  type: ['string', 'null'],
                  description: 'Its sub. Null if it has none.',
                }),
                rule: Type.Unsafe<number | bigint>({ ...Int64, description: 'ID of the trust rule that accepted it.' }),
                jti: Type.Unsafe<string | null>({
                  type: ['string', 'null'],
                  description: 'Its jti. Null if it has none.',
                }),
              },
              { description: 'The token of another issuer that the robot was given its own for.' },
            ),
          ),
          named(
            'AuditedDelegate',
            Type.Object(
              {
                delegate: Type.String({ description: 'What the user calls the agent.' }),
                token: Type.Unsafe<number | bigint>({ ...Int64, description: 'ID of its delegated token.' }),
                endpoint: Type.Optional(
                  Type.String({ enum: ['mcp'], description: 'Set if it called the endpoint for agents.' }),
                ),
              },
              { description: 'The agent that acted for the actor.' },
            ),
          ),
          Type.String({ enum: ['mcp'], description: 'The endpoint for agents of users.' }),
        ],
        {
          description:
            'What the change came through: a token of another issuer, an agent, or the endpoint for agents. Absent for all else.',
        },
      ),
    ),
    action: Type.String(),
    object: Type.Object({
      type: Type.String(),
      id: Int64,
      name: Type.Optional(
        Type.String({
          description: [
            'The present name, if the caller may see the object, else the last one that the log tells.',
            'Absent if there is none. It is not part of the hash.',
          ].join(' '),
        }),
      ),
    }),
    summary: Type.String({
      description: 'The entry in words, such as: pia added ben to the team Owners. It is not part of the hash.',
    }),
    before: State,
    after: State,
    request_id: Type.String(),
    form: Type.Optional(
      Type.Unsafe<2>({ type: 'integer', enum: [2], description: 'Only if the hash covers hashes of personal texts.' }),
    ),
    hashed: Type.Optional(
      Type.Object(
        {
          actor: Type.Optional(Type.String({ description: 'Covered instead of the name of the actor.' })),
          on_behalf_of: Type.Optional(Type.String({ description: 'Covered instead of the name of that user.' })),
          before: Type.Optional(Type.Unsafe<unknown>({ description: 'Covered instead of the state before.' })),
          after: Type.Optional(Type.Unsafe<unknown>({ description: 'Covered instead of the state after.' })),
        },
        { description: 'What the hash covers instead of what is shown. Only in form 2.' },
      ),
    ),
    texts: Type.Optional(
      Type.Array(
        Type.Object({
          sha256: Type.String({ description: 'SHA-256 of the bytes of salt and the text in UTF-8, in hexadecimal.' }),
          user: Type.Unsafe<number | bigint>({ ...Int64, description: 'Whom the text identifies. 0 if unknown.' }),
          salt: Type.Optional(Type.String({ description: 'In hexadecimal. Absent if the person is erased.' })),
          text: Type.Optional(Type.String({ description: 'Absent if the person is erased.' })),
        }),
        { description: 'The texts that are shown where hashed has "sha256:" and their hash. Only in form 2.' },
      ),
    ),
    erased: Type.Optional(
      Type.Unsafe<true>({
        ...{ type: 'boolean', enum: [true] },
        description:
          'Only if a person was erased from an entry of an earlier release, which had names under its hash. The hash is the one before that; an entry user.erase of the deployment lists it.',
      }),
    ),
    previous_hash: Type.String(),
    hash: Type.String({
      description: [
        'SHA-256, in hexadecimal, of the 32 bytes of previous_hash followed by the UTF-8 text of a JSON array without',
        'whitespace: at, organization_id, actor.id, actor.name, action, object.type, object.id, before, after,',
        'request_id, previous_hash and, if there is on_behalf_of, its id and name, and, if the actor is a robot, actor.type, and, if there is via, its text exactly as in this response.',
        'In form 2, an element that hashed has is covered as it is there.',
        'All elements are strings: numbers in decimal, before and after exactly as they are in this response, or null. In the first entry of an organization, previous_hash is all zeros.',
      ].join(' '),
    }),
  }),
);
const Page = named(
  'AuditPage',
  Type.Object({
    items: Type.Array(Entry),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  }),
);
const Actions = Type.Array(
  named(
    'AuditAction',
    Type.Object({
      action: Type.String(),
      description: Type.String({ description: 'What the action means.' }),
      count: Type.Integer({ description: `How many entries the last ${COUNTED_DAYS} days have.` }),
    }),
  ),
);
export function auditRoutes(scope: Scope, audit: Audit, namesFor: ObjectNames): void {
  const tags = ['audit'];
  const extension = true;
  const ofOrganization = { access: holdsIn('view_audit_log:org', 'organization') };
  const ofAll = { access: siteAdmin('admin') };
  const ofOwn = { access: signedIn('user', 'never') };
  const all: Reader = { sees: 'everything' };

  scope.get(
    '/orgs/:org/audit',
    {
      config: ofOrganization,
      schema: {
        summary: 'List the audit entries of an organization, newest first',
        tags,
        extension,
        params: OrgPath,
        querystring: PageQuery,
        response: { 200: Page },
      },
    },
    async (request, reply) =>
      await sendPage(reply, callerIn(request).organization.id, request.query, memberIn(request)),
  );

  scope.get(
    '/orgs/:org/audit/export',
    {
      config: ofOrganization,
      exposeHeadRoute: false,
      schema: {
        summary: 'Export the audit log of an organization as a stream of JSON lines, oldest first',
        tags,
        extension,
        params: OrgPath,
        querystring: ExportQuery,
        response: { 200: media('application/x-ndjson') },
      },
    },
    async (request, reply) =>
      await sendLines(reply, callerIn(request).organization.id, request.query, memberIn(request)),
  );

  scope.get(
    '/orgs/:org/audit/actions',
    {
      config: ofOrganization,
      schema: {
        summary: `Count the audit entries of an organization by action, of the last ${COUNTED_DAYS} days`,
        tags,
        extension,
        params: OrgPath,
        response: { 200: Actions },
      },
    },
    async (request, reply) => {
      const { id } = callerIn(request).organization;
      await showArchivedHeaders(reply, audit, id);
      return await audit.actions(id, new Date());
    },
  );

  scope.get(
    '/admin/audit',
    {
      config: ofAll,
      schema: {
        summary: 'List the audit entries of the whole deployment, newest first',
        tags,
        extension,
        querystring: AdminPageQuery,
        response: { 200: Page },
      },
    },
    async (request, reply) => await sendPage(reply, await organizationIn(request), request.query, all),
  );

  scope.get(
    '/admin/audit/export',
    {
      config: ofAll,
      exposeHeadRoute: false,
      schema: {
        summary: 'Export the audit log of the whole deployment as a stream of JSON lines, oldest first',
        tags,
        extension,
        querystring: AdminExportQuery,
        response: { 200: media('application/x-ndjson') },
      },
    },
    async (request, reply) => await sendLines(reply, await organizationIn(request), request.query, all),
  );

  scope.get(
    '/admin/audit/actions',
    {
      config: ofAll,
      schema: {
        summary: `Count the audit entries of the whole deployment by action, of the last ${COUNTED_DAYS} days`,
        tags,
        extension,
        querystring: Type.Object({ org: OrganizationFilter }),
        response: { 200: Actions },
      },
    },
    async (request, reply) => {
      const id = await organizationIn(request);
      await showArchivedHeaders(reply, audit, id);
      return await audit.actions(id, new Date());
    },
  );

  scope.get(
    '/user/audit',
    {
      config: ofOwn,
      schema: {
        summary: 'List the audit entries of your own account and of what you own yourself, newest first',
        tags: ['user'],
        extension,
        querystring: PageQuery,
        response: { 200: Page },
      },
    },
    async (request, reply) => await sendPage(reply, callerOf(request).person.id, request.query, ownOf(request)),
  );

  scope.get(
    '/user/audit/export',
    {
      config: ofOwn,
      exposeHeadRoute: false,
      schema: {
        summary: 'Export the audit log of your own account as a stream of JSON lines, oldest first',
        tags: ['user'],
        extension,
        querystring: ExportQuery,
        response: { 200: media('application/x-ndjson') },
      },
    },
    async (request, reply) => await sendLines(reply, callerOf(request).person.id, request.query, ownOf(request)),
  );

  async function organizationIn(request: FastifyRequest): Promise<bigint | undefined> {
    const { org: name } = request.query as { org?: string };
    return name === undefined ? undefined : await audit.organizationNamed(name);
  }

  async function sendPage(
    reply: FastifyReply,
    chainId: bigint | undefined,
    query: Static<typeof PageQuery>,
    reader: Reader,
  ) {
    const limit = readLimit(query.limit, DEFAULT_LIMIT, MAX_LIMIT);
    const { items, nextCursor } = await audit.page(chainId, readQuestion(query), limit);
    await showArchivedHeaders(reply, audit, chainId);
    const nameOf = await namesFor(reader)(items);
    const entries = items.map((row) => auditLine(row, nameOf)).join(',');
    return reply.type(JSON_TYPE).send(`{"items":[${entries}],"next_cursor":${JSON.stringify(nextCursor)}}`);
  }

  /** Reads from the database as fast as the client receives, and stops if the client has gone. */
  async function sendLines(
    reply: FastifyReply,
    chainId: bigint | undefined,
    query: Static<typeof ExportQuery>,
    reader: Reader,
  ) {
    const batches = await audit.rows(chainId, readQuestion(query));
    await showArchivedHeaders(reply, audit, chainId);
    return reply
      .type(NDJSON_TYPE)
      .send(Readable.from(lines(batches, namesFor(reader), query.format === 'ocsf' ? ocsfEvent : auditLine)));
  }
}

function memberIn(request: FastifyRequest): Reader {
  const { organization, person } = callerIn(request);
  return { sees: 'organization', organizationId: organization.id, callerId: person.id };
}

function ownOf(request: FastifyRequest): Reader {
  return { sees: 'own', callerId: callerOf(request).person.id };
}

async function* lines(
  batches: AsyncIterable<readonly AuditRow[]>,
  namesOf: (rows: readonly AuditRow[]) => Promise<NameOf>,
  write: (row: AuditRow, nameOf: NameOf) => string,
): AsyncGenerator<string> {
  for await (const rows of batches) {
    const nameOf = await namesOf(rows);
    yield rows.map((row) => `${write(row, nameOf)}\n`).join('');
  }
}
