import type { Answer, Call, TestServer } from './server.ts';

/** What a browser keeps after it has signed in. */
export interface BrowserSession {
  readonly headers: { readonly Cookie: string };
  readonly csrf: string;
}

export function sessionOf(answer: Answer): BrowserSession {
  const pairs = answer.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0] ?? '');
  const csrf = pairs.find((pair) => pair.startsWith('_csrf='))?.slice(6) ?? '';
  return { headers: { Cookie: pairs.join('; ') }, csrf };
}

/** Calls as a page of that session does. */
export function inSession(atrium: TestServer, { headers, csrf }: BrowserSession): Call {
  return (method, path, body, more) =>
    atrium.as()(method, path, body, { ...headers, ...(method !== 'GET' && { 'X-Csrf-Token': csrf }), ...more });
}
