import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/base/config/config.ts';
import { createLog } from '../src/base/log.ts';
import { type Instance, openInstance } from '../src/instance.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { createStealMeter, startServer } from './support/server.ts';

/**
 * npm run bench -- webhooks: 500 events a second for 50 webhooks, one of each in an organization of its own. One
 * receiver is dead: it takes connections and never answers. One is slow: it answers after five seconds. How long the
 * other receivers wait is the time from the change, as the event says it, to the arrival of its message.
 *
 * Changes are written by this process, ten in a transaction, and delivered by the server.
 */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 60);
const HOOKS = Number(process.env.BENCH_WEBHOOKS ?? 50);
const EVENTS_PER_SECOND = Number(process.env.BENCH_EVENTS ?? 500);
const ROLES = 10;
const SLOW_MS = 5000;
const WARM_UP_MS = 5000;
const MAX_REST_MS = 60_000;
const KEY = Buffer.alloc(32, 'bench key').toString('base64');

interface Outlet {
  readonly organizationId: bigint;
  readonly roles: readonly bigint[];
}

interface Arrival {
  readonly event: string;
  readonly object: number;
  readonly revision: number;
  readonly changedAt: number;
  readonly waitMs: number;
}

const say = (line: string) => process.stderr.write(`${line}\n`);
const print = (line: string) => process.stdout.write(`${line}\n`);

/** By receiver: the first is dead, the second slow. */
const arrivals: Arrival[][] = Array.from({ length: HOOKS }, () => []);
const receivers = await Promise.all(arrivals.map((_, number) => receiver(number)));
const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres();
try {
  const place = { DATA_DIR: folder, DATABASE_URL: await postgres.createDatabase() };
  const settings = { ...place, ATRIUM_KEY: KEY, ADMIN_PORT: '0', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const config = readConfig({ ...settings, PORT: '0' });
  const instance = await openInstance(config, { log: createLog('fatal'), say: () => undefined });
  const outlets = await prepare(instance);
  const server = await startServer(['src/main.ts'], settings);
  try {
    say(`${HOOKS} webhooks; warming up`);
    await write(instance, outlets, WARM_UP_MS);
    const [from, began, cpu, stolen] = [Date.now(), performance.now(), server.cpuMicroseconds(), createStealMeter()];
    const { written, expected } = await write(instance, outlets, SECONDS * 1000);
    const seconds = (performance.now() - began) / 1000;
    const taken = stolen();
    const until = Date.now();
    const good = () => arrivals.slice(2).flatMap((some) => some.filter(isBetween(from, until)));
    for (let waited = 0; waited < MAX_REST_MS && good().length < expected; waited += 500) await pause(500);
    const all = arrivals.flatMap((some) => some.filter(isBetween(from, until))).length;
    report(good(), { written, expected, seconds, each: (server.cpuMicroseconds() - cpu) / 1000 / all, taken });
  } finally {
    await server.stop();
    await instance.close();
  }
} finally {
  for (const one of receivers) one.closeAllConnections();
  for (const one of receivers) one.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function receiver(number: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { timestamp, data } = JSON.parse(Buffer.concat(chunks).toString());
    const changedAt = Date.parse(timestamp);
    arrivals[number]?.push({
      ...{ event: data.id, object: Number(data.object?.id ?? 0), revision: Number(data.revision) },
      ...{ changedAt, waitMs: Date.now() - changedAt },
    });
    if (number === 0) return;
    if (number === 1) await pause(SLOW_MS);
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

/** An organization with ten roles for each webhook. */
async function prepare(instance: Instance): Promise<Outlet[]> {
  const { users, organizations, roles, webhooks } = instance.features;
  const founderId = await users.create({ name: 'bench', email: 'bench@example.com' });
  const actor = { id: founderId, name: 'bench', requestId: 'bench' };
  const creator = { id: founderId, name: 'bench', scopes: ['all'] };
  const outlets: Outlet[] = [];
  for (const [number, server] of receivers.entries()) {
    const { id: organizationId } = await organizations.create({ name: `bench${number}`, founderId }, actor);
    const made: bigint[] = [];
    for (let role = 0; role < ROLES; role += 1) {
      made.push((await roles.create({ organizationId, actor }, { name: `role${role}`, permissions: [] })).id);
    }
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
    await webhooks.webhooks.create({ ownerId: organizationId, creator, actor }, { url });
    outlets.push({ organizationId, roles: made });
  }
  return outlets;
}

/** Writes changes of one organization after the other. A writer that is late catches up. */
async function write({ revisions }: Instance, outlets: readonly Outlet[], forMs: number): Promise<Written> {
  const began = performance.now();
  let [turn, written, expected] = [0, 0, 0];
  for (;;) {
    const elapsed = performance.now() - began;
    if (elapsed >= forMs) return { written, expected };
    const dueMs = (written / EVENTS_PER_SECOND) * 1000;
    if (dueMs > elapsed) await pause(dueMs - elapsed);
    const number = turn++ % outlets.length;
    const { organizationId, roles } = outlets[number] as Outlet;
    await revisions.write(async (_query, touch) => {
      for (const id of roles) touch({ kind: 'role', id, organizationId });
    });
    written += roles.length;
    if (number > 1) expected += roles.length;
  }
}

interface Written {
  readonly written: number;
  /** Of these, the changes that neither the dead receiver nor the slow one is to hear of. */
  readonly expected: number;
}

interface Result extends Written {
  readonly seconds: number;
  /** Processor time of the server for each message, in milliseconds. */
  readonly each: number;
  readonly taken: number;
}

function report(good: readonly Arrival[], { written, expected, seconds, each, taken }: Result): void {
  const waits = good.map(({ waitMs }) => waitMs).sort((one, other) => one - other);
  const at = (share: number) => `${waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]} ms`;
  const distinct = new Set(good.map(({ event, object }) => `${event} ${object}`)).size;
  const rows = [
    ['changes', `${(written / seconds).toFixed(0)} a second`, `${EVENTS_PER_SECOND}`],
    ['messages to the others', `${good.length} of ${expected}, ${good.length - distinct} twice`, 'all'],
    ['out of order for their object', String(outOfOrder()), '0'],
    ['from the change to the arrival, p50', at(0.5), ''],
    ['… p99', at(0.99), '< 2,000 ms'],
    ['… the longest', at(1), ''],
    ['messages to the dead one, which are under way', String(arrivals[0]?.length), ''],
    ['messages to the slow one', String(arrivals[1]?.length), ''],
    ['processor time of the server for each message', `${each.toFixed(2)} ms`, ''],
  ];
  print(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`);
  const load = loadavg()[0]?.toFixed(1);
  print(`${seconds.toFixed(0)} s, ${HOOKS} webhooks; load ${load}, ${(100 * taken).toFixed(1)} % taken by the host.\n`);
  print('| what | measured | target |\n|---|---|---|');
  for (const row of rows) print(`| ${row.join(' | ')} |`);
}

function isBetween(from: number, until: number) {
  return ({ changedAt }: Arrival) => changedAt >= from && changedAt <= until;
}

/** Messages that came after one about a later change of the same object. */
function outOfOrder(): number {
  let count = 0;
  for (const some of arrivals) {
    const latest = new Map<number, number>();
    for (const { object, revision } of some) {
      if (revision < (latest.get(object) ?? 0)) count += 1;
      latest.set(object, Math.max(revision, latest.get(object) ?? 0));
    }
  }
  return count;
}
