import type { BookedRoute } from '../../src/http/admission/route-book.ts';
import { RELEASE_HEADER } from '../../src/http/version.routes.ts';
import { KEY_HEADER, REPLAY_HEADER } from '../../src/http/wire/create-once.ts';

const text = { type: 'string' };

/** Every header of a response, described once. */
export const HEADERS = {
  ETag: { description: 'Version of the object, for If-Match.', schema: text },
  'Idempotency-Replayed': {
    description: 'Present if the response is that of an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  Link: { description: 'URLs of the next, last, first and previous page, as far as there are any.', schema: text },
  RateLimit: {
    description: 'Requests that are left, and the seconds until the allowance is full again.',
    schema: text,
  },
  'RateLimit-Policy': {
    description: 'Requests that are allowed in a window, and its length in seconds.',
    schema: text,
  },
  'Retry-After': {
    description: 'With 429 and 503, and 409 if it passes: seconds after which a retry makes sense.',
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { description: 'With 401: the scheme to authenticate with.', schema: text },
  'X-As-Of': {
    description: 'Only with ?at: the moment that the response is about.',
    schema: { type: 'string', format: 'date-time' },
  },
  'X-Atrium-Release': { description: 'Version of the release that the server runs, such as v0.9.0.', schema: text },
  'X-Changed-Since': {
    description: 'Only with ?at, for callers who may view the audit log: the number of changes since then.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-Csrf-Token': {
    description:
      'Only in a browser session: what the X-Csrf-Token header of a request that changes something must repeat.',
    schema: text,
  },
  'X-Request-Id': { description: 'ID of the request, also in the log of the server.', schema: text },
  'X-Token-Expires-At': {
    description:
      'Only if the request was made with an access token that expires soon, by default within 14 days: when it does.',
    schema: { type: 'string', format: 'date-time' },
  },
  'X-Total-Count': {
    description:
      'Number of entries on all pages together. Searches of the whole deployment count up to 10,000 hits: 10001 means that there are more, and then Link names no last page.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const;

type HeaderName = keyof typeof HEADERS;

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The ETag of the version that the change is based on. If the object has changed since, the response is 412.',
  schema: text,
};
const KEY = {
  name: KEY_HEADER,
  in: 'header',
  required: false,
  description:
    'Makes the request safe to repeat for 24 hours: the same request with the same key gets the first response again.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

export function requestHeaders({ creates, schema }: BookedRoute): object[] {
  return [...(creates ? [KEY] : []), ...(schema.ifMatch ? [IF_MATCH] : [])];
}

/** Those that only some operations have. Generated clients have code for each header of each operation. */
export function successHeaders({ path, creates, schema }: BookedRoute): { headers?: object } {
  const { properties = {} } = (schema.querystring ?? {}) as { readonly properties?: object };
  const names: HeaderName[] = [
    ...(schema.etag ? (['ETag'] as const) : []),
    ...(creates ? ([REPLAY_HEADER] as const) : []),
    ...(path.endsWith('/version') ? ([RELEASE_HEADER] as const) : []),
    ...('page' in properties ? (['X-Total-Count', 'Link'] as const) : []),
    ...('at' in properties ? (['X-As-Of', 'X-Changed-Since'] as const) : []),
  ];
  if (names.length === 0) return {};
  return { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };
}

const COMMON: readonly HeaderName[] = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'];
const OF_SESSIONS_AND_TOKENS: readonly HeaderName[] = ['X-Csrf-Token', 'X-Token-Expires-At'];
export const ERROR_HEADERS: readonly HeaderName[] = ['WWW-Authenticate', 'Retry-After'];

/** What every response can have, said once. */
export function headersInWords(): string {
  const list = (names: readonly HeaderName[]) =>
    names.map((name) => `- \`${name}\`: ${HEADERS[name].description}`).join('\n');
  return `Every response can have these headers:\n\n${list([...COMMON, ...OF_SESSIONS_AND_TOKENS])}\n\nErrors can have these, too:\n\n${list(ERROR_HEADERS)}`;
}
