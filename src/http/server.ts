import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import type { Outages } from '../base/outages.ts';
import { readTraceparent, type Trace } from '../base/tracing/trace.ts';
import { createBrokenHttp, type WordRejection } from './broken-http.ts';
import { createProxyTrust } from './proxies.ts';
import { JSON_TYPE, SafeResponse } from './safe-response.ts';
import { validatorOf, writerOf } from './schema-compiler.ts';
import type { Cors } from './web/cors.ts';
import { readJsonBody } from './wire/json-body.ts';

/** A part of the server with its own prefix, error format and routes. */
export type Scope = FastifyInstance<
  FastifyInstance['server'],
  FastifyRequest['raw'],
  FastifyReply['raw'],
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route passes the body on verbatim, so its text is kept beside its value. */
    keepsText?: boolean;
    /**
     * The route validates its input before the database sees it, or ignores it: it handles NULs in the query itself.
     */
    takesNul?: boolean;
  }
  interface FastifyRequest {
    bodyText: string;
    /** Of the bytes of the body, if the request has an Idempotency-Key. */
    bodyHash: string;
    /** Null unless traces are exported. */
    trace: Trace | null;
    /** It failed with the database, and is counted in the line about that. */
    isCounted: boolean;
  }
  interface FastifyInstance {
    /** The log of the server, for what an operator wants to know. */
    serverLog: FastifyBaseLogger;
    outages: Outages | null;
  }
}

interface ServerOptions {
  /** Without it, every request that fails with the database has a line of its own. */
  readonly outages?: Outages | undefined;
  readonly log: FastifyBaseLogger;
  readonly trustedProxies: readonly string[];
  readonly isHttps: () => boolean;
  /** Sees every request first, including those that are rejected immediately. */
  readonly watch: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Answers with the errors that no scope sees, such as a path that cannot be decoded. */
  readonly reject: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;
  /** Lets pages of other origins call the API, if that is configured. */
  readonly cors?: Cors | undefined;
  /** Formats the errors for what is not even HTTP. */
  readonly word: WordRejection;
}

const SECONDS = 1000;
const MIB = 1024 * 1024;
const IS_JSON = /^application\/json *(?:;|$)/i;
/** JSON of this length may be compressed. */
export const LONG_TEXT = 1024;
const NUL = 'path or query contains a NUL character';
const REQUEST_ID = /^[\w.:-]{1,128}$/;

// The random part of a UUID once for this process, and a number for each request: just as unique, and cheaper than
// random bytes each time.
const SERIES = randomUUID().slice(0, 24);
const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
let requests = 0;
let upperDigits = '';
function nextId(): string {
  const low = ++requests & 0xffff;
  if (low === 0 || upperDigits === '')
    upperDigits =
      SERIES +
      Math.floor(requests / 0x10000)
        .toString(16)
        .padStart(8, '0');
  return `${upperDigits}${PAIRS[low >> 8]}${PAIRS[low & 0xff]}`;
}

const REQUEST_FIELDS = {
  caller: null,
  identified: null,
  readmit: null,
  durations: null,
  bodyText: '{}',
  bodyHash: '',
  trace: null,
  isCounted: false,
} satisfies Partial<FastifyRequest>;

/** Fastify as this server uses it: strict bodies, lenient queries, exact JSON, deliberate timeouts, safe headers. */
export function createServer({
  log,
  outages,
  trustedProxies,
  isHttps,
  watch,
  reject,
  cors,
  word,
}: ServerOptions): Scope {
  const brokenHttp = createBrokenHttp(word);
  const app = Fastify({
    // Fastify's own logger costs every request something, although few log anything. `serverLog` is used instead.
    logger: false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : nextId();
    },
    trustProxy: trustedProxies.length > 0 ? createProxyTrust(trustedProxies) : false,
    bodyLimit: MIB,
    // A whole request within 30 s, its headers within 10 s. Idle connections outlive a load balancer's usual minute.
    requestTimeout: 30 * SECONDS,
    keepAliveTimeout: 65 * SECONDS,
    // A missing Host is rejected below, in the right error format; Node's own answer has no body.
    http: {
      ServerResponse: SafeResponse,
      headersTimeout: 10 * SECONDS,
      connectionsCheckingInterval: 5 * SECONDS,
      requireHostHeader: false,
      // A request that announces no body has ended already. What streams do to find that out took a tenth of the time
      // of a small response.
      optimizeEmptyRequests: true,
    },
    // Requests that still arrive while the server drains are served, and their connections closed.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    frameworkErrors: (error, request, reply) => {
      watch(request, reply);
      mark(request, reply);
      if (!cors?.(request, reply)) reject(error, request, reply);
    },
    clientErrorHandler: brokenHttp.rejectRequest,
  }).withTypeProvider<TypeBoxTypeProvider>();

  brokenHttp.watch(app.server);
  app.server.on('connection', keepAddress);
  // One endpoint of the specification is a GET that carries a body.
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  app.decorate('serverLog', log);
  app.decorate('outages', outages ?? null);
  for (const [name, initial] of Object.entries(REQUEST_FIELDS)) addRequestField(app, name, initial);
  readOnlyJson(app);
  app.setValidatorCompiler(({ schema, httpPart }) => validatorOf(schema as object, httpPart));
  app.setSerializerCompiler(({ schema }) => writerOf(schema));
  app.addHook('onRequest', (request, reply, done) => {
    watch(request, reply);
    mark(request, reply);
    if (cors?.(request, reply)) return;
    if (request.raw.readableEnded) readNothing(request);
    if (!hasOneHost(request.raw)) done(new AppError('invalid', 'request must have exactly one Host header'));
    // PostgreSQL cannot store a NUL, and nothing that we store contains one.
    else if (request.url.includes('%00') && !request.routeOptions.config.takesNul) done(new AppError('invalid', NUL));
    else done();
  });
  return app;

  function mark(request: FastifyRequest, reply: FastifyReply): void {
    if (reply.raw instanceof SafeResponse) reply.raw.mark(request.id, isHttps());
    else reply.header('x-request-id', request.id);
  }
}

/**
 * Once it is read, Node knows the address of a connection for good. Unread, it is gone with the client: a request whose
 * client has hung up would come from nowhere, and what is limited, noted or stored by address needs one.
 */
function keepAddress(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
}

/**
 * A field of all requests. Fastify would copy its initial value into each request, by its name, which for all of ours
 * takes longer than the rest of making a request. So a request has a field of its own once it is set.
 */
function addRequestField(app: Scope, name: string, initial: unknown): void {
  const own = Symbol(name);
  type Fields = Record<symbol, unknown>;
  app.decorateRequest(name, {
    getter(this: FastifyRequest): unknown {
      const value = (this as unknown as Fields)[own];
      return value === undefined ? initial : value;
    },
    setter(this: FastifyRequest, value: unknown): void {
      (this as unknown as Fields)[own] = value;
    },
  });
}

/** With a second Host header, a server can be made to see a different request than the proxy in front of it. */
function hasOneHost({ rawHeaders, httpVersion }: FastifyRequest['raw']): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

/** Nothing to read will ever arrive, so nothing may wait for it. An empty body declared as JSON counts as `{}`. */
function readNothing(request: FastifyRequest): void {
  const type = request.raw.headers['content-type'];
  if (type === undefined) return;
  if (IS_JSON.test(type)) request.body = {};
  request.raw.headers['content-type'] = undefined;
}

function readOnlyJson(app: Scope): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', readJsonBody);
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => {
    if (body.length > 0) throw new AppError('malformed', 'body must be sent as application/json');
    return undefined;
  });
}

/** A reply, whatever the route has declared to send. */
interface AnyReply {
  readonly raw: unknown;
  readonly request: Pick<FastifyRequest, 'method'>;
  header(name: string, value: string): unknown;
  getHeaders(): object;
  send(payload: never): unknown;
}

/**
 * Sends JSON that is text already; the general serializer would look at every character of it again.
 *
 * A handler that waited for the text must return the reply: compression may still be at work when the handler ends,
 * and Fastify would send a second, empty response.
 */
export function sendText<Reply extends AnyReply>(reply: Reply, text: string): Reply {
  if (isPlain(reply, text)) reply.raw.sendJson(text);
  else {
    reply.header('content-type', JSON_TYPE);
    reply.send(text as never);
  }
  return reply;
}

/** Whether nothing between the handler and the client would change the response: neither compression nor a header. */
function isPlain(reply: AnyReply, text: string): reply is AnyReply & { readonly raw: SafeResponse } {
  const { raw } = reply;
  if (text.length >= LONG_TEXT || reply.request.method === 'HEAD') return false;
  // Without a header of its own, a response to HTTP/1.0 has no length, and ends with the connection.
  if (!(raw instanceof SafeResponse) || raw.headersSent || !raw.useChunkedEncodingByDefault) return false;
  for (const _name in reply.getHeaders()) return false;
  return true;
}

/** The same for a text in pieces. If they are several, other requests are served in between, and the length is unknown. */
export function sendPieces<Reply extends AnyReply>(reply: Reply, pieces: readonly string[]): Reply {
  reply.header('content-type', JSON_TYPE);
  reply.send((pieces.length === 1 ? pieces[0] : Readable.from(pieces, { objectMode: false })) as never);
  return reply;
}

/** The log with the request's ID on every line, and that of its trace if it has one. */
export function logOf(request: FastifyRequest): FastifyBaseLogger {
  const { traceId } = request.trace?.context ?? readTraceparent(request.headers.traceparent) ?? {};
  return request.server.serverLog.child({ request_id: request.id, ...(traceId && { trace_id: traceId }) });
}
