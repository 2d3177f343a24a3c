import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import { freePort } from '../support/ports.ts';
import { get, openWire } from '../support/process.ts';
import { sendRaw } from '../support/raw.ts';
import { reopen } from '../support/reopen.ts';
import { lacks } from '../support/requirements.ts';
import { newDemoPlace, openTestServer, TEST_KEY } from '../support/server.ts';

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
      assert.equal((await get(`${address}/api/v1/user`, token)).status, 200);
      const whole = await sendRaw(admin, [`GET ${admin}/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`]);
      assert.equal(whole.status, 200, 'scheme and host may stand before the path');

      await wire.cut();
      assert.equal((await get(`${admin}/readyz`)).status, 503);
      assert.equal((await get(`${admin}/healthz`)).status, 200, 'a restart would not help');
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
    for (const name of [
      'atrium_clock_questions_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_seconds',
    ])
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
