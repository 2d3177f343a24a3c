import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openDb } from '../../src/db/db.ts';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { COUNTED_DRIVERS } from '../support/server/drivers.ts';
import { startServer } from '../support/server/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';

const KILLS = COUNTS.keyedKills;
const AT_ONCE = 8;
/** A server is killed after at most this many acknowledgements, while the other requests are in progress. */
const MAX_ACKNOWLEDGED = 30;

/** A request that its client repeats until it is answered, whatever happens to the server. */
interface Order {
  /** Its key, and the name of what it creates. */
  readonly name: string;
  answer?: string;
}

for (const driver of COUNTED_DRIVERS) {
  describe(`Requests with a key to a server killed ${KILLS} times on ${driver}`, () => {
    it(`Requests that are repeated until they are answered have one effect each across ${KILLS} crashes on ${driver}`, async () => {
      const { place, world } = await newDemoPlace(driver);
      const env = {
        DATA_DIR: place.dataDir,
        DATABASE_URL: place.databaseUrl ?? '',
        ATRIUM_KEY: TEST_KEY,
        RATE_LIMIT: '0',
      };
      const token = world.users.ann?.token ?? '';
      const orders: Order[] = [];
      for (let kills = 0; kills <= KILLS; kills++) {
        const server = startServer({ env });
        const address = await server.listening();
        const waiting = orders.filter(({ answer }) => answer === undefined);
        const isLast = kills === KILLS;
        const last = 1 + Math.floor(Math.random() * MAX_ACKNOWLEDGED);
        const round = { acknowledged: 0, isOver: false };
        void server.ended.then(() => {
          round.isOver = true;
        });
        await Promise.all(
          Array.from({ length: AT_ONCE }, async () => {
            while (!round.isOver) {
              const order = waiting.pop() ?? (isLast ? undefined : newOrder());
              if (!order) return;
              while (!round.isOver && order.answer === undefined) {
                const answer = await post(address, token, order.name);
                if (answer !== undefined) round.acknowledged += 1;
                // Every second answer does not reach its client either.
                if (answer !== undefined && (isLast || Math.random() < 0.5)) order.answer = answer;
                if (isLast || round.acknowledged < last) continue;
                round.isOver = true;
                server.kill('SIGKILL');
              }
            }
          }),
        );
        if (!isLast) await server.ended;
        else {
          for (const { name, answer } of orders) assert.equal(await post(address, token, name), answer);
          server.kill('SIGTERM');
          await server.ended;
        }
        progress(`killed ${kills} of ${KILLS} times`);
      }
      const db = await openDb({ ...place, say: () => undefined });
      const rows = await db.query<{ name: string; uid: string }>(
        statement(`select name, uid::text from deploy_order where name like 'o-%' order by name`),
      );
      const answers = orders.map(({ name, answer = '{}' }) => ({ name, uid: JSON.parse(answer).metadata?.uid }));
      assert.deepEqual(
        rows,
        answers.sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
      await db.close();

      function newOrder(): Order {
        const order = { name: `o-${String(orders.length).padStart(6, '0')}` };
        orders.push(order);
        return order;
      }
    });
  });
}

/** The text of a successful answer. */
async function post(address: string, token: string, name: string): Promise<string | undefined> {
  const chart = { name: 'c', sourceRef: { name: 's' }, version: '1', releaseName: name, namespace: 'n' };
  try {
    const answer = await fetch(`${address}/api/v1/user/deploy/orders`, {
      method: 'POST',
      headers: {
        Authorization: `token ${token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': name,
        Connection: 'close',
      },
      body: JSON.stringify({ spec: { items: [{ chart }] } }),
    });
    const text = await answer.text();
    return answer.status === 200 ? text : undefined;
  } catch {
    return undefined;
  }
}
