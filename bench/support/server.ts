import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

export interface BenchServer {
  readonly address: string;
  readonly pid: number;
  /** From the start of the process to its first answer. */
  readonly firstAnswerMs: number;
  readonly stdout: string;
  /** Processor time used so far; NaN if the system does not report it. */
  cpuMicroseconds(): number;
  stop(): Promise<void>;
}

/** A server in its own process, so that it does not share an event loop with the benchmark. */
export async function startServer(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  const started = performance.now();
  // As scripts/run.mjs starts a server.
  const { PATH, NODE_COMPILE_CACHE, MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_ } = process.env;
  const launcher = { PATH, NODE_COMPILE_CACHE, MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_ };
  const env = { ...launcher, NODE_ENV: 'production', LOG_LEVEL: 'error', PORT: '0', ...settings };
  const files = args.map((arg) => (arg === 'src/main.ts' ? (process.env.BENCH_SERVER ?? arg) : arg));
  const child = spawn(process.execPath, files, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let stdout = '';
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk;
      const found = /^listening on (\S+)$/m.exec(stdout)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`${args.join(' ')} ended:\n${stdout}`)));
  });
  await fetch(`${address}/api/v1/version`, { headers: { Connection: 'close' } });
  return {
    address,
    pid: child.pid ?? 0,
    firstAnswerMs: performance.now() - started,
    stdout,
    cpuMicroseconds: () => cpuMicroseconds(child.pid ?? 0),
    async stop() {
      process.off('exit', killWithUs);
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Linux counts user and system time in ticks, a hundred per second. */
function cpuMicroseconds(pid: number): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return Number.NaN;
  const fields = readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** A number from /metrics, summed over its labels. */
export async function measurement(admin: string, name: string): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`, { headers: { Connection: 'close' } })).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/**
 * The share of this machine's time that other machines on the same host took since the last call; 0 if the system does
 * not report it.
 */
export function createStealMeter(): () => number {
  let last = read();
  return () => {
    const now = read();
    const share = (now.stolen - last.stolen) / Math.max(1, now.total - last.total);
    last = now;
    return share;
  };

  function read(): { stolen: number; total: number } {
    if (!existsSync('/proc/stat')) return { stolen: 0, total: 0 };
    const fields = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/ +/).slice(1, 9).map(Number);
    return { stolen: fields[7] ?? 0, total: fields.reduce((sum, field) => sum + field, 0) };
  }
}
