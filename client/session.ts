import type { Fetch } from './fetch.ts';

/**
 * Remembers the CSRF token of a session. The server repeats it in every response; scripts cannot read it from the
 * cookie. A request that changes something has to bring it along.
 */
export function createCsrf() {
  let token = '';
  return {
    headersFor: (method: string): Record<string, string> =>
      method === 'GET' || token === '' ? {} : { 'X-Csrf-Token': token },
    learnFrom({ headers }: { readonly headers: { get(name: string): string | null } }): void {
      token = headers.get('x-csrf-token') ?? token;
    },
  };
}

/** Sends requests with the cookies of the browser. */
export function withSession(send: Fetch, credentials: 'same-origin' | 'include'): Fetch {
  const csrf = createCsrf();
  return async (url, init) => {
    const headers = { ...init.headers, ...csrf.headersFor(init.method) };
    const answer = await send(url, { ...init, headers, credentials });
    csrf.learnFrom(answer);
    return answer;
  };
}
