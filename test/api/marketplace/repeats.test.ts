import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const HOUR_MS = 3_600_000;

/** A time after everything that has happened so far, and before everything that happens from now on. */
async function aMomentAgo(): Promise<string> {
  const moment = new Date(Date.now() + 1);
  while (Date.now() <= moment.getTime()) await new Promise((resolve) => setImmediate(resolve));
  return moment.toISOString();
}

for (const driver of API_DRIVERS) {
  describe(`Repeated binds on ${driver}`, () => {
    let market: TestMarketplace;
    before(async () => {
      market = await openMarketplace({ driver });
    });
    after(() => market.close());

    const send = async (id: string, eventType: string, provisioningState: string, eventTime?: string) => {
      const answer = await market.notify('B', { eventType, applicationId: id, provisioningState, eventTime });
      assert.equal(answer.status, 200, answer.text);
    };
    const bind = (id: string, installerId: string, eventTime?: string) =>
      market.notify('B', { eventType: 'BIND', applicationId: id, eventTime, bindingInfo: { installerId } });
    const stateOf = async (id: string) =>
      (await market.rows<{ state: string }>('select state from subscription where application_id = $1', [id]))[0]
        ?.state;
    const contractOf = async (installer: string) => {
      const [row] = await market.rows<{ id: bigint; name: string; revoked: boolean }>(
        `select c.id, a.name, c.revoked_at is not null as revoked
           from installer i join contract c on c.id = i.contract_id join account a on a.id = c.owner_id where i.id = $1`,
        [installer],
      );
      assert.ok(row);
      return row;
    };
    const follow = async (link: string) => (await market.call('GET', link.slice(market.url.length))).status;

    it(`A repeated bind without a time does not supersede a deletion dated before it on ${driver}`, async () => {
      const id = applicationId();
      const installer = await market.installer('B');
      const first = await bind(id, installer);
      assert.equal(first.status, 200);
      const deletedAt = await aMomentAgo();
      assert.equal((await bind(id, installer)).text, first.text, 'the same answer');
      await send(id, 'DELETE', 'Deleted', deletedAt);
      assert.deepEqual([await stateOf(id), (await contractOf(installer)).revoked], ['Deleted', true]);
    });

    it(`A repeated bind does not restore a contract revoked since the original on ${driver}`, async () => {
      const id = applicationId();
      const installer = await market.installer('B');
      await bind(id, installer, '2026-03-01T10:00:00Z');
      await send(id, 'DELETE', 'Deleting', '2026-03-02T10:00:00Z');
      await send(id, 'DELETE', 'Failed', '2026-03-03T10:00:00Z');
      const again = await bind(id, installer, '2026-03-01T10:00:00Z');
      assert.deepEqual([again.status, await stateOf(id)], [200, 'DeletionFailed']);
      assert.deepEqual([(await contractOf(installer)).revoked, await follow(again.body.link)], [true, 404]);
      const anew = await bind(id, installer, '2026-03-04T10:00:00Z');
      assert.deepEqual([(await contractOf(installer)).revoked, await follow(anew.body.link)], [false, 200]);
      assert.equal(await follow(again.body.link), 200, 'the contract is good again, and the link is its');
    });

    it(`A bind without a time counts as new once the application is recreated on ${driver}`, async () => {
      const id = applicationId();
      const installer = await market.installer('B');
      await bind(id, installer);
      await send(id, 'DELETE', 'Deleted');
      await send(id, 'PUT', 'Succeeded');
      const again = await bind(id, installer);
      assert.deepEqual([(await contractOf(installer)).revoked, await follow(again.body.link)], [false, 200]);
    });

    it(`No repeated bind restores a contract that an administrator revoked on ${driver}`, async () => {
      const onA = await market.installer('A');
      const onB = await market.installer('B');
      const id = applicationId();
      const tellA = (eventTime?: string) => market.notify('A', { ...binding(onA), eventTime });
      await tellA();
      await bind(id, onB);
      for (const installer of [onA, onB]) {
        const contract = await contractOf(installer);
        const path = `/contracts/${contract.id}?org=${contract.name}`;
        assert.equal((await market.as('root')('PATCH', path, { revoked: true })).status, 200);
      }
      const links: string[] = [];
      for (const time of [undefined, '2026-03-01T10:00:00Z']) {
        links.push((await tellA(time)).body.link, (await bind(id, onB, time)).body.link);
      }
      await send(id, 'PUT', 'Succeeded');
      links.push((await bind(id, onB)).body.link);
      for (const link of links) assert.equal(await follow(link), 404);
      for (const installer of [onA, onB]) assert.equal((await contractOf(installer)).revoked, true);
      await assert.rejects(
        market.instance.features.marketplace.installers.link(onA, new Date()),
        /contract .* is revoked/,
      );
    });

    it(`A bind completed by the sweep keeps its time of arrival on ${driver}`, async () => {
      const id = applicationId();
      const installer = await market.installer('B');
      await market.rows(
        `create or replace function broken() returns trigger language plpgsql as 'begin raise exception ''out of order''; end'`,
      );
      await market.rows('create trigger broken before insert on contract for each row execute function broken()');
      assert.equal((await bind(id, installer)).status, 500);
      await market.rows('drop trigger broken on contract');
      const later = await aMomentAgo();
      await market.sweep(HOUR_MS);
      assert.equal(await stateOf(id), 'Bound');
      await send(id, 'DELETE', 'Deleted', later);
      assert.deepEqual([await stateOf(id), (await contractOf(installer)).revoked], ['Deleted', true]);
    });
  });
}
