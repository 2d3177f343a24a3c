import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { extname } from 'node:path';

/**
 * Plain JavaScript in dist/. It stands beside console/ and migrations/, as src/ does, so paths need no second form.
 * Arguments go to the compiler.
 */
rmSync('dist', { recursive: true, force: true });
// The command line and its client know nothing of the server, so they are a program of their own beside it.
for (const project of ['tsconfig.build.json', 'tsconfig.build-cli.json']) {
  const tsc = ['node_modules/typescript/bin/tsc', '-p', project, ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
cpSync('src', 'dist', { recursive: true, filter: (path) => !['.ts', '.js'].includes(extname(path)) });
process.stdout.write('built: node dist/main.js, node bin/atrium.mjs\n');
