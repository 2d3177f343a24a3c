import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { writeJson, writeListInSlices } from '../base/json.ts';
import { AtQuery, historianOf, readAt, showAsOf } from '../history/as-of.view.ts';
import { actorOf, callerIn, holds } from '../http/admission/access.ts';
import { type Scope, sendText } from '../http/server.ts';
import { requireMatch } from '../http/wire/etag.ts';
import { media, named, OrgQuery } from '../http/wire/schemas.ts';
import type { PastRoles } from './past-roles.ts';
import { documentOf, readDocument } from './role-document.ts';
import { writeJsonDocument, writeYaml } from './role-document-writer.ts';
import type { RoleFile } from './role-file.ts';
import { readYaml } from './role-yaml.ts';

const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml'];
export const FORMATS = ['yaml', 'json'] as const;

const ExportQuery = Type.Object({
  ...OrgQuery.properties,
  format: Type.Optional(
    Type.Enum([...FORMATS], { description: 'By default, JSON if the Accept header asks for JSON, otherwise YAML.' }),
  ),
  ...AtQuery,
});
const ImportQuery = Type.Object({
  ...OrgQuery.properties,
  dry_run: Type.Optional(
    Type.Boolean({
      description:
        'Change nothing, only return what would change. What the import would be rejected for is rejected in the same ' +
        'way, also by guardrails, including those in the document.',
    }),
  ),
  prune: Type.Optional(
    Type.Boolean({
      description:
        'Delete the roles that are not in the document and, if it has them, the assignments and guardrails that are not.',
    }),
  ),
});
/** Validated by hand, because it may be YAML, and so that the error names a typo. */
const Document = Type.Unsafe<unknown>({
  description:
    'A document as the export returns it, in JSON or YAML. Omitted fields of a role count as empty. ' +
    'A team is a name, or a name and expires_at: then the assignment ends at that time, and is none after it. ' +
    'Assignments to users and robots, and on single objects, are in assignments; what is not mentioned there stays.',
  examples: [
    {
      apiVersion: 'atrium/v1',
      kind: 'Roles',
      organization: 'acme',
      roles: [
        {
          name: 'Cluster operators',
          description: 'Sees clusters and connects to them.',
          permissions: { cluster_mgmt: ['view clusters', 'connect to clusters'] },
          teams: ['Editors', { name: 'operators', expires_at: '2030-01-31T12:00:00Z' }],
        },
      ],
      assignments: [
        {
          role: 'Cluster operators',
          to: { user: 'dan' },
          on: { cluster: 'prod' },
          namespaces: ['web', 'shop-*'],
          expires_at: '2030-01-31T12:00:00Z',
          reason: 'on call',
        },
      ],
    },
  ],
});
const Report = named(
  'RoleImportReport',
  Type.Object({
    changes: Type.Array(
      Type.Object({
        role: Type.String(),
        kind: Type.Enum(['create', 'update', 'delete']),
        words: Type.Array(Type.String()),
      }),
    ),
    unchanged: Type.Integer(),
    unmanaged: Type.Array(Type.String(), { description: 'Roles that are not in the document and are kept.' }),
    dry_run: Type.Boolean(),
    assignments: Type.Optional(
      named(
        'AssignmentImportReport',
        Type.Object(
          {
            changes: Type.Array(
              named(
                'AssignmentImportChange',
                Type.Object(
                  {
                    assignment: Type.String({ description: 'Role, to whom and on what, in words.' }),
                    kind: Type.Enum(['create', 'update', 'delete'], { description: 'What happened to it.' }),
                    words: Type.Array(Type.String(), { description: 'The change in words, one line for each part.' }),
                  },
                  { description: 'What the import does to one assignment.' },
                ),
              ),
              { description: 'One entry for each assignment that changed.' },
            ),
            unchanged: Type.Integer({ description: 'Number of assignments that are already as in the document.' }),
            unmanaged: Type.Array(Type.String(), {
              description: 'Assignments that are not in the document and are kept.',
            }),
          },
          { description: 'What an import changed about assignments, if the document has them.' },
        ),
      ),
    ),
    guardrails: Type.Optional(
      named(
        'GuardrailImportReport',
        Type.Object(
          {
            changes: Type.Array(
              named(
                'GuardrailImportChange',
                Type.Object(
                  {
                    guardrail: Type.String({ description: 'Name of the guardrail.' }),
                    kind: Type.Enum(['create', 'update', 'delete'], { description: 'What happened to it.' }),
                    words: Type.Array(Type.String(), { description: 'The change in words, one line for each part.' }),
                  },
                  { description: 'What the import does to one guardrail.' },
                ),
              ),
              { description: 'One entry for each guardrail that changed.' },
            ),
            unchanged: Type.Integer({ description: 'Number of guardrails that are already as in the document.' }),
            unmanaged: Type.Array(Type.String(), {
              description: 'Guardrails that are not in the document and are kept.',
            }),
          },
          { description: 'What an import changed about guardrails, if the document has them.' },
        ),
      ),
    ),
  }),
);

/** Roles as code. Only here may a body be YAML, so the routes have their own scope. */
export function roleFileRoutes(platform: Scope, file: RoleFile, pastRoles: PastRoles): void {
  const tags = ['authorization'];
  const config = { access: holds('view_roles:org', 'authz') };

  platform.register(async (scope: Scope) => {
    acceptYaml(scope);

    scope.get(
      '/authz/roles/export',
      {
        config,
        schema: {
          summary: 'Export all custom roles as one YAML or JSON document',
          tags,
          extension: true,
          querystring: ExportQuery,
          etag: true,
          response: { 200: media('application/yaml', 'application/json') },
        },
      },
      async (request, reply) => {
        const { organization, person } = callerIn(request);
        reply.header('Vary', 'Accept');
        const at = readAt(request.query.at);
        const { document, yaml } = at ? await exportThen(at) : await exportNow();
        const isJson = formatOf(request, request.query.format) === 'json';
        reply.type(isJson ? 'application/json; charset=utf-8' : 'application/yaml; charset=utf-8');
        return reply.send((isJson ? await writeJsonDocument(document) : yaml) as never);

        async function exportNow() {
          const exported = await file.exportRoles(organization.id, organization.name, person.id);
          reply.header('ETag', etagOf(exported.version));
          return exported;
        }

        async function exportThen(moment: Date) {
          const { roles, since } = await pastRoles.list(historianOf(callerIn(request)), moment);
          showAsOf(reply, moment, since);
          const then = documentOf(organization.name, roles);
          return { document: then, yaml: await writeYaml(then) };
        }
      },
    );

    scope.put(
      '/authz/roles/import',
      {
        config: { access: holds('view_roles:org', 'authz', { dryRun: true }) },
        schema: {
          summary: 'Import custom roles from a document, all or nothing, and return what changed',
          tags,
          extension: true,
          querystring: ImportQuery,
          body: Document,
          ifMatch: true,
          response: { 200: Report },
        },
      },
      async (request, reply) => {
        const { organization } = callerIn(request);
        const { dry_run: isDryRun = false, prune: prunes = false } = request.query;
        const setting = {
          organizationId: organization.id,
          organizationName: organization.name,
          actor: actorOf(request),
        };
        const report = await file.importRoles(setting, await readDocument(request.body), {
          isDryRun,
          prunes,
          precondition: (version) => requireMatch(request, etagOf(version)),
        });
        // A file may change many roles, each in many ways.
        const changes = await writeListInSlices(report.changes, ({ role, kind, words }) => ({ role, kind, words }));
        const { unchanged, unmanaged, assignments, guardrails } = report;
        const parts = { ...(assignments && { assignments }), ...(guardrails && { guardrails }) };
        const rest = writeJson({ unchanged, unmanaged, dry_run: isDryRun, ...parts });
        return sendText(reply, `{"changes":${changes},${rest.slice(1)}`);
      },
    );
  });
}

/** Lets bodies of a scope be YAML. */
export function acceptYaml(scope: Scope): void {
  scope.addContentTypeParser(
    YAML_TYPES,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer): Promise<unknown> => {
      if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
        throw new AppError('malformed', 'content encoding is not supported');
      }
      return readYaml(body);
    },
  );
}

export function formatOf(request: FastifyRequest, asked: (typeof FORMATS)[number] | undefined): 'yaml' | 'json' {
  const accept = request.headers.accept ?? '';
  if (asked !== undefined) return asked;
  return accept.includes('json') && !accept.includes('yaml') ? 'json' : 'yaml';
}

function etagOf(version: string): string {
  return `"roles-${version}"`;
}
