import http from 'node:http';
import https from 'node:https';
import { traced } from '../tracing/trace.ts';
import { createAddressGuard, createGuardedAgents } from './guarded-agents.ts';
import { UnacceptableResponse } from './response-meter.ts';
import { responseTo } from './response-to.ts';

interface GuardedFetchOptions {
  /** Private networks that may be called. Only there is a connection without TLS allowed. */
  readonly allowedNetworks: readonly string[];
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** The name of the called service, for traces. */
  readonly service: string;
}

/** The part of `fetch` that libraries need that bring their own requests. */
export type GuardedFetch = (url: string, init?: GuardedInit) => Promise<Response>;

export interface GuardedInit {
  readonly method?: string | undefined;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

/** Statuses whose responses have no body. */
const BODILESS = new Set([101, 204, 205, 304]);

/**
 * A `fetch` for services whose address a user or operator has chosen. It connects to allowed addresses only, does not follow
 * redirects, and gives up on a response that is too long or too slow.
 */
export function createGuardedFetch({
  allowedNetworks,
  maxBytes,
  timeoutMs,
  service,
}: GuardedFetchOptions): GuardedFetch {
  const isAllowed = createAddressGuard(allowedNetworks);
  const isOwn = createAddressGuard(allowedNetworks, false);

  return (url, init = {}) => {
    const { method = 'GET' } = init;
    return traced(`${method} ${service}`, { 'http.request.method': method }, (trace) => send(url, init, trace));
  };

  async function send(url: string, init: GuardedInit, trace: Readonly<Record<string, string>>): Promise<Response> {
    const { protocol } = new URL(url);
    if (protocol !== 'https:' && protocol !== 'http:') throw new UnacceptableResponse(`${protocol} is not supported`);
    const isSecure = protocol === 'https:';
    const agents = createGuardedAgents(isSecure ? isAllowed : isOwn, { maxBytes, maxTotalBytes: maxBytes });
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    try {
      const request = (isSecure ? https : http).request(url, {
        method: init.method ?? 'GET',
        headers: { 'User-Agent': 'atrium', ...trace, ...Object.fromEntries(new Headers(init.headers)) },
        agent: isSecure ? agents.https : agents.http,
        signal,
      });
      return await Promise.race([answerOf(request, init.body), agents.failed]);
    } finally {
      agents.destroy();
    }
  }
}

async function answerOf(request: http.ClientRequest, body: unknown): Promise<Response> {
  const message = await responseTo(request, body === undefined || body === null ? undefined : String(body));
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    if (value !== undefined) headers.set(name, [value].flat().join(', '));
  }
  return new Response(BODILESS.has(status) ? null : Buffer.concat(chunks), { status, headers });
}
