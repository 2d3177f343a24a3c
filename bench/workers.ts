import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { freePort } from '../test/support/services/ports.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { load, type Shot } from './support/load.ts';
import { type BenchServer, createStealMeter, measurement, startServer } from './support/server.ts';
import { memoryOf, processorSeconds, tasksOf } from './workers/processes.ts';

/**
 * Two workers against one process, and three replicas against one, round after round, so that other load on the machine
 * affects all contestants equally. The load generator and PostgreSQL are on the same machine. For the cheap request,
 * they need as much of it as the server; for the expensive one, next to nothing.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const CONNECTIONS = 64;
const BATCH = 100;
const IDLE_MS = 3000;
const REQUESTS = ['GET /api/v1/user', `allowed permissions on ${BATCH} objects`] as const;

interface Contestant {
  readonly name: string;
  readonly servers: readonly (BenchServer & { readonly admin: string })[];
  /** By request. */
  readonly results: readonly Result[];
}

interface Result {
  readonly rates: number[];
  readonly costs: number[];
  requests: number;
  questions: number;
}

const say = (line: string) => process.stderr.write(`${line}\n`);
const write = (line: string) => process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB' } });
try {
  const settings = {
    DATA_DIR: folder,
    DATABASE_URL: await postgres.createDatabase(),
    RATE_LIMIT: '600000000',
    RUN_MODE: 'prod',
  };
  const maker = await startServer(['src/main.ts', 'demo'], { ...settings, ADMIN_PORT: '0' });
  const world = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoWorld;
  await maker.stop();
  const headers = { authorization: `token ${world.users.ann?.token}`, 'content-type': 'application/json' };
  const objects = Array.from({ length: BATCH }, () => ({ objectType: 'cluster', objectID: world.clusters.prod?.id }));
  const body = JSON.stringify(objects);
  const contestants = [
    await open('one process', 1, { ...settings, WORKERS: '1' }),
    await open('two workers', 1, { ...settings, WORKERS: '2' }),
    await open('three replicas', 3, { ...settings, WORKERS: '1' }),
  ];
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const idle = contestants.map(({ servers }) => memoryOf(tasksOf(servers[0]?.pid ?? 0)));
  const stolen = createStealMeter();
  for (const [request, what] of REQUESTS.entries()) {
    for (const one of contestants) await shoot(one, request, 2);
    for (const one of contestants) await count(one, request, -1);
    for (let round = 1; round <= ROUNDS; round++) {
      for (const one of contestants) await measure(one, request);
      const rates = contestants.map(({ name, results }) => `${name} ${results[request]?.rates.at(-1)?.toFixed(0)}/s`);
      say(`${what}, round ${round}: ${rates.join(', ')}`);
    }
    for (const one of contestants) await count(one, request, 1);
  }
  const lost = 100 * stolen();
  const ratios = (request: number, other: Contestant | undefined) =>
    (other?.results[request]?.rates ?? []).map(
      (rate, round) => rate / (contestants[0]?.results[request]?.rates[round] ?? Number.NaN),
    );
  write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`);
  write(`${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections, medians.\n`);
  write('| what | measured | spread |\n|---|---|---|');
  const rows = [
    ['processor time that the host took away', `${lost.toFixed(1)} %`, ''],
    ...REQUESTS.flatMap((what, request) => [
      ...contestants.flatMap(({ name, results }) => rowsOf(`${what}, ${name}`, results[request])),
      ...contestants.slice(1).map((other) => {
        const all = ratios(request, other);
        return [`${what}, ${other.name} against one process`, `${median(all).toFixed(2)} ×`, spread(all, 2)];
      }),
    ]),
    ['idle memory, one process', `${idle[0]?.map(mib).join(', ')} MiB`, ''],
    ['idle memory, supervisor and two workers', `${idle[1]?.map(mib).join(', ')} MiB`, ''],
  ];
  for (const row of rows) write(`| ${row.join(' | ')} |`);
  for (const { servers } of contestants) for (const server of servers) await server.stop();

  async function open(name: string, replicas: number, env: Record<string, string>): Promise<Contestant> {
    const servers = [];
    for (let replica = 0; replica < replicas; replica++) {
      const port = String(await freePort());
      const server = await startServer(['src/main.ts'], { ...env, ADMIN_PORT: port, SHUTDOWN_DELAY_MS: '0' });
      servers.push({ ...server, admin: `http://127.0.0.1:${port}` });
    }
    return { name, servers, results: REQUESTS.map(() => ({ rates: [], costs: [], requests: 0, questions: 0 })) };
  }

  /** The connections are shared out evenly, as a load balancer would do it. */
  async function shoot({ servers }: Contestant, request: number, seconds: number): Promise<number> {
    const share = Math.floor(CONNECTIONS / servers.length);
    const rates = servers.map(({ address }) => load(shotOf(address, request), share, seconds));
    return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
  }

  function shotOf(address: string, request: number): Shot {
    if (request === 0) return { url: `${address}/api/v1/user`, headers };
    return { url: `${address}/api/v1/authz/objects/allowed-permissions?org=acme`, method: 'POST', headers, body };
  }

  async function measure(one: Contestant, request: number): Promise<void> {
    const used = () => one.servers.reduce((sum, { pid }) => sum + processorSeconds(tasksOf(pid)), 0);
    const before = used();
    const rate = await shoot(one, request, SECONDS);
    one.results[request]?.rates.push(rate);
    one.results[request]?.costs.push((1e6 * (used() - before)) / (rate * SECONDS));
  }

  async function count({ servers, results }: Contestant, request: number, sign: 1 | -1): Promise<void> {
    const result = results[request];
    for (const { admin } of servers) {
      if (!result) continue;
      result.requests += sign * (await measurement(admin, 'http_server_request_duration_seconds_count'));
      result.questions += sign * (await measurement(admin, 'atrium_revision_reads_total'));
    }
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

function rowsOf(what: string, result: Result | undefined): string[][] {
  if (!result) return [];
  const { rates, costs, requests, questions } = result;
  return [
    [`${what}, requests/s`, median(rates).toFixed(0), spread(rates)],
    ['… processor time of one request', `${median(costs).toFixed(1)} µs`, spread(costs, 1)],
    ['… questions to PostgreSQL per 1,000 requests', ((1000 * questions) / requests).toFixed(1), ''],
  ];
}
