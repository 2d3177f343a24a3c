import { STATUS_CODES } from 'node:http';
import { type Access, neededScope } from '../access.ts';
import { KEY_HEADER, REPLAY_HEADER } from '../create-once.ts';
import type { BookedRoute } from '../route-book.ts';
import { ErrorBody, ListenerErrorBody } from '../schemas.ts';
import { publisher } from './published-schemas.ts';
import { errorStatuses } from './statuses.ts';

export const LISTENER_PREFIX = '/marketplace/api/v1';

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
  readonly required?: readonly string[];
}

/** The OpenAPI 3.1 document of the routes that are mounted: the schemas in it are the ones that validate. */
export function describeApi(routes: readonly BookedRoute[], version: string) {
  const { publish, schemas } = publisher();
  const paths: Record<string, Record<string, object>> = {};
  const shown = routes.filter((route) => !route.schema.hide).sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const route of shown) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: publish(describeRoute(route)) as object };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Atrium',
      version,
      description: 'API of a self-hosted platform: authorization, the signed-in user and the marketplace listener.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: schemas(),
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The word "token", a space, and an access token.',
        },
        basic: { type: 'http', scheme: 'basic' },
        session: { type: 'apiKey', in: 'cookie', name: 'atrium_session' },
        queryToken: { type: 'apiKey', in: 'query', name: 'token' },
      },
    },
  };
}

function describeRoute(route: BookedRoute): object {
  const { schema, access } = route;
  const parameters = [
    ...parametersOf(schema.params, 'path'),
    ...parametersOf(schema.querystring, 'query'),
    ...(route.creates ? [KEY_PARAMETER] : []),
  ];
  return {
    operationId: operationId(route),
    ...(schema.summary && { summary: schema.summary }),
    ...(schema.tags && { tags: schema.tags }),
    ...(schema.extension && { 'x-extension': true }),
    description: whoMayCall(access, route.method),
    security: securityOf(access),
    ...(parameters.length > 0 && { parameters }),
    ...(schema.body && {
      requestBody: { required: !schema.optionalBody, content: { 'application/json': { schema: schema.body } } },
    }),
    responses: responsesOf(route),
  };
}

const KEY_PARAMETER = {
  name: KEY_HEADER,
  in: 'header',
  required: false,
  description:
    'Makes the request safe to repeat for 24 hours: the same request with the same key gets the first response again.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

const REPLAYED = {
  [REPLAY_HEADER]: {
    description: 'Present if the response is that of an earlier request with the same key.',
    schema: { const: 'true' },
  },
};

function operationId({ method, path }: BookedRoute): string {
  const words = path
    .replace(/^\/(marketplace\/)?api\/v1/, (_all, listener) => (listener ? 'marketplace' : ''))
    .split(/[^0-9A-Za-z]+/)
    .filter((word) => word !== '');
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

function parametersOf(schema: ObjectSchema | undefined, place: 'path' | 'query'): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || (schema?.required?.includes(name) ?? false),
    ...(description && { description }),
    schema: rest,
  }));
}

function whoMayCall(access: Access, method: string): string {
  if (access.who === 'anyone') return 'Requires no authentication.';
  if (access.who === 'webhook') return 'Called by a marketplace, which authenticates by its address or by a secret.';
  const who = {
    signedIn: 'Requires a signed-in user.',
    siteAdmin: 'Requires a site administrator.',
    member: 'Requires membership in the organization.',
    holds: `Requires the \`${access.relation}\` relation.`,
  }[access.who];
  return `${who} A token requires the \`${neededScope(access, method)}\` scope.`;
}

function securityOf(access: Access): object[] {
  if (access.who === 'anyone' || access.who === 'webhook') return [];
  if (access.basic) return [{ basic: [] }];
  const ways = [{ token: [] }, { basic: [] }, { session: [] }];
  return access.queryToken ? [...ways, { queryToken: [] }] : ways;
}

function responsesOf(route: BookedRoute): object {
  const { path, schema, creates } = route;
  const isListener = path.startsWith(LISTENER_PREFIX);
  const error = isListener ? ListenerErrorBody : ErrorBody;
  const answers = Object.entries(schema.response ?? {}).map(
    ([status, body]) => [status, { ...answer(status, body), ...(creates && { headers: REPLAYED }) }] as const,
  );
  const errors = errorStatuses(route, isListener).map((status) => [
    String(status),
    { description: STATUS_CODES[status], content: { 'application/json': { schema: error } } },
  ]);
  return Object.fromEntries([...errors, ...answers]);
}

function answer(status: string, body: { readonly type?: string; readonly media?: readonly string[] }): object {
  const description = STATUS_CODES[Number(status)] ?? 'Response';
  if (body.media) {
    return { description, content: Object.fromEntries(body.media.map((type) => [type, { schema: schemaOf(type) }])) };
  }
  return body.type === 'null' ? { description } : { description, content: { 'application/json': { schema: body } } };
}

/** What is known about a response that is sent as it is. */
function schemaOf(type: string): object {
  if (type === 'application/json') return {};
  return { type: 'string', ...(type === 'application/gzip' && { format: 'binary' }) };
}
