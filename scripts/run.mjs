// Runs a file under the pinned Node 24. Works with any Node from 20 on and with nothing installed: it installs what is
// missing. What only tests and benchmarks need is a package of its own, test/package.json, which a start does not fetch;
// so is what builds the documentation site, site/package.json.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { bundleOf, isConsoleBuilt } from './build-marks.mjs';
import { provideDebianPackages } from './debian-packages.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const SERVER = 'src/main.ts';

/**
 * By default, glibc gives each thread a heap of its own and keeps what they free: some 40 MiB of an idle server. These
 * must be set before a process starts. The Dockerfile and the systemd unit set the same.
 */
const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };

const job = process.argv.slice(2);
if (job.length === 0) stop('missing job. The jobs are in package.json; run npm run NAME');
const file = job.find((part) => !part.startsWith('--')) ?? '';
const isCommandLine = file === 'bin/atrium.mjs';
// A server may run from this folder. Nothing must be replaced under it, and no command may need the network.
const isProduction = isCommandLine && isBuiltForProduction();
// Installing and building take minutes on the first start, so what would make it fail then is checked now.
if (file === SERVER) await requireFreePort();
if (!isProduction) install(ROOT);
if (/^(?:test|bench|scripts\/console-shots)\b/.test(file)) install(join(ROOT, 'test'));
if (file === 'scripts/docs.mjs') install(join(ROOT, 'site'));
if (/^(?:src\/main\.ts|test\/runner\/|bench\/|scripts\/console-shots)/.test(file)) buildConsole();
if (file.startsWith('test/runner/')) {
  const isLong = job.some((part) => part === 'long' || part.startsWith('test/long'));
  process.env.TEST_WITHOUT = provideDebianPackages(say, { isLong }).join();
}
// Benchmarks measure the server as it is started here.
if (file.startsWith('bench/')) process.env.BENCH_SERVER = serverFile();
// Tests that start processes start the same one. In the long suite, some change the sources first.
if (file.startsWith('test/runner/') && job.includes('everyday')) process.env.TEST_SERVER = serverFile();
handOver(file === SERVER ? job.map((part) => (part === file ? serverFile() : part)) : job);

/** The server checks all of its ports and settings itself; this one is what a first start meets. */
async function requireFreePort() {
  const env = existsSync(join(ROOT, '.env')) ? parseEnv(readFileSync(join(ROOT, '.env'), 'utf8')) : {};
  const { HOST: host = '127.0.0.1', PORT: port = '3000' } = { ...env, ...process.env };
  if (!/^[1-9]\d{0,4}$/.test(port)) return;
  const code = await new Promise((resolve) => {
    const server = createServer().once('error', (error) => resolve(error.code));
    server.listen(Number(port), host, () => server.close(() => resolve(undefined)));
  }).catch(() => undefined);
  if (code !== 'EADDRINUSE') return;
  stop(`port ${port} of ${host} is in use; stop the program that uses it, or choose another with PORT`);
}

function install(folder) {
  const wanted = fingerprint(folder);
  const reason = reasonToInstall(folder, wanted);
  if (reason === undefined) return;
  say(`${reason}: running npm ci`);
  // Under npm, the environment names npm's own program. The pinned Node is a development dependency.
  const npm = process.env.npm_execpath;
  const [command, ...before] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  const done = spawnSync(command, [...before, 'ci', '--include=dev', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    // What `npm pack --dry-run` does not want to write is the package.
    env: { ...process.env, npm_config_dry_run: '' },
  });
  if (done.status !== 0) stop('npm ci failed; see its output above', done.status ?? 1);
  if (!nodeStarts()) stop('npm ci ran, but node_modules/.bin/node does not start; does Node 24 support this platform?');
  writeFileSync(markOf(folder), `${wanted}\n`);
}

function reasonToInstall(folder, wanted) {
  const modules = relative(ROOT, join(folder, 'node_modules'));
  if (!existsSync(join(folder, 'node_modules'))) return `${modules} is missing`;
  if (!existsSync(markOf(folder))) return `${modules} was not installed by this script, or not completely`;
  if (readFileSync(markOf(folder), 'utf8').trim() !== wanted) return 'package-lock.json or the platform changed';
  if (!nodeStarts()) return 'the pinned Node does not start';
  return undefined;
}

function isBuiltForProduction() {
  const has = (...path) => existsSync(join(ROOT, ...path));
  return has('dist', 'cli.js') && has('node_modules') && !has('node_modules', 'typescript');
}

function markOf(folder) {
  return join(folder, 'node_modules', '.installed');
}

function fingerprint(folder) {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');
}

function nodeStarts() {
  return spawnSync(NODE, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Without it, the server still runs and serves a plain page that says so. */
function buildConsole() {
  if (isConsoleBuilt(ROOT)) return;
  say('building the web console');
  const { status } = spawnSync(NODE, [join(ROOT, 'scripts', 'console.mjs')], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) say('the web console cannot be built; see the output above. Everything else works');
}

/** The server in a few files, which starts in half of the time; or else its sources, which do the same. */
function serverFile() {
  if (!existsSync(join(ROOT, 'node_modules', 'rolldown'))) return SERVER;
  const built = join(bundleOf(ROOT), 'main.js');
  if (existsSync(built)) return built;
  const { status } = spawnSync(NODE, [join(ROOT, 'scripts', 'server.mjs')], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) say('the server cannot be bundled; see the output above. It runs from its sources');
  return existsSync(built) ? built : SERVER;
}

/** Passes signals on to the child process, and exits as it does. */
function handOver(args) {
  // Keeps compiled code on disk, so that later starts need less processor time.
  const env = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'compile'), ...MALLOC, ...process.env };
  // Settings and data are in this folder. Files that are named on the command line are where npm was started.
  if (isCommandLine && process.env.INIT_CWD) env.ATRIUM_CALLER_DIR = process.env.INIT_CWD;
  const child = spawn(isProduction ? process.execPath : NODE, args, { cwd: ROOT, stdio: 'inherit', env });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => stop(`Node does not start: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function say(line) {
  process.stderr.write(`atrium: ${line}\n`);
}

function stop(line, code = 1) {
  say(line);
  process.exit(code);
}
