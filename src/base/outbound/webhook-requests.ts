import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { traced } from '../tracing/trace.ts';
import { createAddressGuard, createGuardedAgents, ForbiddenAddress } from './guarded-agents.ts';
import { responseTo } from './response-to.ts';

/** Why an attempt failed. Nothing else is told: an answer can be that of a server in the private network. */
export const ATTEMPT_ERRORS = ['timeout', 'connection', 'tls', 'dns', 'address_not_allowed', 'status'] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came of a request. Whatever the receiver says besides its status is not kept. */
export interface WebhookAnswer {
  readonly status: number | null;
  readonly error: AttemptError | null;
  readonly durationMs: number;
  /** What the receiver asks for with Retry-After. */
  readonly retryAfterMs: number | undefined;
}

export type SendWebhook = (request: WebhookRequest, signal?: AbortSignal) => Promise<WebhookAnswer>;

const TIMEOUT_MS = 15_000;
/** Read so that receivers need not see their connection cut, and thrown away. */
const MAX_BODY = 16 * 1024;
const DRAIN_MS = 1000;
const LIMITS = { maxBytes: 64 * 1024, maxTotalBytes: 64 * 1024 };
const TLS_FAULT = /^(?:ERR_TLS|ERR_SSL|CERT_|EPROTO$|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/;
const DNS_FAULT = /^(?:ENOTFOUND|EAI_)/;

/**
 * Sends to addresses that a user has chosen: each request resolves the name again, connects to allowed addresses only, and
 * follows no redirect. Without TLS, only into networks that the operator allows.
 */
export function createWebhookRequests(allowedNetworks: readonly string[]): SendWebhook {
  const isAllowed = createAddressGuard(allowedNetworks);
  const isOwn = createAddressGuard(allowedNetworks, false);

  return (request, signal) =>
    traced('POST webhook', { 'http.request.method': 'POST' }, (trace) => send(request, trace, signal));

  async function send(
    { url, headers, body }: WebhookRequest,
    trace: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<WebhookAnswer> {
    const began = performance.now();
    const isSecure = url.startsWith('https:');
    const agents = createGuardedAgents(isSecure ? isAllowed : isOwn, LIMITS);
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const took = () => Math.round(performance.now() - began);
    try {
      const request = (isSecure ? https : http).request(url, {
        method: 'POST',
        headers: { 'User-Agent': 'atrium', 'Content-Length': Buffer.byteLength(body), ...trace, ...headers },
        agent: isSecure ? agents.https : agents.http,
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
      });
      const message = await responseTo(request, body);
      const status = message.statusCode ?? 0;
      drain(message, () => agents.destroy());
      const isAccepted = status >= 200 && status < 300;
      const retryAfterMs = isAccepted ? undefined : readRetryAfter(message.headers['retry-after']);
      return { status, error: isAccepted ? null : 'status', durationMs: took(), retryAfterMs };
    } catch (error) {
      agents.destroy();
      const why = limit.aborted ? 'timeout' : errorOf(error);
      return { status: null, error: why, durationMs: took(), retryAfterMs: undefined };
    }
  }
}

/** No caller waits for it. */
function drain(message: IncomingMessage, done: () => void): void {
  let bytes = 0;
  const timer = setTimeout(done, DRAIN_MS).unref();
  const end = () => {
    clearTimeout(timer);
    done();
  };
  message.on('error', () => undefined).once('close', end);
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY) end();
  });
}

function errorOf(error: unknown): AttemptError {
  if (error instanceof ForbiddenAddress) return 'address_not_allowed';
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (cause instanceof ForbiddenAddress) return 'address_not_allowed';
  const text = typeof code === 'string' ? code : '';
  if (DNS_FAULT.test(text)) return 'dns';
  return TLS_FAULT.test(text) ? 'tls' : 'connection';
}

function readRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
