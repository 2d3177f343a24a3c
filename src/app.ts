import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { AUTHZEN_PREFIX, authzenFormat, problemFormat } from './authzen/authzen-error.view.ts';
import type { Config } from './base/config/config.ts';
import { AppError } from './base/errors.ts';
import type { Metrics } from './base/metrics.ts';
import type { Outages } from './base/outages.ts';
import { OAUTH_PREFIX, oauthFormat } from './federation/oauth-error.view.ts';
import type { Relations } from './http/admission/access.ts';
import { createAdmission } from './http/admission/admission.ts';
import { createGate, rejectUnknownPaths } from './http/admission/gate.ts';
import { createRouteBook } from './http/admission/route-book.ts';
import { type ErrorFormat, marketplaceFormat, platformFormat, sendError } from './http/error-format.ts';
import type { Brake } from './http/limits/brake.ts';
import { createBudget } from './http/limits/budget.ts';
import { createRateLimit, type Share } from './http/limits/rate-limit.ts';
import { takeSearchTurns } from './http/limits/search-turns.ts';
import { createObserver } from './http/observe.ts';
import { createServer, type Scope } from './http/server.ts';
import { originFormTarget } from './http/target.ts';
import { type Tracing, traceRequests } from './http/traces.ts';
import { versionRoutes } from './http/version.routes.ts';
import { consoleRoutes } from './http/web/console.routes.ts';
import { createCors } from './http/web/cors.ts';
import { docsRoutes } from './http/web/docs.ts';
import { compressResponses } from './http/wire/compression.ts';
import { honorKeys } from './http/wire/create-once.ts';
import type { Idempotency } from './idempotency/idempotency.ts';
import type { Callers } from './identity/callers.ts';
import type { SecondFactors } from './identity/second-factor.ts';
import type { SessionUsage } from './identity/sessions/session-usage.ts';
import type { TokenUsage } from './identity/tokens/token-usage.ts';
import { mcpFormat } from './mcp/mcp-error.view.ts';
import { SCIM_PREFIX, scimFormat } from './scim/scim-error.view.ts';

export const LISTENER_PREFIX = '/marketplace/api/v1';
const DAY_MS = 86_400_000;
/** The part of the AuthZEN API with the errors of the access request profile. */
const ASKS_ACCESS = /^\/access\/v1\/[^/?]+\/requests(?:[/?]|$)/;

export type Mount = (scope: Scope) => void;

/** Parts of the server that differ in their prefix or in the format of their errors. */
type Place = 'platform' | 'root' | 'listener' | 'scim' | 'oauth' | 'authzen' | 'mcp' | 'authzenRequests';

export interface AppParts {
  readonly config: Pick<
    Config,
    | 'DEPLOYMENT'
    | 'RATE_LIMIT'
    | 'REQUEST_CPU_MS'
    | 'RESPONSE_COMPRESSION'
    | 'TRUSTED_PROXIES'
    | 'CORS_ORIGINS'
    | 'CORS_CREDENTIALS'
    | 'QUERY_TOKENS'
    | 'REAUTHENTICATION_MINUTES'
    | 'SESSION_REMEMBERED_DAYS'
    | 'MARKETPLACE_PORT'
    | 'SMTP_URL'
    | 'EMAIL_CONFIRMATION'
    | 'TOKEN_NOTICE_DAYS'
    | 'PASSWORDS'
    | 'REGISTRATION'
  >;
  readonly callers: Callers;
  readonly tokenUsage: Pick<TokenUsage, 'note'>;
  readonly sessionUsage: Pick<SessionUsage, 'note'>;
  readonly secondFactors: Pick<SecondFactors, 'isMissing'>;
  readonly relations: Relations;
  readonly brake: Brake;
  /** If other processes serve the same ports. */
  readonly share?: Share | undefined;
  /** Sees the rejected requests of the platform, not those of the marketplace listener. */
  readonly noteRejection: (request: FastifyRequest, error: unknown) => void;
  readonly idempotency: Pick<Idempotency, 'run'>;
  readonly log: Logger;
  readonly outages?: Outages | undefined;
  readonly metrics: Metrics;
  /** Undefined unless traces are exported. */
  readonly tracing?: Tracing | undefined;
  readonly version: string;
  readonly baseUrl: () => string;
  /** The routes of the features, by where they are mounted. */
  readonly mounts: Readonly<Record<Place, readonly Mount[]>>;
}

/** Puts routes under prefixes and gives each part its error format. It has no logic of its own. */
export function createApp(parts: AppParts) {
  const { config, metrics, baseUrl, mounts } = parts;
  const platform = platformFormat(() => `${baseUrl()}/api/v1/docs`);
  const authzen = authzenFormat(() => `${baseUrl()}/api/v1/docs`);
  const mcp = mcpFormat(baseUrl);
  const hasListener = config.DEPLOYMENT === 'marketplace';
  // An unreadable path gets the terse error format of the listener, if there is one.
  const formatOf = (url: string = LISTENER_PREFIX) => {
    const path = originFormTarget(url);
    if (path.startsWith(SCIM_PREFIX)) return scimFormat;
    if (path.startsWith(`${OAUTH_PREFIX}/`)) return oauthFormat;
    if (/^\/mcp(?:[/?]|$)/.test(path)) return mcp;
    if (path.startsWith(`${AUTHZEN_PREFIX}/`)) return ASKS_ACCESS.test(path) ? problemFormat : authzen;
    return hasListener && path.startsWith(LISTENER_PREFIX) ? marketplaceFormat : platform;
  };
  const isHttps = () => baseUrl().startsWith('https:');

  const app = createServer({
    log: parts.log,
    outages: parts.outages,
    trustedProxies: config.TRUSTED_PROXIES,
    isHttps,
    watch: createObserver(parts.log, metrics),
    reject: (error, request, reply) => void sendError(formatOf(request.url), error, request, reply),
    cors: createCors({ origins: config.CORS_ORIGINS, credentials: config.CORS_CREDENTIALS }),
    word: (path, message) => formatOf(path).body(new AppError('invalid', message), ''),
  });
  if (parts.tracing) traceRequests(app, parts.tracing);
  const count = createRateLimit(config.RATE_LIMIT, sharePart(parts, 'platform'));
  const admission = createAdmission({
    ...parts,
    queryTokens: config.QUERY_TOKENS,
    provenMs: config.REAUTHENTICATION_MINUTES * 60_000,
    hasPasswords: config.PASSWORDS === 'on',
  });
  const noticeMs = Math.max(...config.TOKEN_NOTICE_DAYS) * DAY_MS;
  const book = createRouteBook(
    app,
    ({ path, access }) => createGate(access, admission(access), count, metrics.requests.of(path), noticeMs),
    createBudget(config.REQUEST_CPU_MS),
  );
  rejectUnknownPaths(app, book, count);
  honorKeys(app, parts.idempotency);
  takeSearchTurns(app);
  if (config.RESPONSE_COMPRESSION) compressResponses(app);
  setErrorFormat(app, platform, book, undefined, formatOf);
  app.register(platformScope, { prefix: '/api/v1' });
  app.register(scimScope, { prefix: SCIM_PREFIX });
  app.register(oauthScope, { prefix: OAUTH_PREFIX });
  app.register(scopeWith(authzen, mounts.authzen), { prefix: AUTHZEN_PREFIX });
  app.register(scopeWith(problemFormat, mounts.authzenRequests), { prefix: AUTHZEN_PREFIX });
  app.register(scopeWith(mcp, mounts.mcp));
  if (hasListener) {
    // If the listener has its own port, a notification that arrives here by mistake must not look acknowledged.
    const isElsewhere = config.MARKETPLACE_PORT !== undefined;
    app.register(async (scope) => listenerScope(scope, book, isElsewhere ? undefined : parts), {
      prefix: LISTENER_PREFIX,
    });
  }
  app.register(async (scope) => {
    for (const mount of mounts.root) mount(scope);
  });
  app.register(async (scope) =>
    consoleRoutes(scope, {
      data: {
        version: parts.version,
        deployment: config.DEPLOYMENT,
        features: {
          bus: true,
          passwords: config.PASSWORDS === 'on',
          signUp: config.REGISTRATION === 'domains' && config.PASSWORDS === 'on',
          remember: config.SESSION_REMEMBERED_DAYS > 0,
          mail: config.SMTP_URL !== undefined,
          emailConfirmation: config.EMAIL_CONFIRMATION,
          marketplace: hasListener,
          hosted: config.DEPLOYMENT === 'hosted',
        },
      },
      paths: hasListener ? [] : [LISTENER_PREFIX, `${LISTENER_PREFIX}/*`],
    }),
  );
  return { app, routes: book.routes };

  async function scimScope(scope: Scope): Promise<void> {
    setErrorFormat(scope, scimFormat, book, parts.noteRejection);
    for (const mount of mounts.scim) mount(scope);
    scope.register(async (last) => book.rejectCovered(last));
  }

  async function oauthScope(scope: Scope): Promise<void> {
    setErrorFormat(scope, oauthFormat, book);
    for (const mount of mounts.oauth) mount(scope);
    scope.register(async (last) => book.rejectCovered(last));
  }

  function scopeWith(format: ErrorFormat, mounts: readonly Mount[]) {
    return async (scope: Scope): Promise<void> => {
      scope.setErrorHandler((error, request, reply) => {
        parts.noteRejection(request, error);
        return sendError(format, error, request, reply);
      });
      for (const mount of mounts) mount(scope);
    };
  }

  async function platformScope(scope: Scope): Promise<void> {
    setErrorFormat(scope, platform, book, parts.noteRejection);
    versionRoutes(scope, parts.version);
    docsRoutes(scope);
    for (const mount of mounts.platform) mount(scope);
    scope.register(async (last) => book.rejectCovered(last));
  }
}

/** The marketplace listener on its own port: nothing else is served there. */
export function createListenerApp(parts: AppParts) {
  const { config, metrics, baseUrl } = parts;
  const app = createServer({
    log: parts.log,
    outages: parts.outages,
    trustedProxies: config.TRUSTED_PROXIES,
    isHttps: () => baseUrl().startsWith('https:'),
    watch: createObserver(parts.log, metrics),
    reject: (error, request, reply) => void sendError(marketplaceFormat, error, request, reply),
    word: (_path, message) => marketplaceFormat.body(new AppError('invalid', message), ''),
  });
  if (parts.tracing) traceRequests(app, parts.tracing);
  const count = createRateLimit(config.RATE_LIMIT, sharePart(parts, 'listener'));
  // No user signs in here.
  const book = createRouteBook(app, ({ path, access }) =>
    createGate(access, (_request, done) => done(), count, metrics.requests.of(path)),
  );
  rejectUnknownPaths(app, book, count);
  setErrorFormat(app, marketplaceFormat, book);
  app.register(async (scope) => listenerScope(scope, book, parts), { prefix: LISTENER_PREFIX });
  return app;
}

/** The two ports count on their own. */
function sharePart({ share }: Pick<AppParts, 'share'>, part: string): Share | undefined {
  return share && ((name, allowance) => share(`${part} ${name}`, allowance));
}

type Book = ReturnType<typeof createRouteBook>;

function listenerScope(scope: Scope, book: Book, parts: Pick<AppParts, 'version' | 'mounts'> | undefined): void {
  setErrorFormat(scope, marketplaceFormat, book);
  if (!parts) return;
  versionRoutes(scope, parts.version);
  for (const mount of parts.mounts.listener) mount(scope);
  scope.register(async (last) => book.rejectCovered(last));
}

function setErrorFormat(
  scope: Scope,
  format: ErrorFormat,
  book: Book,
  note?: AppParts['noteRejection'],
  formatOf: (url: string) => ErrorFormat = () => format,
): void {
  scope.setErrorHandler((error, request, reply) => {
    note?.(request, error);
    return sendError(format, error, request, reply);
  });
  scope.setNotFoundHandler((request, reply) =>
    sendError(formatOf(request.url), book.unknownPath(request.method, request.url), request, reply),
  );
}
