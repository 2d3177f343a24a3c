import { Counter, type Registry } from 'prom-client';
import type { Span } from './trace.ts';

interface SpanExporterOptions {
  /** Of the collector; the path is that of the protocol. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly version: string;
  readonly registry: Registry;
  /** Called when the collector begins to fail, not for every batch. */
  readonly onFailure: (error: unknown) => void;
  readonly everyMs?: number;
}

export type SpanExporter = ReturnType<typeof createSpanExporter>;

const MAX_QUEUE = 2048;
const MAX_BATCH = 512;
const EVERY_MS = 5000;
const TIMEOUT_MS = 10_000;
const CLOSE_WITHIN_MS = 1500;
/** In the protocol. */
const KINDS = { server: 2, client: 3 };
const FAILED = 2;

/**
 * Sends spans to a collector, as OTLP over HTTP in JSON. Traces help to understand the server and must not slow it
 * down: the queue is bounded, a batch is sent once, and what cannot be sent is counted and dropped.
 */
export function createSpanExporter(options: SpanExporterOptions) {
  const { endpoint, serviceName, version, registry, onFailure, everyMs = EVERY_MS } = options;
  const sent = new Counter({
    name: 'atrium_spans_sent_total',
    help: 'Spans that the collector took.',
    registers: [registry],
  });
  const dropped = new Counter({
    name: 'atrium_spans_dropped_total',
    help: 'Spans that were dropped, because the queue was full or the collector failed.',
    labelNames: ['reason'],
    registers: [registry],
  });
  let queue: Span[] = [];
  let sending: Promise<void> | undefined;
  let isFailing = false;
  const timer = setInterval(() => void flush(), everyMs).unref();
  return { add, flush, close };

  function add(span: Span): void {
    if (queue.length < MAX_QUEUE) queue.push(span);
    else dropped.inc({ reason: 'queue_full' });
    if (queue.length >= MAX_BATCH) void flush();
  }

  /** Sends the queued spans, one batch after the other. */
  function flush(): Promise<void> {
    sending ??= sendAll().finally(() => {
      sending = undefined;
    });
    return sending;
  }

  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, MAX_BATCH);
      queue = queue.slice(MAX_BATCH);
      try {
        await post(batch);
        sent.inc(batch.length);
        isFailing = false;
      } catch (error) {
        dropped.inc({ reason: 'export_failed' }, batch.length);
        if (!isFailing) onFailure(error);
        isFailing = true;
      }
    }
  }

  async function post(batch: readonly Span[]): Promise<void> {
    const answer = await fetch(`${endpoint}/v1/traces`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...options.headers },
      body: JSON.stringify(toOtlp(batch, serviceName, version)),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`the collector answered ${answer.status}`);
  }

  /** Sends the rest, if the collector takes it quickly. */
  async function close(): Promise<void> {
    clearInterval(timer);
    const patience = new Promise((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref());
    await Promise.race([flush(), patience]);
  }
}

function toOtlp(spans: readonly Span[], serviceName: string, version: string): object {
  const resource = { attributes: toAttributes({ 'service.name': serviceName, 'service.version': version }) };
  // What the clock of spans lacks to the time of day, which may have been set since the start.
  const offsetMs = Date.now() - performance.now();
  const scopeSpans = [{ scope: { name: 'atrium' }, spans: spans.map((span) => toOtlpSpan(span, offsetMs)) }];
  return { resourceSpans: [{ resource, scopeSpans }] };
}

function toOtlpSpan(span: Span, offsetMs: number): object {
  const { context, parentId, kind, name, startMs, endMs, attributes, hasFailed } = span;
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanoseconds(offsetMs + startMs),
    endTimeUnixNano: toNanoseconds(offsetMs + endMs),
    attributes: toAttributes(attributes),
    ...(hasFailed && { status: { code: FAILED } }),
  };
}

/** As the protocol writes it: JSON cannot hold the number exactly. */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

function toAttributes(values: Readonly<Record<string, string | number>>): object[] {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
}
