import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { CATALOG } from '../src/roles/catalog.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { createSender } from './support/send.ts';
import { type BenchServer, createStealMeter, startServer } from './support/server.ts';

/**
 * npm run bench -- role-writes: roles changed per second with one, two and four replicas on one database.
 *
 * Every write takes the row of the revision last and holds it until its commit, so writes of all replicas are committed
 * one after the other. What that row alone allows is measured in the same rounds: the same number of connections, each
 * updating one and the same row in a transaction of its own.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2);
const WRITERS = 16;
const REPLICAS = [1, 2, 4];
const PAIRS = CATALOG.map(({ namespace, action }) => ({ namespace, action }));
/** A writer changes its role from one to the other and back. */
const PERMISSIONS = [PAIRS.slice(0, 1), PAIRS.slice(0, 2)];

interface Role {
  readonly org: string;
  readonly id: string;
}

interface Contestant {
  readonly name: string;
  readonly write: (writer: number, turn: number) => Promise<void>;
  readonly rates: number[];
  readonly waits: number[];
}

const say = (line: string) => process.stderr.write(`${line}\n`);
const print = (line: string) => process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB' } });
try {
  const databaseUrl = await postgres.createDatabase();
  const settings = { DATA_DIR: folder, DATABASE_URL: databaseUrl, RATE_LIMIT: '0', RUN_MODE: 'prod', ADMIN_PORT: '0' };
  const first = await startServer(['src/main.ts', 'demo'], settings);
  const world = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoWorld;
  const { send, close } = createSender(world.users.ann?.token ?? '', WRITERS);
  const servers = [first];
  while (servers.length < Math.max(...REPLICAS)) servers.push(await startServer(['src/main.ts'], settings));
  const one = await rolesIn(Array.from({ length: WRITERS }, () => 'acme'));
  const many = await rolesIn(await organizations(WRITERS));

  const contestants: Contestant[] = [await bareRow(databaseUrl)];
  for (const replicas of REPLICAS) {
    const used = servers.slice(0, replicas);
    contestants.push(contestant(`${named(replicas)}, roles of one organization`, used, one));
    contestants.push(contestant(`${named(replicas)}, each writer its own organization`, used, many));
  }
  const stolen = createStealMeter();
  for (const each of contestants) await run(each, 1);
  for (const { rates, waits } of contestants) rates.length = waits.length = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    for (const each of contestants) await run(each, SECONDS);
    say(`round ${round}: ${contestants.map(({ name, rates }) => `${name} ${rates.at(-1)?.toFixed(0)}/s`).join('; ')}`);
  }
  print(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`);
  print(
    `${ROUNDS} rounds of ${SECONDS} s, ${WRITERS} writers, medians; ${(100 * stolen()).toFixed(1)} % taken by the host.\n`,
  );
  print('| what | writes/s | spread | relative to the bare row | median wait |\n|---|---|---|---|---|');
  const bare = contestants[0]?.rates ?? [];
  for (const { name, rates, waits } of contestants) {
    const ratios = rates.map((rate, round) => rate / (bare[round] ?? Number.NaN));
    print(
      `| ${name} | ${median(rates).toFixed(0)} | ${spread(rates)} | ${median(ratios).toFixed(2)} | ${median(waits).toFixed(1)} ms |`,
    );
  }
  close();
  for (const server of servers) await server.stop();

  function contestant(name: string, used: readonly BenchServer[], roles: readonly Role[]): Contestant {
    const write = async (writer: number, turn: number) => {
      const { org, id } = roles[writer % roles.length] as Role;
      const { address } = used[writer % used.length] as BenchServer;
      await send(`${address}/api/v1/authz/roles/${id}?org=${org}`, 'PUT', { permissions: PERMISSIONS[turn % 2] });
    };
    return { name, write, rates: [], waits: [] };
  }

  async function rolesIn(orgs: readonly string[]): Promise<Role[]> {
    const roles: Role[] = [];
    for (const [at, org] of orgs.entries()) {
      const body = { name: `bench ${at}`, permissions: PERMISSIONS[0] };
      const made = await send(`${first.address}/api/v1/authz/roles?org=${org}`, 'POST', body);
      roles.push({ org, id: /"id":(\d+)/.exec(made)?.[1] ?? '' });
    }
    return roles;
  }

  async function organizations(count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, at) => `bench-${at}`);
    for (const username of names) await send(`${first.address}/api/v1/orgs`, 'POST', { username });
    return names;
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

function named(replicas: number): string {
  return replicas === 1 ? 'one process' : `${replicas} replicas`;
}

/** What the lock of one row allows on this machine, without anything else. */
async function bareRow(databaseUrl: string): Promise<Contestant> {
  const clients = Array.from({ length: WRITERS }, () => new pg.Client({ connectionString: databaseUrl }));
  for (const client of clients) {
    client.on('error', () => undefined);
    await client.connect();
  }
  await clients[0]?.query('create table bench_row (id integer primary key, value bigint not null)');
  await clients[0]?.query('insert into bench_row values (1, 0)');
  const write = async (writer: number) => {
    await clients[writer]?.query({ name: 'bench', text: 'update bench_row set value = value + 1 where id = 1' });
  };
  return { name: 'the bare row: one update, one commit', write, rates: [], waits: [] };
}

async function run({ write, rates, waits }: Contestant, seconds: number): Promise<void> {
  const began = performance.now();
  const until = began + seconds * 1000;
  const times: number[] = [];
  const loop = async (writer: number) => {
    for (let turn = 0; performance.now() < until; turn++) {
      const start = performance.now();
      await write(writer, turn);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => loop(writer)));
  rates.push((times.length * 1000) / (performance.now() - began));
  waits.push(median(times));
}
