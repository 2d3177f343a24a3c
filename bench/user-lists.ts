import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../test/support/services/postgres.ts';
import { type BenchServer, startServer } from './support/server.ts';
import { fillClusters, fillFollowers, fillOrganization } from './user-lists/fill.ts';
import { rowsRead } from './user-lists/plan.ts';

const FOLLOWERS = Number(process.env.BENCH_FOLLOWERS ?? 1_000_000);
const ORGANIZATIONS = 50;
const CLUSTERS = 10_000;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 200);
const PAGE = 30;

const say = (line: string) => process.stderr.write(`${line}\n`);
const ms = (value: number) => `${value.toFixed(1)} ms`;
const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

/** The signed-in user's long lists, over HTTP on PostgreSQL: a page of a million followers, ten thousand clusters. */
const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { shared_buffers: '256MB', max_wal_size: '4GB' } });
try {
  const settings = {
    DATABASE_URL: await postgres.createDatabase(),
    DATA_DIR: folder,
    ADMIN_PORT: '0',
    RUN_MODE: 'prod',
  };
  await (await startServer(['src/main.ts', 'demo'], settings)).stop();
  const { users } = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'));
  const client = new pg.Client({ connectionString: settings.DATABASE_URL });
  client.on('error', () => undefined);
  await client.connect();
  say(`filling: ${FOLLOWERS} followers of cat, ${CLUSTERS} clusters for dan`);
  await fillFollowers(client, users.cat.id, FOLLOWERS);
  await fillClusters(client, users.dan.id, ORGANIZATIONS, CLUSTERS);
  await fillOrganization(client, 'globex', CLUSTERS);
  await client.query('vacuum analyze');

  const server = await startServer(['src/main.ts', 'demo'], settings);
  const rows = [
    ...(await measurePages(server.address, users.cat.token)),
    ...(await explain(client, BigInt(users.cat.id))),
    ...(await measureClusters(server, users.dan.token)),
    ...(await measureOrganization(server.address, users.eve.token)),
  ];
  await client.end();
  await server.stop();
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine`;
  process.stdout.write(`\n${machine}; over HTTP, one connection, medians (95 of 100 within).\n\n`);
  process.stdout.write('| what | measured | target |\n|---|---|---|\n');
  for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Measures until the last byte has arrived. Parsing it is up to the client. */
async function timed(url: string, token: string): Promise<{ took: number; headers: Headers; length: number }> {
  const start = performance.now();
  const answer = await fetch(url, { headers: { Authorization: `token ${token}` } });
  const bytes = await answer.arrayBuffer();
  const took = performance.now() - start;
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`);
  const body = JSON.parse(Buffer.from(bytes).toString()) as unknown[];
  return { took, headers: answer.headers, length: body.length };
}

/** Measures all pages in turn, round after round, so that other load on the machine affects them equally. */
async function measurePages(address: string, token: string): Promise<string[][]> {
  const last = Math.ceil(FOLLOWERS / PAGE);
  const pages = [1, 10, 1000, 20_000, last].filter((page) => page <= last);
  const url = (page: number) => `${address}/api/v1/user/followers?page=${page}`;
  const times = new Map<number, number[]>(pages.map((page) => [page, []]));
  for (let round = -20; round < ROUNDS; round++) {
    for (const page of pages) {
      const { took, headers, length } = await timed(url(page), token);
      if (round >= 0) times.get(page)?.push(took);
      if (headers.get('x-total-count') !== String(FOLLOWERS)) throw new Error('wrong X-Total-Count');
      if (length === 0) throw new Error(`page ${page} is empty`);
    }
  }
  const first = quantile(times.get(1) ?? [], 0.5);
  return pages.map((page) => {
    const all = times.get(page) ?? [];
    const middle = quantile(all, 0.5);
    const share = page === 1 ? '' : `, ${(middle / first).toFixed(2)} × page 1`;
    return [`followers, page ${page}`, `${ms(middle)} (${ms(quantile(all, 0.95))})${share}`, page === 1 ? '' : '≤ 2 ×'];
  });
}

async function explain(client: pg.Client, id: bigint): Promise<string[][]> {
  const read = await rowsRead(client, id, FOLLOWERS / 2);
  return [
    ['… rows of follow read for the page in the middle', String(read.get('follow')), '≤ 1,100: no count of all'],
    ['… rows of follow_block read', String(read.get('follow_block')), ''],
  ];
}

/** Besides wall-clock time, measures the server's processor time, which a busy machine changes less. */
async function measureClusters(server: BenchServer, token: string): Promise<string[][]> {
  const url = `${server.address}/api/v1/user/clusters?all=true`;
  const first = await timed(url, token);
  const times: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round < Math.max(10, ROUNDS / 5); round++) {
    const before = server.cpuMicroseconds();
    const { took, length } = await timed(url, token);
    if (length < CLUSTERS) throw new Error(`${length} clusters`);
    times.push(took);
    costs.push((server.cpuMicroseconds() - before) / 1000);
  }
  const text = `${ms(quantile(times, 0.5))} (${ms(quantile(times, 0.95))})`;
  return [
    [`clusters?all=true, ${first.length} in ${ORGANIZATIONS} organizations`, text, '< 300 ms'],
    ['… processor time of the server', `${ms(quantile(costs, 0.5))} (${ms(quantile(costs, 0.95))})`, ''],
    ['… the first call after a start', ms(first.took), ''],
  ];
}

/** Filters and counts by a phase that is derived from the time of the last heartbeat. */
async function measureOrganization(address: string, token: string): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [what, path] of [
    ['lost clusters of one organization with 10,001, by heartbeat', '/clusters?phase=Lost&sort=heartbeat&limit=200'],
    ['… found by a part of the name', '/clusters?q=many99&sort=name'],
    ['the overview of this organization', '/overview'],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < Math.max(20, ROUNDS / 2); round++) {
      times.push((await timed(`${address}/api/v1/orgs/globex${path}`, token)).took);
    }
    rows.push([what, `${ms(quantile(times, 0.5))} (${ms(quantile(times, 0.95))})`, '< 100 ms']);
  }
  return rows;
}
