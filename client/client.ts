import type { Operations } from './api.gen.ts';
import { UnreachableError } from './errors.ts';
import { type EventOptions, followEvents, type ServerEvent } from './events.ts';
import type { Fetch } from './fetch.ts';
import { writeJson } from './json.ts';
import { KEYED } from './keyed.gen.ts';
import { RawBody } from './raw-body.ts';
import { newKey, repeat } from './repeat.ts';
import { withSession } from './session.ts';
import { addressOf, dataOf, nextPage, reasonOf, refusal } from './wire.ts';

export type { Fetch } from './fetch.ts';
export { RawBody } from './raw-body.ts';

export type OperationName = keyof Operations;
export type Answer<Name extends OperationName> = Operations[Name]['answer'];
export type Input<Name extends OperationName> = Operations[Name]['input'] & CallOptions;
/** One entry of a list, whether the list has pages or a cursor. */
export type Item<Name extends OperationName> =
  Answer<Name> extends readonly (infer One)[]
    ? One
    : Answer<Name> extends { readonly items: readonly (infer One)[] }
      ? One
      : never;
/** The input is optional if nothing in it is required. */
type Inputs<Name extends OperationName> =
  Partial<Input<Name>> extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>];

export interface CallOptions {
  /** Succeeds only if the resource still has this ETag; otherwise the server answers 412. */
  readonly ifMatch?: string | undefined;
  /**
   * Makes a call that creates something safe to repeat: the same call with the same key has one effect, for 24 hours.
   * By default the client creates a key for each such call, and uses it when it repeats the call itself.
   */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** For the whole call, including repeats. */
  readonly timeoutMs?: number;
}

/** Every operation of the OpenAPI document is a name here: `call('GET /user/teams')`. */
export interface Client {
  readonly baseUrl: string;
  /** The answer itself. */
  call<Name extends OperationName>(name: Name, ...input: Inputs<Name>): Promise<Answer<Name>>;
  /** The answer, with its ETag and what else its headers contain. */
  request<Name extends OperationName>(name: Name, ...input: Inputs<Name>): Promise<Reply<Answer<Name>>>;
  /** Every entry of a list, page after page. */
  each<Name extends OperationName>(name: Name, ...input: Inputs<Name>): AsyncGenerator<Item<Name>>;
  /** An answer that is a stream of lines, one by one, however long it is. */
  lines<Name extends OperationName>(name: Name, ...input: Inputs<Name>): AsyncGenerator<string>;
  /** An answer that is a file, part by part, however long it is. */
  bytes<Name extends OperationName>(name: Name, ...input: Inputs<Name>): AsyncGenerator<Uint8Array>;
  /** What changes, as it changes. Connects again by itself, and continues where it was. */
  events(options?: EventOptions): AsyncGenerator<ServerEvent>;
}

export interface ClientOptions {
  readonly baseUrl: string;
  readonly token?: string | undefined;
  readonly fetch?: Fetch;
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * For web pages: authenticates with the cookies of the browser instead of a token, and repeats the CSRF token of the
   * server. `include` also sends cookies to a server of another origin, which must allow that (CORS_CREDENTIALS).
   */
  readonly session?: 'same-origin' | 'include';
  /** False if a GET that the server asks to repeat (503 with Retry-After) must fail at once. */
  readonly retryReads?: boolean;
}

export interface Reply<Data> {
  readonly data: Data;
  readonly status: number;
  readonly etag: string | undefined;
  /** How many entries a paged list has in total. */
  readonly total: number | undefined;
  readonly nextPage: number | undefined;
  readonly requestId: string;
  /** The headers of the answer. */
  readonly headers: { get(name: string): string | null };
}

interface AnyInput extends CallOptions {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_LIMIT = 50;

export function createClient(options: ClientOptions): Client {
  const base = options.baseUrl.replace(/\/+$/, '');
  const plain = (options.fetch ?? fetch) as Fetch;
  const send = options.session ? withSession(plain, options.session) : plain;
  const call = async (name: string, input?: AnyInput) => (await ask(name, input ?? {})).data;
  const request = (name: string, input?: AnyInput) => ask(name, input ?? {});
  return { baseUrl: base, call, request, each, lines, bytes, events } as Client;

  async function* each(name: string, input: AnyInput = {}): AsyncGenerator<unknown> {
    let query: Readonly<Record<string, unknown>> = { limit: MAX_LIMIT, ...input.query };
    for (;;) {
      const { data, nextPage } = await ask(name, { ...input, query });
      const { items, next_cursor: cursor } = Array.isArray(data)
        ? { items: data, next_cursor: null }
        : (data as { items: readonly unknown[]; next_cursor: string | null });
      yield* items;
      if (cursor) query = { ...query, cursor };
      else if (nextPage !== undefined && items.length > 0) query = { ...query, page: nextPage };
      else return;
    }
  }

  async function* lines(name: string, input: AnyInput = {}): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of bytes(name, input)) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
    }
    if (rest !== '') yield rest;
  }

  async function* bytes(name: string, input: AnyInput = {}): AsyncGenerator<Uint8Array> {
    const unhurried = { timeoutMs: 0, ...input };
    const { answer, failed } = await fetchOnce(name, unhurried, clockOf(unhurried));
    if (answer.status >= 400) throw refusal(answer, await answer.text());
    try {
      yield* answer.body as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw failed(error);
    }
  }

  function events(given: EventOptions = {}): AsyncGenerator<ServerEvent> {
    const { org, follow } = given;
    return followEvents(async (lastEventId, signal) => {
      const headers = { Accept: 'text/event-stream', ...(lastEventId && { 'Last-Event-ID': lastEventId }) };
      const input = { query: { org, follow }, headers, signal, timeoutMs: 0 };
      const { answer } = await fetchOnce('GET /events', input, clockOf(input));
      if (answer.status >= 400) throw refusal(answer, await answer.text());
      return answer;
    }, given);
  }

  async function ask(name: string, input: AnyInput): Promise<Reply<unknown>> {
    const clock = clockOf(input);
    const keyed = KEYED.has(name) ? { ...input, idempotencyKey: input.idempotencyKey || newKey() } : undefined;
    const kind = keyed ? 'keyed' : name.startsWith('GET ') && options.retryReads !== false ? 'read' : 'neither';
    const { answer, text } = await repeat(() => exchange(name, keyed ?? input, clock), kind, clock, input.signal);
    const header = (key: string) => answer.headers.get(key) ?? undefined;
    const total = header('x-total-count');
    return {
      data: dataOf(name, text, header('content-type') ?? '', base),
      status: answer.status,
      etag: header('etag'),
      total: total === undefined ? undefined : Number(total),
      nextPage: nextPage(header('link')),
      requestId: header('x-request-id') ?? '',
      headers: { get: (key: string) => answer.headers.get(key.toLowerCase()) },
    };
  }

  /** Sends a call and reads the whole answer; throws if the server rejects it. */
  async function exchange(name: string, input: AnyInput, clock: AbortSignal) {
    const { answer, failed } = await fetchOnce(name, input, clock);
    const text = await answer.text().catch((error: unknown) => {
      throw failed(error);
    });
    if (answer.status >= 400) throw refusal(answer, text);
    return { answer, text };
  }

  function timeoutOf(input: CallOptions): number {
    return input.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  function clockOf(input: CallOptions): AbortSignal {
    const timeoutMs = timeoutOf(input);
    return timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : new AbortController().signal;
  }

  async function fetchOnce(name: string, input: AnyInput, clock: AbortSignal) {
    const signal = input.signal ? AbortSignal.any([clock, input.signal]) : clock;
    const body = input.body instanceof RawBody ? input.body : input.body === undefined ? undefined : json(input.body);
    const failed = (error: unknown): Error => {
      if (input.signal?.aborted) return error as Error;
      if (clock.aborted) return new UnreachableError(`${base} did not answer within ${timeoutOf(input) / 1000} s`);
      return new UnreachableError(`cannot reach ${base}: ${reasonOf(error)}`, { cause: error });
    };
    const headers = {
      Accept: 'application/json',
      ...(options.token && { Authorization: `token ${options.token}` }),
      ...(body && { 'Content-Type': body.type }),
      ...(input.ifMatch && { 'If-Match': input.ifMatch }),
      ...(input.idempotencyKey && { 'Idempotency-Key': input.idempotencyKey }),
      ...options.headers,
      ...input.headers,
    };
    const init = { method: name.slice(0, name.indexOf(' ')), headers, redirect: 'error', signal } as const;
    const url = base + addressOf(name, input.path, input.query);
    try {
      const answer = await send(url, body ? { ...init, body: body.text } : init);
      return { answer, failed };
    } catch (error) {
      throw failed(error);
    }
  }
}

function json(body: unknown): RawBody {
  return new RawBody(writeJson(body));
}
