import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createSealedOptionsStore } from '../../../src/marketplace/installers/sealed-options.store.ts';
import { createSealedOptions } from '../../../src/marketplace/installers/sealed-options.ts';
import { runInServer } from '../../../src/operations/server-commands.ts';
import { describeLong } from '../../support/checks/long.ts';
import { serve } from '../../support/services/clouds.ts';
import { applicationId, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const HOUR_MS = 3_600_000;

/** What goes through a whole server on PGlite; the tests next to this one try each statement alone. */
describeLong('The marketplace listener on PGlite', () => {
  let market: TestMarketplace;
  let isTaken = false;
  const told: unknown[] = [];
  before(async () => {
    const receiver = await serve((request, response) => {
      told.push(request.headers['webhook-id']);
      response.writeHead(isTaken ? 204 : 500).end();
    });
    const env = { MARKETPLACE_EVENTS_URL: receiver.url, MARKETPLACE_EVENTS_SECRET: 'whsec_c2VjcmV0' };
    market = await openMarketplace({ driver: 'pglite', env });
  });
  after(() => market.close());

  const operate = async (...argv: string[]) => {
    const lines: string[] = [];
    await runInServer(market.instance, { argv }, (line) => void lines.push(line));
    return lines.join('\n');
  };

  it('A subscription is bound, deleted, created again and bound again on PGlite', async () => {
    const id = applicationId();
    const installerId = await market.installer('B');
    const send = async (eventType: string, more: object) => {
      const answer = await market.notify('B', { eventType, applicationId: id, ...more });
      assert.equal(answer.status, 200, answer.text);
      return answer.body?.link;
    };
    const stateOf = () => market.rows('select state from subscription where application_id = $1', [id]);
    const link = await send('BIND', { bindingInfo: { installerId } });
    assert.equal((await fetch(link)).status, 200);
    await send('DELETE', { provisioningState: 'Deleted' });
    assert.deepEqual(await stateOf(), [{ state: 'Deleted' }]);
    assert.equal((await fetch(link)).status, 404);
    await send('PUT', { provisioningState: 'Succeeded' });
    const again = await send('BIND', { bindingInfo: { installerId } });
    assert.equal((await fetch(again)).status, 200);
    await operate('installer', 'revoke', installerId);
    assert.equal((await fetch(again)).status, 404);
  });

  it('The operator reads the delivery log and retires a secret on PGlite', async () => {
    const { cloudB } = market.demo.secrets;
    await market.notify('B', {}, '?secret=guess');
    await market.instance.features.marketplace.deliveryLog.flush();
    assert.match(await operate('marketplace', 'log', '--marketplace', 'cloudC', '--limit', '1'), /done bound 200/);
    assert.match(await operate('marketplace', 'log', '--strangers'), /CloudB {2}secret_mismatch {2}1×/);
    const retire = { argv: ['marketplace', 'secret', 'retire', 'cloudB', '--secret-stdin'], secret: cloudB };
    await runInServer(market.instance, retire, () => undefined);
    await market.instance.features.marketplace.secrets.refresh();
    assert.equal((await market.notify('B', {}, `?secret=${cloudB}`)).status, 403);
  });

  it('An event of the outbox is sent again after a failure on PGlite', async () => {
    await market.sweep(0);
    const refused = told.splice(0);
    assert.ok(refused.length > 0);
    isTaken = true;
    await market.sweep(HOUR_MS);
    assert.deepEqual(new Set(told), new Set(refused));
  });

  it('Plaintext options written by an older version are sealed on PGlite', async () => {
    const installer = market.demo.installers.cloudCBound;
    await market.rows(`update installer set options = '{"a":1}' where id = $1`, [installer]);
    await market.rows(
      `update delivery set notification = replace(notification, '"domains":[]', '"domains":[],"options":{"a":1}')
        where subject = $1`,
      [`CloudC:${installer}`],
    );
    const { db, vault } = market.instance;
    // Each process looks for them once, so this simulates another process.
    await createSealedOptions(createSealedOptionsStore(db.query), vault).sealOlder();
    const inClear = await market.rows(
      `select subject from delivery where notification like '%"options"%'
       union all select id from installer where options is not null`,
    );
    assert.deepEqual(inClear, []);
    const kept = await market.rows('select installer_id from installer_options');
    assert.deepEqual(kept, [{ installer_id: installer }]);
  });
});
