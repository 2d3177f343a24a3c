import type { FastifyRequest } from 'fastify';
import { beginContext, readTraceparent, runInTrace, type Span, type Trace } from '../base/tracing/trace.ts';
import type { Scope } from './server.ts';

export interface Tracing {
  /** Share of the requests to trace, unless the caller has decided. */
  readonly ratio: number;
  readonly note: (span: Span) => void;
}

/** Makes every request a part of its caller's trace, or of a new one, and a span if it is sampled. */
export function traceRequests(app: Scope, { ratio, note }: Tracing): void {
  app.addHook('onRequest', (request, reply, done) => {
    const caller = readTraceparent(request.headers.traceparent);
    const context = beginContext(caller, ratio);
    let isOpen = true;
    const trace: Trace = { context, note, isOpen: () => isOpen };
    request.trace = trace;
    const startMs = performance.now();
    reply.raw.once('close', () => {
      isOpen = false;
      if (!context.isSampled) return;
      const status = reply.statusCode;
      note({
        context,
        parentId: caller?.spanId,
        kind: 'server',
        name: `${request.method} ${routeOf(request)}`,
        startMs,
        endMs: performance.now(),
        attributes: {
          'http.request.method': request.method,
          'http.route': routeOf(request),
          'http.response.status_code': status,
          'atrium.request_id': request.id,
        },
        hasFailed: status >= 500,
      });
    });
    runInTrace(trace, done);
  });
  // Admission may have waited for events of a shared connection, and a body arrives in events of the client's. Neither
  // knows of the request.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.trace) runInTrace(request.trace, done);
    else done();
  });
}

/** Only the pattern of the route: the path itself may contain secrets. */
function routeOf(request: FastifyRequest): string {
  return (request.durations && request.routeOptions.url) || 'unknown';
}
