import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** Where a request belongs in a trace, as W3C Trace Context writes it. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** What happened between two moments, for the reader of a trace. */
export interface Span {
  readonly context: TraceContext;
  readonly parentId: string | undefined;
  readonly kind: 'server' | 'client';
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly hasFailed: boolean;
}

/** A request that is being traced: the parent of everything that it waits for. */
export interface Trace {
  readonly context: TraceContext;
  readonly note: (span: Span) => void;
  /** A connection that a request opened outlives it, and then serves other requests. */
  readonly isOpen: () => boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZERO = /^0+$/;

/** The header `traceparent` of a request. Undefined if it is missing or invalid: the request then starts a trace. */
export function readTraceparent(header: unknown): TraceContext | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(typeof header === 'string' ? header : '') ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Later versions may add fields; version 00 has none.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (ZERO.test(traceId) || ZERO.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function writeTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Follows the caller's decision. Without one, that share of the traces is sampled, by the random part of their ID. */
export function beginContext(caller: TraceContext | undefined, ratio: number): TraceContext {
  const traceId = caller?.traceId ?? randomBytes(16).toString('hex');
  const isSampled = caller?.isSampled ?? Number.parseInt(traceId.slice(-12), 16) < ratio * 2 ** 48;
  return { traceId, spanId: newSpanId(), isSampled };
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

/** Empty unless traces are exported, so asking costs nothing. */
const current = new AsyncLocalStorage<Trace>();

/** Runs the work, and everything that it starts, as a part of that trace. */
export function runInTrace<T>(trace: Trace, work: () => T): T {
  return current.run(trace, work);
}

/**
 * Runs the work as a span of the current trace, if there is one. The work gets the headers that carry the trace to
 * another service.
 */
export async function traced<T>(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  work: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const trace = current.getStore();
  if (!trace?.isOpen()) return work({});
  const context = { ...trace.context, spanId: newSpanId() };
  const headers = { traceparent: writeTraceparent(context) };
  if (!context.isSampled) return work(headers);
  const startMs = performance.now();
  let hasFailed = true;
  try {
    const result = await runInTrace({ ...trace, context }, () => work(headers));
    hasFailed = false;
    return result;
  } finally {
    const parentId = trace.context.spanId;
    trace.note({ context, parentId, kind: 'client', name, attributes, startMs, endMs: performance.now(), hasFailed });
  }
}
