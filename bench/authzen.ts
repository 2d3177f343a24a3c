import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { startServer } from './support/server.ts';

/** Decisions by AuthZEN, next to allowed permissions of the same object, on the same server by turns. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
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
  const times = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, shot] of Object.entries(shots)) {
      const url = typeof shot === 'string' ? shot : `${server.address}/access/v1/acme/evaluation`;
      const p99 = await shoot(url, token, typeof shot === 'string' ? undefined : shot, round === 0 ? 1 : SECONDS);
      if (round > 0) times.set(name, [...(times.get(name) ?? []), p99]);
    }
  }
  await server.stop();
  write(`${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`);
  write(`${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections, by turns.\n`);
  write('| what | p99, median of the rounds | against allowed-permissions of the same round |\n|---|---|---|');
  const base = times.get('allowed-permissions') ?? [];
  for (const [name, all] of times) {
    const shares = all.map((one, round) => (100 * one) / (base[round] ?? Number.NaN));
    write(`| ${name} | ${median(all).toFixed(2)} ms | ${median(shares).toFixed(0)} % (${spread(shares)}) |`);
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** What the slowest percent takes, in milliseconds. */
async function shoot(url: string, token: string, body: object | undefined, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const text = body && JSON.stringify(body);
  const headers = {
    Authorization: `token ${token}`,
    ...(text !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
  };
  const found: number[] = [];
  const end = performance.now() + seconds * 1000;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const began = performance.now();
      const sent = request(url, { agent, headers, method: text === undefined ? 'GET' : 'POST' }, (response) => {
        response.resume().once('end', () => {
          found.push(performance.now() - began);
          if (response.statusCode === 200) resolve();
          else reject(new Error(`${url}: ${response.statusCode}`));
        });
      });
      sent.once('error', reject).end(text);
    });
  const keepBusy = async () => {
    while (performance.now() < end) await one();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, keepBusy));
  agent.destroy();
  return found.sort((a, b) => a - b)[Math.floor(found.length * 0.99)] ?? Number.NaN;
}
