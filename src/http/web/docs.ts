import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { API_DOCUMENTS } from '../../base/release.ts';
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

const DOCUMENTS = [
  ['atrium.json', '/openapi.json', 'application/json; charset=utf-8'],
  ['atrium.yaml', '/openapi.yaml', 'application/yaml; charset=utf-8'],
] as const;

/** The documentation page with all its parts served from here: it works without any network. */
export function docsRoutes(scope: Scope): void {
  const assets = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')), 'static');
  const hidden = { config: { access: anyone }, schema: { hide: true } };

  for (const [name, url, type] of DOCUMENTS) scope.get(url, hidden, documentSender(join(API_DOCUMENTS, name), type));
  scope.get('/docs', hidden, async (_request, reply) =>
    reply.header('Content-Security-Policy', DOCS_POLICY).type('text/html; charset=utf-8').send(PAGE),
  );
  scope.get('/docs/start.js', hidden, async (_request, reply) => reply.type('text/javascript').send(START));
  for (const [name, type] of [
    ['swagger-ui.css', 'text/css'],
    ['swagger-ui-bundle.js', 'text/javascript'],
  ] as const) {
    const file = readFileSync(join(assets, name));
    scope.get(`/docs/${name}`, hidden, async (_request, reply) =>
      reply.header('Cache-Control', 'public, max-age=86400').type(type).send(file),
    );
  }
}

/** The document is large and seldom read, so it stays on disk. Its tag is computed once: a release does not change. */
function documentSender(file: string, type: string) {
  let etag: string | undefined;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const known = request.headers['if-none-match'];
    reply.header('Cache-Control', 'no-cache');
    if (etag !== undefined && known === etag) return reply.code(304).header('ETag', etag).send();
    const content = await readFile(file);
    etag ??= `"${hash('sha256', content, 'base64url').slice(0, 22)}"`;
    reply.header('ETag', etag);
    return known === etag ? reply.code(304).send() : reply.type(type).send(content);
  };
}
