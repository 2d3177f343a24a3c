import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { anyone } from '../access.ts';
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

/** The documentation page with all its parts served from here: it works without any network. */
export function docsRoutes(scope: Scope, describe: () => object): void {
  const assets = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')), 'static');
  const hidden = { config: { access: anyone }, schema: { hide: true } };

  scope.get('/openapi.json', { ...hidden, schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(describe())),
  );
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
