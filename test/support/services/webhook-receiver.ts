import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../checks/until.ts';

export interface ReceivedMessage {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever was sent.
  readonly json: any;
  readonly at: number;
}

/** What a receiver answers: a status, with headers if it likes, or nothing at all. */
export type ReceiverAnswer = number | { status: number; headers: Record<string, string> } | 'silence';

export type WebhookReceiver = Awaited<ReturnType<typeof startReceiver>>;

/** Receives messages of webhooks on loopback, and answers as it is told. */
export async function startReceiver(
  answer: (message: ReceivedMessage) => ReceiverAnswer | Promise<ReceiverAnswer> = () => 204,
) {
  const received: ReceivedMessage[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const message = { path: request.url ?? '', headers: request.headers, body, json: JSON.parse(body), at: Date.now() };
    received.push(message);
    const said = await answer(message);
    if (said === 'silence') return;
    const { status, headers } = typeof said === 'number' ? { status: said, headers: {} } : said;
    response.writeHead(status, headers).end();
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/in`,
    received,
    async find(isIt: (message: ReceivedMessage) => boolean): Promise<ReceivedMessage> {
      await until(() => received.some(isIt));
      return received.find(isIt) as ReceivedMessage;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Which of the signatures of a message are those of a secret or a public key. */
export function signaturesOf({ headers, body }: ReceivedMessage, secret: string, publicKey?: string) {
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(text).digest();
  const found = String(headers['webhook-signature']).split(' ');
  const isShared = (one: string) => {
    const given = Buffer.from(one.slice(3), 'base64');
    return one.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
  };
  const raw = Buffer.from((publicKey ?? '').replace('whpk_', ''), 'base64');
  const isAsymmetric = (one: string) =>
    one.startsWith('v1a,') &&
    publicKey !== undefined &&
    verify(null, Buffer.from(text), ed25519(raw), Buffer.from(one.slice(4), 'base64'));
  return { count: found.length, shared: found.filter(isShared).length, asymmetric: found.filter(isAsymmetric).length };
}

function ed25519(raw: Buffer) {
  const names = Buffer.from('302a300506032b6570032100', 'hex');
  return createPublicKey({ key: Buffer.concat([names, raw]), format: 'der', type: 'spki' });
}
