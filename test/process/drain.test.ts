import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { newPlace } from '../support/db.ts';
import { freePort } from '../support/ports.ts';
import { get, type ServerProcess, startServer } from '../support/process.ts';

/** How long the server waits for a request that does not come to its end. */
const PATIENCE_MS = 8000;
const TOKEN = /atr_[0-9A-Za-z]{33}/;

describe('SIGTERM', () => {
  let databaseUrl = '';
  let token = '';
  const env = { ATRIUM_KEY: Buffer.alloc(32, 1).toString('base64') };

  before(async () => {
    databaseUrl = (await newPlace('postgres')).databaseUrl ?? '';
    const server = startServer({ env: { ...env, DATABASE_URL: databaseUrl } });
    await server.listening();
    token = TOKEN.exec(server.stdout())?.[0] ?? '';
    server.kill('SIGTERM');
    await server.ended;
  });

  const open = async (more: Record<string, string> = {}) => {
    const server = startServer({ env: { ...env, DATABASE_URL: databaseUrl, ...more } });
    return { server, url: new URL(await server.listening()) };
  };

  it('SIGTERM lets the request under way finish, stops new connections and exits with 0', async () => {
    const adminPort = await freePort();
    const { server, url } = await open({ ADMIN_PORT: String(adminPort) });
    const lock = await lockRevision(databaseUrl);
    const slow = get(`${url.origin}/api/v1/user`, token);
    await lock.untilSomebodyWaits();
    server.kill('SIGTERM');
    await said(server, /SIGTERM: finishing the requests under way/);
    assert.equal((await get(`http://127.0.0.1:${adminPort}/readyz`)).status, 503);
    assert.equal((await get(`http://127.0.0.1:${adminPort}/healthz`)).status, 200);
    await assert.rejects(get(`${url.origin}/api/v1/version`), 'no new connections');
    await lock.release();
    assert.equal((await slow).status, 200);
    await endsInOrder(server);
  });

  it('A request whose body is still arriving at SIGTERM is answered', async () => {
    const { server, url } = await open();
    const body = '{"username":"root","password":"wrong"}';
    const client = await dial(url);
    client.socket.write(
      `POST /api/v1/user/signin HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
    );
    await get(`${url.origin}/api/v1/version`);
    server.kill('SIGTERM');
    await said(server, /SIGTERM/);
    const asked = performance.now();
    client.socket.write(body.slice(1));
    assert.match(await client.all, /^HTTP\/1\.1 404 .*"user does not exist, or the password is wrong"/s);
    await endsInOrder(server);
    assert.ok(performance.now() - asked < PATIENCE_MS, 'and then waits for nobody');
  });

  it('SIGTERM does not wait for an idle connection', async () => {
    const { server, url } = await open();
    const client = await dial(url);
    client.socket.write('GET /api/v1/version HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => client.socket.once('data', resolve));
    const asked = performance.now();
    server.kill('SIGTERM');
    await endsInOrder(server);
    assert.ok(performance.now() - asked < PATIENCE_MS);
  });

  it('SIGTERM does not wait for a connection that never sent a request', async () => {
    const { server, url } = await open();
    await dial(url);
    await get(`${url.origin}/api/v1/version`);
    const asked = performance.now();
    server.kill('SIGTERM');
    await endsInOrder(server);
    assert.ok(performance.now() - asked < PATIENCE_MS);
  });

  it('SIGTERM gives up on a request that arrives too slowly', async () => {
    const { server, url } = await open();
    const client = await dial(url);
    client.socket.write('GET /api/v1/version HTTP/1.1\r\nHost: x\r\n');
    const dribble = setInterval(() => client.socket.write('X-A: b\r\n'), 300).unref();
    await get(`${url.origin}/api/v1/version`);
    const asked = performance.now();
    server.kill('SIGTERM');
    await endsInOrder(server);
    clearInterval(dribble);
    assert.ok(performance.now() - asked < 12_000);
  });

  it('SIGTERM during startup ends the server with exit code 0', async () => {
    const lock = await lockRevision(databaseUrl, 'ring_key');
    const server = startServer({ env: { ...env, DATABASE_URL: databaseUrl } });
    await lock.untilSomebodyWaits();
    server.kill('SIGTERM');
    await endsInOrder(server);
    await lock.release();
  });
});

async function endsInOrder(server: ServerProcess): Promise<void> {
  const { code } = await server.ended;
  assert.equal(code, 0, server.stderr());
}

async function said(server: ServerProcess, words: RegExp): Promise<void> {
  while (!words.test(server.stdout())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Every request that has to know its caller waits while the table of the clock is locked. */
async function lockRevision(databaseUrl: string, table = 'revision') {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  const waiting = `select 1 from pg_locks where not granted and relation = '${table}'::regclass`;
  return {
    async untilSomebodyWaits() {
      while ((await client.query(waiting)).rows.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async release() {
      await client.query('commit');
      await client.end();
    },
  };
}

const sockets: Socket[] = [];
after(() => {
  for (const socket of sockets) socket.destroy();
});

async function dial(url: URL): Promise<{ socket: Socket; all: Promise<string> }> {
  const socket = connect(Number(url.port), url.hostname);
  sockets.push(socket);
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      text += chunk;
    });
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, all: new Promise((resolve) => socket.once('close', () => resolve(text))) };
}
