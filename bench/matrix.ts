import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { median, spread } from './support/figures.ts';
import { type BenchServer, startServer } from './support/server.ts';

/**
 * A matrix of 200 people and 500 clusters, and the access of one person, over HTTP; next to the same answers one at a
 * time. Hardly two people are in the same teams, so few of them are alike.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const PEOPLE = 200;
const CLUSTERS = 500;
const TEAMS = 40;
const ROLES = 20;
const SINGLE = 300;
const ACTIONS = ['view clusters', 'connect to clusters', 'reconfigure clusters', 'remove clusters'];

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const settings = { DATA_DIR: folder, ADMIN_PORT: '0', RATE_LIMIT: '0', RUN_MODE: 'prod' };
const server = await startServer(['src/main.ts', 'demo'], settings);
try {
  const rows = await measure(server, JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoWorld);
  process.stdout.write(
    `\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; medians of ${ROUNDS}.\n\n`,
  );
  process.stdout.write('| what | wall | spread | processor | target |\n|---|---|---|---|---|\n');
  for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure({ address, cpuMicroseconds }: BenchServer, world: DemoWorld): Promise<string[][]> {
  const as = (name: string) => async (method: string, path: string, body?: object) => {
    const headers = { authorization: `token ${world.users[name]?.token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${address}/api/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text;
  };
  const [ann, root] = [as('ann'), as('root')];
  await fill();

  const everybody = { type: 'cluster' };
  const whole = JSON.parse(await ann('POST', '/authz/matrix?org=acme', everybody));
  const size = `${whole.users.length} × ${whole.objects.length}`;
  const [object] = whole.objects;
  const distinct = new Set(whole.cells.map((row: number[]) => row.join())).size;
  process.stderr.write(`${size}, ${distinct} different rows\n`);
  const ask = (path: string, body?: object) => () => ann(body ? 'POST' : 'GET', path, body);
  const measured = [
    [`${size}: matrix`, ask('/authz/matrix?org=acme', everybody), '< 1,000 ms'],
    ['the same as CSV', ask('/authz/matrix?org=acme&format=csv', everybody), '< 1,000 ms'],
    ['differences only', ask('/authz/matrix?org=acme', { ...everybody, differences: true }), '< 1,000 ms'],
    ['the same people and all teams', ask('/authz/matrix?org=acme', { type: 'team' }), '< 1,000 ms'],
    ['access of one person', ask('/authz/users/bench7/access?org=acme'), ''],
  ] as const;
  const rows: string[][] = [];
  let matrixMs = 0;
  for (const [what, run, target] of measured) {
    const { wall, cpuMs } = await timed(ROUNDS, run);
    if (what.endsWith('matrix')) matrixMs = cpuMs;
    rows.push([what, ms(median(wall)), spread(wall), ms(cpuMs), target]);
  }
  const relation = 'relation=can_connect';
  const { wall, cpuMs } = await timed(SINGLE, (round) =>
    ann(
      'GET',
      `/authz/objects/cluster/${object.id}/explain?org=acme&${relation}&user=bench${1 + (round % (PEOPLE - 4))}`,
    ),
  );
  const cells = whole.users.length * whole.objects.length;
  rows.push([
    'one cell and relation, by explain',
    `${median(wall).toFixed(1)} ms`,
    spread(wall),
    `${cpuMs.toFixed(2)} ms`,
    '',
  ]);
  rows.push([
    'all cells one by one, next to the matrix',
    '',
    '',
    `${Math.round((cpuMs * cells) / matrixMs).toLocaleString('en-US')} times`,
    '',
  ]);
  return rows;

  /** The processor time is that of the whole process, on average over the rounds. */
  async function timed(rounds: number, run: (round: number) => Promise<string>) {
    for (let round = 0; round < 3; round++) await run(round);
    const wall: number[] = [];
    const before = cpuMicroseconds();
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      await run(round);
      wall.push(performance.now() - start);
    }
    return { wall, cpuMs: (cpuMicroseconds() - before) / 1000 / rounds };
  }

  /** People, teams and roles such that most rows differ. */
  async function fill(): Promise<void> {
    const teams: number[] = [];
    for (let at = 0; at < TEAMS; at++) {
      const permission = at % 8 === 0 ? 'read' : 'none';
      teams.push(JSON.parse(await ann('POST', '/orgs/acme/teams', { name: `bench${at}`, permission })).id);
    }
    for (let at = 0; at < ROLES; at++) {
      const permissions = ACTIONS.filter((_, bit) => ((at + 1) >> bit) % 2 === 1).map((action) => ({
        namespace: 'cluster_mgmt',
        action,
      }));
      const teamIDs = [teams[at], teams[(at * 7 + 3) % TEAMS]];
      await ann('POST', '/authz/roles?org=acme', { name: `bench${at}`, permissions, teamIDs });
    }
    for (let at = 1; at <= PEOPLE - 4; at++) {
      const name = `bench${at}`;
      await root('POST', '/admin/users', { username: name, email: `${name}@example.com` });
      for (const team of new Set([at % TEAMS, (at * 3) % TEAMS, (at + 5 + Math.floor(at / TEAMS)) % TEAMS])) {
        await ann('PUT', `/teams/${teams[team]}/members/${name}`);
      }
    }
    for (let at = 1; at <= CLUSTERS - 2; at++) {
      const uid = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
      await ann('POST', '/orgs/acme/clusters', { name: `bench${at}`, uid });
    }
  }
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
