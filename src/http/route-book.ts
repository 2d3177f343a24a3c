import type { onRequestHookHandler, RouteOptions } from 'fastify';
import { AppError } from '../errors.ts';
import type { Access } from './access.ts';
import type { Scope } from './server.ts';
import { originForm } from './target.ts';

export interface BookedRoute {
  readonly method: string;
  /** The whole path, prefix included, with `:name` for parameters. */
  readonly path: string;
  readonly access: Access;
  readonly schema: RouteSchema;
}

type Hook = onRequestHookHandler;

export interface RouteSchema {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly params?: object;
  readonly querystring?: object;
  readonly body?: object;
  readonly response?: Readonly<Record<string, object>>;
  readonly hide?: boolean;
  readonly extension?: boolean;
}

declare module 'fastify' {
  interface FastifySchema {
    summary?: string;
    tags?: readonly string[];
    /** Not part of the documented API: the documentation itself, the frontend. */
    hide?: boolean;
    /** Goes beyond the specification. */
    extension?: boolean;
  }
}

/**
 * Every route as it is mounted. From this the documentation is made, and a path that exists for another method is
 * told from one that does not exist. A route that does not say who may call it stops the start.
 */
export function createRouteBook(app: Scope, gateOf?: (route: Pick<BookedRoute, 'path' | 'access'>) => Hook) {
  const routes: BookedRoute[] = [];
  const patterns = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  app.addHook('onRoute', (route) => {
    const access = route.config?.access;
    const methods = [route.method].flat();
    if (!access) throw new Error(`route ${methods.join(',')} ${route.url} does not declare who may call it`);
    for (const method of methods) book(method, route, access);
    if (gateOf) route.onRequest = [gateOf({ path: route.url, access }), ...[route.onRequest ?? []].flat()];
  });

  return { routes, refuseUnknown };

  function book(method: string, route: RouteOptions, access: Access): void {
    const known = patterns.get(route.url) ?? { pattern: toPattern(route.url), methods: new Set() };
    patterns.set(route.url, known);
    known.methods.add(method);
    if (method !== 'HEAD')
      routes.push({ method, path: route.url, access, schema: (route.schema ?? {}) as RouteSchema });
  }

  /** 405 for a path that answers other methods, else 404. */
  function refuseUnknown(method: string, url: string): AppError {
    const path = pathOf(url);
    const allow = [...patterns.values()].flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : []));
    if (allow.length === 0 || allow.includes(method)) return new AppError('notFound', 'not found');
    return new AppError('methodNotAllowed', 'method not allowed', { allow: [...new Set(allow)].sort() });
  }
}

/** The path as the router reads it: without scheme and host, query and one slash at the end, letters decoded. */
function pathOf(url: string): string {
  const [path = ''] = originForm(url).split(/[?#]/, 1);
  const bare = path.endsWith('/') ? path.slice(0, -1) : path;
  try {
    return decodeURI(bare);
  } catch {
    return bare;
  }
}

function toPattern(url: string): RegExp {
  const parts = url.replace(/\/+$/, '').split('/');
  return new RegExp(
    `^${parts.map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : RegExp.escape(part))).join('/')}$`,
  );
}
