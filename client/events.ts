import { ApiError } from './errors.ts';
import type { EVENT_KINDS } from './object-kinds.gen.ts';

/** What changed. IDs are exact. */
export interface EventChange {
  readonly kind: (typeof EVENT_KINDS)[number];
  readonly id: bigint;
  /** Name of the organization that it belongs to, if any. */
  readonly organization?: string;
  /** What happened, which is the action of the audit log, such as `team.add_member`. */
  readonly type: string;
  /** The ID of this change, which is the same for everybody, and in webhooks. */
  readonly event: string;
}

export type ServerEvent =
  /** The stream is open. What is loaded from now on is at least as new as this revision. */
  | { readonly type: 'ready'; readonly id: string | undefined; readonly revision: bigint }
  | {
      readonly type: 'change';
      readonly id: string | undefined;
      readonly revision: bigint;
      readonly at: string;
      readonly changes: readonly EventChange[];
    }
  /** Something may have been missed, or other things may be seen than before: load everything again. */
  | {
      readonly type: 'reset';
      readonly id: string | undefined;
      readonly reason: string;
      readonly revision: bigint | undefined;
    };

export interface EventOptions {
  /** Only this organization; by default all that the caller is in, and what is about the caller. */
  readonly org?: string | undefined;
  /** Continues after this event. */
  readonly lastEventId?: string | undefined;
  /** False to hear only what changed since `lastEventId`. */
  readonly follow?: boolean | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the connection was lost. The client connects again by itself. */
  readonly onLost?: ((error: unknown) => void) | undefined;
}

interface Opened {
  readonly body: unknown;
}

/** Opens a stream after an event, or throws. */
export type OpenEvents = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Opened>;

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 30_000;
/** The server sends a line at least every 15 s. A connection without any for this long is dead. */
const SILENCE_MS = 45_000;

/** Connects again after every loss, and continues where it was. Ends only by its signal, or if the server rejects it. */
export async function* followEvents(open: OpenEvents, options: EventOptions): AsyncGenerator<ServerEvent> {
  const { signal, onLost, follow = true } = options;
  let { lastEventId } = options;
  let failures = 0;
  while (!signal?.aborted) {
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    signal?.addEventListener('abort', stop);
    try {
      const { body } = await open(lastEventId, attempt.signal);
      for await (const event of read(body, stop)) {
        failures = 0;
        lastEventId = event.id ?? lastEventId;
        yield event;
      }
      if (!follow) return;
      onLost?.(undefined);
    } catch (error) {
      if (signal?.aborted) return;
      if (!follow || isFinal(error)) throw error;
      onLost?.(error);
    } finally {
      signal?.removeEventListener('abort', stop);
      attempt.abort();
    }
    await wait(failures++, signal);
  }
}

/** Whoever is rejected will be rejected again. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
}

/** Not all clients of a server that stopped come back in the same moment. */
function wait(failures: number, signal: AbortSignal | undefined): Promise<void> {
  const ms = Math.min(FIRST_WAIT_MS * 2 ** failures, MAX_WAIT_MS) * (0.5 + Math.random() / 2);
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
}

async function* read(body: unknown, onSilence: () => void): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let silence = setTimeout(onSilence, SILENCE_MS);
  try {
    for await (const chunk of chunksOf(body)) {
      clearTimeout(silence);
      silence = setTimeout(onSilence, SILENCE_MS);
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = eventIn(block);
        if (event) yield event;
      }
    }
  } finally {
    clearTimeout(silence);
  }
}

/** Not every browser can iterate over the body of a response. */
async function* chunksOf(body: unknown): AsyncGenerator<Uint8Array> {
  if (!(body as { getReader?: unknown }).getReader) {
    yield* body as AsyncIterable<Uint8Array>;
    return;
  }
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

interface Data {
  readonly revision?: string;
  readonly at?: string;
  readonly reason?: string;
  readonly changes?: readonly (Omit<EventChange, 'id'> & { readonly id: string })[];
}

function eventIn(block: string): ServerEvent | undefined {
  const fields = new Map(
    block.split('\n').flatMap((line) => {
      const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value ?? '']];
    }),
  );
  const text = fields.get('data');
  if (text === undefined) return undefined;
  const { revision, at: time = '', reason = '', changes = [] } = JSON.parse(text) as Data;
  const id = fields.get('id');
  const at = revision === undefined ? undefined : BigInt(revision);
  switch (fields.get('event')) {
    case 'ready':
      return { type: 'ready', id, revision: at ?? 0n };
    case 'change':
      return {
        type: 'change',
        id,
        revision: at ?? 0n,
        at: time,
        changes: changes.map((one) => ({ ...one, id: BigInt(one.id) })),
      };
    case 'reset':
      return { type: 'reset', id, reason, revision: at };
    default:
      return undefined;
  }
}
