import type { FastifyReply } from 'fastify';
import { cookieName } from './provider-sign-in.ts';

export type BrowserCookies = ReturnType<typeof createBrowserCookies>;

/** What a browser keeps for a few minutes. It comes back only to the addresses that sign people in. */
export function createBrowserCookies(isHttps: () => boolean) {
  return { give, clear, clearPending };

  function give(reply: FastifyReply, name: string, value: string, seconds: number): void {
    reply.header('Set-Cookie', `${name}=${value}${attributes()}; Max-Age=${seconds}`);
  }

  function clear(reply: FastifyReply, name: string): void {
    give(reply, name, '', 0);
  }

  function clearPending(reply: FastifyReply, state: string): void {
    if (/^[\w-]{43}$/.test(state)) clear(reply, cookieName(state));
  }

  function attributes(): string {
    return `; Path=/api/v1/user; HttpOnly; SameSite=Lax${isHttps() ? '; Secure' : ''}`;
  }
}
