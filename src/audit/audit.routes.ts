import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { callerIn, callerOf, holdsIn, signedIn, siteAdmin } from '../http/admission/access.ts';
import { logOf, type Scope } from '../http/server.ts';
import { readLimit, wholeNumber } from '../http/wire/paging.ts';
import { media } from '../http/wire/schemas.ts';
import { showArchivedHeaders } from './archived-headers.view.ts';
import { type ActionCount, type Audit, type AuditRow, COUNTED_DAYS } from './audit.ts';
import { auditLine } from './audit-line.view.ts';
import { AuditActions, AuditPage } from './audit-page.view.ts';
import { AuditFilters, OrganizationFilter, optionalText, readQuestion } from './audit-question.view.ts';
import { ocsfEvent } from './ocsf-event.view.ts';
import type { NameOf, ObjectNames, Reader } from './sentences/object-names.ts';

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
        response: { 200: AuditPage },
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
        response: { 200: AuditActions },
      },
    },
    async (request, reply) => {
      const { id } = callerIn(request).organization;
      await showArchivedHeaders(reply, audit, id);
      return (await audit.actions(id, new Date())).map(presentCount);
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
        response: { 200: AuditPage },
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
        response: { 200: AuditActions },
      },
    },
    async (request, reply) => {
      const id = await organizationIn(request);
      await showArchivedHeaders(reply, audit, id);
      return (await audit.actions(id, new Date())).map(presentCount);
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
        response: { 200: AuditPage },
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
    const stream = Readable.from(lines(batches, namesFor(reader), query.format === 'ocsf' ? ocsfEvent : auditLine));
    // The client sees only that the connection ends. It is no error if it has ended it itself.
    stream.once('error', (err) => logOf(reply.request).error({ err }, 'an export of the audit log ended early'));
    return reply.type(NDJSON_TYPE).send(stream);
  }
}

function presentCount({ hasMore, ...counted }: ActionCount) {
  return { ...counted, ...(hasMore && { more: true as const }) };
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
