import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { openAdmin } from '../../src/http/admin-port.ts';
import type { DemoWorld } from '../../src/operations/demo/world.ts';
import { until } from '../support/checks/until.ts';
import { openWire } from '../support/faults/wire.ts';
import { get } from '../support/server/process.ts';
import { sendRaw } from '../support/server/raw.ts';
import { reopen } from '../support/server/reopen.ts';
import { newDemoPlace, openTestServer, TEST_KEY } from '../support/server/server.ts';
import { freePort } from '../support/services/ports.ts';
import { lacks } from '../support/services/requirements.ts';

describe('The admin port', () => {
  const needsPostgres = { skip: lacks('postgresql') };

  it(
    'The admin port distinguishes health from readiness and recovers with the database',
    needsPostgres,
    async (test) => {
      const { place, world } = await newDemoPlace('postgres');
      const wire = await openWire(new URL(place.databaseUrl ?? ''));
      test.after(() => wire.cut());
      const port = await freePort();
      const env = { ATRIUM_KEY: TEST_KEY, DATABASE_TIMEOUT_MS: '1000', ADMIN_PORT: String(port) };
      const atrium = await reopen({ ...place, databaseUrl: wire.url }, env);
      const address = await atrium.listen();
      const admin = `http://127.0.0.1:${port}`;
      const token = world.users.ann?.token;
      assert.equal((await get(`${admin}/healthz`)).status, 200);
      assert.equal((await get(`${admin}/readyz`)).status, 200);
      assert.match(await (await get(`${admin}/metrics`)).text(), /^atrium_ready 1$/m);
      assert.equal((await get(`${address}/api/v1/user`, token)).status, 200);
      const whole = await sendRaw(admin, [`GET ${admin}/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`]);
      assert.equal(whole.status, 200, 'scheme and host may stand before the path');

      await wire.cut();
      assert.equal((await get(`${admin}/readyz`)).status, 503);
      assert.equal((await get(`${admin}/healthz`)).status, 200, 'a restart would not help');
      assert.match(await (await get(`${admin}/metrics`)).text(), /^atrium_ready 0$/m);
      const refused = await get(`${address}/api/v1/user`, token);
      assert.equal(refused.status, 503, 'nothing remembered is used without its revision');
      assert.ok(refused.headers.get('retry-after'));
      assert.equal((await get(`${address}/api/v1/version`)).status, 200);

      await wire.mend();
      assert.equal((await get(`${admin}/readyz?verbose`)).status, 200);
      assert.equal((await get(`${address}/api/v1/user`, token)).status, 200);
      await atrium.close();
    },
  );

  it(
    'With a database that hangs every request is answered with 503, and with 200 as soon as it answers again',
    needsPostgres,
    async (test) => {
      const { place, world } = await newDemoPlace('postgres');
      const wire = await openWire(new URL(place.databaseUrl ?? ''));
      test.after(() => wire.cut());
      const port = await freePort();
      // Nothing in this test waits for the timeout of a single statement.
      const env = { ATRIUM_KEY: TEST_KEY, DATABASE_TIMEOUT_MS: '600000', ADMIN_PORT: String(port) };
      const settings = { DEPLOYMENT: 'marketplace', CLOUD_A_ALLOW: '127.0.0.1', RUN_MODE: 'dev' };
      const atrium = await reopen({ ...place, databaseUrl: wire.url }, { ...env, ...settings });
      const address = await atrium.listen();
      const token = world.users.ann?.token;
      const headers = { ...asAnn(world), 'Content-Type': 'application/json', Connection: 'close' };
      const post = (path: string, body: object) =>
        fetch(`${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      const calls = [
        () => get(`${address}/api/v1/user`, token),
        () => get(`${address}/api/v1/authz/roles?org=acme`, token),
        () => post('/api/v1/users/ann/tokens', { name: 'hanging', scopes: ['all'] }),
        () => post('/api/v1/user/signin', { username: 'ann', password: 'wrong' }),
      ];
      const notify = () => post('/marketplace/api/v1/marketplaces/cloudA/notification/resource', {});
      assert.equal((await get(`${address}/api/v1/user`, token)).status, 200);
      wire.freeze();
      for (let round = 0; round < 2; round++) {
        const answers = await Promise.all(calls.map((call) => call()));
        assert.deepEqual(
          answers.map(({ status }) => status),
          [503, 503, 503, 503],
        );
        for (const { headers: sent } of answers) assert.equal(sent.get('retry-after'), '1');
        const reasons = await Promise.all(
          answers.map(async (answer) => ((await answer.json()) as { reason: string }).reason),
        );
        assert.deepEqual(new Set(reasons), new Set(['unavailable']));
        assert.equal((await get(`http://127.0.0.1:${port}/readyz`)).status, 503);
        assert.equal((await get(`http://127.0.0.1:${port}/healthz`)).status, 200);
        assert.ok([400, 404, 500].includes((await notify()).status), 'the listener answers too');
      }
      wire.thaw();
      await until(async () => (await get(`http://127.0.0.1:${port}/readyz`)).status === 200);
      assert.equal((await get(`${address}/api/v1/user`, token)).status, 200);
      assert.equal((await post('/api/v1/users/ann/tokens', { name: 'hanging', scopes: ['all'] })).status, 201);
      await atrium.close();
    },
  );

  it(
    'A change that the database did not confirm is answered with 503 and the reason outcome_unknown',
    needsPostgres,
    async (test) => {
      const { place, world } = await newDemoPlace('postgres');
      const wire = await openWire(new URL(place.databaseUrl ?? ''));
      test.after(() => wire.cut());
      const atrium = await reopen({ ...place, databaseUrl: wire.url }, { ATRIUM_KEY: TEST_KEY });
      const address = await atrium.listen();
      const headers = { ...asAnn(world), 'Content-Type': 'application/json' };
      const body = JSON.stringify({ name: 'lost', scopes: ['all'] });
      const create = () => fetch(`${address}/api/v1/users/ann/tokens`, { method: 'POST', headers, body });
      wire.loseAnswerTo('db.commit');
      const answer = await create();
      const { reason, message } = (await answer.json()) as { reason: string; message: string };
      assert.deepEqual([answer.status, answer.headers.get('retry-after'), reason], [503, '1', 'outcome_unknown']);
      assert.match(message, /the outcome is unknown: .* repeat it with the same Idempotency-Key, or look before you/);
      assert.equal((await create()).status, 422, 'it had been made');
      await atrium.close();
    },
  );

  it('However many clients hold connections to the admin port, 100 are kept and probes get in', async (test) => {
    const admin = await openAdmin(
      { host: '127.0.0.1', port: 0 },
      { ready: async () => undefined, metrics: async () => ({ type: 'text/plain', text: 'x'.repeat(5_000_000) }) },
    );
    const [held, unread] = [new Set<Socket>(), new Set<Socket>()];
    const hold = (text: string) => {
      const socket = connect(admin.port, '127.0.0.1', () => socket.write(text)).on('error', () => undefined);
      // One that reads nothing does not notice its end either.
      if (text.startsWith('GET /metrics')) {
        unread.add(socket.pause());
        return;
      }
      held.add(socket.resume());
      socket.once('close', () => held.delete(socket));
    };
    test.after(async () => {
      for (const socket of [...held, ...unread]) socket.destroy();
      await admin.close();
    });
    for (let count = 0; count < 50; count++) {
      for (const text of ['', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX: ', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'])
        hold(text);
      hold('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    }
    await until(() => held.size <= 100);
    for (let probe = 0; probe < 20; probe++) {
      assert.equal((await get(`http://127.0.0.1:${admin.port}/healthz`)).status, 200);
      hold('GET /readyz HTTP/1.1\r\nX: ');
    }
    // Those that send nothing, or never finish, are ended by the time limits, and none is left.
    await until(() => held.size === 0);
    assert.equal((await get(`http://127.0.0.1:${admin.port}/readyz`)).status, 200);
  });

  it('The admin port serves metrics under their standard names and without secrets', async () => {
    const port = await freePort();
    const atrium = await openTestServer({ env: { ADMIN_PORT: String(port) } });
    const token = atrium.world.users.ann?.token ?? '';
    await get(`${atrium.url}/api/v1/user`, token);
    await get(`${atrium.url}/api/v1/user?token=${token}`);
    const answer = await get(`http://127.0.0.1:${port}/metrics`);
    const text = await answer.text();
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/);
    const route = 'http_request_method="GET",http_route="/api/v1/user",http_response_status_code="200"';
    assert.ok(text.includes(`http_server_request_duration_seconds_count{${route}} 1`), text.slice(0, 400));
    for (const name of ['atrium_revision_reads_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds'])
      assert.match(text, new RegExp(`^${name}(\\{.*\\})? [0-9.e+-]+$`, 'm'));
    assert.ok(!text.includes(token.slice(4)));
    assert.equal((await get(`http://127.0.0.1:${port}/api/v1/user`, token)).status, 404);
    assert.equal((await get(`${atrium.url}/metrics`)).status, 404, 'not on the public port');
    await atrium.close();
  });

  it('ADMIN_PORT=0 disables the admin port', { skip: process.platform !== 'linux' }, async () => {
    const before = listeningSockets();
    const atrium = await openTestServer({ env: { ADMIN_PORT: '0' } });
    assert.equal(listeningSockets(), before + 1);
    await atrium.close();
  });
});

function asAnn({ users }: DemoWorld): { Authorization: string } {
  return { Authorization: `Basic ${Buffer.from(`ann:${users.ann?.password}`).toString('base64')}` };
}

/** Counts the sockets on which this process listens, from the kernel's own tables. */
function listeningSockets(): number {
  const LISTEN = '0A';
  const tables = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/self/net/${name}`, 'utf8').split('\n').slice(1));
  const rows = tables.map((line) => line.trim().split(/\s+/));
  const inodes = new Set(rows.filter((row) => row[3] === LISTEN).map((row) => `socket:[${row[9]}]`));
  const links = readdirSync('/proc/self/fd').map((fd) => linkOf(`/proc/self/fd/${fd}`));
  return links.filter((link) => inodes.has(link)).length;
}

/** The folder that is being listed is itself among its entries, and is closed by then. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
