import { Worker } from 'node:worker_threads';
import { ROUTES } from '../test/contract/routes/table.ts';
import { DRIVERS } from '../test/support/server/db.ts';
import { openMarketplace } from '../test/support/world/marketplace.ts';
import { CROWDED_REQUESTS } from './requests/crowded-requests.ts';
import type { Entry, Measured, Shot } from './requests/entry.ts';
import { type FullWorld, fillWorld, forgetAll } from './requests/fill.ts';
import { type Hold, REFERENCE_MS, slowness, startMeter } from './requests/meter.ts';

/**
 * The most expensive request of every route, in a world in which everything is at its default limit: how long it keeps
 * all other requests waiting. No request may do so for more than 100 ms of processor time.
 */
const MAX_MS = 100;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** Only routes whose name matches this pattern. */
const ONLY = new RegExp(process.env.BENCH_ONLY ?? '');
/** While the world is filled, PostgreSQL may not answer for seconds. */
const PATIENCE = 30;
const ONLY_DRIVER = process.env.BENCH_DRIVER ?? '';

interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly start: string;
}

const client = new Worker(new URL('./requests/client.mjs', import.meta.url));
const exceeding: string[] = [];
process.stdout.write(`scaled to a quiet machine, on which the reference work takes ${REFERENCE_MS} ms\n`);
for (const driver of DRIVERS.filter((one) => one.includes(ONLY_DRIVER))) {
  const env = {
    SCIM_DOMAINS: 'acme:acme.example',
    RATE_LIMIT: '0',
    BUS_ENDPOINTS: 'nats://127.0.0.1:1',
    LOG_LEVEL: 'error',
    // The world is filled by a few large statements, which take minutes on a busy machine.
    DATABASE_TIMEOUT_MS: '600000',
  };
  const atrium = await openMarketplace({ driver, env, patience: PATIENCE });
  const world = await fillWorld(atrium);
  process.stdout.write(`\n${driver}: longest hold of the event loop, in ms of processor time (all of the request)\n`);
  for (const [route, { cost }] of Object.entries(ROUTES)) {
    if (!ONLY.test(route)) continue;
    for (const entry of [cost].flat() as Entry[]) await measure(driver, world, route, entry);
  }
  for (const { route, ...entry } of CROWDED_REQUESTS) {
    if (ONLY.test(route)) await measure(driver, world, route, entry);
  }
  await atrium.close();
}
await client.terminate();
process.stdout.write(
  exceeding.length === 0 ? `\nnone exceeds ${MAX_MS} ms\n` : `\nmore than ${MAX_MS} ms:\n${exceeding.join('\n')}\n`,
);
process.exit();

async function measure(driver: string, world: FullWorld, route: string, entry: Entry): Promise<void> {
  if ('as' in entry) {
    process.stdout.write(`    as  ${route}: as ${entry.as}, because it ${entry.because}\n`);
    return;
  }
  const holds: (Hold & { answer: Answer; slow: number })[] = [];
  for (let round = 0; round < ROUNDS; round++) holds.push(await measureOnce(world, route, entry, round));
  // The first round also compiles what it needs, so it is left out if there are others.
  const counted = holds.length > 1 ? holds.slice(1) : holds;
  const longest = Math.max(...counted.map(({ longestMs, slow }) => longestMs / slow));
  const first = holds[0];
  if (!first) return;
  const raw = holds.map(({ longestMs }) => Math.round(longestMs)).join(', ');
  const total = Math.round(Math.max(...counted.map(({ totalMs, slow }) => totalMs / slow)));
  const line = `${String(Math.round(longest)).padStart(6)}  ${route}: ${entry.what} (${total}; measured ${raw} at ${(first.slow * 100).toFixed(0)} %; ${first.answer.status}, ${first.answer.bytes} bytes)`;
  process.stdout.write(`${line}\n`);
  if (longest > MAX_MS) exceeding.push(`${driver.padEnd(9)} ${line}`);
}

async function measureOnce(world: FullWorld, route: string, entry: Measured, round: number) {
  const shot = await entry.shot(world, round);
  if (entry.isFirst) await forgetAll(world.atrium);
  globalThis.gc?.();
  const slow = slowness();
  const stop = startMeter();
  const answer = await send(world, shot.method ?? route.split(' ', 1)[0] ?? '', shot);
  const hold = await stop();
  const isExpected =
    shot.status === undefined ? answer.status >= 200 && answer.status < 300 : answer.status === shot.status;
  if (!isExpected)
    process.stdout.write(
      `        ${route}: ${entry.what}: unexpected ${answer.status} ${answer.start.slice(0, 300)}\n`,
    );
  return { ...hold, answer, slow };
}

function send({ atrium }: FullWorld, method: string, { as, path, body, type }: Shot): Promise<Answer> {
  const token = as === undefined ? undefined : atrium.world.users[as]?.token;
  const isApi = !/^\/(?:marketplace|scim|access|mcp)\b/.test(path);
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  client.postMessage({
    url: `${atrium.url}${isApi ? '/api/v1' : ''}${path}`,
    method,
    headers: {
      ...(token !== undefined && { Authorization: `token ${token}` }),
      ...(text !== undefined && { 'Content-Type': type ?? 'application/json' }),
    },
    body: text,
  });
  return new Promise((resolve) => client.once('message', resolve));
}
