import { readFileSync } from 'node:fs';

interface Response {
  readonly $ref?: string;
  readonly headers?: object;
  readonly 'x-headers'?: readonly string[];
}
interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
  readonly 'x-errors': readonly number[];
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
}
/** The headers that each status of an operation can have, in lower case. */
type Responses = ReadonlyMap<number, ReadonlySet<string>>;
interface Place {
  readonly path: string;
  readonly pattern: RegExp;
  readonly methods: ReadonlyMap<string, Responses>;
}
interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The answer to a path without a route; that of the listener gives no reason. */
const ABSENT = /"reason":"route_not_found"|^\{"message":"not found"\}$/;
/** Headers that a client acts on. */
const WATCHED = [
  'etag',
  'idempotency-replayed',
  'link',
  'retry-after',
  'www-authenticate',
  'x-as-of',
  'x-changed-since',
  'x-total-count',
];

let places: readonly Place[] | undefined;

/**
 * Says what is wrong if the documentation of a route does not name the status that it answered with, or a header of the
 * answer. Undefined for a route that is not documented or that the deployment does not have.
 */
export function undocumented(method: string, path: string, { status, headers, text }: Answered): string | undefined {
  if (status === 405 || (status === 404 && ABSENT.test(text))) return undefined;
  // The console answers for a listener that the deployment does not have.
  if (headers.get('content-type')?.startsWith('text/html')) return undefined;
  places ??= readPlaces();
  const bare = path.replace(/[?#].*$/s, '').replace(/\/$/, '');
  const place = places.find(({ pattern }) => pattern.test(bare));
  const responses = place?.methods.get(method === 'HEAD' ? 'GET' : method);
  if (!place || !responses) return undefined;
  const where = `${method} ${place.path} answered ${status}`;
  const known = responses.get(status);
  if (!known) return `${where}, which openapi/atrium.json does not name for it`;
  const missing = WATCHED.find((name) => headers.has(name) && !known.has(name));
  return missing && `${where} with ${missing}, which openapi/atrium.json does not name for it`;
}

/** A fixed path comes before one with a parameter in the same place, as for the router. */
function readPlaces(): Place[] {
  const { paths, components } = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as Document;
  return Object.entries(paths)
    .sort(([a], [b]) => (a.replaceAll('{', '~') < b.replaceAll('{', '~') ? -1 : 1))
    .map(([path, operations]) => ({
      path,
      pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`),
      methods: new Map(
        Object.entries(operations).map(([method, { responses, 'x-errors': errors }]) => {
          const { default: error = {}, ...good } = responses;
          const answers = Object.entries(good).map(([status, one]) => [Number(status), headersOf(one)] as const);
          return [
            method.toUpperCase(),
            new Map([...errors.map((one) => [one, headersOf(error)] as const), ...answers]),
          ];
        }),
      ),
    }));

  function headersOf({ $ref, headers }: Response): ReadonlySet<string> {
    const shared = $ref === undefined ? undefined : components.responses[$ref.split('/').at(-1) ?? ''];
    const names = [...Object.keys(headers ?? {}), ...(shared?.['x-headers'] ?? [])];
    return new Set(names.map((name) => name.toLowerCase()));
  }
}
