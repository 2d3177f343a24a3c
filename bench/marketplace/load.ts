import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { cpuSecondsOf } from '../../test/runner/cpu.ts';
import { autocannon } from '../../test/support/services/autocannon.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 8);
const WARM_UP_SECONDS = 5;
/** Of the bare inserts without HTTP. */
const WRITERS = 32;

export interface Load {
  readonly perSecond: number;
  /** Processor time of the server and of PostgreSQL for each delivery, in microseconds. */
  readonly server: number;
  readonly database: number;
  readonly p99: number;
  readonly failed: number;
}

export interface LoadOptions {
  readonly connections: number;
  /** Whose processor time is measured. */
  readonly server: number | undefined;
  readonly postmaster: number;
}

/** Sends different bodies as fast as they are answered. */
export async function load(url: string, next: () => string, options: LoadOptions): Promise<Load> {
  const { connections, server, postmaster } = options;
  const run = (duration: number) =>
    autocannon({
      url,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      connections,
      duration,
      setupClient: (client) => {
        client.setBody(next());
        client.on('response', () => client.setBody(next()));
      },
    });
  // Until the code is compiled.
  await run(WARM_UP_SECONDS);
  const before = [cpuOf([server ?? 0]), cpuOf([postmaster, ...childrenOf(postmaster)])] as const;
  const result = await run(SECONDS);
  const micros = (seconds: number) => (seconds * 1e6) / Math.max(1, result.requests.total);
  return {
    perSecond: result.requests.average,
    server: micros(cpuOf([server ?? 0]) - before[0]),
    database: micros(cpuOf([postmaster, ...childrenOf(postmaster)]) - before[1]),
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
}

/** Linux only; elsewhere nothing is measured. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}

/** Rows per second with nothing in between: as many writers as the server has connections. */
export async function bareInserts(databaseUrl: string, body: () => string): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  await pool.query('create table if not exists bare (id bigint generated always as identity primary key, body text)');
  let rows = 0;
  const end = performance.now() + SECONDS * 1000;
  const write = async () => {
    while (performance.now() < end) {
      await pool.query({ name: 'bare', text: 'insert into bare (body) values ($1)', values: [body()] });
      rows += 1;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  await pool.end();
  return rows / SECONDS;
}

export async function startProcess(
  file: string,
  env: Record<string, string>,
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'error', RATE_LIMIT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for (;;) {
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
    said += chunk;
    const url = /^listening on (\S+)$/m.exec(said)?.[1];
    if (url !== undefined) return { url, child };
  }
}
