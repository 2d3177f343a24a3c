import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics, RouteDurations } from '../base/metrics.ts';
import { requestLine } from './request-line.ts';
import { SafeResponse } from './safe-response.ts';
import { logOf } from './server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the duration of this request is counted; null for a path that does not exist. */
    durations: RouteDurations | null;
  }
}

/**
 * One measurement per request, and one log line for those that an operator wants to see. The framework's own hook for
 * this adds two listeners to every response and removes them again, which costs as much as all of admission; a response
 * of ours needs none.
 */
export function createObserver(log: FastifyBaseLogger, metrics: Metrics) {
  const unknown = metrics.requests.of('unknown');
  const logsEvery = log.level === 'debug';
  return function observe(request: FastifyRequest, reply: FastifyReply): void {
    if (reply.raw instanceof SafeResponse) {
      reply.raw.watch(request, note);
      return;
    }
    // What the server asks itself has no connection, and another kind of response.
    const began = performance.now();
    reply.raw.on('finish', () => note(request, reply.statusCode, performance.now() - began));
  };

  function note(request: FastifyRequest, status: number, ms: number): void {
    const { method } = request;
    (request.durations ?? unknown).observe(method, status, ms / 1000);
    if (status < 400 && !logsEvery) return;
    const level = request.isCounted || status < 400 ? 'debug' : status >= 500 ? 'error' : 'info';
    logOf(request)[level]({ ...requestLine(request), status, ms: Math.round(ms * 10) / 10 }, 'request');
  }
}
