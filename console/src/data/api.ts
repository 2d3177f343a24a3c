import { type ClientOptions, createClient, type Fetch } from '../../../client/client.ts';
import { createCsrf } from '../../../client/session.ts';
import { notify } from '../parts/toast.tsx';
import { harmlessBody, recordCall } from './calls.ts';
import { noteServerTime } from './server-time.ts';
import { isSignedOut, me, signedOut, waitForSignIn } from './session.ts';

const TIMEOUT_MS = 30_000;
const MAX_WAIT_SECONDS = 60;
const MAX_WAITS = 3;

const csrf = createCsrf();

const options: ClientOptions = { baseUrl: location.origin, timeoutMs: 0, retryReads: false, fetch: send as Fetch };
/** Everything that the console knows comes through this client, with the session of the browser. */
export const api = createClient(options);

async function send(url: string, init: Parameters<Fetch>[1], waits = 0): Promise<Response> {
  const { pathname: path, search } = new URL(url);
  const began = performance.now();
  const headers = { ...init.headers, ...csrf.headersFor(init.method) };
  // A stream of events lasts, and whoever reads it handles its end.
  const isStream = path.endsWith('/api/v1/events');
  const signal = isStream ? init.signal : AbortSignal.any([init.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const response = await fetch(url, { ...init, headers, signal, credentials: 'same-origin' });
  csrf.learnFrom(response);
  noteServerTime(response.headers.get('date'));
  recordCall({
    method: init.method,
    path: path + search,
    status: response.status,
    ms: performance.now() - began,
    requestId: response.headers.get('x-request-id') ?? '',
    body: harmlessBody(path, init.body),
  });
  // With its own credential, a request does not depend on the session.
  if (isStream || path.endsWith('/user/signin') || 'Authorization' in init.headers) return response;
  if (response.status === 401) return await again(response, url, init, waits);
  if (response.status === 429 && waits < MAX_WAITS) {
    const seconds = Math.min(Number(response.headers.get('retry-after') ?? 1) || 1, MAX_WAIT_SECONDS);
    notify({ kind: 'info', text: `There were too many requests. Continuing in ${seconds} s.`, seconds });
    await wait(seconds, init.signal);
    return await send(url, init, waits + 1);
  }
  return response;
}

async function again(response: Response, url: string, init: Parameters<Fetch>[1], waits: number): Promise<Response> {
  // Nothing is on the screen yet that could be lost.
  if (me.value === undefined) {
    signedOut();
    return response;
  }
  if (isSignedOut.value) return response;
  await waitForSignIn(init.signal);
  return await send(url, init, waits);
}

function wait(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
