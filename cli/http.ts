import type { Fetch } from '../client/client.ts';
import { rejected } from './failure.ts';
import { plain } from './text.ts';

/**
 * The built-in fetch takes longer to load than everything else together, so a short command uses this instead.
 * Importing node:http would load fetch too, because an import reads every export; getBuiltinModule does not.
 */
export const quickFetch: Fetch = async (url, { method, headers, body, signal }) => {
  const name = url.startsWith('https:') ? 'node:https' : 'node:http';
  const { request } = process.getBuiltinModule(name) as typeof import('node:http');
  return await new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const length = bytes ? { 'Content-Length': String(bytes.length) } : {};
    const sent = request(url, { method, headers: { ...headers, ...length }, signal }, (answer) => {
      const text = async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks).toString('utf8');
      };
      const get = (name: string) => {
        const value = answer.headers[name];
        return Array.isArray(value) ? value.join(', ') : (value ?? null);
      };
      const status = answer.statusCode ?? 0;
      if (status >= 300 && status < 400) {
        answer.resume();
        reject(new Error(`the server redirects to ${get('location')}`));
      } else resolve({ status, headers: { get }, body: answer, text });
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
};

/** Warns once if the server says that the token of the requests expires soon. */
export function withNotice(send: Fetch, say: (line: string) => void): Fetch {
  let isSaid = false;
  return async (url, init) => {
    const answer = await send(url, init);
    const end = answer.headers.get('x-token-expires-at');
    if (end !== null && !isSaid) {
      isSaid = true;
      say(`warning: your access token expires at ${plain(end)}; replace it with atrium token rotate`);
    }
    return answer;
  };
}

/** A server that does not know `at` answers as of now, which is a wrong answer to a question about the past. */
export function withPast(send: Fetch): Fetch {
  return async (url, init) => {
    const answer = await send(url, init);
    if (answer.status >= 300 || answer.headers.get('x-as-of') !== null) return answer;
    if (!new URL(url).searchParams.has('at')) return answer;
    throw rejected('the server does not know the past and answered as of now: upgrade it, or leave out --at');
  };
}

/** Values that must not be seen over a shoulder or in a log. */
const SECRET_QUERY = /^(token|access_token|secret|password|key|sig)$/i;
const SECRET_HEADERS = /^(authorization|cookie|set-cookie|x-csrf-token|idempotency-key)$/i;

/** Says what is sent and what comes back. Bodies may hold secrets, so only their size is told. */
export function traced(send: Fetch, say: (line: string) => void): Fetch {
  return async (url, init) => {
    const began = performance.now();
    say(`> ${init.method} ${withoutSecrets(url)}`);
    for (const [name, value] of Object.entries(init.headers)) {
      say(`> ${name}: ${SECRET_HEADERS.test(name) ? '(hidden)' : plain(value)}`);
    }
    if (init.body !== undefined) say(`> (a body of ${Buffer.byteLength(init.body)} bytes)`);
    const answer = await send(url, init).catch((error: unknown) => {
      say(`< no answer: ${plain((error as NodeJS.ErrnoException).code ?? (error as Error).message)}`);
      throw error;
    });
    const took = Math.round(performance.now() - began);
    const id = answer.headers.get('x-request-id');
    say(`< ${answer.status} in ${took} ms${id ? `, request ${plain(id)}` : ''}`);
    return answer;
  };
}

function withoutSecrets(text: string): string {
  const url = new URL(text);
  for (const name of new Set(url.searchParams.keys())) {
    if (SECRET_QUERY.test(name)) url.searchParams.set(name, 'hidden');
  }
  return plain(url.href);
}
