import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { extname } from 'node:path';

/**
 * Builds plain JavaScript into dist/. dist/ is next to console/ and migrations/, as src/ is, so relative paths stay the
 * same. Arguments are passed on to the compiler, except --keep-console, which leaves console/dist/ as it is.
 */
const options = process.argv.slice(2).filter((option) => option !== '--keep-console');
rmSync('dist', { recursive: true, force: true });
// The command line and its client do not depend on the server, so they are a separate program.
for (const project of ['tsconfig.build.json', 'tsconfig.build-cli.json']) {
  const tsc = ['node_modules/typescript/bin/tsc', '-p', project, ...options];
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
cpSync('src', 'dist', { recursive: true, filter: (path) => !['.ts', '.js'].includes(extname(path)) });
if (!process.argv.includes('--keep-console')) {
  const { status } = spawnSync(process.execPath, ['scripts/console.mjs', '--small'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
process.stdout.write('built: node bin/atrium.mjs serve\n');
