import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { startServer } from './support/server.ts';

/** Decisions by AuthZEN, next to allowed permissions of the same object, over the same connections by turns. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const CONNECTIONS = 8;

const write = (line: string) => process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB' } });
try {
  const settings = {
    DATA_DIR: folder,
    DATABASE_URL: await postgres.createDatabase(),
    ADMIN_PORT: '0',
    RATE_LIMIT: '0',
    RUN_MODE: 'prod',
  };
  const server = await startServer(['src/main.ts', 'demo'], settings);
  const { users, clusters } = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoWorld;
  const prod = String(clusters.prod?.id);
  const about = (user: string, action: string) => ({
    ...{ subject: { type: 'user', id: user }, action: { name: action }, resource: { type: 'cluster', id: prod } },
  });
  const token = String(users.ann?.token);
  const shots = {
    'allowed-permissions': `${server.address}/api/v1/authz/objects/cluster/${prod}/allowed-permissions?org=acme`,
    'evaluation, a yes about oneself': about('ann', 'can_connect'),
    'evaluation, a yes about another user': about('bob', 'can_view'),
    'evaluation, a no that can be asked about': about('cat', 'can_edit'),
  };
  const times = new Map<string, number[]>(Object.keys(shots).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    const found = await shoot(server.address, shots, token, round === 0 ? 1 : SECONDS);
    if (round > 0) for (const [name, all] of found) times.get(name)?.push(p99(all));
  }
  const work = new Map<string, number[]>(Object.keys(shots).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, shot] of Object.entries(shots)) {
      const before = server.cpuMicroseconds();
      const count = (await shoot(server.address, { [name]: shot }, token, 1)).get(name)?.length ?? Number.NaN;
      if (round > 0) work.get(name)?.push((server.cpuMicroseconds() - before) / count);
    }
  }
  await server.stop();
  write(`${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`);
  write(`${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections, each kind in turn over each.\n`);
  write('| what | p99, median of the rounds | of that of allowed-permissions in the same round | processor time |');
  write('|---|---|---|---|');
  const base = times.get('allowed-permissions') ?? [];
  for (const [name, all] of times) {
    const shares = all.map((one, round) => (100 * one) / (base[round] ?? Number.NaN));
    const cells = [`${median(all).toFixed(2)} ms`, `${median(shares).toFixed(0)} % (${spread(shares)})`];
    write(`| ${[name, ...cells, `${median(work.get(name) ?? []).toFixed(0)} µs`].join(' | ')} |`);
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/**
 * How long each request of each kind takes, in milliseconds. Every connection sends each kind in turn, so that
 * whatever else happens on the machine meets all of them.
 */
async function shoot(
  address: string,
  kinds: Readonly<Record<string, string | object>>,
  token: string,
  seconds: number,
): Promise<Map<string, number[]>> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const found = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]));
  const end = performance.now() + seconds * 1000;
  const one = (name: string, kind: string | object) => {
    const [url, text] =
      typeof kind === 'string' ? [kind, undefined] : [`${address}/access/v1/acme/evaluation`, JSON.stringify(kind)];
    const headers = {
      Authorization: `token ${token}`,
      ...(text !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    };
    return new Promise<void>((resolve, reject) => {
      const began = performance.now();
      const sent = request(url, { agent, headers, method: text === undefined ? 'GET' : 'POST' }, (response) => {
        response.resume().once('end', () => {
          found.get(name)?.push(performance.now() - began);
          if (response.statusCode === 200) resolve();
          else reject(new Error(`${url}: ${response.statusCode}`));
        });
      });
      sent.once('error', reject).end(text);
    });
  };
  const keepBusy = async (_: unknown, connection: number) => {
    const order = Object.entries(kinds);
    // Connections begin at different kinds.
    for (let turn = connection; performance.now() < end; turn++) {
      const [name, kind] = order[turn % order.length] ?? ['', ''];
      await one(name, kind);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, keepBusy));
  agent.destroy();
  return found;
}

/** What the slowest percent takes. */
function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
