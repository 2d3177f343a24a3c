import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import {
  type ReceivedMessage,
  signaturesOf,
  startReceiver,
  type WebhookReceiver,
} from '../../support/services/webhook-receiver.ts';

let atrium: TestServer;
let receiver: WebhookReceiver;

const ORG = '/orgs/acme/webhooks';
const isAbout = (type: string, id: number) => (message: ReceivedMessage) =>
  message.json.type === type && message.json.data.object?.id === id;

async function create(body: Record<string, unknown>) {
  const made = await atrium.as('ann')('POST', ORG, { url: receiver.url, ...body });
  assert.equal(made.status, 201, made.text);
  return { ...made.body, path: `${ORG}/${made.body.id}` };
}

async function createRole(name: string): Promise<number> {
  const body = { name, permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] };
  const { status, body: role, text } = await atrium.as('ann')('POST', '/authz/roles?org=acme', body);
  assert.equal(status, 201, text);
  return role.id;
}

async function remove({ path }: { path: string }) {
  assert.equal((await atrium.as('ann')('DELETE', path)).status, 204);
}

describe('Signatures of webhooks', () => {
  before(async () => {
    atrium = await openTestServer({ env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    receiver = await startReceiver();
  });
  after(async () => {
    await atrium.close();
    await receiver.close();
  });

  it('After a change of the secret, the former one signs for a day, too', async () => {
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const made = await create({ secret, types: ['role.create'] });
    assert.equal(made.secret, secret);
    const { body } = await atrium.as('ann')('PATCH', made.path, { secret: null });
    assert.match(body.secret, /^whsec_/);
    assert.notEqual(body.secret, secret);
    const both = await receiver.find(isAbout('role.create', await createRole('signed-twice')));
    assert.deepEqual([signaturesOf(both, secret).shared, signaturesOf(both, body.secret).shared], [1, 1]);
    assert.equal(signaturesOf(both, secret).count, 3);
    const { db } = atrium.instance;
    await db.query(statement(`update webhook set before_until = now() - interval '1 second' where id = ${made.id}`));
    await atrium.as('ann')('PATCH', made.path, { types: ['role.*'] });
    const one = await receiver.find(isAbout('role.create', await createRole('signed-once')));
    assert.deepEqual([signaturesOf(one, secret).shared, signaturesOf(one, body.secret).shared], [0, 1]);
    await remove(made);
  });

  it('After a rotation of the key of the server, the former one signs for a week, too, and then no more', async () => {
    const made = await create({ types: ['role.create'] });
    const keysOf = async () =>
      (await atrium.call('GET', '/.well-known/webhook-keys')).body.keys.filter(
        ({ use }: { use?: string }) => use !== 'audit',
      );
    const [former] = await keysOf();
    assert.equal(former.retires_at, null);
    const { rotateKey } = atrium.instance.features.webhooks;
    await rotateKey();
    const [present, retiring, ...more] = await keysOf();
    assert.deepEqual([retiring.id, retiring.public_key, more], [former.id, former.public_key, []]);
    assert.notEqual(present.public_key, former.public_key);
    assert.equal(present.retires_at, null);
    const days = (Date.parse(retiring.retires_at) - Date.now()) / 86_400_000;
    assert.ok(days > 6.9 && days <= 7, `${days} days`);
    const both = await receiver.find(isAbout('role.create', await createRole('signed-by-both-keys')));
    for (const key of [present, former]) {
      assert.deepEqual(signaturesOf(both, made.secret, key.public_key), { count: 3, shared: 1, asymmetric: 1 });
    }
    const { db } = atrium.instance;
    await db.query(
      statement(`update webhook_key set retires_at = now() - interval '1 second' where retires_at is not null`),
    );
    await rotateKey();
    const keys = await keysOf();
    assert.deepEqual([keys.length, keys[1].id], [2, present.id]);
    const later = await receiver.find(isAbout('role.create', await createRole('signed-without-former')));
    assert.equal(signaturesOf(later, made.secret, former.public_key).asymmetric, 0);
    assert.equal(signaturesOf(later, made.secret, keys[0].public_key).asymmetric, 1);
    await remove(made);
  });
});
