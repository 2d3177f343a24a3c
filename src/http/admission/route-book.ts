import type { onRequestHookHandler, RouteOptions } from 'fastify';
import { AppError } from '../../base/errors.ts';
import type { Budget } from '../limits/budget.ts';
import { covers, routePattern } from '../route-shape.ts';
import type { Scope } from '../server.ts';
import { originFormTarget } from '../target.ts';
import { knownQuery } from '../wire/known-query.ts';
import type { Access } from './access.ts';

export interface BookedRoute {
  readonly method: string;
  /** The whole path, prefix included, with `:name` for parameters. */
  readonly path: string;
  readonly access: Access;
  /** Honors an Idempotency-Key. */
  readonly creates: boolean;
  /** May take long; what to ask for less of. */
  readonly costly: string | undefined;
  readonly schema: RouteSchema;
}

type Hook = onRequestHookHandler;

interface Querystring {
  readonly properties?: object;
}

/** Marks a route that exists only to reject requests, and that is not documented. */
const rejecting: Access = { who: 'anyone' };

export interface RouteSchema {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly params?: object;
  readonly querystring?: object;
  readonly body?: object;
  readonly response?: Readonly<Record<string, object>>;
  readonly hide?: boolean;
  readonly extension?: boolean;
  readonly optionalBody?: boolean;
  readonly grows?: boolean;
  readonly errors?: readonly number[];
  readonly strictQuery?: boolean;
  readonly etag?: boolean;
  readonly ifMatch?: boolean;
}

declare module 'fastify' {
  interface FastifySchema {
    summary?: string;
    tags?: readonly string[];
    /** Not part of the documented API: the documentation itself, the frontend. */
    hide?: boolean;
    /** Goes beyond the specification. */
    extension?: boolean;
    /** A request without a body is treated as one with an empty body. For the documentation. */
    optionalBody?: boolean;
    /** Has no body, but makes a list longer that may be full. */
    grows?: boolean;
    /** Statuses that do not follow from the rest of the declaration. */
    errors?: readonly number[];
    /** Rejects query parameters that it does not declare: clients of a later release may rely on them. */
    strictQuery?: boolean;
    /** A success has an ETag. */
    etag?: boolean;
    /** Honors If-Match. */
    ifMatch?: boolean;
  }
}

/**
 * Every route as it is mounted. The documentation is generated from this, and a path that exists for another method is
 * distinguished from one that does not exist. A route that does not declare who may call it stops the start-up.
 */
export function createRouteBook(
  app: Scope,
  gateOf?: (route: Pick<BookedRoute, 'path' | 'access'>) => Hook,
  budget?: Budget,
) {
  const routes: BookedRoute[] = [];
  const places = new Map<string, { pattern: RegExp; parts: readonly string[]; methods: Set<string> }>();

  app.addHook('onRoute', (route) => {
    const access = route.config?.access;
    const methods = [route.method].flat();
    if (!access) throw new Error(`route ${methods.join(',')} ${route.url} does not declare who may call it`);
    for (const method of access === rejecting ? [] : methods) book(method, route, access);
    const costly = route.config?.costly;
    const [method = ''] = methods;
    const query = (route.schema?.querystring as Querystring | undefined)?.properties ?? {};
    const hasDryRun = 'dry_run' in query;
    if (route.schema?.strictQuery) {
      route.preValidation = [knownQuery(...Object.keys(query)), ...[route.preValidation ?? []].flat()];
    }
    const atHand = route.config?.atHand;
    if (budget) route.handler = budget.around({ method, access, costly, hasDryRun, atHand }, route.handler);
    if (gateOf) route.onRequest = [gateOf({ path: route.url, access }), ...[route.onRequest ?? []].flat()];
  });

  return { routes, unknownPath, rejectCovered };

  function book(method: string, route: RouteOptions, access: Access): void {
    const path = route.url.replace(/\/+$/, '');
    const place = places.get(path) ?? { pattern: routePattern(path), parts: path.split('/'), methods: new Set() };
    places.set(path, place);
    place.methods.add(method);
    if (method === 'HEAD') return;
    const { url, config, schema = {} } = route;
    routes.push({
      method,
      path: url,
      access,
      creates: config?.creates === true,
      costly: config?.costly,
      schema: schema as RouteSchema,
    });
  }

  /** 405 for a path that answers other methods, otherwise 404. */
  function unknownPath(method: string, url: string): AppError {
    const path = pathOf(url);
    const found = [...places].filter(([, { pattern }]) => pattern.test(path));
    const closest = found.filter(([, wide]) => !found.some(([, narrow]) => covers(wide.parts, narrow.parts)));
    const allow = closest.flatMap(([, { methods }]) => [...methods]);
    return allow.length === 0 || allow.includes(method)
      ? new AppError('notFound', 'not found', { reason: 'route_not_found' })
      : wrongMethod(allow);
  }

  /**
   * The router would take `DELETE /roles/export` for a role of that name, because nothing else answers DELETE there.
   * Once all routes of a scope are mounted, such methods get routes that reject them, so that requests to all others
   * pay nothing for it.
   */
  function rejectCovered(scope: Scope): void {
    const inScope = [...places].filter(([path]) => path.startsWith(`${scope.prefix}/`));
    const byLength = Map.groupBy(places.values(), ({ parts }) => parts.length);
    for (const [path, { parts, methods: own }] of inScope) {
      const candidates = byLength.get(parts.length) ?? [];
      const wider = candidates.flatMap((wide) => (covers(wide.parts, parts) ? [...wide.methods] : []));
      const method = [...new Set(wider)].filter((one) => !own.has(one));
      if (method.length === 0) continue;
      scope.route({
        method,
        url: path.slice(scope.prefix.length),
        exposeHeadRoute: false,
        config: { access: rejecting },
        // Before a body is read, as for every other unknown method.
        onRequest: (_request, _reply, done) => done(wrongMethod([...own])),
        handler: () => undefined,
      });
    }
  }
}

function wrongMethod(allow: readonly string[]): AppError {
  return new AppError('methodNotAllowed', 'method not allowed', { allow: [...new Set(allow)].sort() });
}

/** The path as the router reads it: without scheme and host, query and one trailing slash, and percent-decoded. */
function pathOf(url: string): string {
  const [path = ''] = originFormTarget(url).split(/[?#]/, 1);
  const bare = path.endsWith('/') ? path.slice(0, -1) : path;
  try {
    return decodeURI(bare);
  } catch {
    return bare;
  }
}
