import { ApiError, type FieldError, UnreachableError } from './errors.ts';
import { EXACT } from './exact.gen.ts';
import { readJson } from './json.ts';

type Given = Readonly<Record<string, unknown>>;

/** The path of an operation with its parameters filled in, and the query. */
export function addressOf(name: string, path: Given = {}, query: Given = {}): string {
  const template = name.slice(name.indexOf(' ') + 1);
  const filled = template.replace(/\{(\w+)\}/g, (_all, key: string) => {
    const value = String(path[key] ?? '');
    if (value === '') throw new TypeError(`${name} needs ${key}`);
    // However it is encoded, such a path segment means the folder itself or the one above, so it cannot be a name in a
    // path.
    if (value === '.' || value === '..') throw new ApiError(400, `${key} cannot be "${value}"`);
    return encodeURIComponent(value);
  });
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined)
      .map((one) => `${encodeURIComponent(key)}=${encodeURIComponent(String(one))}`),
  );
  const prefix = /^\/(marketplace\/api\/v1|links|\.well-known)\//.test(filled) ? '' : '/api/v1';
  return `${prefix}${filled}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`;
}

/** Where the answer of each call contains int64. */
const PLACES: ReadonlyMap<string, string> = new Map(
  Object.entries(EXACT).flatMap(([places, calls]) => calls.map((call) => [call, places] as const)),
);

/** The body of a successful answer. */
export function dataOf(name: string, text: string, type: string, base: string): unknown {
  if (text === '') return undefined;
  // A web page answers on any path, so this is not the address of the API.
  if (/^text\/html\b/.test(type)) throw new UnreachableError(`${base} answers with a web page: is the address right?`);
  if (!/\bjson\b/.test(type)) return text;
  try {
    const places = PLACES.get(name)?.split(' ') ?? [];
    return readJson(text, { int64: places.filter((place) => place !== '?'), open: places.includes('?') });
  } catch (cause) {
    throw new UnreachableError(`${base} sent something that is not JSON`, { cause });
  }
}

interface Head {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}

/** The error for an answer that is not successful. */
export function refusal({ status, headers }: Head, text: string): Error {
  const body = /\bjson\b/.test(headers.get('content-type') ?? '') ? readBody(text) : {};
  const message =
    typeof body.message === 'string' && body.message !== '' ? body.message : `the server answered ${status}`;
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  return new ApiError(status, message, {
    reason: typeof body.reason === 'string' ? body.reason : '',
    relation: typeof body.relation === 'string' ? body.relation : '',
    isRequestable: body.requestable === true,
    secondFactor: (body.second_factor as { methods?: readonly string[] } | undefined)?.methods ?? [],
    errors: Array.isArray(body.errors) ? (body.errors as FieldError[]) : [],
    requestId: headers.get('x-request-id') ?? '',
    retryAfter: Number.isFinite(after) ? after : undefined,
  });
}

function readBody(
  text: string,
): Partial<Record<'message' | 'reason' | 'relation' | 'requestable' | 'second_factor' | 'errors', unknown>> {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}

/** Uses only the page number: the link may point elsewhere, and a token must not be sent there. */
export function nextPage(link: string | undefined): number | undefined {
  const page = /<[^>]*[?&]page=(\d+)[^>]*>;\s*rel="next"/.exec(link ?? '')?.[1];
  return page === undefined ? undefined : Number(page);
}

export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? (error as { code?: string }).code ?? cause?.message ?? message;
}
