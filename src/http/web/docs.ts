import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { API_DOCUMENTS, ROOT } from '../../base/release.ts';
import { anyone } from '../admission/access.ts';
import type { Scope } from '../server.ts';

const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Atrium API</title>
<link rel="stylesheet" href="/api/v1/docs/swagger-ui.css"><link rel="icon" href="data:,"></head>
<body><div id="api"></div><script src="/api/v1/docs/swagger-ui-bundle.js"></script><script src="/api/v1/docs/start.js"></script></body>
</html>`;

const START = `SwaggerUIBundle({ url: '/api/v1/openapi.json', dom_id: '#api', deepLinking: true, validatorUrl: 'none', persistAuthorization: false });`;

/** Swagger UI, copied by the build of the console, so that its packages are not needed in production. */
const ASSETS = join(ROOT, 'console', 'dist', 'docs');

const ALWAYS_ASK = 'no-cache';
const FOR_A_DAY = 'public, max-age=86400';
const FILES = [
  [API_DOCUMENTS, 'atrium.json', '/openapi.json', 'application/json; charset=utf-8', ALWAYS_ASK],
  [API_DOCUMENTS, 'atrium.yaml', '/openapi.yaml', 'application/yaml; charset=utf-8', ALWAYS_ASK],
  [ASSETS, 'swagger-ui.css', '/docs/swagger-ui.css', 'text/css', FOR_A_DAY],
  [ASSETS, 'swagger-ui-bundle.js', '/docs/swagger-ui-bundle.js', 'text/javascript', FOR_A_DAY],
] as const;

/** The documentation page with all its parts served from here: it works without any network. */
export function docsRoutes(scope: Scope): void {
  const hidden = { config: { access: anyone }, schema: { hide: true } };

  for (const [folder, name, url, type, caching] of FILES) {
    scope.get(url, hidden, fileSender(join(folder, name), type, caching));
  }
  scope.get('/docs', hidden, async (_request, reply) =>
    reply.header('Content-Security-Policy', DOCS_POLICY).type('text/html; charset=utf-8').send(PAGE),
  );
  scope.get('/docs/start.js', hidden, async (_request, reply) => reply.type('text/javascript').send(START));
}

/** These files are large and seldom read, so they stay on disk. A tag is computed once: a release does not change. */
function fileSender(file: string, type: string, caching: string) {
  let etag: string | undefined;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const known = request.headers['if-none-match'];
    reply.header('Cache-Control', caching);
    if (etag !== undefined && known === etag) return reply.code(304).header('ETag', etag).send();
    const content = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      throw new AppError('notFound', 'the web console was not built, nor was this page', { cause });
    });
    etag ??= `"${hash('sha256', content, 'base64url').slice(0, 22)}"`;
    reply.header('ETag', etag);
    return known === etag ? reply.code(304).send() : reply.type(type).send(content);
  };
}
