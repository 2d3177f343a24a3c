/**
 * npm run bench -- cli: how long the command line takes to start and to answer, compared with bare Node in the same
 * run.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROUNDS = Number(process.env.ROUNDS ?? 15);
const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-cli-'));
const program = resolve('bin/atrium.mjs');
const server = spawn(process.execPath, [resolve('src/main.ts'), 'demo'], {
  cwd: folder,
  env: { PATH: process.env.PATH, PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'error', DATA_DIR: join(folder, 'data') },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await listening();
  const demo = JSON.parse(readFileSync(join(folder, 'data', 'demo.json'), 'utf8'));
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ATRIUM_URL: url,
    ATRIUM_TOKEN: demo.users.ann.token as string,
    ATRIUM_ORG: 'acme',
  };
  const runs: Readonly<Record<string, readonly string[]>> = {
    'node -e 0': ['-e', '0'],
    'atrium version (no server)': [program, 'version'],
    'atrium --help': [program, '--help'],
    'atrium team create --help': [program, 'team', 'create', '--help'],
    'atrium whoami': [program, 'whoami'],
    'atrium can ann connect cluster:1': [program, 'can', 'ann', 'connect', 'cluster:1'],
    'atrium can ann connect cluster:prod --why': [program, 'can', 'ann', 'connect', 'cluster:prod', '--why'],
  };
  const cold = measure([program, '--help'], env);
  const times = new Map(Object.keys(runs).map((name) => [name, [] as number[]]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, args] of Object.entries(runs)) {
      const ms = measure(args, name.includes('no server') ? { PATH: env.PATH, HOME: folder } : env);
      if (round >= 0) times.get(name)?.push(ms);
    }
  }
  const bare = median(times.get('node -e 0') ?? []);
  say(`${ROUNDS} rounds, medians; the very first start, with nothing compiled yet, took ${cold.toFixed(0)} ms`);
  say('| what | ms | above a bare node | slowest |\n|---|---|---|---|');
  for (const [name, all] of times) {
    const cells = [median(all), median(all) - bare, Math.max(...all)].map((ms) => ms.toFixed(0));
    say(`| \`${name}\` | ${cells.join(' | ')} |`);
  }
} finally {
  server.kill('SIGTERM');
  await new Promise((done) => server.once('exit', done));
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

function measure(args: readonly string[], env: Readonly<Record<string, string>>): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function listening(): Promise<string> {
  return new Promise((done, fail) => {
    let said = '';
    server.stdout.on('data', (chunk) => {
      said += chunk;
      const address = /^listening on (http:\S+)$/m.exec(said)?.[1];
      if (address) done(address);
    });
    server.once('exit', () => fail(new Error('the demo server ended')));
  });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
