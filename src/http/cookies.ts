import type { FastifyReply } from 'fastify';
import type { Session } from '../identity/sessions.ts';
import { CSRF_COOKIE, SESSION_COOKIE } from './credential.ts';

/**
 * Scripts cannot read the cookies. A page gets its CSRF token from the X-Csrf-Token header of any response in its
 * session.
 */
export function createCookies(isHttps: () => boolean) {
  return { give, clear };

  function give(reply: FastifyReply, session: Session, remember: boolean): void {
    const life = remember ? `; Expires=${session.expiresAt.toUTCString()}` : '';
    reply.header('Set-Cookie', [
      `${SESSION_COOKIE}=${session.text}${attributes()}${life}`,
      `${CSRF_COOKIE}=${session.csrf}${attributes()}${life}`,
    ]);
    reply.header('X-Csrf-Token', session.csrf);
  }

  function clear(reply: FastifyReply): void {
    reply.header(
      'Set-Cookie',
      [SESSION_COOKIE, CSRF_COOKIE].map((name) => `${name}=${attributes()}; Max-Age=0`),
    );
  }

  function attributes(): string {
    return `; Path=/; HttpOnly; SameSite=Lax${isHttps() ? '; Secure' : ''}`;
  }
}

export type Cookies = ReturnType<typeof createCookies>;
