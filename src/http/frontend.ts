import { readFileSync } from 'node:fs';
import { anyone } from './access.ts';
import type { Scope } from './server.ts';

const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The web page of this server, served at the root and wherever the specification sends users to the frontend. */
export function frontendRoutes(scope: Scope, paths: readonly string[]): void {
  const page = readFileSync(new URL('../../console/index.html', import.meta.url), 'utf8');
  for (const url of paths) {
    scope.route({
      method: url === '/' ? 'GET' : METHODS,
      url,
      config: { access: anyone, takesNul: true },
      schema: { hide: true },
      // Answered before a body is read: every request gets the page, whatever it sends.
      onRequest: async (_request, reply) =>
        reply.header('Content-Security-Policy', PAGE_POLICY).type('text/html; charset=utf-8').send(page),
      handler: async () => page,
    });
  }
}
