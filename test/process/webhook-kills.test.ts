import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { openPair, type Pair } from '../support/server/processes.ts';
import { startReceiver, type WebhookReceiver } from '../support/services/webhook-receiver.ts';

describeLong('Processes that send webhooks', () => {
  let pair: Pair;
  let receiver: WebhookReceiver;
  before(async () => {
    pair = await openPair({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
    receiver = await startReceiver();
  });
  after(async () => {
    await pair.atrium.close();
    await receiver.close();
  });

  it('If the process that sends is killed, another sends every event, in order for each object', async () => {
    const { atrium, open } = pair;
    // This process only writes.
    await atrium.instance.features.webhooks.sender.stop();
    const call = atrium.as('ann');
    const made = await call('POST', '/orgs/acme/webhooks', { url: receiver.url, types: ['role.*'] });
    assert.equal(made.status, 201, made.text);
    const roles: number[] = [];
    const write = async (count: number) => {
      for (let one = 0; one < count; one++) {
        const body = { name: `killed-${roles.length}`, permissions: [] };
        const { body: role, text } = await call('POST', '/authz/roles?org=acme', body);
        assert.ok(role.id, text);
        roles.push(role.id);
        await call('PUT', `/authz/roles/${role.id}?org=acme`, { description: 'changed' });
        await call('DELETE', `/authz/roles/${role.id}?org=acme`);
      }
    };
    let sending = await open();
    for (let round = 0; round < 3; round++) {
      await write(3);
      const seen = receiver.received.length;
      await until(() => receiver.received.length > Math.min(seen, 0) || round > 0);
      const next = await open();
      await write(2);
      await sending.kill();
      await write(3);
      sending = next;
    }
    const heard = (id: number) => {
      const own = receiver.received.filter(({ json }) => json.data.object.id === id);
      const once = new Map(own.map(({ headers, json }) => [headers['webhook-id'], json.type]));
      return [...once.values()];
    };
    const isWhole = (id: number) => heard(id).length === 3;
    await until(() => roles.every(isWhole));
    for (const id of roles) assert.deepEqual(heard(id), ['role.create', 'role.update', 'role.delete'], `role ${id}`);
    await sending.close();
  });
});
