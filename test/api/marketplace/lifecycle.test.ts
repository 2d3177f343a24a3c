import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { applicationId, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

type Event = readonly [type: string, state: string | undefined, time?: string];

for (const driver of API_DRIVERS) {
  describe(`The marketplace B subscription lifecycle on ${driver}`, () => {
    let market: TestMarketplace;
    before(async () => {
      market = await openMarketplace({ driver });
    });
    after(() => market.close());

    const send = (id: string, [eventType, provisioningState, time]: Event) =>
      market.notify('B', { eventType, applicationId: id, provisioningState, ...(time && { eventTime: time }) });
    const bind = (id: string, installerId: string, eventTime?: string) =>
      market.notify('B', { eventType: 'BIND', applicationId: id, eventTime, bindingInfo: { installerId } });
    const stateOf = async (id: string) => {
      const [row] = await market.rows<{ state: string }>('select state from subscription where application_id = $1', [
        id,
      ]);
      return row?.state;
    };
    const lastReason = async () =>
      (await market.rows<{ reason: string }>('select reason from delivery order by last_at desc, id desc limit 1'))[0]
        ?.reason;
    const linkWorks = async (link: string) => (await market.call('GET', link.slice(market.url.length))).status;

    const stories: readonly (readonly [string, readonly Event[], string | undefined])[] = [
      ['once its creation is accepted', [['PUT', 'Accepted']], 'Pending'],
      [
        'once it is provisioned',
        [
          ['PUT', 'Accepted'],
          ['PUT', 'Succeeded'],
        ],
        'Running',
      ],
      [
        'after its provisioning fails',
        [
          ['PUT', 'Accepted'],
          ['PUT', 'Failed'],
        ],
        'Failed',
      ],
      ['after a PUT without a provisioning state', [['PUT', undefined]], 'Pending'],
      [
        'while it is being deleted',
        [
          ['PUT', 'Succeeded'],
          ['DELETE', 'Deleting'],
        ],
        'Deleting',
      ],
      [
        'once it is deleted',
        [
          ['PUT', 'Succeeded'],
          ['DELETE', 'Deleting'],
          ['DELETE', 'Deleted'],
        ],
        'Deleted',
      ],
      [
        'after its deletion fails',
        [
          ['PUT', 'Succeeded'],
          ['DELETE', 'Deleting'],
          ['DELETE', 'Failed'],
        ],
        'DeletionFailed',
      ],
      [
        'even after an unknown provisioning state',
        [
          ['PUT', 'Succeeded'],
          ['PUT', 'Updating'],
        ],
        'Running',
      ],
      ['when its first provisioning state is unknown', [['PUT', 'Updating']], undefined],
      [
        'after it is deleted and created again',
        [
          ['PUT', 'Succeeded'],
          ['DELETE', 'Deleted'],
          ['PUT', 'Accepted'],
        ],
        'Pending',
      ],
      [
        'when a failure dated 100 ns before its success arrives late',
        [
          ['PUT', 'Succeeded', '2026-03-02T10:00:00.1234568Z'],
          ['PUT', 'Failed', '2026-03-02T10:00:00.1234567Z'],
        ],
        'Running',
      ],
      [
        'when a failure is dated 100 ns after its success',
        [
          ['PUT', 'Succeeded', '2026-03-02T10:00:00.1234567Z'],
          ['PUT', 'Failed', '2026-03-02T10:00:00.1234568Z'],
        ],
        'Failed',
      ],
      [
        'when its success, dated with a UTC offset, is later than its failure',
        [
          ['PUT', 'Succeeded', '2026-03-02T12:00:00.5+02:00'],
          ['PUT', 'Failed', '2026-03-02T10:00:00.4999999Z'],
        ],
        'Running',
      ],
      [
        'when its deletion arrives before older events',
        [
          ['PUT', 'Accepted', '2026-03-02T10:00:00Z'],
          ['DELETE', 'Deleted', '2026-04-01T17:22:40.5Z'],
          ['PUT', 'Succeeded', '2026-03-02T10:14:31Z'],
          ['DELETE', 'Deleting', '2026-04-01T17:00:00Z'],
        ],
        'Deleted',
      ],
    ];
    const at = '2026-03-02T10:00:00Z';
    for (const [first, second, expected] of [
      [['PUT', 'Accepted', at], ['PUT', 'Succeeded', at], 'Running'],
      [['PUT', 'Accepted', at], ['PUT', 'Failed', at], 'Failed'],
      [['DELETE', 'Deleting', at], ['DELETE', 'Failed', at], 'DeletionFailed'],
      [['DELETE', 'Deleting', at], ['DELETE', 'Deleted', at], 'Deleted'],
      [['DELETE', 'Failed', at], ['DELETE', 'Deleted', at], 'Deleted'],
      [['PUT', 'Succeeded', at], ['DELETE', 'Deleting', at], 'Deleting'],
    ] as const) {
      it(`${first.slice(0, 2).join(' ')} and ${second.slice(0, 2).join(' ')} at the same time end as ${expected} in either order on ${driver}`, async () => {
        const ends: (string | undefined)[] = [];
        for (const events of [
          [first, second],
          [second, first],
        ]) {
          const id = applicationId();
          await send(id, ['PUT', 'Accepted', '2026-03-01T10:00:00Z']);
          for (const event of events) await send(id, event);
          ends.push(await stateOf(id));
        }
        assert.deepEqual(ends, [expected, expected]);
      });
    }

    for (const [name, events, expected] of stories) {
      it(`A subscription is ${expected ?? 'not created'} ${name} on ${driver}`, async () => {
        const id = applicationId();
        for (const event of events) {
          const answer = await send(id, event);
          assert.deepEqual([answer.status, answer.text], [200, ''], JSON.stringify(event));
        }
        assert.equal(await stateOf(id), expected);
      });
    }

    it(`A late event is recorded as superseded and answered with 200 on ${driver}`, async () => {
      const id = applicationId();
      await send(id, ['PUT', 'Succeeded', '2026-03-02T10:00:00Z']);
      assert.equal((await send(id, ['PUT', 'Failed', '2026-03-02T09:00:00Z'])).status, 200);
      assert.equal(await lastReason(), 'superseded');
    });

    it(`All spellings of an application ID count as the same delivery on ${driver}`, async () => {
      const id = applicationId();
      for (const spelling of [id, id.toLowerCase(), id.slice(1), `${id}/`, id.toUpperCase()]) {
        assert.equal((await send(spelling, ['PUT', 'Accepted', '2026-03-02T10:00:00Z'])).status, 200);
      }
      const rows = await market.rows('select times from delivery where lower(notification) like $1', [
        `%${id.toLowerCase()}%`,
      ]);
      assert.deepEqual(rows, [{ times: 5 }]);
    });

    it(`The managed resource group and resource ID parts come from the server, not the caller, on ${driver}`, async () => {
      const id = applicationId('filled');
      const evil = { managedResourceGroupId: '/subscriptions/evil', resourceIdParts: { subscriptionId: 'evil' } };
      await market.notify('B', { eventType: 'PUT', applicationId: id, provisioningState: 'Accepted', ...evil });
      const [row] = await market.rows<{ managed_resource_group_id: string; resource_id_parts: object }>(
        'select managed_resource_group_id, resource_id_parts from subscription where application_id = $1',
        [id],
      );
      assert.match(row?.managed_resource_group_id ?? '', /^\/subscriptions\/2f9b1a34-.*\/resourceGroups\/rg-customer$/);
      assert.deepEqual(row?.resource_id_parts, {
        subscriptionId: '2f9b1a34-6f0d-4c7e-9a51-0d7c2b8e4f11',
        resourceGroupName: 'rg-customer',
        provider: 'Microsoft.Solutions',
        resourceType: 'applications',
        resourceName: 'filled',
      });
      const leaked = await market.rows(`select 1 from delivery where notification like '%evil%' and state = 'done'`);
      assert.deepEqual(leaked, []);
    });

    it(`Deleting a subscription revokes its contract and links once, even if reported repeatedly, on ${driver}`, async () => {
      const id = applicationId();
      const installer = await market.installer('B');
      const { link } = (await bind(id, installer, '2026-03-02T10:00:00Z')).body;
      assert.equal(await stateOf(id), 'Bound');
      assert.equal(await linkWorks(link), 200);
      assert.equal((await send(id, ['DELETE', 'Failed', '2026-03-03T10:00:00Z'])).status, 200);
      assert.equal(await linkWorks(link), 200);
      for (const state of ['Deleting', 'Deleted', 'Deleted', 'Deleting']) {
        assert.equal((await send(id, ['DELETE', state, `2026-04-01T1${state.length}:00:00Z`])).status, 200);
      }
      assert.equal(await linkWorks(link), 404);
      const audit = await market.rows<{ action: string }>(
        `select a.action from audit a join installer i on i.organization_id = a.organization_id where i.id = $1
          order by a.id`,
        [installer],
      );
      assert.deepEqual(
        audit.map(({ action }) => action),
        ['installer.bind', 'contract.revoke'],
      );
    });

    it(`New and repeated binds to a deleted subscription are rejected with 400 on ${driver}`, async () => {
      const id = applicationId();
      const installer = await market.installer('B');
      assert.equal((await bind(id, installer, '2026-03-02T10:00:00Z')).status, 200);
      assert.equal((await send(id, ['DELETE', 'Deleted', '2026-03-03T10:00:00Z'])).status, 200);
      for (const [which, time] of [
        [installer, '2026-03-02T10:00:00Z'],
        [installer, undefined],
        [await market.installer('B'), '2026-03-04T10:00:00Z'],
      ] as const) {
        const { status, body } = await bind(id, which, time);
        assert.deepEqual([status, body.message], [400, 'the subscription is deleted: nothing can be bound to it']);
      }
    });

    it(`An installer can be bound again after its application is recreated on ${driver}`, async () => {
      const id = applicationId();
      const installer = await market.installer('B');
      await bind(id, installer);
      await send(id, ['DELETE', 'Deleted']);
      await send(id, ['PUT', 'Succeeded']);
      const { status, body } = await bind(id, installer);
      assert.equal(status, 200);
      assert.equal(await linkWorks(body.link), 200);
    });

    it(`A bind is accepted even when it arrives out of order on ${driver}`, async () => {
      const early = applicationId();
      assert.equal((await bind(early, await market.installer('B'), '2026-03-02T10:20:00Z')).status, 200);
      await send(early, ['PUT', 'Accepted', '2026-03-02T10:00:00Z']);
      assert.equal(await stateOf(early), 'Bound');
      const late = applicationId();
      await send(late, ['PUT', 'Succeeded', '2026-03-02T10:30:00Z']);
      assert.equal((await bind(late, await market.installer('B'), '2026-03-02T10:20:00Z')).status, 200);
      assert.equal(await stateOf(late), 'Running');
    });

    it(`Deleting an unknown subscription is rejected with 403 on ${driver}`, async () => {
      for (const state of ['Deleting', 'Deleted', 'Failed']) {
        const { status, body } = await send(applicationId(), ['DELETE', state]);
        assert.deepEqual([status, body], [403, { message: 'the subscription is not known' }]);
      }
      assert.equal(await lastReason(), 'subscription_unknown');
    });

    it(`A repeated event is written to the outbox once on ${driver}`, async () => {
      const id = applicationId();
      for (let time = 0; time < 3; time++) await send(id, ['PUT', 'Accepted', '2026-03-02T10:00:00Z']);
      const events = await market.rows<{ type: string }>('select type from marketplace_event where payload like $1', [
        `%${id}%`,
      ]);
      assert.deepEqual(events, [{ type: 'subscription.changed' }]);
    });
  });
}
