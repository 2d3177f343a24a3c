import type { FastifyRequest } from 'fastify';
import { isTokenText } from '../../identity/tokens/token-text.ts';

/** What a client sends to authenticate; whether it is valid is decided elsewhere. */
export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly text: string; readonly basic?: boolean }
  | { readonly kind: 'password'; readonly login: string; readonly password: string }
  | { readonly kind: 'session'; readonly text: string; readonly csrf: string | undefined };

export const SESSION_COOKIE = 'atrium_session';
export const CSRF_COOKIE = '_csrf';

const NONE: Credential = { kind: 'none' };
const HEADER = /^(token|bearer|basic) +([^ ]+)$/i;

/** Query parameter before header before cookie. The query counts only if the route allows it. */
export function readCredential(request: FastifyRequest, queryAllowed: boolean): Credential {
  if (queryAllowed) {
    const { token, access_token } = request.query as Record<string, unknown>;
    const text = token || access_token;
    if (typeof text === 'string') return { kind: 'token', text };
    if (text !== undefined && text !== '') return { kind: 'token', text: '' };
  }
  const header = request.headers.authorization;
  if (header !== undefined) return fromHeader(header);
  return request.headers.cookie === undefined ? NONE : fromCookies(request);
}

function fromHeader(header: string): Credential {
  const [, scheme, value] = HEADER.exec(header.trim()) ?? [];
  if (scheme === undefined || value === undefined) return NONE;
  return scheme.toLowerCase() === 'basic' ? fromBasic(value) : { kind: 'token', text: value };
}

/**
 * `user:password`, `user:token` or `token:`. A text with the prefix and checksum of a token is a token; anything else
 * may be a password.
 */
function fromBasic(encoded: string): Credential {
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return NONE;
  const login = pair.slice(0, colon);
  const password = pair.slice(colon + 1);
  if (isTokenText(password)) return { kind: 'token', text: password, basic: true };
  const isLabel = password === 'x-oauth-basic' && isTokenText(login);
  if (password === '' || isLabel) return { kind: 'token', text: login, basic: true };
  return { kind: 'password', login, password };
}

function fromCookies(request: FastifyRequest): Credential {
  const text = readCookie(request, SESSION_COOKIE);
  if (text === undefined) return NONE;
  const csrf = request.headers['x-csrf-token'];
  return { kind: 'session', text, csrf: typeof csrf === 'string' ? csrf : undefined };
}

/** Whether a request carries nothing that could be a credential. A header that cannot be read is no absence. */
export function isAnonymous(request: FastifyRequest): boolean {
  return request.headers.authorization === undefined && readCredential(request, false).kind === 'none';
}

export function readCookie(request: FastifyRequest, name: string): string | undefined {
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

export function isBasic(credential: Credential): boolean {
  return credential.kind === 'password' || (credential.kind === 'token' && credential.basic === true);
}
