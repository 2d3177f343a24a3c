import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { provisioner } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { GROUP_SCHEMA, type ResourceSchema, USER_SCHEMA } from './scim-attributes.ts';
import { isSame } from './scim-document.ts';
import { errorBody } from './scim-error.view.ts';
import { LIST_SCHEMA, MAX_RESULTS, sendScim } from './scim-messages.view.ts';

const SCHEMAS = [USER_SCHEMA, GROUP_SCHEMA];
const NOT_IMPLEMENTED = 501;

/** What this server can do, for clients that ask before they act (RFC 7644, section 4), and what it cannot. */
export function scimDiscoveryRoutes(scope: Scope, baseUrl: () => string): void {
  const options = { config: { access: provisioner({ level: 'read' }) }, schema: { hide: true } };

  scope.get('/ServiceProviderConfig', options, async (request, reply) => {
    rejectFilter(request);
    return sendScim(reply, serviceProvider(baseUrl()));
  });
  scope.get('/ResourceTypes', options, async (request, reply) => all(request, reply, resourceType));
  scope.get('/ResourceTypes/:id', options, async (request, reply) =>
    one(request, reply, resourceType, ({ name }) => name),
  );
  scope.get('/Schemas', options, async (request, reply) => all(request, reply, schemaOf));
  scope.get('/Schemas/:id', options, async (request, reply) => one(request, reply, schemaOf, ({ id }) => id));

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

  type Present = (schema: ResourceSchema, baseUrl: string) => unknown;

  function all(request: FastifyRequest, reply: FastifyReply, present: Present): FastifyReply {
    rejectFilter(request);
    const place = { totalResults: SCHEMAS.length, itemsPerPage: SCHEMAS.length, startIndex: 1 };
    const Resources = SCHEMAS.map((schema) => present(schema, baseUrl()));
    return sendScim(reply, { schemas: [LIST_SCHEMA], ...place, Resources });
  }

  function one(request: FastifyRequest, reply: FastifyReply, present: Present, key: (of: ResourceSchema) => string) {
    const { id } = request.params as { id: string };
    const found = SCHEMAS.find((schema) => isSame(id, key(schema)));
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

function resourceType({ id, name, description, endpoint }: ResourceSchema, baseUrl: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    description,
    endpoint,
    schema: id,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  };
}

function schemaOf({ id, name, description, attributes }: ResourceSchema, baseUrl: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes,
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${id}` },
  };
}
