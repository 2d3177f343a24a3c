import assert from 'node:assert/strict';
import { it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { describeLong } from '../../support/checks/long.ts';
import { progress } from '../../support/checks/progress.ts';
import { startServer } from '../../support/server/process.ts';
import { lacks } from '../../support/services/requirements.ts';
import { applicationId, binding, openMarketplace, path } from '../../support/world/marketplace.ts';

const KILLS = COUNTS.deliveryKills;
const AT_ONCE = 8;
/** A server is killed after at most this many acknowledgements, while the other deliveries are in progress. */
const MAX_ACKNOWLEDGED = 20;
const HOUR_MS = 3_600_000;

/** One delivery, and whether it was acknowledged. */
interface Delivery {
  readonly name: 'A' | 'B';
  readonly body: object;
  acknowledged: boolean;
}

describeLong(`Deliveries to a server killed ${KILLS} times`, { skip: lacks('postgresql') }, () => {
  it(`Every acknowledged delivery takes effect exactly once across ${KILLS} crashes, and no binding is partial`, async () => {
    const market = await openMarketplace({ driver: 'postgres', env: { CLOUD_B_SECRETS: 'known' } });
    const deliveries: Delivery[] = [];
    for (let kills = 0; kills < KILLS; kills++) {
      const server = startServer({ env: market.settings });
      const address = await server.listening();
      const round = { acknowledged: 0, isOver: false };
      void server.ended.then(() => {
        round.isOver = true;
      });
      const last = 1 + Math.floor(Math.random() * MAX_ACKNOWLEDGED);
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, place) => {
          while (!round.isOver) {
            const delivery = place % 2 === 0 ? await newBind() : newEvent();
            deliveries.push(delivery);
            delivery.acknowledged = await post(address, delivery);
            if (delivery.acknowledged) round.acknowledged += 1;
            if (round.isOver || round.acknowledged < last) continue;
            round.isOver = true;
            server.kill('SIGKILL');
          }
        }),
      );
      await server.ended;
      progress(`killed ${kills + 1} of ${KILLS} times`);
    }
    const acknowledged = deliveries.filter((one) => one.acknowledged);
    assert.ok(acknowledged.length >= KILLS, `${acknowledged.length} of ${deliveries.length} were acknowledged`);

    const halves = await market.rows(
      `select i.id from installer i left join contract c on c.id = i.contract_id left join account o on o.id = i.organization_id
        where (i.bound_at is null) <> (c.id is null) or (i.bound_at is null) <> (o.id is null)`,
    );
    assert.deepEqual(halves, []);
    assert.deepEqual(await orphans(), [{ organizations: 0n, contracts: 0n, audits: 0n }]);
    for (const { name, body } of acknowledged) assert.equal(await doneTimes(name, body), 1, JSON.stringify(body));

    await market.sweep(HOUR_MS);
    const undone = await market.rows(`select id, state, reason from delivery where state <> 'done'`);
    assert.deepEqual(undone, [], 'the sweep has finished what the crashes left');
    for (const { name, body } of deliveries) {
      assert.equal((await market.notify(name, body, name === 'B' ? '?secret=known' : '')).status, 200);
      assert.equal(await doneTimes(name, body), 1);
    }
    assert.deepEqual(await orphans(), [{ organizations: 0n, contracts: 0n, audits: 0n }]);
    await market.close();

    async function newBind(): Promise<Delivery> {
      return { name: 'A', body: binding(await market.installer('A')), acknowledged: false };
    }

    function newEvent(): Delivery {
      const eventTime = new Date().toISOString();
      const body = { eventType: 'PUT', applicationId: applicationId(), provisioningState: 'Succeeded', eventTime };
      return { name: 'B', body, acknowledged: false };
    }

    async function doneTimes(name: 'A' | 'B', body: object): Promise<number> {
      const { bindingInfo, applicationId: application = '' } = body as {
        bindingInfo?: { installerId: string };
        applicationId?: string;
      };
      const rows =
        name === 'A'
          ? await market.rows(
              `select 1 from audit a join installer i on i.organization_id = a.organization_id
                where a.action = 'installer.bind' and i.id = $1`,
              [bindingInfo?.installerId],
            )
          : await market.rows(
              `select 1 from audit a join subscription s on s.id = a.object_id and a.action = 'subscription.create'
                where s.application_id = $1`,
              [application],
            );
      return rows.length;
    }

    /** What was created for a binding must belong to one. */
    async function orphans() {
      return await market.rows(
        `select (select count(*) from account o where o.name like 'standalone-%' and o.kind = 'organization'
                   and not exists (select 1 from installer i where i.organization_id = o.id)) as organizations,
                (select count(*) from contract c where c.name like 'CloudA %'
                   and not exists (select 1 from installer i where i.contract_id = c.id)) as contracts,
                (select count(*) from audit a where a.action = 'installer.bind'
                   and not exists (select 1 from installer i where i.organization_id = a.organization_id)) as audits`,
      );
    }
  });
});

async function post(address: string, { name, body }: Delivery): Promise<boolean> {
  try {
    const answer = await fetch(`${address}${path(name)}${name === 'B' ? '?secret=known' : ''}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Connection: 'close' },
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.status === 200;
  } catch {
    return false;
  }
}
