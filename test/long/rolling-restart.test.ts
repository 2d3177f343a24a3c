import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { startServer } from '../support/process.ts';
import { progress } from '../support/progress.ts';
import { lacks } from '../support/requirements.ts';
import { newDemoPlace, TEST_KEY } from '../support/server.ts';

const CLIENTS = 8;

describe('Rolling restarts of two replicas', { skip: lacks('postgresql') }, () => {
  it('No request fails while a load balancer takes one replica after the other out to restart it', async () => {
    const { place, world } = await newDemoPlace('postgres');
    const env = { DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY, LOG_LEVEL: 'error' };
    const start = async () => {
      const server = startServer({ env });
      return { server, url: await server.listening(), isInRotation: true, underWay: 0 };
    };
    const replicas = [await start(), await start()];
    const token = world.users.ann?.token ?? '';
    const failures: string[] = [];
    let answered = 0;
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, (_, client) => live(client));
    for (let restart = 0; restart < COUNTS.rollingRestarts; restart++) {
      const place = restart % 2;
      const old = replicas[place] ?? assert.fail();
      const before = answered;
      old.isInRotation = false;
      while (old.underWay > 0) await new Promise(setImmediate);
      old.server.kill('SIGTERM');
      assert.equal((await old.server.ended).code, 0);
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
        const replica = [replicas[turn % 2], replicas[(turn + 1) % 2]].find((one) => one?.isInRotation);
        if (replica === undefined) return void failures.push('no replica is in rotation');
        replica.underWay += 1;
        try {
          const answer = await fetch(`${replica.url}/api/v1/user`, { headers: { Authorization: `token ${token}` } });
          await answer.text();
          answered += 1;
          if (answer.status !== 200) failures.push(`${answer.status}`);
        } catch (error) {
          failures.push(String((error as { cause?: unknown }).cause ?? error));
        } finally {
          replica.underWay -= 1;
        }
      }
    }
  });
});
