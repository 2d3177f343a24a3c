import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { bareAddress } from '../base/ip.ts';
import { HIDDEN } from '../base/log.ts';
import { originFormTarget } from './target.ts';

const NUMBER = /^\d{1,19}$/;
const NAME = /^[\w.-]{1,40}$/;
const WORD = /^[a-z_]{1,40}$/i;
const FLAG = /^(?:true|false|0|1)$/;

/** Parameters of a path that name an object by its ID, and of a query that are known to be harmless, with their shape. */
const PATH_PARAMETERS: ReadonlyMap<string, RegExp> = new Map([
  ['id', NUMBER],
  ['objID', NUMBER],
  ['ownerID', NUMBER],
]);
const QUERY_PARAMETERS: ReadonlyMap<string, RegExp> = new Map([
  ['org', NAME],
  ['page', NUMBER],
  ['limit', NUMBER],
  ['relation', /^[a-z_]{1,60}(?::[a-z_]{1,60})?$/],
  ['all', FLAG],
  ['check_client_org', FLAG],
  ['format', WORD],
  ['marketplace', NAME],
  ['state', WORD],
  ['reason', WORD],
  ['action', /^[a-z_]{1,40}(?:\.[a-z_]{0,40})?$/],
  ['since', /^[\d:.TZ+-]{10,35}$/],
  ['until', /^[\d:.TZ+-]{10,35}$/],
]);
const PREFIXES = ['/marketplace/api/v1', '/api/v1', '/links'];

/**
 * What the log says about a request: the pattern of its route, and of its parameters only those that are known to be
 * harmless, by name and by shape. Anything else may be a secret that was put into the wrong place, its name included.
 */
export function requestLine(request: FastifyRequest) {
  const { caller, method } = request;
  return {
    method,
    // Missing if not even the path could be read, null if no route has it.
    ...(request.durations ? placeOf(request) : { route: prefixOf(request.url) }),
    ip: isIP(bareAddress(request.ip ?? '')) === 0 ? HIDDEN : request.ip,
    ...(caller && { user: caller.person.login }),
    ...(caller?.sudoBy && { sudo_by: caller.sudoBy.login }),
  };
}

function placeOf(request: FastifyRequest) {
  const params = shown(request.params, PATH_PARAMETERS, true);
  const query = shown(request.query, QUERY_PARAMETERS, false);
  return { route: request.routeOptions.url ?? HIDDEN, ...(params && { params }), ...(query && { query }) };
}

/** The names of path parameters are ours; those of a query are the client's. */
function shown(values: unknown, known: ReadonlyMap<string, RegExp>, areNamesOurs: boolean) {
  const entries = Object.entries((values ?? {}) as Record<string, unknown>);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const shape = known.get(name);
      const isHarmless = shape !== undefined && typeof value === 'string' && shape.test(value);
      return [areNamesOurs || shape !== undefined ? name : HIDDEN, isHarmless ? value : HIDDEN];
    }),
  );
}

/** Of a path that does not exist, or that was rejected before it was looked up, only what it shares with all other paths. */
function prefixOf(url: string): string {
  const path = originFormTarget(url);
  const prefix = PREFIXES.find((one) => path.startsWith(`${one}/`));
  return `${prefix ?? ''}/${HIDDEN}`;
}
