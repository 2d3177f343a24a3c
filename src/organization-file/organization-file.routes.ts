import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError, invalidField } from '../base/errors.ts';
import { writeJson } from '../base/json.ts';
import { AtQuery, historianOf, readAt, showAsOf } from '../history/as-of.view.ts';
import { actorOf, type Caller, callerIn, callerOf, holdsIn, requireProven } from '../http/admission/access.ts';
import { presentGuardrail, STATUS } from '../http/error-format.ts';
import { type Scope, sendText } from '../http/server.ts';
import { requireMatch } from '../http/wire/etag.ts';
import { media } from '../http/wire/schemas.ts';
import { includesScope } from '../identity/scopes.ts';
import { impactText } from '../impact/impact.routes.ts';
import { acceptYaml, FORMATS, formatOf } from '../roles/role-file.routes.ts';
import { writeContent, writeContentAsJson } from './organization-content.ts';
import { PAST_SECTIONS, readOrganizationDocument, SECTIONS } from './organization-document.ts';
import type { FileReport, OrganizationFile } from './organization-file.ts';
import { ApplyResponse, FileBody, PlanResponse } from './organization-file.view.ts';
import type { FileCaller } from './plans/organization-plan.ts';

const OrgPath = Type.Object({ org: Type.String() });
const ExportQuery = Type.Object({
  sections: Type.Optional(
    Type.String({ description: 'Only these sections, separated by commas, such as teams,roles. By default all.' }),
  ),
  ...AtQuery,
  ids: Type.Optional(Type.Boolean({ description: 'Members also by the IDs of their accounts.' })),
  format: Type.Optional(
    Type.Enum([...FORMATS], { description: 'By default, JSON if the Accept header asks for JSON, otherwise YAML.' }),
  ),
});
const ApplyQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Change nothing. What the file would be rejected for is rejected in the same way.' }),
  ),
});

/** A whole organization as one file. Only here may a body be YAML, so the routes have their own scope. */
export function organizationFileRoutes(platform: Scope, file: OrganizationFile): void {
  const common = { tags: ['organization-file'], extension: true, strictQuery: true, params: OrgPath };

  // A token that is limited to an object of the organization knows the organization: it is told what it lacks.
  const exporting = holdsIn('edit:org', 'organization', { limited: 'filtered' });

  platform.register(async (scope: Scope) => {
    acceptYaml(scope);

    scope.get(
      '/orgs/:org/file',
      {
        config: {
          access: exporting,
          costly: 'ask about a later moment, or about the present',
        },
        schema: {
          ...common,
          summary:
            'Export an organization as one YAML or JSON file: teams, roles, robots, guardrails, webhooks and its rules',
          querystring: ExportQuery,
          etag: true,
          errors: [422],
          response: { 200: media('application/yaml', 'application/json') },
        },
      },
      async (request, reply) => {
        const { sections, ids: withIds = false } = request.query;
        const at = readAt(request.query.at);
        const options = { sections: readSections(sections, at ? PAST_SECTIONS : SECTIONS), withIds };
        const caller = callerFor(request, 'read:authz');
        const content = at ? await exportThen(at) : await exportNow();
        const isJson = formatOf(request, request.query.format) === 'json';
        reply.header('Vary', 'Accept');
        reply.type(isJson ? 'application/json; charset=utf-8' : 'application/yaml; charset=utf-8');
        const text = isJson ? await writeContentAsJson(content) : await writeContent(content);
        return reply.send(text as never);

        async function exportNow() {
          const { content, version } = await file.exportFile(caller, options);
          reply.header('ETag', etagOf(version));
          return content;
        }

        async function exportThen(moment: Date) {
          const { content, since } = await file.exportThen(caller, historianOf(callerIn(request)), moment, options);
          showAsOf(reply, moment, since);
          return content;
        }
      },
    );

    scope.post(
      '/orgs/:org/plan',
      {
        config: {
          access: { ...exporting, level: 'read' },
          costly: 'plan a file with fewer changes',
        },
        schema: {
          ...common,
          summary: 'Plan a file: what would change, who gains and loses what, and what objects to it',
          body: FileBody,
          response: { 200: PlanResponse },
        },
      },
      async (request, reply) => {
        const document = await readOrganizationDocument(request.body);
        const { impact, refusals, warnings, ...report } = await file.plan(callerFor(request, 'read:authz'), document);
        const rest = writeJson({
          ...presentReport(report),
          refusals: refusals.map(({ kind, ...refusal }) => ({ ...refusal, status: STATUS[kind] })),
          guardrails: impact.guardrails.map((one) => ({ ...presentGuardrail(one), enforce: one.enforce })),
          ...{ warnings: [...warnings], etag: etagOf(report.version) },
        });
        return sendText(reply, `{"impact":${await impactText(impact)},${rest.slice(1)}`);
      },
    );

    scope.put(
      '/orgs/:org/file',
      {
        config: { access: { ...exporting, proven: 'owners' } },
        schema: {
          ...common,
          summary: 'Apply a file to an organization, all or nothing, and return what changed',
          querystring: ApplyQuery,
          body: FileBody,
          ifMatch: true,
          etag: true,
          errors: [409],
          response: { 200: ApplyResponse },
        },
      },
      async (request, reply) => {
        const { dry_run: isDryRun = false } = request.query;
        const document = await readOrganizationDocument(request.body);
        const report = await file.apply(callerFor(request, 'write:authz'), document, {
          isDryRun,
          precondition: (version) => requireMatch(request, etagOf(version)),
          digest: createHash('sha256').update(JSON.stringify(request.body)).digest('hex'),
        });
        reply.header('ETag', etagOf(report.version));
        return sendText(reply, writeJson({ ...presentReport(report), unchanged: report.unchanged, dry_run: isDryRun }));
      },
    );
  });
}

/** The file is about access, too, and about everything in the organization. */
function callerFor(request: FastifyRequest, scope: string): FileCaller {
  const { organization, scopes, limits, robot, person } = callerIn(request);
  if (limits !== undefined) {
    const message = 'a token that is limited to organizations or objects cannot use the file of an organization';
    throw new AppError('forbidden', message, { reason: 'token_limited' });
  }
  if (!includesScope(scopes, scope)) {
    const held = scopes.join(',');
    throw new AppError(
      'forbidden',
      `token does not have at least one of required scope(s), required=[${scope}], token scope=${held}`,
    );
  }
  const proven: Caller = callerOf(request);
  return {
    organizationId: organization.id,
    organizationName: organization.name,
    actor: actorOf(request),
    creator: { id: person.id, name: robot?.name ?? person.login, scopes },
    isRobot: robot !== undefined,
    hasSecondFactor: person.secondFactors.length > 0,
    credential: { person, scopes, limits, until: proven.until },
    requireProof: () => requireProven(proven, new Date()),
  };
}

function readSections(text: string | undefined, known: readonly string[]): ReadonlySet<string> | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return new Set(names);
  throw invalidField(
    'sections',
    (SECTIONS as readonly string[]).includes(unknown)
      ? `the past of the section ${unknown} is not known; with at: ${known.join(', ')}`
      : `there is no section ${JSON.stringify(unknown.slice(0, 100))}: ${known.join(', ')}`,
  );
}

function presentReport({ changes, unmanaged }: Pick<FileReport, 'changes' | 'unmanaged'>) {
  return {
    changes: changes.map(({ section, name, kind, words }) => ({ section, name, kind, words: [...words] })),
    unmanaged: { ...unmanaged },
  };
}

function etagOf(version: string): string {
  return `"organization-${version}"`;
}
