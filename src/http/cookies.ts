import type { FastifyReply } from 'fastify';
import type { Session } from '../identity/sessions/sessions.ts';
import { CSRF_COOKIE, SESSION_COOKIE } from './admission/credential.ts';

/** What a browser keeps between the steps of a sign-in. */
export const TICKET_COOKIE = 'atrium_signin';
/** Ties a challenge for a passkey to the browser that asked for it. */
export const CEREMONY_COOKIE = 'atrium_passkey';

/**
 * Scripts cannot read the cookies. A page gets its CSRF token from the X-Csrf-Token header of any response in its
 * session.
 */
export function createCookies(isHttps: () => boolean) {
  return { give, clear, giveTicket, clearTicket, giveCeremony };

  function give(reply: FastifyReply, session: Session): void {
    const life = session.isRemembered ? `; Expires=${session.expiresAt.toUTCString()}` : '';
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

  function giveTicket(reply: FastifyReply, { ticket, expiresAt }: { ticket: string; expiresAt: Date }): void {
    reply.header('Set-Cookie', `${TICKET_COOKIE}=${ticket}${narrow()}; Expires=${expiresAt.toUTCString()}`);
  }

  function clearTicket(reply: FastifyReply): void {
    reply.header('Set-Cookie', `${TICKET_COOKIE}=${narrow()}; Max-Age=0`);
  }

  function giveCeremony(reply: FastifyReply, { text, expiresAt }: { text: string; expiresAt: Date }): void {
    reply.header('Set-Cookie', `${CEREMONY_COOKIE}=${text}${narrow()}; Expires=${expiresAt.toUTCString()}`);
  }

  /** No other site can make a browser send these, and no path but that of the current user needs them. */
  function narrow(): string {
    return `; Path=/api/v1/user; HttpOnly; SameSite=Strict${isHttps() ? '; Secure' : ''}`;
  }

  function attributes(): string {
    return `; Path=/; HttpOnly; SameSite=Lax${isHttps() ? '; Secure' : ''}`;
  }
}

export type Cookies = ReturnType<typeof createCookies>;
