// Says whether console/dist/ was built from the present sources. It runs at every start, so it reads no file contents.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['console', 'client', 'package-lock.json', 'scripts/console.mjs', 'scripts/console-config.mjs'];

export function consoleMark(root) {
  const hash = createHash('sha256');
  for (const source of SOURCES) add(join(root, source));
  return hash.digest('hex');

  function add(path) {
    const found = statSync(path);
    if (!found.isDirectory()) hash.update(`${path.slice(root.length)} ${found.size} ${found.mtimeMs}\n`);
    else for (const name of readdirSync(path).sort()) if (!name.startsWith('dist')) add(join(path, name));
  }
}

export function isConsoleBuilt(root) {
  const file = join(root, 'console', 'dist', '.built');
  return existsSync(file) && readFileSync(file, 'utf8') === consoleMark(root);
}
