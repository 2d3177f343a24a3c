import { readFileSync } from 'node:fs';

interface Place {
  readonly path: string;
  readonly pattern: RegExp;
  readonly methods: ReadonlyMap<string, ReadonlySet<number>>;
}

/** The answer to a path without a route; that of the listener gives no reason. */
const ABSENT = /"reason":"route_not_found"|^\{"message":"not found"\}$/;

let places: readonly Place[] | undefined;

/**
 * Says what is wrong if the documentation of a route does not name the status that it answered with. Undefined for a
 * route that is not documented or that the deployment does not have.
 */
export function undocumented(method: string, path: string, answer: { status: number; text: string }) {
  const { status, text } = answer;
  if (status === 405 || (status === 404 && ABSENT.test(text))) return undefined;
  places ??= readPlaces();
  const bare = path.replace(/[?#].*$/s, '').replace(/\/$/, '');
  const place = places.find(({ pattern }) => pattern.test(bare));
  const statuses = place?.methods.get(method === 'HEAD' ? 'GET' : method);
  if (!place || !statuses || statuses.has(status)) return undefined;
  return `${method} ${place.path} answered ${status}, which openapi/atrium.json does not name for it`;
}

/** A fixed path comes before one with a parameter in the same place, as for the router. */
function readPlaces(): Place[] {
  const { paths } = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as {
    paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
  };
  return Object.entries(paths)
    .sort(([a], [b]) => (a.replaceAll('{', '~') < b.replaceAll('{', '~') ? -1 : 1))
    .map(([path, operations]) => ({
      path,
      pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`),
      methods: new Map(
        Object.entries(operations).map(([method, { responses }]) => [
          method.toUpperCase(),
          new Set(Object.keys(responses).map(Number)),
        ]),
      ),
    }));
}
