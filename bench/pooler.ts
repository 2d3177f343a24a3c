import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { CATALOG } from '../src/roles/catalog.ts';
import { cpuSecondsOf } from '../test/runner/cpu.ts';
import { startPgbouncer } from '../test/support/services/pgbouncer.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { load } from './support/load.ts';
import { createSender } from './support/send.ts';
import { type BenchServer, createStealMeter, startServer } from './support/server.ts';

/**
 * npm run bench -- pooler: what PgBouncer in transaction mode costs. Two servers share a database; one reaches it through
 * PgBouncer, which has as many connections as a server may open. They take turns.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2);
const CONNECTIONS = 10;
const CLIENTS = [1, 16];
const PAIRS = CATALOG.map(({ namespace, action }) => ({ namespace, action }));
/** A writer changes its role from one to the other and back. */
const PERMISSIONS = [PAIRS.slice(0, 1), PAIRS.slice(0, 2)];

interface Contestant {
  readonly what: string;
  /** Requests per second. */
  readonly run: (server: BenchServer, seconds: number) => Promise<number>;
  readonly direct: number[];
  readonly pooled: number[];
  /** Processor time of PgBouncer for each request, in microseconds. */
  readonly pooler: number[];
}

const print = (line: string) => process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB' } });
const pgbouncer = await startPgbouncer(postgres.url, { connections: CONNECTIONS });
try {
  const databaseUrl = await postgres.createDatabase();
  const settings = { DATA_DIR: folder, RATE_LIMIT: '0', RUN_MODE: 'prod', ADMIN_PORT: '0' };
  const direct = await startServer(['src/main.ts', 'demo'], { ...settings, DATABASE_URL: databaseUrl });
  const pooled = await startServer(['src/main.ts'], {
    ...settings,
    DATABASE_URL: pgbouncer.urlOf(databaseUrl),
    DATABASE_POOLER: 'transaction',
  });
  const world = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoWorld;
  const token = world.users.ann?.token ?? '';
  const { send, close } = createSender(token, Math.max(...CLIENTS));
  const roles = await makeRoles(Math.max(...CLIENTS));

  const contestants = CLIENTS.flatMap((clients) => [reads(clients), writes(clients)]);
  const stolen = createStealMeter();
  for (const { run } of contestants) for (const server of [direct, pooled]) await run(server, 1);
  for (let round = 0; round < ROUNDS; round++) for (const each of contestants) await compare(each);
  print(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`);
  print(`${ROUNDS} rounds of ${SECONDS} s, medians; ${(100 * stolen()).toFixed(1)} % taken by the host.\n`);
  print(
    '| what | direct | through PgBouncer | ratio | spread | processor time of PgBouncer |\n|---|---|---|---|---|---|',
  );
  for (const { what, direct, pooled, pooler } of contestants) {
    const ratios = pooled.map((rate, round) => rate / (direct[round] ?? Number.NaN));
    const rates = `${median(direct).toFixed(0)}/s | ${median(pooled).toFixed(0)}/s`;
    const ratio = `${median(ratios).toFixed(2)} | ${spread(ratios, 2)}`;
    print(`| ${what} | ${rates} | ${ratio} | ${median(pooler).toFixed(0)} µs |`);
  }
  close();
  await direct.stop();
  await pooled.stop();

  function reads(clients: number): Contestant {
    const run = ({ address }: BenchServer, seconds: number) =>
      load({ url: `${address}/api/v1/user`, headers: { authorization: `token ${token}` } }, clients, seconds);
    return { what: `GET /user, ${named(clients)}`, run, direct: [], pooled: [], pooler: [] };
  }

  function writes(clients: number): Contestant {
    const run = async ({ address }: BenchServer, seconds: number) => {
      const began = performance.now();
      let written = 0;
      const write = async (id: string) => {
        for (let turn = 0; performance.now() < began + seconds * 1000; turn++) {
          const body = { permissions: PERMISSIONS[turn % 2] };
          await send(`${address}/api/v1/authz/roles/${id}?org=acme`, 'PUT', body);
          written++;
        }
      };
      await Promise.all(roles.slice(0, clients).map(write));
      return (written * 1000) / (performance.now() - began);
    };
    return { what: `a change of a role, ${named(clients)}`, run, direct: [], pooled: [], pooler: [] };
  }

  async function compare({ run, ...rates }: Contestant): Promise<void> {
    rates.direct.push(await run(direct, SECONDS));
    const before = cpuSecondsOf(pgbouncer.pid);
    const rate = await run(pooled, SECONDS);
    rates.pooled.push(rate);
    rates.pooler.push(((cpuSecondsOf(pgbouncer.pid) - before) * 1e6) / (rate * SECONDS));
  }

  async function makeRoles(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let at = 0; at < count; at++) {
      const body = { name: `bench ${at}`, permissions: PERMISSIONS[0] };
      const made = await send(`${direct.address}/api/v1/authz/roles?org=acme`, 'POST', body);
      ids.push(/"id":(\d+)/.exec(made)?.[1] ?? '');
    }
    return ids;
  }
} finally {
  await pgbouncer.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

function named(clients: number): string {
  return clients === 1 ? 'one client' : `${clients} clients`;
}
