import type { FastifyReply, FastifyRequest } from 'fastify';
import { originFormTarget } from '../target.ts';

interface CorsOptions {
  /** Exact origins, or `*` alone. */
  readonly origins: readonly string[];
  /** Whether pages of these origins may send cookies. */
  readonly credentials: boolean;
}

export type Cors = (request: FastifyRequest, reply: FastifyReply) => boolean;

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'Last-Event-ID',
  'Sudo',
  'X-Csrf-Token',
  'X-Request-Id',
].join(', ');
const RESPONSE_HEADERS = [
  'Content-Disposition',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-As-Of',
  'X-Changed-Since',
  'X-Request-Id',
  'X-Token-Expires-At',
  'X-Total-Count',
];
/** Browsers keep a preflight no longer than this anyway. */
const MAX_AGE_SECONDS = '7200';
const API = /^\/api\/v1(?:[/?]|$)/;

/**
 * Lets pages of other origins call the API. Only responses below /api/v1 say so, and only to origins that are allowed;
 * for all other origins nothing differs from a server without this. Returns true if the request was a preflight and is
 * answered, before anything else looks at it: it has no credential yet, and changes nothing.
 */
export function createCors({ origins, credentials }: CorsOptions): Cors | undefined {
  if (origins.length === 0) return undefined;
  const allowed = new Set(origins);
  const isAny = allowed.has('*');
  if (isAny && (credentials || origins.length > 1)) throw new Error('* excludes credentials and other origins');
  // A page that may use the session must also be able to read what it has to repeat.
  const exposed = [...RESPONSE_HEADERS, ...(credentials ? ['X-Csrf-Token'] : [])].join(', ');

  return function cors(request, reply) {
    if (!API.test(originFormTarget(request.url))) return false;
    // Caches must not give one origin what was meant for another.
    if (!isAny) reply.header('Vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !(isAny || allowed.has(origin))) return false;
    reply.header('Access-Control-Allow-Origin', isAny ? '*' : origin);
    if (credentials) reply.header('Access-Control-Allow-Credentials', 'true');
    const wanted = request.headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || wanted === undefined) {
      reply.header('Access-Control-Expose-Headers', exposed);
      return false;
    }
    reply
      .header('Access-Control-Allow-Methods', METHODS)
      .header('Access-Control-Allow-Headers', REQUEST_HEADERS)
      .header('Access-Control-Max-Age', MAX_AGE_SECONDS)
      .code(204)
      .send();
    return true;
  };
}
