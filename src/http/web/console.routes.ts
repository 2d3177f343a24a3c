import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { ROOT } from '../../base/release.ts';
import { anyone } from '../admission/access.ts';
import { SESSION_COOKIE } from '../admission/credential.ts';
import type { Scope } from '../server.ts';
import { openConsoleFiles } from './console-files.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
const PLAIN_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Names with the hash of their content never change it. */
const HASHED = /-[\w-]{8}\.\w+$/;
const DATA = '<script type="application/json" id="atrium">{}</script>';

/** The addresses of the console. A test compares them with its pages. */
export const PAGE_ROOTS = ['/', '/signin', '/welcome', '/invitations', '/me', '/orgs', '/model', '/admin'] as const;

export interface ConsoleOptions {
  /** What a page must know before it asks anything. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Further paths that the specification sends to the frontend, with any method. */
  readonly paths: readonly string[];
}

/** The web console: one document for all pages, and the files that it loads. */
export function consoleRoutes(scope: Scope, { data, paths }: ConsoleOptions): void {
  const files = openConsoleFiles(join(ROOT, 'console', 'dist'));
  const sendPage = files === undefined ? plainPage() : builtPage(files.page, data);
  const hidden = { config: { access: anyone, takesNul: true }, schema: { hide: true } };

  for (const url of PAGE_ROOTS.flatMap((root) => (root === '/' ? [root] : [root, `${root}/*`]))) {
    scope.get(url, hidden, sendPage);
  }
  for (const url of paths) {
    // Answered before a body is read: every request gets the page, whatever it sends.
    scope.route({ ...hidden, method: METHODS, url, onRequest: sendPage, handler: sendPage });
  }
  scope.get('/.well-known/change-password', hidden, async (_request, reply) => reply.redirect('/me/password', 302));
  scope.get('/assets/*', hidden, async (request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const file = await files?.find(path, String(request.headers['accept-encoding'] ?? ''));
    if (file === undefined) throw new AppError('notFound', 'no such file', { reason: 'route_not_found' });
    if (file.encoding) reply.header('Content-Encoding', file.encoding);
    return reply
      .header('Cache-Control', HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
      .header('Vary', 'Accept-Encoding')
      .type(file.type)
      .send(file.content);
  });
}

type SendPage = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

function builtPage(html: string, data: Readonly<Record<string, unknown>>): SendPage {
  if (!html.includes(DATA)) throw new Error('console/dist/index.html has no place for its data: run npm run build');
  const [signedOut, signedIn] = [false, true].map((signedIn) => {
    // Inside a script element, only "<" could end the data early.
    const json = JSON.stringify({ ...data, signedIn }).replaceAll('<', '\\u003c');
    const body = html.replace(DATA, () => DATA.replace('{}', () => json));
    return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
  }) as [Page, Page];
  return async (request, reply) => {
    const { body, etag } = (request.headers.cookie ?? '').includes(`${SESSION_COOKIE}=`) ? signedIn : signedOut;
    reply
      .header('Content-Security-Policy', POLICY)
      .header('Cross-Origin-Opener-Policy', 'same-origin')
      .header('Permissions-Policy', 'camera=(), geolocation=(), microphone=()')
      .header('Cache-Control', 'private, no-cache')
      .header('Vary', 'Cookie')
      .header('ETag', etag);
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type('text/html; charset=utf-8').send(body);
  };
}

interface Page {
  readonly body: string;
  readonly etag: string;
}

/** Without a build there is still a page, which says so. */
function plainPage(): SendPage {
  const page = readFileSync(join(ROOT, 'console', 'plain.html'), 'utf8');
  return async (_request, reply) =>
    reply.header('Content-Security-Policy', PLAIN_POLICY).type('text/html; charset=utf-8').send(page);
}
