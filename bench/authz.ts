import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { measureCold, rowsOfCold } from './authz/cold.ts';
import { median, spread } from './support/figures.ts';
import { load, type Shot } from './support/load.ts';
import { type BenchServer, createStealMeter, startServer } from './support/server.ts';

/**
 * The authorization endpoints over HTTP, compared with bare Fastify in the same run, while another process writes
 * roles.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const CONNECTIONS = 64;
const BATCH = 100;

interface Contestant {
  readonly name: string;
  readonly server: BenchServer;
  readonly shot: Shot;
  readonly rates: number[];
  readonly costs: number[];
}

const say = (line: string) => process.stderr.write(`${line}\n`);
const write = (line: string) => process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB' } });
try {
  const rows = [...(await compare()), ...rowsOfCold(await measureCold(await postgres.createDatabase(), folder))];
  write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`);
  write(`${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections, 20 roles written a second, medians.\n`);
  write('| what | measured | spread | target |\n|---|---|---|---|');
  for (const row of rows) write(`| ${row.join(' | ')} |`);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function compare(): Promise<string[][]> {
  const databaseUrl = await postgres.createDatabase();
  const settings = {
    DATA_DIR: join(folder, 'demo'),
    DATABASE_URL: databaseUrl,
    ADMIN_PORT: '0',
    RATE_LIMIT: '0',
    RUN_MODE: 'prod',
  };
  const atrium = await startServer(['src/main.ts', 'demo'], settings);
  const world = JSON.parse(readFileSync(join(folder, 'demo', 'demo.json'), 'utf8')) as DemoWorld;
  const asAnn = { authorization: `token ${world.users.ann?.token}` };
  const headers = { ...asAnn, 'content-type': 'application/json' };
  const single = `/api/v1/authz/objects/cluster/${world.clusters.prod?.id}/allowed-permissions?org=acme`;
  const batch = '/api/v1/authz/objects/allowed-permissions?org=acme';
  const body = JSON.stringify(questionsOf(world));
  const one = await (await fetch(`${atrium.address}${single}`, { headers: asAnn })).text();
  const many = await (await fetch(`${atrium.address}${batch}`, { method: 'POST', headers, body })).text();
  const bare = await startServer(['bench/authz/bare.ts', one, many]);

  const get = (server: BenchServer): Shot => ({ url: `${server.address}${single}`, headers: asAnn });
  const post = (server: BenchServer): Shot => ({ url: `${server.address}${batch}`, method: 'POST', headers, body });
  const of = (name: string, server: BenchServer, shot: Shot): Contestant => ({
    name,
    server,
    shot,
    rates: [],
    costs: [],
  });
  const [bareGet, houseGet] = [of('bare route', bare, get(bare)), of('one object', atrium, get(atrium))];
  const assigned: Shot = { url: `${atrium.address}${single}`, headers: await assignedHeaders(atrium, world) };
  const houseAssigned = of('by an assignment', atrium, assigned);
  const [barePost, housePost] = [of('bare batch', bare, post(bare)), of('batch', atrium, post(atrium))];
  const contestants = [bareGet, houseGet, houseAssigned, barePost, housePost];
  const acme = world.orgs.acme;
  const writer = await startWriter([databaseUrl, String(acme?.id), String(acme?.teams.operators)]);
  for (const { shot } of contestants) await load(shot, CONNECTIONS, 2);
  const stolen = createStealMeter();
  for (let round = 1; round <= ROUNDS; round++) {
    for (const contestant of contestants) await measure(contestant);
    say(`round ${round}: ${contestants.map(({ name, rates }) => `${name} ${rates.at(-1)?.toFixed(0)}/s`).join(', ')}`);
  }
  const lost = 100 * stolen();
  writer.kill('SIGTERM');
  await Promise.all([atrium.stop(), bare.stop()]);

  const shares = houseGet.rates.map((rate, round) => (100 * rate) / (bareGet.rates[round] ?? Number.NaN));
  const times = housePost.rates.map((rate, round) => (barePost.rates[round] ?? Number.NaN) / rate);
  const costs = housePost.costs.map((cost, round) => cost / (barePost.costs[round] ?? Number.NaN));
  const sharesAssigned = houseAssigned.rates.map((rate, round) => (100 * rate) / (bareGet.rates[round] ?? Number.NaN));
  const byCost = houseGet.costs.map((cost, round) => (100 * (bareGet.costs[round] ?? Number.NaN)) / cost);
  return [
    ['processor time that the host took away', `${lost.toFixed(1)} %`, '', ''],
    ...rowsOf(bareGet, `bare route, ${one.length} bytes`),
    ...rowsOf(houseGet, 'GET …/allowed-permissions'),
    ['… of the bare route in the same round', `${median(shares).toFixed(0)} %`, spread(shares), '≥ 75 %'],
    ['… by processor time it would be', `${median(byCost).toFixed(0)} %`, spread(byCost), ''],
    ...rowsOf(houseAssigned, '… of a member with a role on this object only'),
    [
      '… of the bare route in the same round',
      `${median(sharesAssigned).toFixed(0)} %`,
      spread(sharesAssigned),
      '≥ 90 %',
    ],
    ...rowsOf(barePost, `bare batch, ${body.length} bytes in, ${many.length} out`),
    ...rowsOf(housePost, `POST …/allowed-permissions, ${BATCH} objects`),
    ['… time against the bare batch in the same round', `${median(times).toFixed(2)} ×`, spread(times, 2), '< 2.5 ×'],
    ['… processor time against it', `${median(costs).toFixed(2)} ×`, spread(costs, 2), ''],
  ];
}

/** Roles on single objects, a tenth of what acme grants; eve holds nothing there but one of them. */
async function assignedHeaders({ address }: BenchServer, { users, orgs, clusters, contracts, robots }: DemoWorld) {
  const headers = { authorization: `token ${users.ann?.token}`, 'content-type': 'application/json' };
  const send = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${address}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as { id: number });
  };
  const team = await send('POST', '/orgs/acme/teams', { name: 'assigned', permission: 'none' });
  await send('PUT', `/teams/${team?.id}/members/eve`, {});
  const permissions = [
    { namespace: 'cluster_mgmt', action: 'connect to clusters' },
    { namespace: 'contract_mgmt', action: 'view contracts' },
  ];
  const role = await send('POST', '/authz/roles?org=acme', { name: 'assigned', permissions });
  for (const [to, on] of [
    [
      { type: 'user', name: 'eve' },
      { type: 'cluster', id: clusters.prod?.id },
    ],
    [
      { type: 'user', name: 'dan' },
      { type: 'cluster', id: clusters.staging?.id },
    ],
    [
      { type: 'robot_ac', id: robots.ci },
      { type: 'cluster', id: clusters.prod?.id },
    ],
    [
      { type: 'team', id: orgs.acme?.teams.Viewers },
      { type: 'contract', id: contracts.acme },
    ],
    [
      { type: 'team', id: orgs.acme?.teams.operators },
      { type: 'cluster_set', name: 'eu' },
    ],
  ]) {
    await send('POST', '/authz/assignments?org=acme', { role: { id: role?.id }, to, on });
  }
  return { authorization: `token ${users.eve?.token}` };
}

/** A list such as the console requests: mostly clusters, and some of everything. */
function questionsOf({ clusters, contracts, orgs, robots, tokens }: DemoWorld): object[] {
  const kinds = [
    { objectType: 'cluster', objectID: clusters.prod?.id },
    { objectType: 'cluster', objectID: clusters.staging?.id },
    { objectType: 'cluster', objectID: clusters.laptop?.id },
    { objectType: 'team', objectID: orgs.acme?.teams.Viewers },
    { objectType: 'contract', objectID: contracts.acme },
    { objectType: 'robot_ac', objectID: robots.ci },
    { objectType: 'token', objectID: tokens.acme },
  ];
  return Array.from({ length: BATCH }, (_, at) => kinds[at % kinds.length] ?? {});
}

function rowsOf({ rates, costs }: Contestant, name: string): string[][] {
  return [
    [`${name}, requests/s`, median(rates).toFixed(0), spread(rates), ''],
    ['… processor time of one request', `${median(costs).toFixed(0)} µs`, spread(costs), ''],
  ];
}

async function startWriter(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['bench/authz/writer.ts', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

async function measure({ server, shot, rates, costs }: Contestant): Promise<void> {
  const before = server.cpuMicroseconds();
  const rate = await load(shot, CONNECTIONS, SECONDS);
  rates.push(rate);
  costs.push((server.cpuMicroseconds() - before) / (rate * SECONDS));
}
