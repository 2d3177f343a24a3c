import { createWebhookRequests } from '../base/outbound/webhook-requests.ts';
import { signatureHeaders } from '../base/signature-headers.ts';
import type { SendEvent } from './outbox.ts';

interface Receiver {
  readonly url: string;
  /** The bytes of the secret, without the prefix `whsec_` of its text. */
  readonly secret: Buffer;
}

/** The operator has chosen the receiver, so it can be anywhere. */
const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** Sends events as webhooks are sent, so that receivers can use any library of Standard Webhooks. */
export function createOutboxClient({ url, secret }: Receiver, now: () => Date = () => new Date()): SendEvent {
  const send = createWebhookRequests(EVERYWHERE);
  return async ({ uid, type, payload, createdAt }) => {
    const body = `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(createdAt)},"data":${payload}}`;
    const signed = signatureHeaders({ id: uid, body, at: now() }, { secrets: [secret] });
    const { status, error } = await send({ url, headers: { 'Content-Type': 'application/json', ...signed }, body });
    if (error !== null) throw new Error(`the receiver did not accept an event: ${status ?? error}`);
  };
}
