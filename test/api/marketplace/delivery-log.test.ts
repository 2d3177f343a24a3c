import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Delivery } from '../../../src/marketplace/deliveries/deliveries.ts';
import type { DeliveryLogDetail } from '../../../src/marketplace/deliveries/delivery-log.ts';
import { createRedelivery } from '../../../src/marketplace/deliveries/redelivery.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, openTestServer } from '../../support/server/server.ts';
import { assertRejected, type Rejected } from '../../support/world/authz.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const PASSWORD = 'Canary-Pa55word-of-the-administrator';
const LIST = '/admin/marketplace/deliveries';

for (const driver of API_DRIVERS) {
  describe(`Marketplace deliveries on ${driver}`, () => {
    let market: TestMarketplace;
    const read = async (query = ''): Promise<Answer> => {
      const answer = await market.as('root')('GET', `${LIST}${query}`);
      assert.equal(answer.status, 200, answer.text);
      return answer;
    };
    const put = (name: string, state = 'Accepted') => ({
      eventType: 'PUT',
      applicationId: applicationId(name),
      provisioningState: state,
      eventTime: '2026-03-02T10:20:00Z',
    });
    before(async () => {
      market = await openMarketplace({ driver });
      await market.notify('B', put('one'));
      await market.notify('B', put('one'));
      await market.notify('B', { eventType: 'PATCH', applicationId: applicationId('two'), password: PASSWORD });
      const installer = await market.installer('A');
      await market.notify('A', binding(installer, { adminUsername: 'canary', adminPassword: PASSWORD }));
      await market.notify('A', binding('unknown', { adminUsername: 'canary', adminPassword: PASSWORD }));
    });
    after(() => market.close());

    it(`Site administrators can list deliveries and their outcomes, newest first, on ${driver}`, async () => {
      const { body } = await read('?limit=4');
      assert.deepEqual(
        body.items.map((one: Record<string, unknown>) => [
          one.marketplace,
          one.state,
          one.reason,
          one.status,
          one.times,
        ]),
        [
          ['CloudA', 'refused', 'installer_unknown', 400, 1],
          ['CloudA', 'done', 'bound', 200, 1],
          ['CloudB', 'refused', 'unknown_event_type', 400, 1],
          ['CloudB', 'done', 'applied', 200, 2],
        ],
      );
      assert.deepEqual(Object.keys(body.items[0]), [
        'id',
        'marketplace',
        'subject',
        'event_type',
        'event_time',
        'state',
        'reason',
        'status',
        'message',
        'source',
        'request_id',
        'times',
        'attempts',
        'received_at',
        'last_at',
        'done_at',
        'next_try_at',
        'links',
      ]);
      assert.match(body.items[2].message, /unknown event type "PATCH"/);
      for (const { event_type: type, event_time: time } of body.items) {
        assert.ok(time === null || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d*[1-9])?Z$/.test(time), `${type} ${time}`);
      }
      assert.ok(body.items.some((one: { event_time: unknown }) => one.event_time === null));
      assert.ok(body.items.some((one: { event_time: unknown }) => one.event_time !== null));
    });

    it(`Deliveries can be filtered by marketplace, outcome and subject, and paged, on ${driver}`, async () => {
      const reasons = async (query: string) =>
        (await read(`?${query}`)).body.items.map((one: { reason: string }) => one.reason);
      assert.deepEqual(await reasons('marketplace=cloudb&search=ONE'), ['applied']);
      assert.deepEqual(await reasons('marketplace=CloudB&outcome=refused'), ['unknown_event_type']);
      assert.deepEqual(await reasons('outcome=installer_unknown'), ['installer_unknown']);
      assert.deepEqual(await reasons('outcome=dead'), []);
      assert.deepEqual(await reasons('outcome=nothing-of-the-kind'), []);
      const whole = (await read('?limit=200')).body.items.map((one: { id: number }) => one.id);
      const seen: number[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await read(`?limit=2${cursor}`);
        seen.push(...body.items.map((one: { id: number }) => one.id));
        if (body.next_cursor === null) break;
        cursor = `&cursor=${body.next_cursor}`;
      }
      assert.deepEqual(seen, whole);
    });

    it(`Deliveries about one subject, or of a span of time, link what they are about on ${driver}`, async () => {
      const subject = `CloudB:${applicationId('one').slice(1).toLowerCase()}`;
      const { items } = (await read(`?subject=${encodeURIComponent(subject)}`)).body;
      assert.deepEqual([items.length, items[0].subject, items[0].next_try_at], [1, subject, null]);
      const { body: subscriptions } = await market.as('root')('GET', '/admin/marketplace/subscriptions?q=one');
      assert.deepEqual(items[0].links, { subscription_id: subscriptions.items[0].id });
      assert.deepEqual((await read(`?subject=${encodeURIComponent(subject.slice(0, -1))}`)).body.items, []);
      const [bound] = (await read('?outcome=bound&marketplace=cloudA')).body.items;
      const installer = bound.subject.slice('CloudA:'.length);
      const { body } = await market.as('root')('GET', `/admin/marketplace/installers/${installer}`);
      const { organization, contract } = body.binding;
      assert.deepEqual(bound.links, { installer, organization_id: organization.id, contract_id: contract.id });
      const detail = await market.as('root')('GET', `${LIST}/${bound.id}`);
      assert.deepEqual(detail.body.links, bound.links);
      assert.deepEqual((await read('?outcome=installer_unknown')).body.items[0].links, {});
      await market.rows(`update delivery set received_at = timestamptz '2026-03-02 00:00:00Z' where id = $1`, [
        bound.id,
      ]);
      const ids = async (query: string) => (await read(query)).body.items.map((one: { id: number }) => one.id);
      assert.deepEqual(await ids('?since=2026-03-02T00:00:00Z&until=2026-03-02T00:00:01Z'), [bound.id]);
      assert.deepEqual(await ids('?until=2026-03-02T00:00:00Z'), []);
      for (const query of ['since=yesterday', 'until=2026-02-30T00:00:00Z', 'since=2016-12-31T23:59:60Z']) {
        const refused = await market.as('root')('GET', `${LIST}?${query}`);
        assert.ok(refused.status === 400 || refused.status === 422, refused.text);
      }
    });

    it(`Redelivering a failed delivery processes it again and returns its new state on ${driver}`, async () => {
      const failing = applicationId('mended');
      await market.rows(
        `create function broken() returns trigger language plpgsql as 'begin raise exception ''no''; end'`,
      );
      await market.rows('create trigger broken before insert on subscription for each row execute function broken()');
      assert.equal((await market.notify('B', { ...put('mended'), applicationId: failing })).status, 500);
      const { body } = await read('?search=mended');
      const [delivery] = body.items;
      assert.deepEqual([delivery.state, delivery.reason, delivery.attempts], ['received', 'failed', 1]);
      assert.match(delivery.next_try_at, /^\d{4}-/);
      const again = () => market.as('root')('POST', `${LIST}/${delivery.id}/redeliver`);
      const still = await again();
      assert.deepEqual([still.status, still.body.state, still.body.reason], [200, 'received', 'failed'], still.text);
      await market.rows('drop trigger broken on subscription');
      const mended = await again();
      assert.deepEqual([mended.status, mended.body.state, mended.body.reason], [200, 'done', 'applied'], mended.text);
      const [row] = await market.rows<{ state: string }>('select state from subscription where application_id = $1', [
        failing,
      ]);
      assert.equal(row?.state, 'Pending');
      const done = await again();
      assert.deepEqual([done.status, done.body.message], [409, 'the delivery is already done and cannot be retried']);
      const audit = await market.as('root')('GET', `/admin/audit?org=0&object=delivery:${delivery.id}`);
      assert.deepEqual(
        audit.body.items.map((one: { action: string; actor: { name: string } }) => [one.action, one.actor.name]),
        [
          ['delivery.redeliver', 'root'],
          ['delivery.redeliver', 'root'],
        ],
      );
      const refused = (await read('?outcome=installer_unknown')).body.items[0];
      const repeated = await market.as('root')('POST', `${LIST}/${refused.id}/redeliver`);
      assert.deepEqual([repeated.status, repeated.body.state, repeated.body.status], [200, 'refused', 400]);
      const unread = (await read('?outcome=unknown_event_type')).body.items[0];
      assert.equal((await market.as('root')('POST', `${LIST}/${unread.id}/redeliver`)).status, 409);
    });

    it(`Redelivering by filter retries what is unfinished, oldest first, and says what became of each on ${driver}`, async () => {
      const again = async (filter: object) => {
        const answer = await market.as('root')('POST', `${LIST}/redeliver`, filter);
        assert.equal(answer.status, 200, answer.text);
        return answer.body;
      };
      const counts = async (filter: object) => {
        const { tried, done, refused, failed, left } = await again(filter);
        return [tried, done, refused, failed, left];
      };
      await market.rows('create trigger broken before insert on subscription for each row execute function broken()');
      for (const name of ['bulk-1', 'bulk-2', 'bulk-3'])
        assert.equal((await market.notify('B', put(name))).status, 500);
      const ids = (await read('?search=bulk-')).body.items.map((one: { id: number }) => one.id).reverse();
      const [first, second, third] = ids;
      assert.deepEqual(await counts({ search: 'bulk-', most: 0 }), [0, 0, 0, 0, 3], 'only counted');
      const failing = await again({ search: 'BULK-', marketplace: 'cloudb', most: 2 });
      assert.deepEqual(failing, {
        ...{ tried: 2, done: 0, refused: 0, failed: 2, left: 1 },
        deliveries: [first, second].map((id) => ({ id, state: 'received', reason: 'failed' })),
      });
      // What the server would retry by itself, it does now, so that it does not do so in the middle of the test.
      await market.sweep(0);
      await market.rows(`update delivery set state = 'dead' where id = any($1)`, [ids]);
      await market.rows('drop trigger broken on subscription');
      assert.deepEqual(
        await counts({ outcome: 'dead', search: 'bulk-', until: '2020-01-01T00:00:00Z' }),
        [0, 0, 0, 0, 0],
      );
      assert.deepEqual(await counts({ outcome: 'dead', search: 'bulk-', after: second, most: 1 }), [1, 1, 0, 0, 0]);
      assert.deepEqual(await again({ search: 'bulk-', since: '2020-01-01T00:00:00Z' }), {
        ...{ tried: 2, done: 2, refused: 0, failed: 0, left: 0 },
        deliveries: [first, second].map((id) => ({ id, state: 'done', reason: 'applied' })),
      });
      assert.deepEqual(await counts({ search: 'bulk-' }), [0, 0, 0, 0, 0], 'what is done is not repeated');
      assert.deepEqual(await counts({ outcome: 'done' }), [0, 0, 0, 0, 0]);
      assert.deepEqual(await counts({ outcome: 'unknown_event_type' }), [0, 0, 0, 0, 0], 'nobody understands it');
      assert.deepEqual(await counts({ outcome: 'installer_unknown' }), [1, 0, 1, 0, 0]);
      for (const [id, times] of [
        [first, 2],
        [third, 1],
      ]) {
        const { body } = await market.as('root')('GET', `/admin/audit?org=0&object=delivery:${id}`);
        const entries = body.items.map((one: { action: string; actor: { name: string } }) => [
          one.action,
          one.actor.name,
        ]);
        assert.deepEqual(entries, Array(times).fill(['delivery.redeliver', 'root']), `delivery ${id}`);
      }
    });

    it(`A redelivery can be narrowed by all filters at once on ${driver}`, async () => {
      const filter = { outcome: 'dead', marketplace: 'CloudB', search: 'x', subject: 'B:x', after: 1, most: 5 };
      const span = { since: '2026-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' };
      const answer = await market.as('root')('POST', `${LIST}/redeliver`, { ...filter, ...span });
      assert.deepEqual([answer.status, answer.body.tried, answer.body.left], [200, 0, 0], answer.text);
      const fromTheFirst = await market.as('root')('POST', `${LIST}/redeliver`, { ...filter, after: 0 });
      assert.equal(fromTheFirst.status, 200, fromTheFirst.text);
    });

    it(`Two redeliveries by the same filter at once act on each delivery once on ${driver}`, async () => {
      const names = ['twice-1', 'twice-2', 'twice-3', 'twice-4'];
      await market.rows('create trigger broken before insert on subscription for each row execute function broken()');
      for (const name of names) assert.equal((await market.notify('B', put(name))).status, 500);
      await market.sweep(0);
      await market.rows(`update delivery set state = 'dead' where subject like '%twice-%'`);
      await market.rows('drop trigger broken on subscription');
      const both = await Promise.all(
        [1, 2].map(() => market.as('root')('POST', `${LIST}/redeliver`, { outcome: 'dead', search: 'twice-' })),
      );
      const tried = both.flatMap(({ body }) => body.deliveries.map((one: { id: number; state: string }) => one));
      assert.deepEqual([...new Set(tried.map(({ state }: { state: string }) => state))], ['done']);
      assert.equal(new Set(tried.map(({ id }: { id: number }) => id)).size, names.length);
      assert.equal(tried.length, names.length, 'none is tried twice');
      const made = await market.rows(
        `select a.id from audit a join subscription s on s.id = a.object_id
          where a.action = 'subscription.create' and s.application_id like '%twice-%'`,
      );
      assert.equal(made.length, names.length);
    });

    it(`Neither the list of deliveries nor a single delivery contains a secret on ${driver}`, async () => {
      const { body, text } = await read('?limit=200');
      const { cloudB, cloudC } = market.demo.secrets;
      const links = await market.rows<{ hash: string }>('select admin_password_hash as hash from delivery');
      const secrets = [PASSWORD, cloudB, cloudC, 'sig=', ...links.flatMap(({ hash }) => hash ?? [])];
      const texts = [text];
      for (const { id } of body.items) {
        const one = await market.as('root')('GET', `${LIST}/${id}`);
        assert.equal(one.status, 200, one.text);
        assert.ok('notification' in one.body);
        texts.push(one.text);
      }
      for (const secret of secrets) assert.ok(!texts.join().includes(secret), `${secret} is shown`);
      assert.doesNotMatch(texts.join(), /"(?:admin_?password|password)\w*"|scrypt/i);
      const bound = body.items.find((one: { reason: string }) => one.reason === 'bound');
      const detail = (await market.as('root')('GET', `${LIST}/${bound.id}`)).body;
      assert.equal(detail.notification.marketplace, bound.marketplace);
    });

    const TABLE: readonly Rejected[] = [
      { send: ['GET', LIST], status: 401, message: 'token is required' },
      { who: 'ann', send: ['GET', LIST], status: 403, message: 'only site administrators can call this route' },
      { who: 'ann', send: ['GET', `${LIST}/1`], status: 403, message: 'only site administrators can call this route' },
      {
        who: 'ann',
        send: ['POST', `${LIST}/1/redeliver`],
        status: 403,
        message: 'only site administrators can call this route',
      },
      { send: ['POST', `${LIST}/redeliver`, {}], status: 401, message: 'token is required' },
      {
        who: 'ann',
        send: ['POST', `${LIST}/redeliver`, {}],
        status: 403,
        message: 'only site administrators can call this route',
      },
      {
        who: 'root',
        send: ['POST', `${LIST}/redeliver`, { marketplace: 'cloudZ' }],
        status: 400,
        message: /^marketplace must be one of/,
      },
      { who: 'root', send: ['POST', `${LIST}/redeliver`, { after: -1 }], status: 400, message: 'invalid after: -1' },
      { who: 'root', send: ['POST', `${LIST}/redeliver`, { outcom: 'dead' }], status: 422, message: /additional/ },
      { who: 'root', send: ['POST', `${LIST}/redeliver`, { most: 201 }], status: 422, message: /<= 200/ },
      { who: 'root', send: ['POST', `${LIST}/redeliver`, { since: 'yesterday' }], status: 422, message: /date-time/ },
      { who: 'root', send: ['GET', `${LIST}/999999`], status: 404, message: 'delivery does not exist' },
      { who: 'root', send: ['POST', `${LIST}/999999/redeliver`], status: 404, message: 'delivery does not exist' },
      { who: 'root', send: ['GET', `${LIST}/x`], status: 400, message: /^invalid delivery ID/ },
      { who: 'root', send: ['GET', `${LIST}?marketplace=cloudZ`], status: 400, message: /^marketplace must be one of/ },
      {
        who: 'root',
        send: ['GET', `${LIST}?cursor=x`],
        status: 400,
        message: 'cursor was not issued by this server',
      },
    ];
    for (const line of TABLE) {
      const sent = line.send.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' ');
      it(`${sent} by ${line.who ?? 'an anonymous caller'} is rejected with ${line.status} on ${driver}`, () =>
        assertRejected(market, line));
    }
  });
}

describe('Redelivery by filter', () => {
  it('A redelivery by filter starts no further delivery after ten seconds, and says how many are left', async () => {
    let now = 0;
    const all = [1n, 2n, 3n, 4n];
    const finished: bigint[] = [];
    const { redeliverAll } = createRedelivery({
      deliveryLog: {
        unfinished: async (_search, most) => all.slice(0, most),
        countUnfinished: async ({ after = 0n }) => all.filter((id) => id > after).length,
        revive: async () => true,
        get: async (id) => ({ id, state: 'done', reason: 'applied' }) as DeliveryLogDetail,
      },
      deliveries: { get: async (id) => ({ id }) as Delivery },
      finish: async ({ id }) => {
        finished.push(id);
        now += 5_000;
      },
      report: (problem) => assert.fail(problem),
      clock: () => now,
    });
    const { deliveries, left } = await redeliverAll({}, 200, { id: 1n, name: 'root', requestId: 'r' });
    assert.deepEqual([finished, deliveries.length, left], [[1n, 2n], 2, 2]);
  });
});

describe('Marketplace deliveries on a standard deployment', () => {
  it('A standard deployment answers GET /admin/marketplace/deliveries with 404', async () => {
    const standard = await openTestServer();
    assert.equal((await standard.as('root')('GET', LIST)).status, 404);
    await standard.close();
  });
});
