import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, it } from 'node:test';
import type { DemoWorld } from '../../src/operations/demo/world.ts';
import { describeLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { get, type ServerProcess, startServer } from '../support/server/process.ts';
import { reopen } from '../support/server/reopen.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';

describeLong('A full disk under the built-in database', () => {
  const sign = join(temporaryFolder(), 'full');
  const acknowledged: string[] = [];
  let dataDir = '';
  let world: DemoWorld;
  let server: ServerProcess;
  let address = '';
  let writes = 0;

  before(async () => {
    const demo = await newDemoPlace('pglite');
    world = demo.world;
    dataDir = demo.place.dataDir;
    const flags = ['--import', resolve('test/support/faults/full-disk.ts')];
    server = startServer({ flags, env: { DATA_DIR: dataDir, ATRIUM_KEY: TEST_KEY, FULL_DISK: sign } });
    address = await server.listening();
  });

  /** Writes credentials until one is rejected. Each needs dozens of new pages. */
  async function untilRejected(): Promise<Response> {
    for (;;) {
      const name = `big-${writes++}`;
      const answer = await fetch(`${address}/api/v1/user/credentials`, {
        method: 'POST',
        headers: { Authorization: `token ${world.users.ann?.token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name, filling: randomBytes(200_000).toString('base64') }),
      });
      if (!answer.ok) return answer;
      await answer.body?.cancel();
      acknowledged.push(name);
    }
  }

  it('A write that needs room is answered with 503 and Retry-After, and works again when there is room', async () => {
    writeFileSync(sign, 'tables');
    const refused = await untilRejected();
    const { reason } = (await refused.json()) as { reason: string };
    assert.deepEqual([refused.status, refused.headers.get('retry-after'), reason], [503, '1', 'unavailable']);
    // The response may arrive before the line.
    await until(() => /cannot be used: the disk of the server is full/.test(server.stderr()));
    assert.equal((await get(`${address}/api/v1/user`, world.users.ann?.token)).status, 200, 'reads go on');
    rmSync(sign);
    const before = acknowledged.length;
    const later = setInterval(() => acknowledged.length > before && writeFileSync(sign, 'log'), 5);
    const last = await untilRejected();
    clearInterval(later);
    assert.ok(acknowledged.length > before);
    assert.equal(last.status, 503);
  });

  it('A panic of the database ends the process, and the next one has everything that was acknowledged', async () => {
    let hasEnded = false;
    void server.ended.then(() => {
      hasEnded = true;
    });
    // If the last write was rejected before it came to the log, the process would go on until somebody writes there.
    while (!hasEnded) await untilRejected().catch(() => server.ended);
    const { code } = await server.ended;
    assert.equal(code, 1, server.stderr());
    assert.match(server.stderr(), /^atrium stopped: the database in .* stopped: .*; start again to recover it$/m);
    const next = await reopen({ dataDir }, { ATRIUM_KEY: TEST_KEY });
    const url = await next.listen();
    for (const name of acknowledged) {
      const answer = await get(`${url}/api/v1/user/credentials/${name}`, world.users.ann?.token);
      assert.equal(answer.status, 200, name);
      await answer.body?.cancel();
    }
    await next.close(0);
  });
});
