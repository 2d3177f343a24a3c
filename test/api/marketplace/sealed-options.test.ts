import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const SECRET = 'canary-of-the-customer';
const OPTIONS = { infra: { dns: { provider: 'cloud', apiToken: SECRET } }, exact: 'EXACT' };
const CLEAR = `{"exact":9007199254740993,"infra":{"dns":{"apiToken":"${SECRET}","provider":"cloud"}}}`;
const HOUR_MS = 3_600_000;

for (const driver of API_DRIVERS) {
  describe(`Installer options with secrets on ${driver}`, () => {
    let market: TestMarketplace;
    before(async () => {
      market = await openMarketplace({ driver });
    });
    after(() => market.close());

    const bodyOf = (installer: string, more: object = {}) =>
      JSON.stringify(binding(installer, { options: OPTIONS, ...more })).replace('"EXACT"', '9007199254740993');
    const archive = async (link: string) => {
      const response = await fetch(link);
      assert.equal(response.status, 200);
      return Buffer.from(await response.arrayBuffer());
    };
    const inClear = async () =>
      await market.rows(
        `select 'delivery' as place, id::text from delivery where notification like $1
         union all select 'installer', id from installer where options is not null`,
        [`%${SECRET}%`],
      );
    const kept = async (installer: string) =>
      await market.rows('select delivery_id is null as bound from installer_options where installer_id = $1', [
        installer,
      ]);
    const broken = async (work: () => Promise<unknown>) => {
      await market.rows(
        `create or replace function broken() returns trigger language plpgsql as 'begin raise exception ''out of order''; end'`,
      );
      await market.rows('create trigger broken before insert on contract for each row execute function broken()');
      await work();
      await market.rows('drop trigger broken on contract');
    };

    it(`Installer options are in the archive, never stored in plaintext and kept once on ${driver}`, async () => {
      const installer = await market.installer('A');
      const { body } = await market.notify('A', bodyOf(installer));
      assert.ok(gunzipSync(await archive(body.link)).includes(`"apiToken": "${SECRET}"`));
      await market.notify('A', bodyOf(installer, { domainWhiteList: ['example.com'] }));
      assert.deepEqual(await kept(installer), [{ bound: true }], 'a second bind of the same brings nothing');
      assert.equal((await market.notify('A', bodyOf(installer, { clusterId: 'other' }))).status, 400);
      assert.deepEqual(await inClear(), []);
      const { deliveryLog } = market.instance.features.marketplace;
      for (const { id } of await deliveryLog.list({ text: installer, limit: 10 })) {
        assert.doesNotMatch((await deliveryLog.get(id))?.notification ?? '', /options|canary/);
      }
    });

    it(`The options of a pending delivery are stored sealed on ${driver}`, async () => {
      const installer = await market.installer('A');
      await broken(async () => assert.equal((await market.notify('A', bodyOf(installer))).status, 500));
      assert.deepEqual([await kept(installer), await inClear()], [[{ bound: false }], []]);
      await market.sweep(HOUR_MS);
      assert.deepEqual(await kept(installer), [{ bound: true }]);
      const { body } = await market.notify('A', bodyOf(installer));
      assert.ok(gunzipSync(await archive(body.link)).includes(SECRET));
    });

    it(`Key rotation does not change the bytes of an installer archive on ${driver}`, async () => {
      const installer = await market.installer('A');
      const { body } = await market.notify('A', bodyOf(installer));
      const bytes = await archive(body.link);
      const heads = () => market.rows('select substring(sealed for 21) from installer_options order by id');
      const before = await heads();
      const { damaged } = await market.instance.rotateKeys();
      assert.deepEqual(damaged, []);
      assert.notDeepEqual(await heads(), before);
      assert.ok((await archive(body.link)).equals(bytes));
    });

    it(`Plaintext options written by an older version stay readable and are sealed by the sweep on ${driver}`, async () => {
      const installer = await market.installer('A');
      const { body } = await market.notify('A', bodyOf(installer));
      const bytes = await archive(body.link);
      const waiting = await market.installer('A');
      await broken(() => market.notify('A', bodyOf(waiting)));
      for (const id of [installer, waiting]) {
        await market.rows('delete from installer_options where installer_id = $1', [id]);
        await market.rows(
          `update delivery set notification = replace(notification, '"domains":[]', $2) where subject = $1`,
          [`CloudA:${id}`, `"domains":[],"options":${CLEAR}`],
        );
      }
      await market.rows('update installer set options = $2 where id = $1', [installer, CLEAR]);
      await market.rows(
        `insert into delivery (marketplace, natural_key, subject, event_type, event_time, notification, source, request_id, state)
         values ('CloudA', 'older', '', '', '', $1, '', '', 'refused')`,
        [JSON.stringify({ bindingInfo: JSON.stringify({ adminPassword: SECRET }) })],
      );
      assert.ok((await archive(body.link)).equals(bytes), 'in clear');
      assert.equal((await inClear()).length, 4);
      const again = await openMarketplaceBeside(market);
      await again.sweep.once(HOUR_MS);
      assert.deepEqual(
        [await inClear(), await kept(installer), await kept(waiting)],
        [[], [{ bound: true }], [{ bound: true }]],
      );
      assert.ok((await archive(body.link)).equals(bytes), 'sealed');
      const answer = await market.notify('A', bodyOf(waiting));
      assert.ok(gunzipSync(await archive(answer.body.link)).includes(SECRET));
    });
  });
}

/** Each process looks once for what an older version wrote, so this simulates another process. */
async function openMarketplaceBeside(market: TestMarketplace) {
  const { wireMarketplace } = await import('../../../src/marketplace/marketplace.wiring.ts');
  const { createMetrics } = await import('../../../src/base/metrics.ts');
  const { unshared } = await import('../../../src/http/limits/rate-limit.ts');
  const { instance } = market;
  return wireMarketplace({
    ...instance,
    keys: { derive: () => Buffer.alloc(32) } as never,
    log: { error: (error: unknown) => assert.fail(JSON.stringify(error)) } as never,
    metrics: createMetrics(() => 0),
    share: unshared,
    baseUrl: () => market.url,
  });
}
