/**
 * npm run bench -- openfga: the same requests with the engine in the process and with a real OpenFGA server, in turn.
 * Everything is on one machine, and OpenFGA keeps its tuples in memory, so a network and its database come on top.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { OPENFGA_VERSION, runOpenFga } from '../test/support/services/openfga-process.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median } from './support/figures.ts';
import { load, type Shot } from './support/load.ts';
import { type BenchServer, startServer } from './support/server.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const PAIRS = 20;
const EDIT = { namespace: 'cluster_mgmt', action: 'reconfigure clusters' };

interface Contestant {
  readonly server: BenchServer;
  readonly world: DemoWorld;
}

interface Row {
  readonly what: string;
  readonly unit: string;
  readonly ours: number[];
  readonly theirs: number[];
}

const say = (line: string) => process.stderr.write(`${line}\n`);
const write = (line: string) => process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB' } });
const openFga = await runOpenFga();
try {
  const ours = await start('own', {});
  const theirs = await start('openfga', { OPENFGA_URL: openFga.url });
  const rows: Row[] = [
    ...[1, 16].map((connections) => rate('GET one cluster', connections, clusterOf)),
    ...[1, 16].map((connections) => rate('GET the organization', connections, organizationOf)),
    rate('POST 100 objects', 1, batchOf),
    { what: 'change a role, then ask', unit: 'ms', ours: [], theirs: [] },
  ];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const row of rows) {
      const [mine, other] = [await measure(row, ours), await measure(row, theirs)];
      // The first round warms up.
      if (round > 0) row.ours.push(mine);
      if (round > 0) row.theirs.push(other);
    }
    say(`round ${round}: ${rows.map((row) => `${row.ours.at(-1)?.toFixed(1)} | ${row.theirs.at(-1)?.toFixed(1)}`)}`);
  }
  await Promise.all([ours.server.stop(), theirs.server.stop()]);
  write(
    `\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, OpenFGA ${OPENFGA_VERSION} in memory;`,
  );
  write(`${ROUNDS} rounds, medians.\n`);
  write('| what | in the process | OpenFGA | ratio |\n|---|---|---|---|');
  for (const { what, unit, ours: mine, theirs: other } of rows) {
    const [a, b] = [median(mine), median(other)];
    const ratio = unit === 'ms' ? b / a : a / b;
    write(`| ${what} | ${a.toFixed(1)} ${unit} | ${b.toFixed(1)} ${unit} | ${ratio.toFixed(1)} × |`);
  }
} finally {
  openFga.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

type ShotOf = (contestant: Contestant) => Shot;

function rate(what: string, connections: number, shotOf: ShotOf): Row & { connections: number; shotOf: ShotOf } {
  const many = connections === 1 ? '1 connection' : `${connections} connections`;
  return { what: `${what}, ${many}`, unit: 'requests/s', ours: [], theirs: [], connections, shotOf };
}

async function measure(row: Row & { connections?: number; shotOf?: ShotOf }, contestant: Contestant): Promise<number> {
  if (row.shotOf === undefined) return await changeAndAsk(contestant);
  return await load(row.shotOf(contestant), row.connections ?? 1, SECONDS);
}

async function start(name: string, settings: Readonly<Record<string, string>>): Promise<Contestant> {
  const DATA_DIR = join(folder, name);
  const DATABASE_URL = await postgres.createDatabase();
  const base = { DATA_DIR, DATABASE_URL, ADMIN_PORT: '0', RATE_LIMIT: '0', RUN_MODE: 'prod' };
  const server = await startServer(['src/main.ts', 'demo'], { ...base, ...settings });
  return { server, world: JSON.parse(readFileSync(join(DATA_DIR, 'demo.json'), 'utf8')) as DemoWorld };
}

function headersOf({ world }: Contestant, who: string): Record<string, string> {
  return { authorization: `token ${world.users[who]?.token}`, 'content-type': 'application/json' };
}

function askAbout(contestant: Contestant, object: string): Shot {
  const url = `${contestant.server.address}/api/v1/authz/objects/${object}/allowed-permissions?org=acme`;
  return { url, headers: headersOf(contestant, 'ann') };
}

function clusterOf(contestant: Contestant): Shot {
  return askAbout(contestant, `cluster/${contestant.world.clusters.prod?.id}`);
}

function organizationOf(contestant: Contestant): Shot {
  return askAbout(contestant, `organization/${contestant.world.orgs.acme?.id}`);
}

function batchOf(contestant: Contestant): Shot {
  const url = `${contestant.server.address}/api/v1/authz/objects/allowed-permissions?org=acme`;
  const { prod, staging } = contestant.world.clusters;
  const ids = Array.from({ length: 100 }, (_, at) => (at === 0 ? prod?.id : at === 1 ? staging?.id : 1000 + at));
  const body = JSON.stringify(ids.map((id) => ({ objectType: 'cluster', objectID: id })));
  return { url, method: 'POST', headers: headersOf(contestant, 'ann'), body };
}

/** Milliseconds from the start of the question after a change to its answer. */
async function changeAndAsk(contestant: Contestant): Promise<number> {
  const { server, world } = contestant;
  const role = Object.values(world.orgs.acme?.roles ?? {})[0];
  const headers = headersOf(contestant, 'ann');
  const { url } = clusterOf(contestant);
  const times: number[] = [];
  for (let count = 0; count < PAIRS; count++) {
    const body = JSON.stringify({ permissions: count % 2 === 0 ? [EDIT] : [], teamIDs: [] });
    const path = `${server.address}/api/v1/authz/roles/${role}?org=acme`;
    const changed = await fetch(path, { method: 'PUT', headers, body });
    if (changed.status !== 200) throw new Error(`${changed.status} ${await changed.text()}`);
    await changed.text();
    const began = performance.now();
    const answer = await fetch(url, { headers });
    await answer.text();
    if (answer.status !== 200) throw new Error(String(answer.status));
    times.push(performance.now() - began);
  }
  return median(times);
}
