import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/ports.ts';
import { get, type ServerProcess, startServer } from '../support/process.ts';
import { lacks } from '../support/requirements.ts';
import { newDemoPlace, openTestServer, TEST_KEY } from '../support/server.ts';
import { lockTable } from '../support/table-lock.ts';

/** Long enough to answer a request on a busy machine. */
const PATIENCE_MS = 6000;

describe('SIGTERM', { skip: lacks('postgresql') }, () => {
  let databaseUrl = '';
  let token: string | undefined;

  before(async () => {
    const { place, world } = await newDemoPlace('postgres');
    databaseUrl = place.databaseUrl ?? '';
    token = world.users.ann?.token;
  });

  it('SIGTERM lets the request under way finish, stops new connections and exits with 0', async () => {
    const adminPort = await freePort();
    const env = { ATRIUM_KEY: TEST_KEY, DATABASE_URL: databaseUrl, ADMIN_PORT: String(adminPort) };
    const server = startServer({ env });
    const url = await server.listening();
    // While the revision table is locked, every request that has to know its caller waits.
    const lock = await lockTable(databaseUrl, 'revision');
    const slow = get(`${url}/api/v1/user`, token);
    await lock.untilSomebodyWaits();
    server.kill('SIGTERM');
    await said(server, /SIGTERM: finishing the requests in progress/);
    assert.equal((await get(`http://127.0.0.1:${adminPort}/readyz`)).status, 503);
    assert.equal((await get(`http://127.0.0.1:${adminPort}/healthz`)).status, 200);
    await assert.rejects(get(`${url}/api/v1/version`), 'no new connections');
    await lock.release();
    assert.equal((await slow).status, 200);
    assert.equal((await server.ended).code, 0, server.stderr());
  });

  it('SIGTERM during startup ends the server with exit code 0', async () => {
    const lock = await lockTable(databaseUrl, 'ring_key');
    const server = startServer({ env: { ATRIUM_KEY: TEST_KEY, DATABASE_URL: databaseUrl } });
    await lock.untilSomebodyWaits();
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0, server.stderr());
    await lock.release();
  });
});

describe('Connections of a server that ends', () => {
  const names = ['idle', 'silent', 'arriving', 'dribbling'] as const;
  /** In the order in which the server closed them. */
  const closed: string[] = [];
  const received: Partial<Record<string, string>> = {};
  const sockets: Socket[] = [];

  async function dial(url: URL, name: (typeof names)[number]): Promise<Socket> {
    const socket = connect(Number(url.port), url.hostname);
    sockets.push(socket);
    received[name] = '';
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        received[name] += String(chunk);
      })
      .on('close', () => closed.push(name));
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  }

  async function untilClosed(count: number): Promise<void> {
    while (closed.length < count) await pause(10);
  }

  before(async () => {
    const atrium = await openTestServer();
    const url = new URL(atrium.url);
    const idle = await dial(url, 'idle');
    idle.write('GET /api/v1/version HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => idle.once('data', resolve));
    await dial(url, 'silent');
    const arriving = await dial(url, 'arriving');
    const body = '{"username":"root","password":"wrong"}';
    arriving.write(
      `POST /api/v1/user/signin HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
    );
    const dribbling = await dial(url, 'dribbling');
    dribbling.write('GET /api/v1/version HTTP/1.1\r\nHost: x\r\n');
    const dribble = setInterval(() => dribbling.write('X-A: b\r\n'), 300).unref();
    await get(`${url.origin}/api/v1/version`);
    // As SIGTERM does it, but with a shorter timeout.
    const ended = atrium.instance.close(PATIENCE_MS);
    await untilClosed(2);
    arriving.write(body.slice(1));
    await ended;
    clearInterval(dribble);
    await untilClosed(names.length);
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
  });

  it('A request whose body is still arriving when the server ends is answered', () => {
    assert.match(received.arriving ?? '', /^HTTP\/1\.1 404 .*"user does not exist, or the password is wrong"/s);
  });

  it('A server that ends waits neither for an idle connection nor for one that never sent a request', () => {
    assert.deepEqual(closed.slice(0, 2).sort(), ['idle', 'silent'], 'closed while other requests were under way');
    assert.equal(received.silent, '');
  });

  it('A server that ends gives up on a request that arrives too slowly', () => {
    assert.deepEqual(closed.slice(2), ['arriving', 'dribbling']);
    assert.equal(received.dribbling, '');
  });
});

async function said(server: ServerProcess, words: RegExp): Promise<void> {
  while (!words.test(server.stdout())) await pause(10);
}
