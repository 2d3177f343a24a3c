#!/usr/bin/env node
// Runs on Node 20 and newer. A Node older than 24 hands over to the pinned one in node_modules.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST = 24;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isClone = existsSync(join(root, 'cli', 'main.ts'));

if (Number(process.versions.node.split('.')[0]) < OLDEST) await handOverToNewerNode();
else {
  // Keeps compiled code on disk, for this user only. It makes start-up three times as fast.
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  module.enableCompileCache(join(cache, 'atrium', 'compile'));
  const { main } = await import(isClone ? '../cli/main.ts' : '../dist/cli/main.js');
  await main(process.argv.slice(2), {
    /** Runs the commands that need the server's own machine: its settings, its database, its keys. */
    runOnServer: () => import(isClone ? '../src/cli.ts' : '../dist/cli.js'),
  });
}

async function handOverToNewerNode() {
  const { spawn } = await import('node:child_process');
  // Starts the binary itself, not the script that npm puts next to it: a script needs a shell, and a shell would
  // interpret the arguments as commands.
  const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(node)) {
    process.stderr.write(
      `atrium: Node ${OLDEST} or newer is required, this is ${process.version}; run npm ci in ${root}\n`,
    );
    process.exit(2);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
