import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { countTrips, fewestTrips } from '../../support/checks/trips.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

/** The first keeps the transaction busy while the others gather for the next one. */
const MANY = 12;
/** So many that not each can have a transaction of its own. */
const BURST = 60;

for (const driver of COUNTED_DRIVERS) {
  describe(`Deliveries that arrive at the same time on ${driver}`, () => {
    let market: TestMarketplace;
    before(async () => {
      market = await openMarketplace({ driver });
    });
    after(() => market.close());

    const put = (id: string, more: object = {}) =>
      market.notify('B', { eventType: 'PUT', applicationId: id, provisioningState: 'Succeeded', ...more });
    const remove = (id: string) =>
      market.notify('B', { eventType: 'DELETE', applicationId: id, provisioningState: 'Deleted' });
    const transactions = async () => {
      const rows = await market.rows<{ xmin: string }>('select distinct xmin::text from delivery');
      return rows.length;
    };
    const installers = (count: number) => Promise.all(Array.from({ length: count }, () => market.installer('A')));

    if (driver === 'postgres') {
      it('A report takes two trips to PostgreSQL, and a bind six', async (context) => {
        const [first = '', ...others] = await installers(4);
        // The first write of a process asks whether there are guardrails.
        assert.equal((await market.notify('A', binding(first))).status, 200);
        const trips = await countTrips(context, market.instance.db);
        const report = async () => assert.equal((await put(applicationId())).status, 200);
        const bind = async () => assert.equal((await market.notify('A', binding(others.pop() ?? ''))).status, 200);
        assert.equal(await fewestTrips(trips, report), 2);
        assert.equal(await fewestTrips(trips, bind), 6);
      });
    }

    it(`They share transactions, and each has its own subscription, event and audit entry on ${driver}`, async () => {
      const earlier = await transactions();
      const ids = Array.from({ length: BURST }, () => applicationId());
      const answers = await Promise.all(ids.map((id) => put(id)));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      assert.ok((await transactions()) - earlier < BURST, 'not one transaction for each');
      const rows = await market.rows<{ state: string; reason: string; events: number; entries: number }>(
        `select s.state, d.reason,
                (select count(*)::integer from marketplace_event where payload like '%' || s.application_id || '%') as events,
                (select count(*)::integer from audit where organization_id = -s.id) as entries
           from subscription s join delivery d on d.subject = 'CloudB:' || s.key where s.application_id = any($1)`,
        [ids],
      );
      assert.deepEqual(
        rows,
        ids.map(() => ({ state: 'Running', reason: 'applied', events: 1, entries: 1 })),
      );
    });

    it(`One that is rejected does not disturb the others, and is kept with its reason on ${driver}`, async () => {
      const ids = Array.from({ length: MANY }, () => applicationId());
      const unknown = applicationId();
      const answers = await Promise.all([...ids.map((id) => put(id)), remove(unknown), ...(await binds(4))]);
      const statuses = answers.map(({ status }) => status);
      assert.deepEqual(
        statuses,
        statuses.map((_, place) => (place === MANY ? 403 : 200)),
      );
      const [row] = await market.rows('select state, reason, times from delivery where notification like $1', [
        `%${unknown}%`,
      ]);
      assert.deepEqual(row, { state: 'refused', reason: 'subscription_unknown', times: 1 });
    });

    it(`One that is rejected after it wrote something takes back only its own work on ${driver}`, async () => {
      const ids = Array.from({ length: MANY }, () => applicationId());
      const wrong = applicationId();
      const bind = { eventType: 'BIND', applicationId: wrong, bindingInfo: { installerId: 'nobody' } };
      const answers = await Promise.all([...ids.map((id) => put(id)), market.notify('B', bind)]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [...ids.map(() => 200), 400],
      );
      const found = await market.rows('select 1 from subscription where application_id = any($1)', [[...ids, wrong]]);
      assert.equal(found.length, MANY);
    });

    it(`An installer that several subscriptions name at once is bound to one of them on ${driver}`, async () => {
      const installerId = await market.installer('B');
      const bind = () =>
        market.notify('B', { eventType: 'BIND', applicationId: applicationId(), bindingInfo: { installerId } });
      const answers = await Promise.all(Array.from({ length: 6 }, bind));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400, 400]);
      assert.equal(
        (
          await market.rows('select 1 from audit where action = $1 and after::text like $2', [
            'installer.bind',
            '%CloudB%',
          ])
        ).length,
        1,
      );
    });

    it(`Administrators who want the same name at once get different ones on ${driver}`, async () => {
      const answers = await Promise.all(
        (await installers(5)).map((id) => market.notify('A', binding(id, { adminUsername: `same-${driver}` }))),
      );
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      const names = await market.rows('select name from account where name like $1', [`same${driver}%`]);
      const exact = await market.rows('select name from account where name = $1', [`same-${driver}`]);
      assert.deepEqual([names.length, exact.length], [4, 1]);
    });

    it(`The options of a bind belong to its installer, and those of a rejected one wait with it on ${driver}`, async () => {
      const [bound = '', other = ''] = await installers(2);
      const options = { options: { region: 'north' } };
      const answers = await Promise.all([
        market.notify('A', binding(bound, options)),
        market.notify('A', binding(`${other}x`, options)),
      ]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 400],
      );
      const rows = await market.rows<{ installer_id: string; waits: boolean }>(
        'select installer_id, delivery_id is not null as waits from installer_options where installer_id = any($1) order by 2',
        [[bound, `${other}x`]],
      );
      assert.deepEqual(rows, [
        { installer_id: bound, waits: false },
        { installer_id: `${other}x`, waits: true },
      ]);
    });

    async function binds(count: number) {
      return (await installers(count)).map((id) => market.notify('A', binding(id)));
    }
  });
}
