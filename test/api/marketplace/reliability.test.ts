import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDeliveryStore } from '../../../src/marketplace/deliveries/deliveries.store.ts';
import { MAX_ATTEMPTS } from '../../../src/marketplace/deliveries/deliveries.ts';
import { canonicalJson } from '../../../src/marketplace/notifications/canonical-json.ts';
import { naturalKeyOf, readNotification, subjectOf } from '../../../src/marketplace/notifications/notification.ts';
import { COUNTS } from '../../counts.ts';
import { openWire } from '../../support/faults/wire.ts';
import { migrated, newPlace } from '../../support/server/db.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { lacks } from '../../support/services/requirements.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const HOUR_MS = 3_600_000;
const MANY = COUNTS.identicalDeliveries;

for (const driver of COUNTED_DRIVERS) {
  describe(`Delivery reliability on ${driver}`, () => {
    let market: TestMarketplace;
    before(async () => {
      market = await openMarketplace({ driver });
    });
    after(() => market.close());

    it(`${MANY} identical concurrent binds take effect once and get identical answers on ${driver}`, async () => {
      const installer = await market.installer('A');
      const before = await counts();
      const body = {
        eventTime: '2026-03-02T10:20:00Z',
        ...binding(installer, { adminUsername: `many-${driver}`, adminPassword: 'pw' }),
      };
      const answers = await Promise.all(Array.from({ length: MANY }, () => market.notify('A', body)));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.deepEqual(
        await counts(),
        before.map((count) => count + 1n),
      );
      const [row] = await market.rows<{ times: number }>('select times from delivery where subject = $1', [
        `CloudA:${installer}`,
      ]);
      assert.equal(row?.times, MANY);
    });

    it(`${MANY} identical concurrent events take effect once and get identical answers on ${driver}`, async () => {
      const id = applicationId();
      const body = {
        eventType: 'PUT',
        applicationId: id,
        provisioningState: 'Accepted',
        eventTime: '2026-03-02T10:20:00Z',
      };
      const answers = await Promise.all(Array.from({ length: MANY }, () => market.notify('B', body)));
      assert.deepEqual([...new Set(answers.map(({ status, text }) => `${status}${text}`))], ['200']);
      const audit = await market.rows(
        `select a.action from audit a join subscription s on s.id = a.object_id and a.object_type = 'subscription'
          where s.application_id = $1`,
        [id],
      );
      assert.deepEqual(audit, [{ action: 'subscription.create' }]);
    });

    it(`The sweep completes a delivery left by a crash, and C still gets its answer once on ${driver}`, async () => {
      const installer = await market.installer('C');
      const body = binding(installer, { marketplace: 'CloudC', adminUsername: `owed-${driver}` });
      await recordOnly(body, '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$dGFn');
      await market.sweep(HOUR_MS);
      const [row] = await market.rows(
        'select state, reason, answered, admin_password_hash from delivery where subject = $1',
        [`CloudC:${installer}`],
      );
      assert.deepEqual(row, { state: 'done', reason: 'bound', answered: false, admin_password_hash: null });
      const [admin] = await market.rows<{ password_hash: string }>(
        'select password_hash from account where name = $1',
        [`owed-${driver}`],
      );
      assert.match(admin?.password_hash ?? '', /^\$argon2id/, 'the password of the delivery that was never answered');
      assert.equal((await market.notify('C', body)).status, 200, 'nobody had the answer yet');
      assert.equal((await market.notify('C', body)).status, 403, 'now somebody has');
    });

    it(`A clock that was set back stops neither the sweep nor the outbox on ${driver}`, async (t) => {
      const installer = await market.installer('A');
      const body = binding(installer, { adminUsername: `back-${driver}` });
      await recordOnly(body, '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$dGFn', 'CloudA');
      // The clock of the database, seen from the rows: they were written an hour and a day ahead of now.
      await market.rows(`update delivery set next_try_at = now() + interval '1 hour' where subject = $1`, [
        `CloudA:${installer}`,
      ]);
      await market.rows(
        `insert into marketplace_event (uid, type, payload, next_try_at) values ($1, 'test', '{}', now() + interval '1 day')`,
        [`back-${driver}`],
      );
      // And the clock of this process, in both directions.
      for (const ms of [-24 * HOUR_MS, 24 * HOUR_MS]) {
        t.mock.timers.enable({ apis: ['Date'], now: Date.now() + ms });
        await market.sweep(0);
        t.mock.timers.reset();
      }
      assert.equal((await stateOf(installer))?.state, 'done');
      const sent = await market.rows('select sent_at is not null as sent from marketplace_event where uid = $1', [
        `back-${driver}`,
      ]);
      assert.deepEqual(sent, [{ sent: true }]);
    });

    it(`A retry that is put off for its own delay is not due before that on ${driver}`, async () => {
      const installer = await market.installer('A');
      await recordOnly(binding(installer), '', 'CloudA');
      await market.rows(
        `update delivery set attempts = 8, next_try_at = now() + interval '590 seconds' where subject = $1`,
        [`CloudA:${installer}`],
      );
      await market.sweep(0);
      assert.equal((await stateOf(installer))?.state, 'received');
      await market.sweep(HOUR_MS);
      assert.equal((await stateOf(installer))?.state, 'done');
    });

    it(`A delivery that fails with 500 is retried, dead-lettered and can be redelivered on ${driver}`, async () => {
      const installer = await market.installer('A');
      await breakContracts(market);
      const body = binding(installer);
      const answer = await market.notify('A', body);
      assert.deepEqual([answer.status, answer.body], [500, { message: 'internal error' }]);
      // The instance also sweeps by itself, so the number of attempts so far is not certain.
      let tried = 0;
      for (let row = await stateOf(installer); row?.state !== 'dead'; row = await stateOf(installer)) {
        assert.equal(row?.state, 'received');
        assert.ok(row.attempts > tried && row.attempts < MAX_ATTEMPTS, `${row.attempts} attempts after ${tried}`);
        tried = row.attempts;
        await market.sweep(HOUR_MS);
      }
      assert.deepEqual(await stateOf(installer), { state: 'dead', attempts: MAX_ATTEMPTS });
      assert.equal((await market.notify('A', body)).status, 500, 'the marketplace may still try');
      const again = await stateOf(installer);
      assert.equal(again?.state, 'received');
      assert.ok(again.attempts < MAX_ATTEMPTS);
      await market.rows('drop trigger broken on contract');
      const dead = `update delivery set state = 'dead' where subject = $1 returning id`;
      const [row] = await market.rows<{ id: bigint }>(dead, [`CloudA:${installer}`]);
      const redelivery = `/api/v1/admin/marketplace/deliveries/${row?.id}/redeliver`;
      const headers = { Authorization: `token ${market.world.users.root?.token}` };
      assert.equal((await market.call('POST', redelivery, undefined, headers)).body.state, 'done');
      assert.equal((await stateOf(installer))?.state, 'done');
      assert.equal((await market.notify('A', body)).status, 200);
    });

    it(`A failed binding leaves no data behind on ${driver}`, async () => {
      const installer = await market.installer('A');
      await breakContracts(market);
      const before = await counts();
      assert.equal((await market.notify('A', binding(installer))).status, 500);
      await market.rows('drop trigger broken on contract');
      assert.deepEqual(await counts(), before);
    });

    async function recordOnly(
      body: object,
      adminPasswordHash: string,
      marketplace: 'CloudA' | 'CloudC' = 'CloudC',
    ): Promise<void> {
      const reading = readNotification(marketplace, body);
      const { notification } = reading;
      const { db, revisions, quotas } = market.instance;
      await createDeliveryStore(db.query, revisions.write, { limits: quotas.limits, isTold: false }).record({
        marketplace,
        naturalKey: naturalKeyOf(reading, ''),
        subject: subjectOf(notification),
        eventType: '',
        eventTime: '',
        notification: canonicalJson(notification),
        adminPasswordHash,
        options: null,
        source: 'test',
        requestId: 'test',
      });
    }

    async function stateOf(installer: string) {
      const [row] = await market.rows<{ state: string; attempts: number }>(
        'select state, attempts from delivery where subject = $1',
        [`CloudA:${installer}`],
      );
      return row;
    }

    async function counts(): Promise<bigint[]> {
      const [row] = await market.rows<{ list: bigint[] }>(
        `select array[(select count(*) from account where kind = 'organization'), (select count(*) from contract),
                      (select count(*) from installer where bound_at is not null),
                      (select count(*) from audit where action = 'installer.bind'),
                      (select count(*) from marketplace_event where type = 'installer.bound')] as list`,
      );
      return row?.list ?? [];
    }
  });
}

async function breakContracts(market: TestMarketplace): Promise<void> {
  await market.rows(
    `create or replace function broken() returns trigger language plpgsql as 'begin raise exception ''out of order''; end'`,
  );
  await market.rows('create trigger broken before insert on contract for each row execute function broken()');
}

describe('A database outage', { skip: lacks('postgresql') }, () => {
  it('Deliveries during a database outage fail with 500, never 4xx, and succeed when sent again afterwards', async () => {
    const { databaseUrl = '' } = await newPlace('postgres', migrated());
    const wire = await openWire(new URL(databaseUrl));
    const market = await openMarketplace({ env: { DATABASE_URL: wire.url } });
    const installers = await Promise.all(Array.from({ length: 4 }, () => market.installer('A')));
    const bodies = installers.map((installer) => binding(installer, { adminPassword: 'pw' }));
    const applications = Array.from({ length: 8 }, () => applicationId());
    const put = (id: string) =>
      market.notify('B', { eventType: 'PUT', applicationId: id, provisioningState: 'Accepted' });
    const all = () => Promise.all([...bodies.map((body) => market.notify('A', body)), ...applications.map(put)]);
    const under = all();
    await wire.cut();
    const statuses = new Set<number>((await under).map(({ status }) => status));
    for (let round = 0; round < COUNTS.outageRounds; round++) {
      for (const { status } of await all()) statuses.add(status);
      statuses.add((await market.notify('B', '{')).status);
    }
    assert.deepEqual(
      [...statuses].filter((status) => status !== 200),
      [500],
    );
    await wire.mend();
    for (const { status } of await all()) assert.equal(status, 200);
    const rows = await market.rows<{ count: bigint }>(
      `select count(*) from installer where bound_at is not null and marketplace = 'CloudA'`,
    );
    assert.deepEqual(rows, [{ count: 4n }]);
    await market.close();
    await wire.cut();
  });
});
