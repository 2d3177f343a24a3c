import type { Fetch } from '../client/client.ts';

/** Keeps the cookies of one sign-in, and repeats the CSRF token of its session. */
export function withCookies(send: Fetch): Fetch {
  const cookies = new Map<string, string>();
  let csrf = '';
  return async (url, init) => {
    const Cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const extra = { ...(Cookie && { Cookie }), ...(csrf && init.method !== 'GET' && { 'X-Csrf-Token': csrf }) };
    const answer = await send(url, { ...init, headers: { ...init.headers, ...extra } });
    for (const [, name = '', value = ''] of (answer.headers.get('set-cookie') ?? '').matchAll(
      /(atrium_\w+|_csrf)=([^;,]*)/g,
    )) {
      cookies.set(name, value);
    }
    csrf = answer.headers.get('x-csrf-token') ?? csrf;
    return answer;
  };
}
