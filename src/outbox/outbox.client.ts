import { createHmac } from 'node:crypto';
import { traced } from '../base/tracing/trace.ts';
import type { SendEvent } from './outbox.ts';

const TIMEOUT_MS = 10_000;

interface Receiver {
  readonly url: string;
  /** The bytes of the secret, without the prefix `whsec_` of its text. */
  readonly secret: Buffer;
}

/** Sends events by a POST signed according to Standard Webhooks, so that receivers can use any of its libraries. */
export function createOutboxClient({ url, secret }: Receiver, now: () => Date = () => new Date()): SendEvent {
  return async ({ uid, type, payload, createdAt }) => {
    const body = `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(createdAt)},"data":${payload}}`;
    const at = Math.floor(now().getTime() / 1000);
    const signature = createHmac('sha256', secret).update(`${uid}.${at}.${body}`).digest('base64');
    const headers = {
      'Content-Type': 'application/json',
      'webhook-id': uid,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    };
    const answer = await traced('POST event', { 'http.request.method': 'POST' }, (trace) =>
      fetch(url, {
        method: 'POST',
        headers: { ...headers, ...trace },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }),
    );
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`the receiver answered ${answer.status}`);
  };
}
