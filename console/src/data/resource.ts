import { computed, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Answer, Input, Item, OperationName, Reply } from '../../../client/client.ts';
import { ApiError } from '../../../client/errors.ts';
import { writeJson } from '../../../client/json.ts';
import { api } from './api.ts';

export interface Resource<Data> {
  readonly data: Data | undefined;
  /** Identifies the version that was read, for saving with `ifMatch`. */
  readonly etag: string | undefined;
  readonly total: number | undefined;
  readonly error: unknown;
  /** Old data is on the screen, and new data is on its way. */
  readonly isStale: boolean;
  readonly reload: () => void;
}

interface State {
  readonly replies: readonly Reply<unknown>[];
  readonly error: unknown;
  readonly isLoading: boolean;
}

interface Loader {
  readonly load: (pages?: number) => void;
}

interface Entry extends Loader {
  /** The call, such as `GET /orgs/{org}/teams`. */
  readonly name: string;
  readonly state: Signal<State>;
  mounted: number;
  /** When the last answer arrived. */
  loadedAt: number;
}

const EMPTY: State = { replies: [], error: undefined, isLoading: true };
const MAX_ENTRIES = 80;
/** A part that appears a moment after another one with the same answer does not ask again. */
const TOGETHER_MS = 2000;
const RETRY_MS = [2000, 5000, 15_000];
const entries = new Map<string, Entry>();
/** What is on the screen, but could not be loaded, although it may be the next time. */
const failing = signal<ReadonlySet<Loader>>(new Set());

/** True while the page lacks an answer because the server was away or failed. */
export const isAnyFailing = computed(() => failing.value.size > 0);

/** Tries immediately, because the server answers again. */
export function retryFailing(): void {
  for (const entry of failing.peek()) entry.load();
}

/** For a page that keeps its answer itself, because the user edits it: it is loaded again like everything else. */
export function useRetries(error: unknown, load: () => void): void {
  useEffect(() => {
    if (!isTemporary(error)) return;
    const loader = { load };
    noteFailing(loader, true);
    const timer = setTimeout(load, RETRY_MS[0]);
    return () => {
      clearTimeout(timer);
      noteFailing(loader, false);
    };
  }, [error]);
}

function noteFailing(loader: Loader, isFailing: boolean): void {
  if (failing.peek().has(loader) === isFailing) return;
  const others = [...failing.peek()].filter((other) => other !== loader);
  failing.value = new Set(isFailing ? [...others, loader] : others);
}

/**
 * The answer to a GET. It stays while a newer one is on its way, and other parts of the page share it. The next page
 * asks again, unless the answer is younger than `freshMs`.
 */
export function useResource<Name extends OperationName>(
  name: Name | undefined,
  input?: Input<Name>,
  freshMs = 0,
): Resource<Answer<Name>> {
  const { state, load } = useEntry(name, input, freshMs);
  const { replies, error, isLoading } = state.value;
  const reply = replies[0] as Reply<Answer<Name>> | undefined;
  return {
    data: reply?.data,
    etag: reply?.etag,
    total: reply?.total,
    error,
    isStale: isLoading && reply !== undefined,
    reload: load,
  };
}

type Loaded = Pick<Resource<unknown>, 'data' | 'error'>;

/** The first one, but only when the others have been answered too: then nothing on the page moves for them later. */
export function together<One extends Loaded>(first: One, ...others: readonly Loaded[]): One {
  const isKnown = others.every(({ data, error }) => data !== undefined || error !== undefined);
  return isKnown ? first : { ...first, data: undefined, error: undefined };
}

export interface List<One> extends Omit<Resource<readonly One[]>, 'etag'> {
  readonly hasMore: boolean;
  readonly loadMore: () => void;
}

/** A list that comes in pages, by number or by cursor. "Load more" appends the next page. */
export function useList<Name extends OperationName>(name: Name | undefined, input?: Input<Name>): List<Item<Name>> {
  const { state, load } = useEntry(name, input, 0);
  const { replies, error, isLoading } = state.value;
  const data = useMemo(() => replies.flatMap(({ data }) => itemsOf(data)) as Item<Name>[], [replies]);
  return {
    data: replies.length > 0 ? data : undefined,
    total: replies[0]?.total,
    error,
    isStale: isLoading && replies.length > 0,
    reload: load,
    hasMore: nextOf(replies.at(-1)) !== undefined,
    loadMore: () => load(replies.length + 1),
  };
}

/** Asks before the page is there that will use the answer. */
export async function preload<Name extends OperationName>(name: Name, input: Input<Name>): Promise<Answer<Name>> {
  const entry = entryOf(`${name} ${writeJson(input)}`, name, input);
  const reply = await (api.request as (name: string, input: unknown) => Promise<Reply<Answer<Name>>>)(name, input);
  entry.loadedAt = performance.now();
  entry.state.value = { replies: [reply], error: undefined, isLoading: false };
  return reply.data;
}

/** After a change, everything on the screen is asked for again, and the rest is forgotten. */
export function refresh(): void {
  for (const [key, entry] of entries) {
    if (entry.mounted > 0) entry.load();
    else entries.delete(key);
  }
}

const idle: Entry = {
  name: '',
  state: signal({ ...EMPTY, isLoading: false }),
  load: () => undefined,
  mounted: 0,
  loadedAt: 0,
};

function useEntry(name: OperationName | undefined, input: unknown, freshMs: number): Entry {
  const key = name === undefined ? '' : `${name} ${writeJson(input ?? {})}`;
  const entry = useMemo(() => (name === undefined ? idle : entryOf(key, name, input)), [key]);
  useEffect(() => {
    entry.mounted += 1;
    // Parts of a page that appear together share one request.
    noteFailing(entry, isTemporary(entry.state.peek().error));
    const isAsked = entry.mounted > 1 && entry.state.peek().isLoading;
    const fresh = entry.mounted > 1 ? Math.max(freshMs, TOGETHER_MS) : freshMs;
    if (!isAsked && performance.now() - entry.loadedAt >= fresh) entry.load();
    return () => {
      entry.mounted -= 1;
      if (entry.mounted === 0) noteFailing(entry, false);
    };
  }, [entry]);
  return entry;
}

function entryOf(key: string, name: OperationName, input: unknown): Entry {
  const known = entries.get(key);
  if (known) return known;
  const entry = createEntry(name, input as Readonly<Record<string, unknown>> | undefined);
  entries.set(key, entry);
  for (const [old, { mounted }] of entries) {
    if (entries.size <= MAX_ENTRIES) break;
    if (mounted === 0 && old !== key) entries.delete(old);
  }
  return entry;
}

function createEntry(name: OperationName, input: Readonly<Record<string, unknown>> = {}): Entry {
  const state = signal<State>(EMPTY);
  let running: AbortController | undefined;
  let failures = 0;
  const ask = api.request as (name: string, input: unknown) => Promise<Reply<unknown>>;
  const entry: Entry = {
    name,
    state,
    load: (pages) => void load(pages),
    mounted: 0,
    loadedAt: Number.NEGATIVE_INFINITY,
  };
  return entry;

  async function load(pages = Math.max(1, state.value.replies.length)): Promise<void> {
    running?.abort();
    const controller = new AbortController();
    running = controller;
    state.value = { ...state.value, isLoading: true };
    try {
      const replies: Reply<unknown>[] = [];
      let query = input.query as Readonly<Record<string, unknown>> | undefined;
      while (replies.length < pages) {
        const reply = await ask(name, { ...input, query, signal: controller.signal });
        replies.push(reply);
        const next = nextOf(reply);
        if (next === undefined) break;
        query = { ...query, ...next };
      }
      const isBack = failures > 0;
      settle({ replies, error: undefined, isLoading: false });
      entry.loadedAt = performance.now();
      if (isBack) retryFailing();
    } catch (error) {
      if (controller.signal.aborted) return;
      settle({ ...state.value, error, isLoading: false });
      if (failures === 0) return;
      const delay = RETRY_MS[Math.min(failures, RETRY_MS.length) - 1];
      setTimeout(() => entry.mounted > 0 && running === controller && entry.load(), delay);
    }
  }

  /** Only failures in a row make the next attempt wait longer. A rejection is an answer. */
  function settle(next: State): void {
    const isFailing = isTemporary(next.error);
    failures = isFailing ? failures + 1 : 0;
    state.value = next;
    noteFailing(entry, isFailing && entry.mounted > 0);
  }
}

function isTemporary(error: unknown): boolean {
  return error !== undefined && (!(error instanceof ApiError) || error.status >= 500);
}

function itemsOf(data: unknown): readonly unknown[] {
  return Array.isArray(data) ? data : ((data as { items?: readonly unknown[] } | undefined)?.items ?? []);
}

function nextOf(reply: Reply<unknown> | undefined): Readonly<Record<string, unknown>> | undefined {
  const cursor = (reply?.data as { next_cursor?: string | null } | undefined)?.next_cursor;
  if (cursor) return { cursor };
  return reply?.nextPage === undefined ? undefined : { page: reply.nextPage };
}

/** Whether something that is on the screen is on its way. */
export function isAnyLoading(): boolean {
  return [...entries.values()].some(({ mounted, state }) => mounted > 0 && state.peek().isLoading);
}

/** Asks again for what is on the screen, or only for those calls. What is not on the screen is forgotten. */
export function refreshMounted(shows: (name: string) => boolean = () => true): void {
  for (const [key, entry] of entries) {
    if (!shows(entry.name)) continue;
    if (entry.mounted > 0) entry.load();
    else entry.loadedAt = Number.NEGATIVE_INFINITY;
    if (entry.mounted === 0 && entry.state.peek().replies.length === 0) entries.delete(key);
  }
}
