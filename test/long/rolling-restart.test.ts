import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { newDemoPlace, TEST_KEY } from '../support/house.ts';
import { startServer } from '../support/process.ts';
import { progress } from '../support/progress.ts';
import { lacks } from '../support/requirements.ts';

const CLIENTS = 8;

describe('Rolling restarts of two replicas', { skip: lacks('postgresql') }, () => {
  it('No request that a replica accepted fails while the replicas are restarted in turn', async () => {
    const { place, world } = await newDemoPlace('postgres');
    const env = { DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY, LOG_LEVEL: 'error' };
    const start = async () => {
      const server = startServer({ env });
      return { server, url: await server.listening() };
    };
    const replicas = [await start(), await start()];
    const token = world.users.ann?.token ?? '';
    const failures: string[] = [];
    let answered = 0;
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, (_, client) => live(client));
    for (let restart = 0; restart < COUNTS.rollingRestarts; restart++) {
      const place = restart % 2;
      const old = replicas[place];
      const before = answered;
      old?.server.kill('SIGTERM');
      assert.equal((await old?.server.ended)?.code, 0, 'a replica that is told to stop exits with 0');
      replicas[place] = await start();
      progress(`rolling restart ${restart + 1} of ${COUNTS.rollingRestarts}: ${answered - before} requests meanwhile`);
    }
    isOver = true;
    await Promise.all(clients);
    for (const { server } of replicas) server.kill('SIGTERM');
    for (const { server } of replicas) await server.ended;
    assert.deepEqual(failures, []);
    assert.ok(answered > COUNTS.rollingRestarts * 10, `only ${answered} requests were answered`);

    async function live(client: number): Promise<void> {
      for (let turn = client; !isOver; turn++) {
        const url = replicas[turn % 2]?.url;
        try {
          const answer = await fetch(`${url}/api/v1/user`, {
            headers: { Authorization: `token ${token}`, Connection: 'close' },
          });
          await answer.text();
          answered += 1;
          if (answer.status !== 200) failures.push(`${answer.status}`);
        } catch (error) {
          // A load balancer asks the other replica when the connection is refused: the request was never accepted.
          const { code } = (error as { cause?: { code?: string } }).cause ?? {};
          if (code !== 'ECONNREFUSED') failures.push(String(code ?? error));
        }
      }
    }
  });
});
