import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import type { Agents } from '../base/outbound/guarded-agents.ts';
import { responseTo } from '../base/outbound/response-to.ts';
import { traced } from '../base/tracing/trace.ts';
import { CloudRejection } from './buckets.ts';

/** What every client of a storage service is called with. */
export interface Asking {
  readonly agents: Agents;
  readonly max: number;
  readonly signal: AbortSignal;
}

export interface ServiceCall {
  readonly method?: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Ten times as many as a service needs that fills its pages. */
const MAX_PAGES = 100;
const RETRY_MS = 200;

/** Sends one request. Redirects are not followed, and the agents limit which addresses and how many bytes. */
export function callService(asking: Asking, call: ServiceCall): Promise<IncomingMessage> {
  const { method = 'GET' } = call;
  return traced(`${method} storage`, { 'http.request.method': method }, (trace) => send(asking, call, trace));
}

function send({ agents, signal }: Asking, call: ServiceCall, trace: ServiceCall['headers']): Promise<IncomingMessage> {
  const { method = 'GET', url, headers, body } = call;
  const isSecure = url.startsWith('https:');
  const request = (isSecure ? https : http).request(url, {
    method,
    headers: { 'User-Agent': 'atrium', ...trace, ...headers },
    agent: isSecure ? agents.https : agents.http,
    signal,
  });
  return responseTo(request, body);
}

/** The same, once more after a moment if the service is overloaded. The caller waits, so not more often. */
export async function callServiceTwice(asking: Asking, call: () => Promise<ServiceCall>): Promise<IncomingMessage> {
  const response = await callService(asking, await call());
  if (!isOverloaded(response)) return response;
  response.resume();
  await wait(RETRY_MS, undefined, { signal: asking.signal });
  return await callService(asking, await call());
}

export function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

function isOverloaded({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 500 || statusCode === 429;
}

/** Call the result before each page: a service may send pages without names and without end. */
export function limitPages(): () => void {
  let pages = 0;
  return () => {
    if (++pages > MAX_PAGES) throw new CloudRejection(`the service sent ${MAX_PAGES} pages and still has more`);
  };
}
