import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { get, startServer } from '../support/server/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';

const REQUESTS = 2000;
const MIB = 2 ** 20;
/** Generous, because other work on the machine counts, too. A server that waits for slow clients is stopped for seconds. */
const MAX_RATIO = 5;
const MAX_MIB = 200;
const EVERY_MS = 5000;
/** Each client repeats its own: a head that never ends, a body that never ends, and answers that nobody reads. */
const KINDS = [
  { first: 'GET /api/v1/version HTTP/1.1\r\nHost: a\r\nX-Slow: ', more: 'a' },
  { first: 'POST /api/v1/user/signin HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n{"', more: 'a' },
  { first: '', more: 'GET /api/v1/version HTTP/1.1\r\nHost: a\r\n\r\n' },
];

describe('Slow clients', { skip: process.platform !== 'linux' }, () => {
  it(`${COUNTS.slowClients} slow clients neither slow others down nor fill the memory`, async () => {
    const { place, world } = await newDemoPlace();
    const database =
      place.databaseUrl === undefined ? { DATA_DIR: place.dataDir } : { DATABASE_URL: place.databaseUrl };
    const env = { ...database, ATRIUM_KEY: TEST_KEY, LOG_LEVEL: 'error', RATE_LIMIT: '0' };
    const server = startServer({ env });
    const url = new URL(await server.listening());
    const token = world.users.ann?.token ?? '';
    await measure(url, token);
    const before = await measure(url, token);
    const memory = residentMiB(server.pid);
    const sockets = new Set<Socket>();
    const opened = Array.from({ length: COUNTS.slowClients }, (_, client) => open(client));
    await Promise.all(opened);
    const during = await measure(url, token);
    const grown = residentMiB(server.pid) - memory;
    const left = sockets.size;
    for (const socket of sockets) socket.destroy();
    const after = await measure(url, token);
    const ratio = during.p99 / Math.max(before.p99, after.p99);
    progress(`slow clients: ${left} connected at the end, p99 ${ratio.toFixed(2)} times as without, ${grown} MiB more`);
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
    assert.deepEqual([before.wrong, during.wrong, after.wrong], [0, 0, 0]);
    assert.ok(ratio < MAX_RATIO, `p99 ${before.p99} ms before, ${during.p99} ms during, ${after.p99} ms after`);
    assert.ok(grown < MAX_MIB, `${grown} MiB more`);

    function open(client: number): Promise<void> {
      const kind = KINDS[client % KINDS.length] ?? assert.fail();
      const socket = connect(Number(url.port), url.hostname);
      sockets.add(socket);
      socket.pause();
      // Spread evenly over time, because slow clients do not act together.
      let writing: NodeJS.Timeout | undefined;
      const delay = setTimeout(
        () => {
          writing = setInterval(() => socket.write(kind.more), EVERY_MS);
        },
        (client / COUNTS.slowClients) * EVERY_MS,
      );
      // The server may end the connection whenever it likes.
      socket.on('error', () => undefined);
      socket.once('close', () => {
        clearTimeout(delay);
        clearInterval(writing);
        sockets.delete(socket);
      });
      return new Promise((resolve, reject) => {
        socket.once('error', reject);
        socket.once('connect', () => socket.write(kind.first, () => resolve()));
      });
    }
  });
});

/** The time that 99 of 100 requests take at most, one after the other. */
async function measure(url: URL, token: string): Promise<{ p99: number; wrong: number }> {
  const times: number[] = [];
  let wrong = 0;
  for (let request = 0; request < REQUESTS; request++) {
    const began = performance.now();
    const answer = await get(`${url.origin}/api/v1/user`, token);
    await answer.text();
    times.push(performance.now() - began);
    if (answer.status !== 200) wrong += 1;
  }
  times.sort((one, other) => one - other);
  return { p99: times[Math.floor(times.length * 0.99)] ?? 0, wrong };
}

function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round((Number(kib) * 1024) / MIB);
}
