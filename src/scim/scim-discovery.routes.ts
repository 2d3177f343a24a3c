import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { provisioner } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { GROUP_SCHEMA, type ResourceSchema, type Schema, USER_SCHEMA } from './scim-attributes.ts';
import { isSame } from './scim-document.ts';
import { errorBody } from './scim-error.view.ts';
import { LIST_SCHEMA, MAX_RESULTS, sendScim } from './scim-messages.view.ts';

const RESOURCES = [USER_SCHEMA, GROUP_SCHEMA];
const SCHEMAS = RESOURCES.flatMap((schema) => [schema, ...(schema.extension ? [schema.extension] : [])]);
const NOT_IMPLEMENTED = 501;

/** What this server can do, for clients that ask before they act (RFC 7644, section 4), and what it cannot. */
export function scimDiscoveryRoutes(scope: Scope, baseUrl: () => string): void {
  const options = { config: { access: provisioner({ level: 'read' }) }, schema: { hide: true } };

  scope.get('/ServiceProviderConfig', options, async (request, reply) => {
    rejectFilter(request);
    return sendScim(reply, serviceProvider(baseUrl()));
  });
  scope.get('/ResourceTypes', options, async (request, reply) => all(request, reply, RESOURCES, resourceType));
  scope.get('/ResourceTypes/:id', options, async (request, reply) =>
    one(request, reply, RESOURCES, resourceType, ({ name }) => name),
  );
  scope.get('/Schemas', options, async (request, reply) => all(request, reply, SCHEMAS, schemaOf));
  scope.get('/Schemas/:id', options, async (request, reply) => one(request, reply, SCHEMAS, schemaOf, ({ id }) => id));

  for (const [method, url, what] of [
    ['POST', '/Bulk', 'bulk requests are not supported: send the operations one by one'],
    ['POST', '/.search', 'search /Users/.search or /Groups/.search: there is no search in both'],
    ['GET', '/Me', 'a robot is no user, so there is no /Me'],
  ] as const) {
    scope.route({
      method,
      url,
      ...options,
      handler: async (_request, reply) => sendScim(reply.code(NOT_IMPLEMENTED), errorBody(NOT_IMPLEMENTED, what)),
    });
  }

  function all<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    of: readonly T[],
    present: (one: T, baseUrl: string) => unknown,
  ): FastifyReply {
    rejectFilter(request);
    const place = { totalResults: of.length, itemsPerPage: of.length, startIndex: 1 };
    const Resources = of.map((item) => present(item, baseUrl()));
    return sendScim(reply, { schemas: [LIST_SCHEMA], ...place, Resources });
  }

  function one<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    of: readonly T[],
    present: (one: T, baseUrl: string) => unknown,
    key: (of: T) => string,
  ): FastifyReply {
    const { id } = request.params as { id: string };
    const found = of.find((item) => isSame(id, key(item)));
    if (!found) throw new AppError('notFound', `there is no ${JSON.stringify(id.slice(0, 100))}`);
    return sendScim(reply, present(found, baseUrl()));
  }
}

/** RFC 7644, section 4: so that no client believes that its filter was honored. */
function rejectFilter(request: FastifyRequest): void {
  if ((request.query as { filter?: unknown }).filter === undefined) return;
  throw new AppError('forbidden', 'what the server can do is not filtered');
}

function serviceProvider(baseUrl: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    documentationUri: 'https://www.rfc-editor.org/rfc/rfc7644',
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_RESULTS },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Token of a robot',
        description: 'An access token of a robot of the organization, with the scope scim.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  };
}

function resourceType({ id, name, description, endpoint, extension }: ResourceSchema, baseUrl: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    description,
    endpoint,
    schema: id,
    ...(extension && { schemaExtensions: [{ schema: extension.id, required: false }] }),
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  };
}

function schemaOf({ id, name, description, attributes }: Schema, baseUrl: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes,
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${id}` },
  };
}
