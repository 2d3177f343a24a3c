import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { get, startServer } from '../support/server/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { freePort } from '../support/services/ports.ts';
import { lacks } from '../support/services/requirements.ts';

const CLIENTS_OF_EACH_KIND = 4;
const LOOK_EVERY_MS = 250;

interface Replica {
  readonly server: ReturnType<typeof startServer>;
  readonly url: string;
  readonly admin: string;
  isReady: boolean;
}

/** How a client uses connections. None of them ever repeats a request. */
const KINDS = {
  'a new connection for each request': () => new Agent({ keepAlive: false }),
  'connections that are kept until the server says Connection: close': () => new Agent({ keepAlive: true }),
};

describe('Rolling restarts of two replicas', { skip: lacks('postgresql') }, () => {
  it('No request fails while replicas restart behind a balancer that looks at /readyz every 250 ms', async () => {
    const { place, world } = await newDemoPlace('postgres');
    const token = world.users.ann?.token ?? '';
    const replicas = [await start(), await start()];
    const failures: string[] = [];
    let answered = 0;
    let isOver = false;
    const watching = watch();
    const clients = Object.entries(KINDS).flatMap(([kind, newAgent]) =>
      Array.from({ length: CLIENTS_OF_EACH_KIND }, (_, client) => live(kind, client, newAgent())),
    );
    for (let restart = 0; restart < COUNTS.rollingRestarts; restart++) {
      const place = restart % 2;
      const old = replicas[place] ?? assert.fail();
      const before = answered;
      // Nobody is told: only readiness shows it.
      old.server.kill('SIGTERM');
      assert.equal((await old.server.ended).code, 0, old.server.stderr());
      replicas[place] = await start();
      await untilReady(replicas[place]);
      progress(`rolling restart ${restart + 1} of ${COUNTS.rollingRestarts}: ${answered - before} requests meanwhile`);
    }
    isOver = true;
    await Promise.all([...clients, watching]);
    for (const { server } of replicas) server.kill('SIGKILL');
    assert.deepEqual(failures, []);
    assert.ok(answered > COUNTS.rollingRestarts * 10, `only ${answered} requests were answered`);

    async function start(): Promise<Replica> {
      const port = await freePort();
      const settings = { ADMIN_PORT: String(port), SHUTDOWN_DELAY_MS: '3000', LOG_LEVEL: 'error' };
      const env = { DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY, ...settings };
      const server = startServer({ env });
      return { server, url: await server.listening(), admin: `http://127.0.0.1:${port}`, isReady: false };
    }

    /** The health check of a load balancer. */
    async function watch(): Promise<void> {
      while (!isOver) {
        await Promise.all(replicas.map(look));
        await pause(LOOK_EVERY_MS);
      }
    }

    async function look(replica: Replica): Promise<void> {
      replica.isReady = await get(`${replica.admin}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    }

    async function untilReady(replica: Replica): Promise<void> {
      while (!replica.isReady) await pause(LOOK_EVERY_MS / 5);
    }

    async function live(kind: string, client: number, agent: Agent): Promise<void> {
      for (let turn = client; !isOver; turn++) {
        const replica = [replicas[turn % 2], replicas[(turn + 1) % 2]].find((one) => one?.isReady);
        if (replica === undefined) {
          if (answered > 0) failures.push('no replica is ready');
          await pause(LOOK_EVERY_MS);
          continue;
        }
        const status = await ask(`${replica.url}/api/v1/user`, agent);
        if (status === 200) answered += 1;
        else failures.push(`${status} with ${kind}`);
      }
      agent.destroy();
    }

    function ask(url: string, agent: Agent): Promise<number | string> {
      return new Promise((resolve) => {
        request(url, { agent, headers: { Authorization: `token ${token}` } }, (answer) =>
          answer.resume().once('end', () => resolve(answer.statusCode ?? 0)),
        )
          .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
          .end();
      });
    }
  });
});
