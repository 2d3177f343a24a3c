// Drives a demo server with client libraries of other languages, unchanged, as their users install them.
// Not part of `npm test`: it downloads them. A tool that is absent is said loudly and counts as not tried.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const PYTHONS = ['python3.14', 'python3.13', 'python3.12', 'python3'];
const MINUTES = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'atrium-clients-'));
const server = spawn(process.execPath, [resolve('src/main.ts'), 'demo'], {
  cwd: folder,
  env: { PATH: process.env.PATH, PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'error', DATA_DIR: join(folder, 'data') },
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.on('exit', () => server.kill('SIGKILL'));

let passed = 0;
let tried = 0;
const absent = [];
try {
  await listening();
  const demo = JSON.parse(readFileSync(join(folder, 'data', 'demo.json'), 'utf8'));
  const env = {
    ...process.env,
    BASE_URL: demo.baseUrl,
    ROOT_TOKEN: demo.users.root.token,
    ANN_TOKEN: demo.users.ann.token,
    ANN_PASSWORD: demo.users.ann.password,
  };
  drivePython(env);
  driveGo(env);
} finally {
  server.kill('SIGTERM');
  await new Promise((done) => (server.exitCode === null ? server.once('exit', done) : done()));
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
for (const line of absent) say(`\n!!! NOT TRIED: ${line}`);
say(`\n${passed}/${tried} calls of other clients work`);
process.exit(passed === tried && tried > 0 ? 0 : 1);

function drivePython(env) {
  say('py-gitea (PyPI)');
  const place = join(folder, 'python');
  const python = PYTHONS.find((name) => run(name, ['-m', 'venv', '--clear', place]).status === 0);
  if (python === undefined) return void absent.push('py-gitea: no python3 with venv is installed');
  const installed = run(join(place, 'bin', 'pip'), ['install', '--quiet', 'py-gitea']);
  if (installed.status !== 0) return void absent.push(`py-gitea: ${lastLine(installed)}`);
  count(run(join(place, 'bin', 'python'), [resolve('scripts/clients/calls.py')], { env }));
}

function driveGo(env) {
  say('code.gitea.io/sdk/gitea (Go)');
  if (run('go', ['version']).status !== 0) return void absent.push('the Go SDK: go is not installed');
  const place = mkdtempSync(join(folder, 'go-'));
  copyFileSync('scripts/clients/calls.go', join(place, 'main.go'));
  run('go', ['mod', 'init', 'calls'], { cwd: place });
  const got = run('go', ['get', 'code.gitea.io/sdk/gitea@latest'], { cwd: place });
  if (got.status !== 0) return void absent.push(`the Go SDK: ${lastLine(got)}`);
  count(run('go', ['run', '.'], { cwd: place, env }));
}

function run(command, args, options = {}) {
  return spawnSync(command, args, { encoding: 'utf8', timeout: 4 * MINUTES, ...options });
}

/** A client that said nothing at all has failed too. */
function count(done) {
  const lines = done.stdout.split('\n').filter((line) => /^(ok|no) /.test(line));
  for (const line of lines) say(`  ${line}`);
  passed += lines.filter((line) => line.startsWith('ok ')).length;
  tried += lines.length;
  if (lines.length === 0 || (done.status !== 0 && lines.every((line) => line.startsWith('ok ')))) {
    tried += 1;
    say(`  no end: ${lastLine(done)}`);
  }
}

function lastLine({ stderr, error }) {
  return error?.message ?? stderr?.trim().split('\n').at(-1) ?? 'failed';
}

function listening() {
  return new Promise((done, fail) => {
    server.stdout.on('data', (chunk) => /^listening on /m.test(chunk) && done());
    server.once('exit', () => fail(new Error('the demo server ended')));
    setTimeout(() => fail(new Error('the demo server did not start within a minute')), MINUTES).unref();
  });
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
