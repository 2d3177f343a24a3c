import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { extname } from 'node:path';

/** Plain JavaScript in dist/. It stands beside console/ and migrations/, as src/ does, so paths need no second form. */
rmSync('dist', { recursive: true, force: true });
const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'];
const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
cpSync('src', 'dist', { recursive: true, filter: (path) => !['.ts', '.js'].includes(extname(path)) });
process.stdout.write('built: node dist/main.js\n');
