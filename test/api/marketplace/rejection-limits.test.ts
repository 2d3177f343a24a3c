import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const ALL = 5;
const OF_ONE = 3;
const SOURCES = 4;
const env = {
  TRUSTED_PROXIES: '127.0.0.1',
  LIMIT_REJECTED_DELIVERIES_PER_MARKETPLACE: String(ALL),
  LIMIT_REJECTED_DELIVERIES_PER_SOURCE: String(OF_ONE),
  LIMIT_REFUSAL_SOURCES_PER_DAY: String(SOURCES),
};
const from = (address: string) => ({ 'X-Forwarded-For': address });
const addresses = (count: number) => Array.from({ length: count }, (_, n) => `2001:db8::${(n + 1).toString(16)}`);
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

for (const driver of API_DRIVERS) {
  describe(`Limits of rejected deliveries on ${driver}`, () => {
    let market: TestMarketplace;
    before(async () => {
      market = await openMarketplace({ driver, env });
    });
    after(() => market.close());
    beforeEach(async () => {
      await market.sweep(0);
      await market.rows('delete from delivery');
      await market.rows('delete from delivery_refusal');
    });

    const kept = async (marketplace = 'CloudA') =>
      (
        await market.rows<{ n: number }>(
          `select count(*)::integer as n from delivery where marketplace = $1 and state = 'refused'`,
          [marketplace],
        )
      )[0]?.n;
    const counted = async () => {
      await market.sweep(0);
      return await market.rows<{ source: string; times: number }>(
        'select source, sum(times)::integer as times from delivery_refusal group by source order by source',
      );
    };

    const hostile: readonly [name: string, body: (n: number) => unknown][] = [
      ['bodies that are not JSON', (n) => `{"a": ${n}`],
      ['bodies that are not objects', (n) => [n]],
      ['bodies that are no notification', (n) => ({ eventType: n })],
      ['binds of unknown installers', (n) => binding(`unknown-${n}`, { options: { n } })],
      ['huge bodies', (n) => JSON.stringify({ n, text: 'x'.repeat(1_100_000) })],
    ];
    for (const [name, body] of hostile) {
      it(`Of ${name} from one address, only a few are kept on ${driver}`, async () => {
        const answers = await Promise.all(numbers(12).map((n) => market.notify('A', body(n), '', from('192.0.2.7'))));
        assert.ok(
          answers.every(({ status }) => status === 400 || status === 413),
          answers[0]?.text,
        );
        assert.equal(await kept(), OF_ONE);
        assert.deepEqual(await counted(), [{ source: '192.0.2.7', times: 12 - OF_ONE }]);
        assert.match(market.logged(), /"level":"warn".*"times":\d+.*rejected deliveries were only counted/);
      });
    }

    it(`From many addresses together, only as many are kept as one marketplace may have on ${driver}`, async () => {
      await Promise.all(
        addresses(12).map((address, n) =>
          market.notify('A', binding(`unknown-${n}`, { options: { n } }), '', from(address)),
        ),
      );
      assert.equal(await kept(), ALL);
      const options = await market.rows('select 1 from installer_options where delivery_id is not null');
      assert.equal(options.length, ALL, 'what a dropped delivery brought is dropped with it');
      await market.notify('B', { eventType: 'PATCH' });
      assert.equal(await kept('CloudB'), 1, 'each marketplace has its own room');
      const { body } = await market.as('root')('GET', '/admin/marketplace/deliveries?limit=50');
      assert.equal(body.items.length, ALL + 1);
    });

    it(`A rightful notification is recorded and acted on although there is no room on ${driver}`, async () => {
      await Promise.all(numbers(12).map((n) => market.notify('A', `{"a": ${n}`, '', from('192.0.2.7'))));
      const installer = await market.installer('A');
      const bound = await market.notify('A', binding(installer), '', from('192.0.2.7'));
      assert.equal(bound.status, 200, bound.text);
      const again = await market.notify('A', binding(installer), '', from('192.0.2.7'));
      assert.deepEqual(again.body, bound.body);
      const put = { eventType: 'PUT', applicationId: applicationId(), provisioningState: 'Accepted' };
      assert.equal((await market.notify('B', put)).status, 200);
      const done = await market.rows<{ times: number }>(`select times from delivery where state = 'done' order by id`);
      assert.deepEqual(
        done.map(({ times }) => times),
        [2, 1],
      );
    });

    it(`A rejected delivery that is kept counts its repeats, and can be retried, although there is no room on ${driver}`, async () => {
      const installer = 'created-later';
      await market.notify('A', binding(installer), '', from('192.0.2.7'));
      await Promise.all(addresses(12).map((address, n) => market.notify('A', [n], '', from(address))));
      assert.equal(await kept(), ALL);
      assert.equal((await market.notify('A', binding(installer), '', from('192.0.2.7'))).status, 400);
      const [row] = await market.rows<{ id: bigint; times: number }>(
        'select id, times from delivery where subject = $1',
        [`CloudA:${installer}`],
      );
      assert.equal(row?.times, 2);
      const retried = await market.as('root')('POST', `/admin/marketplace/deliveries/${row?.id}/redeliver`);
      assert.deepEqual([retried.status, retried.body?.reason], [200, 'installer_unknown']);
      assert.equal(await kept(), ALL);
    });

    it(`Callers with a wrong secret add no row each, from however many addresses, on ${driver}`, async () => {
      for (const round of [addresses(20), addresses(30)]) {
        const answers = await Promise.all(
          round.map((address) => market.notify('C', binding('x'), '?secret=wrong', from(address))),
        );
        assert.ok(answers.every(({ status }) => status === 403));
        const rows = await counted();
        assert.equal(rows.length, SOURCES + 1);
        assert.ok(rows.some(({ source }) => source === 'others'));
      }
      assert.equal(
        (await counted()).reduce((sum, { times }) => sum + times, 0),
        50,
      );
      assert.equal(await kept('CloudC'), 0);
    });
  });
}
