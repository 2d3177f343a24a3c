import { STATUS_CODES } from 'node:http';
import { LISTENER_PREFIX } from '../../src/app.ts';
import {
  type Access,
  neededScope,
  type Proof,
  proofNeeded,
  type SignedAccess,
} from '../../src/http/admission/access.ts';
import type { BookedRoute } from '../../src/http/admission/route-book.ts';
import { ALSO, ErrorBody, ListenerErrorBody } from '../../src/http/wire/schemas.ts';
import { ERROR_HEADERS, HEADERS, headersInWords, requestHeaders, successHeaders } from './headers.ts';
import { operationName } from './operation-names.ts';
import { publisher } from './published-schemas.ts';
import { errorStatuses } from './statuses.ts';
import { tagsOf } from './tags.ts';
import { createWords } from './words/words.ts';

type Words = ReturnType<typeof createWords>;

export interface DocumentedRoute extends BookedRoute {
  /** If not every deployment has the route. */
  readonly deployments?: readonly string[];
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
  readonly required?: readonly string[];
}

/** The OpenAPI 3.1 document of these routes: the schemas in it are the ones that validate. */
export function describeApi(routes: readonly DocumentedRoute[], version: string) {
  const words = createWords();
  const { publish, schemas } = publisher(words.schema);
  const paths: Record<string, Record<string, object>> = {};
  const shown = routes.filter((route) => !route.schema.hide).sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
  for (const route of shown) {
    const path = pathOf(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: publish(describeRoute(route, words)) as object };
  }
  const responses = publish(errorResponses()) as Record<string, object>;
  const named = schemas();
  words.requireComplete();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Atrium',
      version,
      description: `API of a self-hosted platform: authorization, the signed-in user and the marketplace listener.\n\n${headersInWords()}`,
      contact: { name: 'The maintainers of Atrium' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(shown.map(({ schema }) => schema)),
    paths,
    components: {
      schemas: named,
      responses,
      headers: HEADERS,
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The word "token", a space, and an access token.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token.' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'Name and password, or an access token in place of either.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'atrium_session',
          description: 'A browser session. Requests that change something also need X-Csrf-Token.',
        },
        queryToken: { type: 'apiKey', in: 'query', name: 'token', description: 'An access token.' },
      },
    },
  };
}

function pathOf({ path }: BookedRoute): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function describeRoute(route: DocumentedRoute, words: Words): object {
  const { schema, access } = route;
  const operationId = operationName(route);
  const parameters = [
    ...parametersOf(schema.params, 'path', describeParameter),
    ...parametersOf(schema.querystring, 'query', describeParameter),
    ...requestHeaders(route),
  ];
  return {
    operationId,
    ...(schema.summary && { summary: schema.summary }),
    ...(schema.tags && { tags: schema.tags }),
    ...(schema.extension && { 'x-extension': true }),
    'x-robots': robotsOf(access),
    description: [whoMayCall(access, route.method), errorsInWords(route), ...whereItIs(route)].join(' '),
    security: securityOf(access),
    ...(parameters.length > 0 && { parameters }),
    ...(schema.body && {
      requestBody: { required: !schema.optionalBody, content: { 'application/json': { schema: schema.body } } },
    }),
    responses: responsesOf(route),
    'x-errors': errorStatuses(route, isOfListener(route)),
  };

  function describeParameter(place: string, name: string): string | undefined {
    return words.parameter(operationId, pathOf(route), place, name);
  }
}

function parametersOf(
  schema: ObjectSchema | undefined,
  place: 'path' | 'query',
  describe: (place: string, name: string) => string | undefined,
): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || (schema?.required?.includes(name) ?? false),
    description: description ?? describe(place, name),
    schema: rest,
  }));
}

function whoMayCall(access: Access, method: string): string {
  if (access.who === 'anyone') return 'Requires no authentication, so robots may call it, too.';
  if (access.who === 'webhook') {
    return 'Called by a marketplace, which authenticates by its address or by a secret. Robots may not call it.';
  }
  const who = {
    signedIn: 'Requires a signed-in user.',
    siteAdmin: 'Requires a site administrator.',
    member: 'Requires membership in the organization.',
    holds: `Requires the \`${access.relation}\` relation.`,
  }[access.who];
  const needed = neededScope(access, { method });
  const scope = needed === undefined ? 'A token of any scope will do.' : `A token requires the \`${needed}\` scope.`;
  const dry = neededScope(access, { method, query: { dry_run: 'true' } });
  const dryRun = dry === needed ? [] : [`With \`dry_run=true\`, \`${dry}\` is enough.`];
  const orNobody = access.orAnonymous ? ['May also be called without any credential.'] : [];
  return [who, ...orNobody, `${scope}${PROOFS[proofNeeded(access, method)]}`, ...dryRun, robotsInWords(access)].join(
    ' ',
  );
}

function robotsOf(access: Access): boolean | 'only' {
  if (access.who === 'anyone') return true;
  if (access.who === 'webhook') return false;
  return access.robots === 'only' ? 'only' : access.robots !== 'never';
}

function robotsInWords({ robots }: SignedAccess): string {
  if (robots === 'only') return 'Only robots may call it.';
  if (robots === 'never') return 'Robots may not call it (403, `not_for_robots`).';
  if (robots === 'as users') return 'Robots may call it, too.';
  if (robots === 'of the owner') return 'So may robots of the account that owns it.';
  return `Robots may call it, too, and require the \`${robots}\` relation.`;
}

function errorsInWords(route: BookedRoute): string {
  return `Errors: ${errorStatuses(route, isOfListener(route)).join(', ')}.`;
}

/** What a session needs besides. */
const PROOFS: Readonly<Record<Proof, string>> = {
  never: '',
  always: ' In a session, the user must have proven lately who they are.',
  owners: ' In a session, making a user an owner requires that the caller has proven lately who they are.',
  'in person': ' In a session, the user must have proven lately who they are, with more than a token.',
};

function whereItIs({ deployments }: DocumentedRoute): string[] {
  return deployments ? [`Exists only if \`DEPLOYMENT\` is \`${deployments.join('` or `')}\`.`] : [];
}

function securityOf(access: Access): object[] {
  if (access.who === 'anyone' || access.who === 'webhook') return [];
  if (access.basic) return [{ basic: [] }];
  const ways = [{ token: [] }, { bearer: [] }, { basic: [] }, { session: [] }];
  if (access.orAnonymous) return [{}, ...ways];
  return access.queryToken ? [...ways, { queryToken: [] }] : ways;
}

function responsesOf(route: BookedRoute): object {
  const answers = Object.entries(route.schema.response ?? {}).map(
    ([status, body]) => [status, { ...answer(status, body), ...successHeaders(route) }] as const,
  );
  const name = isOfListener(route) ? 'ListenerError' : 'Error';
  return { ...Object.fromEntries(answers), default: { $ref: `#/components/responses/${name}` } };
}

/**
 * An error looks the same wherever it occurs, so all of them are one response. Clients that are generated from the document
 * would otherwise handle ten statuses of each operation one by one. Which statuses an operation has is in `x-errors`.
 */
function errorResponses(): Record<string, object> {
  const response = (description: string, schema: object) => ({
    description,
    'x-headers': ERROR_HEADERS,
    content: { 'application/json': { schema } },
  });
  return {
    Error: response('The request failed, as the status and the reason say.', ErrorBody),
    ListenerError: response('The notification was not accepted, as the status says.', ListenerErrorBody),
  };
}

function isOfListener({ path }: BookedRoute): boolean {
  return path.startsWith(LISTENER_PREFIX);
}

function answer(
  status: string,
  body: { readonly type?: string; readonly media?: readonly string[]; readonly description?: string },
): object {
  const description = (body.media && body.description) ?? STATUS_CODES[Number(status)] ?? 'Response';
  if (body.media) {
    return { description, content: Object.fromEntries(body.media.map((type) => [type, { schema: schemaOf(type) }])) };
  }
  if (body.type === 'null') return { description };
  const also = ((body as { readonly [ALSO]?: readonly string[] })[ALSO] ?? []).map((type) => [
    type,
    { schema: schemaOf(type) },
  ]);
  return { description, content: { 'application/json': { schema: body }, ...Object.fromEntries(also) } };
}

/** What is known about a response that is sent as it is. */
function schemaOf(type: string): object {
  if (type === 'application/json') return {};
  return { type: 'string', ...(type === 'application/gzip' && { format: 'binary' }) };
}
