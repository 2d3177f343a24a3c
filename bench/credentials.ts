import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { autocannon } from '../test/support/services/autocannon.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';

/** Many short rounds, so that other load on the machine affects both equally. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const OWNERS = 10_000;
const CONNECTIONS = 4;

interface Twin {
  readonly url: string;
  readonly token: string;
}

interface Cost {
  readonly rate: number;
  /** Processor time of the server per request, which other load on the machine does not change. */
  readonly micros: number;
}

const words = ({ rate, micros }: Cost) => `${rate.toFixed(0)}/s at ${micros.toFixed(0)} µs`;
const say = (line: string) => process.stderr.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB' } });
const env = {
  PATH: process.env.PATH ?? '',
  DATA_DIR: join(folder, 'data'),
  DATABASE_URL: await postgres.createDatabase(),
  PORT: '0',
  ADMIN_PORT: '0',
};
const children: ChildProcess[] = [];
try {
  const started = run(['bench/credentials/server.ts', String(OWNERS)]);
  const { sealed, clear } = JSON.parse(await started.firstLine) as { sealed: Twin; clear: Twin };
  const ratios: number[] = [];
  const rates: number[] = [];
  for (const twin of [sealed, clear]) await shoot(twin, 2);
  for (let round = 1; round <= ROUNDS; round++) {
    const first = round % 2 === 0;
    const before = first ? await cost(clear) : undefined;
    const one = await cost(sealed);
    const other = before ?? (await cost(clear));
    ratios.push(one.micros / other.micros);
    rates.push(other.rate / one.rate);
    say(`round ${round}: sealed ${words(one)}, plain ${words(other)}, ${(one.micros / other.micros).toFixed(2)} times`);
  }

  async function cost(twin: Twin): Promise<Cost> {
    const before = cpuMicros(started.pid);
    const { rate, count } = await shoot(twin, SECONDS);
    return { rate, micros: (cpuMicros(started.pid) - before) / count };
  }

  const reading = shoot(sealed, 12);
  const began = performance.now();
  const told = await run(['src/cli.ts', 'rotate-keys']).firstLine;
  const seconds = (performance.now() - began) / 1000;
  await reading;

  process.stdout.write(
    `\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine\n\n`,
  );
  process.stdout.write('| what | measured | spread | target |\n|---|---|---|---|\n');
  process.stdout.write(
    `| processor time for reading a sealed credential, plain = 1 | ${median(ratios).toFixed(2)} | ${spread(ratios, 2)} | ≤ 1.3 |\n`,
  );
  process.stdout.write(`| time on the clock, plain = 1 | ${median(rates).toFixed(2)} | ${spread(rates)} | ≤ 1.3 |\n`);
  process.stdout.write(
    `| rotation while reads go on, none of which failed | ${told} (${seconds.toFixed(1)} s with the start of the command) | | < 5 s |\n`,
  );
} finally {
  for (const child of children) child.kill('SIGKILL');
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

function run(args: readonly string[]): { pid: number; firstLine: Promise<string> } {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const firstLine = new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}`)));
  });
  firstLine.catch(() => undefined);
  return { pid: child.pid ?? 0, firstLine };
}

async function shoot({ url, token }: Twin, duration: number): Promise<{ rate: number; count: number }> {
  const result = await autocannon({
    url: `${url}/api/v1/user/credentials/aws`,
    duration,
    connections: CONNECTIONS,
    headers: { authorization: `token ${token}` },
  });
  if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} lost`);
  return { rate: result.requests.total / result.duration, count: result.requests.total };
}

/** From /proc on Linux, in ticks of 10 ms. */
function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
