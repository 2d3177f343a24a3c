// Builds the documentation site from docs/ into site/dist, and serves it on this machine only.
// `npm run docs -- build` only builds it. DOCS_PORT chooses the port.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { build } from '../site/node_modules/vitepress/dist/node/index.js';

const SITE = join(import.meta.dirname, '..', 'site');
const DIST = join(SITE, 'dist');
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

await build(SITE);
if (process.argv[2] !== 'build') serve(Number(process.env.DOCS_PORT ?? 4173));

function serve(port) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const found = await fileAt(pathname);
    const body = found?.body ?? (await readFile(join(DIST, '404.html')));
    response.writeHead(found ? 200 : 404, { 'Content-Type': TYPES[found?.type ?? '.html'] ?? 'text/plain' });
    response.end(body);
  });
  server.listen(port, '127.0.0.1', () => {
    process.stdout.write(`the documentation is on http://127.0.0.1:${server.address().port}\n`);
  });
}

/** A page has no ending in its address. */
async function fileAt(pathname) {
  const path = normalize(decodeURIComponent(pathname));
  for (const name of [path, `${path}.html`, join(path, 'index.html')]) {
    const body = await readFile(join(DIST, name)).catch(() => undefined);
    if (body) return { body, type: extname(name) };
  }
  return undefined;
}
