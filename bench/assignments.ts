/**
 * npm run bench -- assignments: an organization with 100,000 assignments on single objects and 10,000 clusters. A member
 * with 1,000 of the assignments lists clusters, others ask what they may do, and assignments are made and listed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { type Filled, fillAssignments } from './assignments/fill.ts';
import { median, spread } from './support/figures.ts';
import { type BenchServer, startServer } from './support/server.ts';

const CLUSTERS = Number(process.env.BENCH_CLUSTERS ?? 10_000);
const ASSIGNMENTS = Number(process.env.BENCH_ASSIGNMENTS ?? 100_000);
const OWN = Number(process.env.BENCH_OWN ?? 1000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
/** Processor time is counted in hundredths of a second, so it is measured over several requests. */
const REQUESTS = 10;
const ORG = 'globex';

const say = (line: string) => process.stderr.write(`${line}\n`);
const ms = (values: readonly number[]) => [`${median(values).toFixed(1)} ms`, spread(values, 1)];

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { shared_buffers: '256MB', max_wal_size: '4GB' } });
try {
  const settings = {
    DATABASE_URL: await postgres.createDatabase(),
    DATA_DIR: folder,
    ADMIN_PORT: '0',
    RATE_LIMIT: '0',
    RUN_MODE: 'prod',
    LIMIT_ASSIGNMENTS_PER_ORGANIZATION: String(ASSIGNMENTS + 10_000),
    LIMIT_ASSIGNMENTS_PER_PRINCIPAL: String(OWN + 100),
  };
  await (await startServer(['src/main.ts', 'demo'], settings)).stop();
  const world = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoWorld;
  const client = new pg.Client({ connectionString: settings.DATABASE_URL });
  client.on('error', () => undefined);
  await client.connect();
  say(`filling: ${CLUSTERS} clusters and ${ASSIGNMENTS} assignments in ${ORG}, ${OWN} of them to dan`);
  const filled = await fillAssignments(client, ORG, 'dan', { clusters: CLUSTERS, assignments: ASSIGNMENTS, own: OWN });
  await client.end();
  const server = await startServer(['src/main.ts', 'demo'], settings);
  const rows = await measureAll(server, world, filled);
  await server.stop();
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine`;
  process.stdout.write(`\n${machine}; ${ROUNDS} rounds of ${REQUESTS} requests, one connection, medians.\n\n`);
  process.stdout.write('| what | measured | spread | target |\n|---|---|---|---|\n');
  for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measureAll(server: BenchServer, { users, clusters }: DemoWorld, filled: Filled): Promise<string[][]> {
  const [owner, member] = [users.eve?.token ?? '', users.dan?.token ?? ''];
  const list = `/orgs/${ORG}/clusters`;
  const allowed = `/authz/objects/cluster/${filled.seen}/allowed-permissions?org=${ORG}`;
  const began = performance.now();
  const first = await send(
    server,
    owner,
    'GET',
    `/authz/objects/cluster/${clusters.globex?.id}/allowed-permissions?org=${ORG}`,
  );
  const cold = performance.now() - began;
  if (!first.text.includes('can_view')) throw new Error(first.text);
  const tuples = [
    `the first answer about ${filled.tuples} tuples, ${ASSIGNMENTS} assignments`,
    `${cold.toFixed(0)} ms`,
    '',
    '',
  ];
  const rows = [tuples];
  const target = `< 50 ms of processor time`;
  for (const [what, path, shown] of [
    [`GET …/clusters of a member with ${OWN} of ${CLUSTERS}, a page of 50`, `${list}?limit=50`, 50],
    ['… the first page', list, undefined],
    ['… found by a part of the name', `${list}?q=many9&limit=50`, undefined],
  ] as const) {
    const { times, costs } = await measure(server, async () => {
      const { status, text, total } = await send(server, member, 'GET', path);
      const count = (JSON.parse(text) as unknown[]).length;
      if (status !== 200 || (shown !== undefined && count !== Math.min(shown, OWN)))
        throw new Error(`${status} ${text}`);
      if (shown !== undefined && total !== String(OWN)) throw new Error(`X-Total-Count ${total}`);
    });
    rows.push([what, ...ms(times), ''], ['… processor time of the server', ...ms(costs), target]);
  }
  const asked = await measure(server, async () => {
    const { text } = await send(server, member, 'GET', allowed);
    if (!text.includes('can_view')) throw new Error(text);
  });
  rows.push(
    ['allowed permissions on one of them', ...ms(asked.times), ''],
    ['… processor time of the server', ...ms(asked.costs), ''],
  );
  const listed = await measure(server, async () => {
    const { status } = await send(server, owner, 'GET', `/authz/assignments?org=${ORG}&limit=50`);
    if (status !== 200) throw new Error(`assignments: ${status}`);
  });
  rows.push(
    ['a page of all assignments', ...ms(listed.times), ''],
    ['… processor time of the server', ...ms(listed.costs), ''],
  );
  rows.push(...(await measureWrites(server, owner, member, filled)));
  return rows;
}

/** Each assignment is made, asked about by its user with the next request, and removed. */
async function measureWrites(server: BenchServer, owner: string, member: string, filled: Filled): Promise<string[][]> {
  const question = `/authz/objects/cluster/${filled.unseen}/allowed-permissions?org=${ORG}`;
  const body = {
    role: { id: filled.role },
    to: { type: 'user', name: 'dan' },
    on: { type: 'cluster', id: filled.unseen },
  };
  const [made, next, removed]: [number[], number[], number[]] = [[], [], []];
  let stale = 0;
  for (let count = 0; count < ROUNDS * 2; count++) {
    const start = performance.now();
    const { status, text } = await send(server, owner, 'POST', `/authz/assignments?org=${ORG}`, body);
    if (status !== 201) throw new Error(`${status} ${text}`);
    const then = performance.now();
    if (!(await send(server, member, 'GET', question)).text.includes('can_view')) stale += 1;
    const asked = performance.now();
    const gone = await send(server, owner, 'DELETE', `/authz/assignments/${JSON.parse(text).id}?org=${ORG}`);
    if (gone.status !== 204) throw new Error(`${gone.status} ${gone.text}`);
    removed.push(performance.now() - asked);
    if ((await send(server, member, 'GET', question)).text.includes('can_view')) stale += 1;
    made.push(then - start);
    next.push(asked - then);
  }
  return [
    ['making an assignment', ...ms(made), ''],
    ['… the next answer to its user', ...ms(next), ''],
    ['removing it', ...ms(removed), ''],
    ['answers that did not know of either', `${stale} of ${ROUNDS * 4}`, '', '0'],
  ];
}

async function measure(server: BenchServer, request: () => Promise<void>) {
  const times: number[] = [];
  const costs: number[] = [];
  await request();
  for (let round = 0; round < ROUNDS; round++) {
    const before = server.cpuMicroseconds();
    const start = performance.now();
    for (let count = 0; count < REQUESTS; count++) await request();
    times.push((performance.now() - start) / REQUESTS);
    costs.push((server.cpuMicroseconds() - before) / 1000 / REQUESTS);
  }
  return { times, costs };
}

async function send(server: BenchServer, token: string, method: string, path: string, body?: object) {
  const answer = await fetch(`${server.address}/api/v1${path}`, {
    method,
    headers: { Authorization: `token ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text(), total: answer.headers.get('x-total-count') };
}
