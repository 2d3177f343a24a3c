import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';

/**
 * Builds plain JavaScript into dist/. Arguments are passed on to the compiler, except --keep-console, which leaves
 * console/dist/ as it is.
 */
const options = process.argv.slice(2).filter((option) => option !== '--keep-console');
rmSync('dist', { recursive: true, force: true });
// The command line and its client do not depend on the server, so they are a separate program.
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build-cli.json', ...options);
// The bundler does not look at types.
if (!options.includes('--noCheck')) run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...options);
run('scripts/server.mjs', 'dist');
if (!process.argv.includes('--keep-console')) run('scripts/console.mjs', '--small');
process.stdout.write('built: node bin/atrium.mjs serve\n');

function run(...command) {
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
