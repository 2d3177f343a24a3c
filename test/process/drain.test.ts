import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { itLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { lockTable } from '../support/faults/table-lock.ts';
import { get, type ServerProcess, startServer } from '../support/server/process.ts';
import { newDemoPlace, openTestServer, TEST_KEY } from '../support/server/server.ts';
import { freePort } from '../support/services/ports.ts';
import { lacks } from '../support/services/requirements.ts';

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
    // Before it is ready, the server itself asks for the revision.
    await until(async () => (await get(`http://127.0.0.1:${adminPort}/readyz`)).status === 200);
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

  itLong(
    'SIGTERM first makes the server unready, and every request is answered meanwhile with Connection: close',
    async () => {
      const adminPort = await freePort();
      // So long that only a second signal can end the server during this test.
      const delay = { SHUTDOWN_DELAY_MS: '600000', ADMIN_PORT: String(adminPort) };
      const server = startServer({ env: { ATRIUM_KEY: TEST_KEY, DATABASE_URL: databaseUrl, ...delay } });
      const url = await server.listening();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ask = (path: string, own?: Agent) =>
        new Promise<{ status: number; connection: string | undefined; port: number | undefined }>((resolve, reject) => {
          const headers = { Authorization: `token ${token}` };
          request(`${url}${path}`, { headers, ...(own && { agent: own }) }, (answer) => {
            const { statusCode: status = 0, headers: sent, socket } = answer;
            const told = { status, connection: sent.connection, port: socket.localPort };
            answer.resume().once('end', () => resolve(told));
          })
            .once('error', reject)
            .end();
        });
      const kept = await ask('/api/v1/user', agent);
      assert.equal(kept.connection, 'keep-alive');
      server.kill('SIGTERM');
      // npm passes the signal on, so the same one may arrive twice.
      server.kill('SIGTERM');
      await said(server, /SIGTERM: not ready any more; requests are accepted for another 600000 ms/);
      assert.equal((await get(`http://127.0.0.1:${adminPort}/readyz`)).status, 503);
      assert.equal((await get(`http://127.0.0.1:${adminPort}/healthz`)).status, 200);
      const last = await ask('/api/v1/user', agent);
      assert.equal(last.port, kept.port, 'the kept connection still works');
      for (const path of ['/api/v1/user', '/api/v1/version', '/nowhere', '/api/v1/authz/roles']) {
        const answer = path === '/api/v1/user' ? last : await ask(path);
        assert.ok(answer.status < 500, path);
        assert.equal(answer.connection, 'close', path);
      }
      await until(async () => {
        server.kill('SIGTERM');
        return /SIGTERM: closing immediately/.test(server.stdout());
      });
      assert.equal((await server.ended).code, 0, server.stderr());
    },
  );

  itLong('After its delay, a server that was sent SIGTERM ends by itself', async () => {
    const env = { ATRIUM_KEY: TEST_KEY, DATABASE_URL: databaseUrl, SHUTDOWN_DELAY_MS: '300' };
    const server = startServer({ env });
    const url = await server.listening();
    server.kill('SIGTERM');
    await said(server, /accepted for another 300 ms/);
    assert.equal((await get(`${url}/api/v1/version`)).status, 200);
    assert.equal((await server.ended).code, 0, server.stderr());
    assert.match(server.stdout(), /finishing the requests in progress/);
  });

  itLong('SIGTERM during startup ends the server with exit code 0', async () => {
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
