// Builds the web console into console/dist/, next to the files of the documentation page, with compressed forms next to the files. With --small, it takes longer to
// compress them.
import { cpSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { consoleMark } from './build-marks.mjs';
import { consoleConfig } from './console-config.mjs';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'console', 'dist');
/** Built next to its place and then moved, because two starts may build at the same time. */
const DRAFT = `${DIST}-${process.pid}`;
const QUALITY = process.argv.includes('--small') ? 11 : 9;
/** The page at /api/v1/docs needs no more of Swagger UI than these. */
const SWAGGER_UI = join(ROOT, 'node_modules', '@fastify', 'swagger-ui', 'static');
const DOCS = ['swagger-ui.css', 'swagger-ui-bundle.js'];
const TYPES = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const mark = consoleMark(ROOT);
try {
  await build(consoleConfig(DRAFT));
  const paths = globSync('assets/*', { cwd: DRAFT }).sort();
  const files = paths.map((path) => ({
    path: `/${path}`,
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    encodings: compress(join(DRAFT, path)),
  }));
  writeFileSync(join(DRAFT, 'files.json'), `${JSON.stringify(files, undefined, 2)}\n`);
  for (const name of DOCS) cpSync(join(SWAGGER_UI, name), join(DRAFT, 'docs', name));
  writeFileSync(join(DRAFT, '.built'), mark);
  rmSync(DIST, { recursive: true, force: true });
  renameSync(DRAFT, DIST);
} finally {
  rmSync(DRAFT, { recursive: true, force: true });
}

/** Fonts are compressed already. */
function compress(file) {
  if (extname(file) === '.woff2') return [];
  const content = readFileSync(file);
  const br = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });
  writeFileSync(`${file}.br`, br);
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  return ['br', 'gzip'];
}
