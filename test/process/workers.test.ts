import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { get, type ServerProcess, startServer } from '../support/server/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { ask, isRunning, metric, startStream, workerPids } from '../support/server/workers.ts';
import { freePort } from '../support/services/ports.ts';
import { lacks } from '../support/services/requirements.ts';

const REQUESTS = 'http_server_request_duration_seconds_count';

describeLong('A server of two workers', { skip: lacks('postgresql') }, () => {
  let server: ServerProcess;
  let databaseUrl = '';
  let token = '';
  let url = '';
  let admin = '';

  before(async () => {
    const { place, world } = await newDemoPlace('postgres');
    const port = await freePort();
    databaseUrl = place.databaseUrl ?? '';
    token = world.users.ann?.token ?? '';
    admin = `http://127.0.0.1:${port}`;
    const settings = { WORKERS: '2', ADMIN_PORT: String(port), AUTH_FAILURES: '4', DATABASE_POOL: '2' };
    // Clients have time to notice that they are to use another connection, however busy the machine is.
    const env = { DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY, SHUTDOWN_DELAY_MS: '3000', ...settings };
    server = startServer({ env });
    url = `${await server.listening()}/api/v1`;
  });
  after(() => server.kill('SIGKILL'));

  it('Two workers serve one port in turn, and the admin port adds up what they counted', async () => {
    assert.match(server.stdout(), /^2 workers serve requests$/m);
    const before = await metric(admin, REQUESTS);
    const replies = [];
    for (let count = 0; count < 6; count++) replies.push(await ask(`${url}/user`, token));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    const turns = replies.map((reply) => reply.process);
    assert.equal(new Set(turns).size, 2);
    assert.deepEqual([turns[0], turns[1]], [turns[2], turns[3]], 'in turn');
    assert.equal(await metric(admin, REQUESTS), before + 6);
    assert.equal(await metric(admin, 'atrium_workers'), 2);
    assert.equal(await metric(admin, 'atrium_worker_deaths_total'), 0);
    assert.equal((await get(`${admin}/healthz`)).status, 200);
    assert.equal((await get(`${admin}/readyz`)).status, 200);
  });

  it('Guesses at a password are counted over all workers', async () => {
    const guess = async () => {
      const body = JSON.stringify({ username: 'ann', password: 'wrong' });
      const headers = { Connection: 'close', 'Content-Type': 'application/json' };
      const { status } = await fetch(`${url}/user/signin`, { method: 'POST', headers, body });
      return status;
    };
    const answers = await Promise.all(Array.from({ length: 6 }, guess));
    assert.deepEqual(answers.sort(), [404, 404, 404, 404, 429, 429]);
  });

  it('Guesses at the code of a program are counted over all workers', async () => {
    const guess = async () => (await ask(`${url}/user/device/BBBB-BBBB`, token)).status;
    let granted = 0;
    // The workers tell each other after a tenth of a second. Each of them would grant 20 by itself.
    await until(async () => {
      const replies = [await guess(), await guess()];
      granted += replies.filter((status) => status === 404).length;
      return granted >= 20 && replies.every((status) => status === 429);
    });
    assert.ok(granted < 36, `${granted} guesses`);
  });

  it('SIGHUP replaces all workers without a failed request', async () => {
    const old = workerPids(server);
    const counted = await metric(admin, REQUESTS);
    const stream = startStream(`${url}/user`, token, 2, 50);
    server.kill('SIGHUP');
    await until(async () => (await get(`${admin}/readyz`)).ok && /all workers are new/.test(server.stderr()));
    await stream.stop();
    assert.deepEqual(stream.failures, []);
    assert.ok(stream.answered > 0);
    assert.equal(workerPids(server).length, 4);
    assert.deepEqual(old.map(isRunning), [false, false]);
    assert.equal(await metric(admin, REQUESTS), counted + stream.answered, 'nothing that was counted is lost');
    assert.equal(await metric(admin, 'atrium_worker_deaths_total'), 0, 'their end was wanted');
    assert.match(server.stdout(), /^SIGHUP: replacing the workers, one after the other$/m);
  });

  it('A worker that is killed is reported and replaced', async () => {
    const counted = await metric(admin, REQUESTS);
    const [, second = 0] = workerPids(server).slice(-2);
    process.kill(second, 'SIGKILL');
    await until(() => workerPids(server).length === 5);
    assert.match(server.stderr(), /"msg":"worker 2 died \(SIGKILL\); another takes its place"/);
    assert.equal(await metric(admin, 'atrium_worker_deaths_total'), 1);
    assert.equal(await metric(admin, 'atrium_workers'), 2);
    assert.equal(await metric(admin, REQUESTS), counted, 'what it had counted stays in the sum');
    const replies = [await ask(`${url}/user`, token), await ask(`${url}/user`, token)];
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200],
    );
    assert.equal(new Set(replies.map((reply) => reply.process)).size, 2);
  });

  it('SIGTERM, sent to the whole group, lets every worker finish and ends the server with exit code 0', async () => {
    const pids = workerPids(server).slice(-2);
    for (const pid of pids) if (isRunning(pid)) process.kill(pid, 'SIGTERM');
    server.kill('SIGTERM');
    await until(() => /SIGTERM: not ready any more/.test(server.stdout()));
    assert.equal((await get(`${admin}/readyz`)).status, 503);
    assert.equal((await get(`${url}/version`)).status, 200);
    assert.equal((await server.ended).code, 0, server.stderr());
    assert.deepEqual(workerPids(server).filter(isRunning), []);
    assert.doesNotMatch(server.stderr(), /cleanly|could not/);
  });

  it('Workers that cannot start end the server with the words and the exit code of a single process', async () => {
    const nowhere = databaseUrl.replace(/:\d+\//, `:${await freePort()}/`);
    const failed = startServer({ env: { DATABASE_URL: nowhere, ATRIUM_KEY: TEST_KEY, WORKERS: '2' } });
    assert.equal((await failed.ended).code, 3, failed.stderr());
    const lines = failed.stderr().trim().split('\n');
    assert.equal(lines.length, 1, failed.stderr());
    assert.match(lines[0] ?? '', /^atrium cannot start: .*database/);
  });
});
