import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { invalidField } from '../base/errors.ts';
import { actorOf, callerIn, holds } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { unchanged, versionEtag } from '../http/wire/etag.ts';
import { NoBody, OrgQuery, PathId, readId, readIdNumber } from '../http/wire/schemas.ts';
import { GUARDRAIL_KINDS } from './guardrail.ts';
import { EditGuardrail, GuardrailResponse, NewGuardrail, presentGuardrail } from './guardrail.view.ts';
import type { GuardrailInput, StatementInput } from './guardrail-input.ts';
import type { GuardrailSetting, Guardrails, ShownGuardrail } from './guardrails.ts';

const GuardrailId = Type.Object({ id: PathId });
const WriteQuery = Type.Object({
  ...OrgQuery.properties,
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Change nothing, only return the guardrail as it would be, and whether it holds.' }),
  ),
});

/** Every later write checks the guardrail again, so one that takes long cannot be created. */
const COSTLY = 'name a single object, or fewer users, or delete other guardrails about any object';

export function guardrailRoutes(scope: Scope, guardrails: Guardrails): void {
  const tags = ['authorization'];
  const extension = true;
  const viewing = { access: holds('view_roles:org', 'authz') };
  const editing = { access: holds('edit_roles:org', 'authz') };

  scope.get(
    '/authz/guardrails',
    {
      config: viewing,
      schema: {
        summary: 'List the guardrails of an organization, and whether they hold',
        tags,
        extension,
        querystring: OrgQuery,
        response: { 200: Type.Array(GuardrailResponse) },
      },
    },
    async (request) => {
      const { organization, person } = callerIn(request);
      return (await guardrails.list(organization.id, person.id)).map(presentGuardrail);
    },
  );

  scope.post(
    '/authz/guardrails',
    {
      config: { ...editing, creates: true, costly: COSTLY },
      schema: {
        summary: 'Create a guardrail',
        tags,
        extension,
        querystring: WriteQuery,
        body: NewGuardrail,
        etag: true,
        response: { 200: GuardrailResponse, 201: GuardrailResponse },
      },
    },
    async (request, reply) => {
      const [setting, input] = [settingOf(request), readInput(request.body)];
      if (request.query.dry_run) return await reply.send(presentGuardrail(await guardrails.tryCreate(setting, input)));
      return await createOnce(
        request,
        reply.code(201),
        (once) => guardrails.create(setting, input, once),
        (shown: ShownGuardrail) => show(reply, shown),
      );
    },
  );

  scope.get(
    '/authz/guardrails/:id',
    {
      config: viewing,
      schema: {
        summary: 'Get a guardrail, and whether it holds',
        tags,
        extension,
        params: GuardrailId,
        querystring: OrgQuery,
        etag: true,
        response: { 200: GuardrailResponse },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      return show(reply, await guardrails.get(organization.id, person.id, idOf(request.params)));
    },
  );

  scope.put(
    '/authz/guardrails/:id',
    {
      config: { ...editing, costly: COSTLY },
      schema: {
        summary: 'Update a guardrail; fields in the body replace the current values',
        tags,
        extension,
        params: GuardrailId,
        querystring: WriteQuery,
        body: EditGuardrail,
        etag: true,
        ifMatch: true,
        response: { 200: GuardrailResponse },
      },
    },
    async (request, reply) => {
      const [setting, id, input] = [settingOf(request), idOf(request.params), readInput(request.body)];
      if (request.query.dry_run) {
        return presentGuardrail(await guardrails.tryUpdate(setting, id, input, unchanged(request)));
      }
      return show(reply, await guardrails.update(setting, id, input, unchanged(request)));
    },
  );

  scope.delete(
    '/authz/guardrails/:id',
    {
      config: editing,
      schema: {
        summary: 'Delete a guardrail',
        tags,
        extension,
        params: GuardrailId,
        querystring: OrgQuery,
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await guardrails.remove(settingOf(request), idOf(request.params), unchanged(request));
      return reply.code(204).send();
    },
  );
}

function idOf(params: Static<typeof GuardrailId>): bigint {
  return readId(params.id, 'guardrail ID');
}

function settingOf(request: FastifyRequest): GuardrailSetting {
  return { organizationId: callerIn(request).organization.id, actor: actorOf(request) };
}

function show(reply: FastifyReply, shown: ShownGuardrail) {
  reply.header('ETag', versionEtag(shown.guardrail));
  return presentGuardrail(shown);
}

function readInput({ name, description, enforce, ...body }: Static<typeof EditGuardrail>): GuardrailInput {
  const given = GUARDRAIL_KINDS.filter((kind) => body[kind] !== undefined);
  if (given.length > 1) throw invalidField(given[1] ?? '', `only one of ${GUARDRAIL_KINDS.join(', ')} can be given`);
  const [kind] = given;
  return { name, description, enforce, statement: kind && readStatement(kind, body) };
}

function readStatement(kind: StatementInput['kind'], body: Static<typeof EditGuardrail>): StatementInput | undefined {
  const about = body[kind];
  if (!about) return undefined;
  const { relation, object } = about;
  const { id, ...named } = object ?? { type: 'organization' };
  return {
    kind,
    relation,
    object: { ...named, id: id === undefined ? undefined : readIdNumber(id, 'object ID') },
    ...('count' in about && { count: about.count }),
    ...('users' in about && { users: about.users }),
    ...('robots' in about && { robots: about.robots }),
    ...('team' in about && { team: readTeam(about.team) }),
  };
}

/** The schema lets anything pass here, because no schema is both a name and an exact number. */
function readTeam(team: unknown): string | bigint | undefined {
  if (typeof team === 'string' || team === undefined) return team;
  if (typeof team === 'number' || typeof team === 'bigint') return readIdNumber(team, 'team ID');
  throw invalidField('team', 'team must be the ID or the name of a team');
}
