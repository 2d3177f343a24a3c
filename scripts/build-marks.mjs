// Says whether what was built is of the present sources. It runs at every start, so it reads no file contents.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const CONSOLE = ['console', 'client', 'package-lock.json', 'scripts/console.mjs', 'scripts/console-config.mjs'];
const SERVER = ['src', 'packages/rebac/src', 'package-lock.json', 'scripts/server.mjs'];

export function consoleMark(root) {
  return markOf(root, CONSOLE);
}

export function isConsoleBuilt(root) {
  // Production images have only what was built.
  if (!existsSync(join(root, 'console', 'src'))) return true;
  const file = join(root, 'console', 'dist', '.built');
  return existsSync(file) && readFileSync(file, 'utf8') === consoleMark(root);
}

/** The bundled servers of this clone, one folder for each state of the sources. */
export function bundlesOf(root) {
  return join(root, '.cache', 'server');
}

/** Where the server is that was bundled from the present sources, or would be. */
export function bundleOf(root) {
  return join(bundlesOf(root), markOf(root, SERVER).slice(0, 16));
}

function markOf(root, sources) {
  const hash = createHash('sha256');
  for (const source of sources) add(join(root, source));
  return hash.digest('hex');

  function add(path) {
    const found = statSync(path);
    if (!found.isDirectory()) hash.update(`${path.slice(root.length)} ${found.size} ${found.mtimeMs}\n`);
    else for (const name of readdirSync(path).sort()) if (!name.startsWith('dist')) add(join(path, name));
  }
}
