import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { until } from '../support/checks/until.ts';
import { get, startServer } from '../support/server/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { metric, startStream, workerPids } from '../support/server/workers.ts';
import { freePort } from '../support/services/ports.ts';
import { lacks } from '../support/services/requirements.ts';

const WORKERS = 4;
const CLIENTS = 8;
const REQUESTS = 'http_server_request_duration_seconds_count';

describe('A server of four workers under load', { skip: lacks('postgresql') }, () => {
  it(`No request fails in ${COUNTS.workerRolls} rolling restarts, and few in ${COUNTS.workerKills} kills, with seed ${SEED}`, async (t) => {
    const random = createRandom();
    const { place, world } = await newDemoPlace('postgres');
    const port = await freePort();
    const admin = `http://127.0.0.1:${port}`;
    const settings = {
      WORKERS: String(WORKERS),
      ADMIN_PORT: String(port),
      SHUTDOWN_DELAY_MS: '3000',
      DATABASE_POOL: '4',
    };
    const server = startServer({ env: { DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY, ...settings } });
    t.after(() => server.kill('SIGKILL'));
    const url = await server.listening();
    const token = world.users.ann?.token ?? '';
    const stream = startStream(`${url}/api/v1/user`, token, CLIENTS, 2);
    t.after(() => void stream.stop());

    for (let roll = 1; roll <= COUNTS.workerRolls; roll++) {
      server.kill('SIGHUP');
      await until(async () => {
        assert.equal((await get(`${admin}/readyz`)).status, 200);
        return server.stderr().match(/all workers are new/g)?.length === roll;
      });
      progress(`rolling restart ${roll} of ${COUNTS.workerRolls}: ${stream.answered} requests so far`);
    }
    assert.deepEqual(stream.failures, []);

    const alive = new Set(workerPids(server).slice(-WORKERS));
    let counted = 0;
    for (let kill = 1; kill <= COUNTS.workerKills; kill++) {
      const pid = random.pick([...alive]);
      const started = workerPids(server).length;
      process.kill(pid, 'SIGKILL');
      await until(() => workerPids(server).length > started);
      alive.delete(pid);
      alive.add(workerPids(server).at(-1) ?? 0);
      const now = await metric(admin, REQUESTS);
      assert.ok(now >= counted, `a counter went from ${counted} to ${now}`);
      counted = now;
      progress(
        `kill ${kill} of ${COUNTS.workerKills}: ${stream.answered} requests, ${stream.failures.length} lost so far`,
      );
    }
    await stream.stop();
    assert.equal(await metric(admin, 'atrium_worker_deaths_total'), COUNTS.workerKills);
    assert.equal(await metric(admin, 'atrium_workers'), WORKERS);
    // A client loses at most the request that was in the killed worker.
    assert.ok(stream.failures.length <= COUNTS.workerKills * CLIENTS, String(stream.failures.length));
    assert.deepEqual(
      stream.failures.filter((failure) => !['ECONNRESET', 'EPIPE'].includes(failure)),
      [],
    );
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
  });
});
