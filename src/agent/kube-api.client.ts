import { request as overHttp } from 'node:http';
import { Agent, request as overHttps, type RequestOptions } from 'node:https';
import { AppError } from '../base/errors.ts';

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

  function send(method: string, path: string, signal: AbortSignal, body: object | undefined) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      Accept: 'application/json',
      Authorization: `Bearer ${token()}`,
      ...(text !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    };
    const options: RequestOptions = { method, headers, signal, ...(agent && { agent }) };
    const sent = isPlain ? overHttp(new URL(path, server), options) : overHttps(new URL(path, server), options);
    sent.end(text);
    return sent;
  }

  function call(method: string, path: string, body?: object): Promise<KubeAnswer> {
    return new Promise((done, fail) => {
      const sent = send(method, path, AbortSignal.timeout(CALL_MS), body);
      sent.once('error', fail);
      sent.once('response', (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on('data', (part: Buffer) => {
          size += part.length;
          parts.push(part);
          if (size > MAX_ANSWER) response.destroy(new Error('the answer of the API server is too long'));
        });
        response.once('error', fail);
        response.once('end', () => {
          try {
            const text = Buffer.concat(parts).toString();
            done({ status: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text });
          } catch (error) {
            fail(error);
          }
        });
      });
    });
  }

  function watch(path: string, on: (event: KubeAnswer['body']) => void, signal: AbortSignal): Promise<number> {
    return new Promise((done, fail) => {
      const sent = send('GET', path, signal, undefined);
      sent.once('error', fail);
      sent.once('response', (response) => {
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          if (response.statusCode !== 200) return;
          const lines = `${rest}${part}`.split('\n');
          rest = lines.pop() ?? '';
          if (rest.length > MAX_LINE) return response.destroy(new Error('an event of the API server is too long'));
          try {
            for (const line of lines) if (line !== '') on(JSON.parse(line));
          } catch (error) {
            response.destroy(error as Error);
          }
        });
        response.once('error', fail);
        response.once('close', () => done(response.statusCode ?? 0));
      });
    });
  }
}

/** The answer, or the reason of the API server why not. */
export function mustBe(answer: KubeAnswer, what: string, ...statuses: readonly number[]): KubeAnswer['body'] {
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  if (statuses.includes(answer.status)) return undefined;
  const message = typeof answer.body?.message === 'string' ? answer.body.message : `status ${answer.status}`;
  throw new AppError('unavailable', `${what}: ${message.slice(0, 300)}`);
}
