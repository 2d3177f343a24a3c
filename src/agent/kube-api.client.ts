import { type IncomingMessage, request as overHttp } from 'node:http';
import { Agent, request as overHttps, type RequestOptions } from 'node:https';
import { AppError } from '../base/errors.ts';
import { responseTo } from '../base/outbound/response-to.ts';

export interface KubeAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, whose members the callers know
  readonly body: any;
}

export interface KubeApi {
  call(method: string, path: string, body?: object): Promise<KubeAnswer>;
  /** Calls `on` for each event, until the server ends the stream or the signal is given. Rejects other answers. */
  watch(path: string, on: (event: KubeAnswer['body']) => void, signal: AbortSignal): Promise<number>;
}

interface Place {
  readonly server: URL;
  readonly ca: string | undefined;
  /** Read for each request: Kubernetes renews the token of a pod every hour. */
  readonly token: () => string;
}

const CALL_MS = 15_000;
const MAX_ANSWER = 128 * 1024 * 1024;
const MAX_LINE = 8 * 1024 * 1024;

/** An API server, as a pod reaches it: with its certificates and its token. */
export function createKubeApi({ server, ca, token }: Place): KubeApi {
  const isPlain = server.protocol === 'http:';
  const agent = isPlain ? undefined : new Agent({ keepAlive: true, ...(ca !== undefined && { ca }) });
  return { call, watch };

  async function send(method: string, path: string, signal: AbortSignal, body?: object): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      Accept: 'application/json',
      Authorization: `Bearer ${token()}`,
      ...(text !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    };
    const options: RequestOptions = { method, headers, signal, ...(agent && { agent }) };
    const url = new URL(path, server);
    return await responseTo(isPlain ? overHttp(url, options) : overHttps(url, options), text);
  }

  async function call(method: string, path: string, body?: object): Promise<KubeAnswer> {
    const response = await send(method, path, AbortSignal.timeout(CALL_MS), body);
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      size += part.length;
      if (size > MAX_ANSWER) throw new Error('the answer of the API server is too long');
    }
    const text = Buffer.concat(parts).toString();
    return { status: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text };
  }

  async function watch(path: string, on: (event: KubeAnswer['body']) => void, signal: AbortSignal): Promise<number> {
    const response = await send('GET', path, signal);
    const { statusCode = 0 } = response;
    let rest = '';
    response.setEncoding('utf8');
    for await (const part of response as AsyncIterable<string>) {
      if (statusCode !== 200) continue;
      const lines = `${rest}${part}`.split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE) throw new Error('an event of the API server is too long');
      for (const line of lines) if (line !== '') on(JSON.parse(line));
    }
    return statusCode;
  }
}

/** The answer, or the reason of the API server why not. */
export function mustBe(answer: KubeAnswer, what: string, ...statuses: readonly number[]): KubeAnswer['body'] {
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  if (statuses.includes(answer.status)) return undefined;
  const message = typeof answer.body?.message === 'string' ? answer.body.message : `status ${answer.status}`;
  throw new AppError('unavailable', `${what}: ${message.slice(0, 300)}`);
}
