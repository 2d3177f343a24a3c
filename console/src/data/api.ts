import { type ClientOptions, createClient, type Fetch } from '../../../client/client.ts';
import { createCsrf } from '../../../client/session.ts';
import { notify } from '../parts/toast.tsx';
import { harmlessBody, recordCall } from './calls.ts';
import { isEnrollmentNeeded, reasonIn, waitForProof } from './proof.ts';
import { noteServerTime } from './server-time.ts';
import { isSignedOut, me, signedOut, waitForSignIn } from './session.ts';
import { clearView, lockedAnswer, viewHeaders, viewing } from './view-as.ts';

const TIMEOUT_MS = 30_000;
const MAX_WAIT_SECONDS = 60;
const MAX_WAITS = 3;

const csrf = createCsrf();

const options: ClientOptions = { baseUrl: location.origin, timeoutMs: 0, retryReads: false, fetch: send as Fetch };
/** Everything that the console knows comes through this client, with the session of the browser. */
export const api = createClient(options);

async function send(url: string, init: Parameters<Fetch>[1], waits = 0): Promise<Response> {
  const address = new URL(url);
  const { pathname: path, search } = address;
  // With its own credential, a request does not depend on the session.
  const isOwn = 'Authorization' in init.headers;
  const locked = isOwn ? undefined : lockedAnswer(init.method, address);
  if (locked) return locked;
  const began = performance.now();
  const headers = { ...init.headers, ...csrf.headersFor(init.method), ...(isOwn ? {} : viewHeaders(path)) };
  // A stream of events lasts, and its reader handles its end. An export takes as long as it is.
  const isStream = path.endsWith('/api/v1/events');
  const limit = isStream || path.endsWith('/export') ? [] : [AbortSignal.timeout(TIMEOUT_MS)];
  const signal = AbortSignal.any([init.signal, ...limit]);
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
  if (/\/user\/signin\b/.test(path) || isOwn) return response;
  // A page that only follows the stream would not notice otherwise that its session has ended.
  if (isStream && response.status !== 401) return response;
  if (response.status === 401) return await again(response, url, init, waits);
  if (response.status === 403 && viewing.value === undefined) {
    const reason = await reasonIn(response);
    if (reason === 'second_factor_enrollment') isEnrollmentNeeded.value = true;
    if (reason === 'reauthentication_required' && (await waitForProof())) return await send(url, init, waits);
  }
  const seconds = Number(response.headers.get('retry-after') ?? 1) || 1;
  // A user who would have to wait longer is told so.
  if (response.status === 429 && waits < MAX_WAITS && seconds <= MAX_WAIT_SECONDS) {
    notify({ kind: 'info', text: `There were too many requests. Continuing in ${seconds} s.`, seconds });
    await wait(seconds, init.signal);
    return await send(url, init, waits + 1);
  }
  return response;
}

async function again(response: Response, url: string, init: Parameters<Fetch>[1], waits: number): Promise<Response> {
  // The session that ended is not that of the person on the screen.
  if (viewing.value !== undefined) {
    clearView();
    location.assign('/signin');
    return response;
  }
  // Nothing is on the screen yet that could be lost.
  if (me.value === undefined) {
    if (!isSignedOut.value && (await leaves(false))) return await new Promise<Response>(() => undefined);
    signedOut();
    return response;
  }
  if (isSignedOut.value) return response;
  if (init.method === 'GET' && (await leaves(true))) return await new Promise<Response>(() => undefined);
  await waitForSignIn(init.signal);
  return await send(url, init, waits);
}

/** Whether the browser leaves the page, to sign in again without a question. */
async function leaves(hasPage: boolean): Promise<boolean> {
  const { hasDraft, signInSilently } = await import('./silent-sign-in.ts');
  return !(hasPage && hasDraft()) && signInSilently();
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
