import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Builds `@atrium/client` into client/dist/, as JavaScript modules with their types. `npm pack` in client/ calls it. */
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'client', 'dist');
rmSync(target, { recursive: true, force: true });
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build-client.json')], {
  // npm reads what the packed files are from standard output.
  stdio: ['ignore', 2, 2],
});
if (status !== 0) process.exit(status ?? 1);
// The compiler names the sources in declarations. Only what is built is packed.
for (const name of readdirSync(target).filter((one) => one.endsWith('.d.ts'))) {
  const text = readFileSync(join(target, name), 'utf8');
  writeFileSync(join(target, name), text.replace(/(from '\.\/[^']+)\.ts'/g, "$1.js'"));
}
cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
