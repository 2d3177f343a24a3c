import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const ROOT = '/admin/marketplace';
const FINGERPRINT = /^[0-9a-f]{16}$/;

for (const driver of API_DRIVERS) {
  describe(`Secrets, strangers and events of marketplaces on ${driver}`, () => {
    let market: TestMarketplace;
    const root = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      await market.as('root')(method, `${ROOT}${path}`, body, headers);
    const read = async (path: string) => {
      const answer = await root('GET', path);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };
    const actions = async (prefix: string) => {
      const { body } = await market.as('root')('GET', `/admin/audit?org=0&action=${prefix}`);
      return body.items.map((one: { action: string; actor: { name: string }; after: unknown }) => [
        one.action,
        one.actor.name,
      ]);
    };
    before(async () => {
      market = await openMarketplace({ driver, env: { CLOUD_B_SECRETS: 'from-the-settings' } });
      assert.equal((await market.notify('A', binding(await market.installer('A')))).status, 200);
      await market.notify('C', { eventType: 'BIND' }, '?secret=wrong');
    });
    after(() => market.close());

    it(`Secrets are shown by fingerprint, added, and retired without their text, on ${driver}`, async () => {
      const before = await read('/secrets');
      assert.deepEqual(
        before.map((one: { marketplace: string; source: string }) => [one.marketplace, one.source]),
        [
          ['CloudB', 'settings'],
          ['CloudB', 'added'],
          ['CloudC', 'added'],
        ],
      );
      const put = (name: string) => ({
        eventType: 'PUT',
        applicationId: applicationId(name),
        provisioningState: 'Accepted',
      });
      const made = await root('POST', '/secrets', { marketplace: 'CloudB' }, { 'Idempotency-Key': 'secret-1' });
      assert.equal(made.status, 201, made.text);
      const { secret, fingerprint } = made.body;
      assert.match(fingerprint, FINGERPRINT);
      assert.match(secret, /^[\w-]{43}$/);
      const again = await root('POST', '/secrets', { marketplace: 'CloudB' }, { 'Idempotency-Key': 'secret-1' });
      assert.deepEqual([again.text, again.headers.get('idempotency-replayed')], [made.text, 'true']);
      assert.equal((await market.notify('B', put('made'), `?secret=${secret}`)).status, 200);
      const own = await root('POST', '/secrets', { marketplace: 'CloudB', secret: 'own secret' });
      assert.deepEqual([own.status, 'secret' in own.body, own.body.source], [201, false, 'added']);
      assert.equal((await market.notify('B', put('own'), '?secret=own%20secret')).status, 200);
      const listed = await root('GET', '/secrets');
      assert.equal(listed.body.length, before.length + 2);
      for (const text of [secret, 'own secret', 'from-the-settings']) assert.ok(!listed.text.includes(text));
      for (const one of [fingerprint, own.body.fingerprint]) {
        assert.equal((await root('DELETE', `/secrets/${one}`)).status, 204);
        const twice = await root('DELETE', `/secrets/${one}`);
        assert.deepEqual([twice.status, twice.body.reason], [404, 'secret_not_found']);
      }
      assert.deepEqual(await read('/secrets'), before);
      assert.notEqual((await market.notify('B', put('late'), `?secret=${secret}`)).status, 200);
      const kept = await root('DELETE', `/secrets/${before[0].fingerprint}`);
      assert.deepEqual(
        [kept.status, kept.body.message],
        [409, 'the secret is from the settings of the server and is retired there'],
      );
      assert.equal((await market.notify('B', put('kept'), '?secret=from-the-settings')).status, 200);
      assert.deepEqual((await actions('secret.')).slice(0, 4), [
        ['secret.retire', 'root'],
        ['secret.retire', 'root'],
        ['secret.add', 'root'],
        ['secret.add', 'root'],
      ]);
    });

    it(`Callers that failed to authenticate are listed by day, at once and in pages, on ${driver}`, async () => {
      const now = await read('/strangers?marketplace=cloudC');
      const today = new Date().toISOString().slice(0, 10);
      const [first] = now.items;
      assert.deepEqual(
        [first.marketplace, first.reason, first.source, first.times],
        ['CloudC', 'secret_mismatch', '127.0.0.1', 1],
      );
      assert.ok([today, first.last_at.slice(0, 10)].includes(first.day));
      await market.rows(`insert into delivery_refusal (marketplace, reason, source, day, times, last_at)
        select 'CloudA', 'ip_outside_ranges', '192.0.2.' || n, ('2026-03-0' || (n % 3 + 1)::text)::date, n, now()
          from generate_series(1, 7) n`);
      const places: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await read(`/strangers?marketplace=CloudA&limit=2${cursor}`);
        places.push(...page.items.map((one: { day: string; source: string }) => `${one.day} ${one.source}`));
        if (page.next_cursor === null) break;
        cursor = `&cursor=${page.next_cursor}`;
      }
      assert.equal(places.length, 7);
      assert.deepEqual(places, [...places].sort().reverse());
    });

    it(`The outbox lists its events by state, with what the receiver gets, on ${driver}`, async () => {
      await market.sweep(0);
      await market.rows(`insert into marketplace_event (uid, type, payload, attempts, dead_at)
                         values ('dead-1', 'installer.bound', '{"big":9007199254740993}', 12, now())`);
      await market.rows(`insert into marketplace_event (uid, type, payload, attempts, next_try_at)
                         values ('late-1', 'subscription.changed', '{}', 9, now() + interval '50 minutes')`);
      const dead = await root('GET', '/events?state=dead');
      assert.match(dead.text, /"big":9007199254740993/);
      const { items } = dead.body;
      assert.deepEqual([items.length, items[0].uid, items[0].attempts, items[0].next_try_at], [1, 'dead-1', 12, null]);
      const waiting = (await read('/events?state=waiting')).items;
      assert.deepEqual([waiting.length, waiting[0].uid, typeof waiting[0].next_try_at], [1, 'late-1', 'string']);
      const sent = (await read('/events?state=sent&type=installer.bound&limit=1')).items;
      assert.deepEqual([sent.length, sent[0].state, typeof sent[0].data.marketplace], [1, 'sent', 'string']);
      assert.deepEqual((await read('/events?type=nothing')).items, []);
      const counts = (await read('/summary')).events;
      assert.deepEqual([counts.dead, counts.waiting], [1, 1]);
      await market.rows(`delete from marketplace_event where uid in ('dead-1', 'late-1')`);
    });

    it(`The summary counts by state and names the oldest and the last, on ${driver}`, async () => {
      const counted = await read('/summary');
      const total = (counts: Record<string, number>) => Object.values(counts).reduce((sum, one) => sum + one, 0);
      const [row] = await market.rows<Record<string, number>>(
        `select (select count(*)::integer from delivery) as deliveries, (select count(*)::integer from installer) as installers,
                (select count(*)::integer from subscription) as subscriptions`,
      );
      assert.deepEqual(
        [total(counted.deliveries), total(counted.installers), total(counted.subscriptions)],
        [row?.deliveries, row?.installers, row?.subscriptions],
      );
      assert.equal(counted.oldest_waiting_at, null);
      assert.deepEqual(
        counted.marketplaces.map((one: Record<string, unknown>) => [one.marketplace, one.proven_by, one.secrets]),
        [
          ['CloudA', 'address', 0],
          ['CloudB', 'secret', 2],
          ['CloudC', 'secret', 1],
        ],
      );
      for (const one of counted.marketplaces) assert.match(one.last_delivery_at, /^\d{4}-/);
      await market.rows(`update delivery set state = 'received', attempts = 8, next_try_at = now() + interval '9 minutes',
        received_at = timestamptz '2026-03-01 00:00:00Z' where id = (select max(id) from delivery)`);
      const waiting = await read('/summary');
      assert.deepEqual([waiting.deliveries.received, waiting.oldest_waiting_at], [1, '2026-03-01T00:00:00Z']);
      await market.rows(`update delivery set state = 'done' where state = 'received'`);
    });
  });
}
