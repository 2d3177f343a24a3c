import Type from 'typebox';
import { actorOf, callerOf, requireProven, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { showEtag, unchanged, versionEtag } from '../http/wire/etag.ts';
import { NoBody, named, shownAs, timestamp } from '../http/wire/schemas.ts';
import type { Credential, CredentialCard, CredentialSummary, Credentials } from './credentials.ts';

const Spec = named(
  'CredentialSpec',
  Type.Object(
    { name: Type.String({ description: '1 to 100 letters, digits, ".", "_" or "-". Unique among your credentials.' }) },
    {
      additionalProperties: true,
      description: 'Any object with a name and an optional type that names the cloud. Stored and returned unchanged.',
    },
  ),
);
/** Sent as the text that was received, so no serializer may touch it. */
const form = {
  title: 'Credential',
  type: 'object',
  required: ['name', 'creationTimestamp'],
  properties: { name: { type: 'string' }, creationTimestamp: { type: 'string', format: 'date-time' } },
  additionalProperties: true,
};
const Form = Type.Unsafe<string>(form);
const summary = {
  title: 'CredentialSummary',
  type: 'object',
  required: ['name', 'type', 'creationTimestamp', 'updatedAt'],
  properties: {
    name: { type: 'string' },
    type: { type: 'string' },
    creationTimestamp: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
};
const Forms = Type.Unsafe<string>({ type: 'array', items: { anyOf: [form, summary] } });
const Name = Type.Object({ credName: Type.String() });
const Filter = Type.Object({
  credential_type: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Only credentials of these types. Repeat the parameter, or separate types with commas.',
    }),
  ),
  // Anything else is rejected: with a misspelled value, all secrets would be sent to a caller who wants none.
  summary: Type.Optional(
    shownAs(
      Type.Unsafe<'true' | 'false'>({
        type: 'string',
        enum: ['true', 'false'],
        description: 'If true, only the name, the type and the times of each credential are returned, no secrets.',
      }),
      { type: 'boolean' },
    ),
  ),
  mgmt_endpoint: Type.Optional(
    Type.String({ description: 'Excludes credentials of management platforms that have a different address.' }),
  ),
});
const JSON_TYPE = 'application/json; charset=utf-8';

export function credentialRoutes(scope: Scope, credentials: Credentials): void {
  const tags = ['credentials'];
  const access = signedIn('credential', 'never');
  const revealing = signedIn('credential', 'never', { proven: true });

  scope.get(
    '/user/credentials',
    {
      config: { access },
      // A query that has it once is a list as well. As one of two types, generators of clients could not express it.
      preValidation: async (request) => {
        const query = request.query as { credential_type?: string | string[] };
        if (typeof query.credential_type === 'string') query.credential_type = [query.credential_type];
      },
      schema: {
        summary: 'List the cloud credentials of the caller',
        tags,
        querystring: Filter,
        errors: [422],
        response: { 200: Forms },
      },
    },
    async (request, reply) => {
      const { credential_type = [], mgmt_endpoint } = request.query;
      const { id } = callerOf(request).person;
      const filter = { types: readTypes(credential_type), managementEndpoint: mgmt_endpoint };
      if (request.query.summary === 'true') {
        const summaries = (await credentials.summaries(id, filter)).map(presentSummary);
        return reply.type(JSON_TYPE).send(JSON.stringify(summaries));
      }
      requireProven(callerOf(request), new Date());
      const found = await credentials.list(id, filter);
      return reply.type(JSON_TYPE).send(`[${found.map(present).join(',')}]`);
    },
  );

  scope.get(
    '/user/credentials/:credName',
    {
      config: { access: revealing },
      schema: { summary: 'Get a cloud credential', tags, params: Name, etag: true, response: { 200: Form } },
    },
    async (request, reply) => {
      const credential = await credentials.get(callerOf(request).person.id, request.params.credName);
      return reply.header('ETag', versionEtag(credential)).type(JSON_TYPE).send(present(credential));
    },
  );

  scope.post(
    '/user/credentials',
    {
      config: { access, keepsText: true, creates: true },
      schema: { summary: 'Create a cloud credential', tags, body: Spec, etag: true, response: { 201: NoBody } },
    },
    async (request, reply) =>
      await createOnce(
        request,
        reply.code(201),
        (once) => credentials.create(actorOf(request), request.bodyText, once),
        (card: CredentialCard) => showEtag(reply, card),
      ),
  );

  scope.put(
    '/user/credentials',
    {
      config: { access, keepsText: true },
      schema: {
        summary: 'Replace the credential named in the body',
        tags,
        body: Spec,
        etag: true,
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const changed = await credentials.update(actorOf(request), request.bodyText, unchanged(request));
      return reply.code(204).header('ETag', versionEtag(changed)).send();
    },
  );

  scope.delete(
    '/user/credentials/:credName',
    {
      config: { access },
      schema: { summary: 'Delete a cloud credential', tags, params: Name, ifMatch: true, response: { 204: NoBody } },
    },
    async (request, reply) => {
      await credentials.remove(actorOf(request), request.params.credName, unchanged(request));
      return reply.code(204).send();
    },
  );
}

function readTypes(given: readonly string[]): string[] {
  return given
    .flatMap((text) => text.split(','))
    .map((text) => text.trim().toLowerCase())
    .filter((text) => text !== '');
}

function presentSummary({ name, type, createdAt, updatedAt }: CredentialSummary) {
  return { name, type, creationTimestamp: timestamp(createdAt), updatedAt: timestamp(updatedAt) };
}

function present({ spec, createdAt }: Credential): string {
  return `${spec.slice(0, -1)},"creationTimestamp":"${timestamp(createdAt)}"}`;
}
