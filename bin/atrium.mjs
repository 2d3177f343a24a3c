#!/usr/bin/env node
// Runs on Node 20 and newer. A Node that is too old hands over to the pinned one, or says what is needed.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** src/base/node-version.ts says the same; a test compares them. */
const OLDEST = '24.7.0';
const root = dirname(dirname(fileURLToPath(import.meta.url)));
// In a clone with its tools, the sources run as they are. An image, an installed package and a clone that was built for
// production run what was built.
const isPackage = root.split(sep).includes('node_modules');
const hasTools = existsSync(join(root, 'node_modules', 'typescript'));
const isBuilt = existsSync(join(root, 'dist', 'cli.js'));
const runsSources = existsSync(join(root, 'cli', 'main.ts')) && !isPackage && (hasTools || !isBuilt);
const settingsFolder = process.cwd();

if (isTooOld(process.versions.node)) await handOverToNewerNode();
else if (!runsSources && !isBuilt) stop(`${root} has no dist folder; run npm run build there`);
else {
  // Keeps compiled code on disk, for this user only. It makes start-up three times as fast.
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  module.enableCompileCache(join(cache, 'atrium', 'compile'));
  // The server listens for signals as soon as it can, so nothing else is loaded before it.
  if (process.argv[2] === 'serve') await runOnServer();
  else {
    // Files that are named on the command line are those of the caller, also if npm was started elsewhere.
    if (process.env.ATRIUM_CALLER_DIR) process.chdir(process.env.ATRIUM_CALLER_DIR);
    const { main } = await import(runsSources ? '../cli/main.ts' : '../dist/cli/main.js');
    await main(process.argv.slice(2), { runOnServer });
  }
}

/** Runs the commands that need the server's own machine: its settings, its database, its keys. */
async function runOnServer() {
  process.chdir(settingsFolder);
  await import(runsSources ? '../src/cli.ts' : '../dist/cli.js');
}

function isTooOld(version) {
  const [major, minor] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST.split('.').map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

async function handOverToNewerNode() {
  const { spawn } = await import('node:child_process');
  // Starts the binary itself, not the script that npm puts next to it: a script needs a shell, and a shell would
  // interpret the arguments as commands.
  const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(node)) {
    const advice = existsSync(join(root, 'scripts', 'run.mjs'))
      ? `install it, or run npm ci in ${root}, which fetches it`
      : 'install it';
    stop(`Node ${OLDEST} or newer is required, this is ${process.version}; ${advice}`);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function stop(line) {
  process.stderr.write(`atrium: ${line}\n`);
  process.exit(2);
}
