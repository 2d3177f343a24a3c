import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { until } from '../../support/checks/until.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import {
  type ReceivedMessage,
  type ReceiverAnswer,
  startReceiver,
  type WebhookReceiver,
} from '../../support/services/webhook-receiver.ts';
import { type MailBox, openMailBox } from '../../support/world/mail-box.ts';
import { callWith } from '../../support/world/robots.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

let atrium: TestServer;
let mail: MailBox;
const receivers: WebhookReceiver[] = [];
const hooks: string[] = [];

async function receive(answer?: (message: ReceivedMessage) => ReceiverAnswer | Promise<ReceiverAnswer>) {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  return receiver;
}

async function create(url: string, more: object = {}) {
  const made = await atrium.as('ann')('POST', '/orgs/acme/webhooks', { url, ...more });
  assert.equal(made.status, 201, made.text);
  const path = `/orgs/acme/webhooks/${made.body.id}`;
  hooks.push(path);
  return { ...made.body, path };
}

async function createRole(name: string): Promise<number> {
  const body = { name, permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] };
  const { status, body: role, text } = await atrium.as('ann')('POST', '/authz/roles?org=acme', body);
  assert.equal(status, 201, text);
  return role.id;
}

async function describeRole(id: number, description: string) {
  const { status, text } = await atrium.as('ann')('PUT', `/authz/roles/${id}?org=acme`, { description });
  assert.equal(status, 200, text);
}

const deliveriesOf = async (path: string, query = '') =>
  (await atrium.as('ann')('GET', `${path}/deliveries?limit=50${query}`)).body;
const dueNow = async (id: number, more = '') => {
  const text = `update webhook_delivery set next_attempt_at = now() ${more} where webhook_id = ${id} and state = 'pending'`;
  await atrium.instance.db.query(statement(text));
};

describe('Deliveries of webhooks', () => {
  before(async () => {
    mail = await openMailBox();
    atrium = await openTestServer({
      env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', SMTP_URL: mail.smtp.url },
    });
  });
  afterEach(async () => {
    for (const path of hooks.splice(0)) await atrium.as('ann')('DELETE', path);
    for (const receiver of receivers.splice(0)) await receiver.close();
  });
  after(async () => {
    await atrium.close();
    await mail.smtp.close();
  });

  it('A delivery that failed is repeated with the same ID, and the next event of its object waits for it', async () => {
    let isDown = true;
    let firstId: number | undefined;
    const receiver = await receive(({ json }) => {
      firstId ??= json.data.object.id;
      return isDown && json.data.object.id === firstId ? 503 : 204;
    });
    const hook = await create(receiver.url, { types: ['role.*'] });
    const role = await createRole('fails-first');
    await until(async () => (await deliveriesOf(hook.path))[0]?.attempts.length > 0);
    await describeRole(role, 'second');
    const other = await createRole('passes');
    await receiver.find(({ json }) => json.data.object.id === other);
    const [, waiting, failing] = await deliveriesOf(hook.path);
    assert.deepEqual([waiting.state, waiting.attempts], ['pending', []]);
    assert.deepEqual(
      [failing.state, failing.attempts[0].status, failing.attempts[0].error],
      ['pending', 503, 'status'],
    );
    const wait = Date.parse(failing.next_attempt_at) - Date.parse(failing.attempts[0].at);
    assert.ok(wait >= 3900 && wait < 8000, `5 s, more or less, not ${wait} ms`);
    isDown = false;
    await dueNow(hook.id);
    await until(async () => (await deliveriesOf(hook.path, '&state=pending')).length === 0);
    const about = receiver.received.filter(({ json }) => json.data.object.id === role);
    assert.deepEqual(
      about.map(({ json }) => json.type),
      ['role.create', 'role.create', 'role.update'],
    );
    assert.equal(about[0]?.headers['webhook-id'], about[1]?.headers['webhook-id']);
    assert.equal(about[0]?.body, about[1]?.body);
    const [, , done] = await deliveriesOf(hook.path);
    assert.deepEqual([done.state, done.attempts.length, done.next_attempt_at], ['delivered', 2, null]);
    await until(async () => (await atrium.as('ann')('GET', hook.path)).body.last_delivery_at !== null);
  });

  it('A receiver that never answers, and one that is not there, keep no other webhook waiting', async () => {
    const silent = await receive(() => 'silence');
    const gone = await receive();
    const goneUrl = gone.url;
    await gone.close();
    receivers.splice(receivers.indexOf(gone), 1);
    const good = await receive();
    for (const url of [silent.url, goneUrl, good.url]) await create(url, { types: ['role.create'] });
    const times: number[] = [];
    for (let one = 0; one < 15; one++) {
      const began = Date.now();
      const role = await createRole(`not-slowed-${one}`);
      const { at } = await good.find(({ json }) => json.data.object.id === role);
      times.push(at - began);
    }
    assert.ok(Math.max(...times) < 2000, times.join());
    assert.ok(silent.received.length <= 10, 'as many as are under way');
  });

  it('410 disables a webhook, and each owner gets one email', async () => {
    await mail.take(atrium);
    const receiver = await receive(() => 410);
    const hook = await create(`${receiver.url}?token=canary`, { types: ['role.create'] });
    await createRole('gone');
    await until(async () => !(await atrium.as('ann')('GET', hook.path)).body.active);
    const { body } = await atrium.as('ann')('GET', hook.path);
    assert.equal(body.disabled_reason, 'gone');
    assert.match(body.disabled_at, /^\d{4}-/);
    const [delivery] = await deliveriesOf(hook.path);
    assert.deepEqual([delivery.state, delivery.attempts[0].status], ['failed', 410]);
    const found: { to: string; subject: string; text: string }[] = [];
    await until(async () => {
      found.push(...((await mail.take(atrium)) as never as typeof found));
      return found.length > 0;
    });
    assert.match(JSON.stringify(found), /A webhook to 127\.0\.0\.1:\d+ was disabled/);
    assert.doesNotMatch(JSON.stringify(found), /canary/);
    await createRole('after-gone');
    const again = await atrium.as('ann')('POST', `${hook.path}/redeliver`, { since: body.created_at });
    assert.deepEqual([again.status, again.body.reason], [409, 'webhook_inactive']);
    const one = await atrium.as('ann')('POST', `${hook.path}/deliveries/${delivery.id}/redeliver`);
    assert.deepEqual([one.status, one.body.reason], [409, 'webhook_inactive']);
    const log = (await atrium.as('root')('GET', '/admin/audit?action=webhook.disable')).body.items;
    assert.equal(log[0].after.reason, 'gone');
    assert.equal((await deliveriesOf(hook.path)).length, 1, 'nothing is queued meanwhile');
  });

  it('Three days after its first attempt, an event is given up, and its webhook is disabled', async () => {
    const receiver = await receive(() => 500);
    const hook = await create(receiver.url, { types: ['role.create'] });
    await createRole('given-up');
    await until(async () => (await deliveriesOf(hook.path))[0]?.attempts.length > 0);
    await dueNow(hook.id, `, first_attempt_at = now() - interval '71 hours', tries = 8`);
    await until(async () => (await deliveriesOf(hook.path))[0].attempts.length === 2);
    const [waiting] = await deliveriesOf(hook.path);
    const wait = Date.parse(waiting.next_attempt_at) - Date.now();
    assert.ok(wait > 3_500_000 && wait <= 3_600_000, `the last attempt is after 72 hours, not in ${wait} ms`);
    await dueNow(hook.id, `, first_attempt_at = now() - interval '72 hours'`);
    await until(async () => !(await atrium.as('ann')('GET', hook.path)).body.active);
    const { body } = await atrium.as('ann')('GET', hook.path);
    const [delivery] = await deliveriesOf(hook.path);
    assert.deepEqual([body.disabled_reason, delivery.state], ['failing', 'failed']);
  });

  it('The receiver can ask for a later attempt with Retry-After', async () => {
    const receiver = await receive(() => ({ status: 429, headers: { 'Retry-After': '600' } }));
    const hook = await create(receiver.url, { types: ['role.create'] });
    await createRole('later');
    await until(async () => (await deliveriesOf(hook.path))[0]?.attempts.length > 0);
    const [{ attempts, next_attempt_at: next }] = await deliveriesOf(hook.path);
    const wait = Date.parse(next) - Date.parse(attempts[0].at);
    assert.ok(wait >= 599_000 && wait < 610_000, `${wait} ms`);
  });

  it('A redirect is not followed, and what a receiver answers is nowhere', async () => {
    const elsewhere = await receive();
    const receiver = await receive(() => ({ status: 302, headers: { Location: elsewhere.url, 'X-Canary': 'canary' } }));
    const hook = await create(receiver.url, { types: ['role.create'] });
    await createRole('redirected');
    await until(async () => (await deliveriesOf(hook.path))[0]?.attempts.length > 0);
    const text = JSON.stringify(await deliveriesOf(hook.path));
    assert.match(text, /"status":302,"error":"status"/);
    assert.doesNotMatch(text, /canary|127\.0\.0\.1/);
    assert.equal(elsewhere.received.length, 0);
  });

  it('A name that leads to a private network is not connected to', async () => {
    const hook = await create('https://localhost:1/in', { types: ['role.create'] });
    await createRole('nowhere');
    const closed = await openTestServer();
    try {
      const made = await closed.as('ann')('POST', '/orgs/acme/webhooks', { url: 'https://localhost:1/in' });
      assert.equal(made.status, 201, made.text);
      const tested = await closed.as('ann')('POST', `/orgs/acme/webhooks/${made.body.id}/test`);
      assert.deepEqual([tested.status, tested.body.ok, tested.body.error], [200, false, 'address_not_allowed']);
    } finally {
      await closed.close();
    }
    await until(async () => (await deliveriesOf(hook.path))[0]?.attempts.length > 0);
    assert.equal((await deliveriesOf(hook.path))[0].attempts[0].error, 'connection');
  });

  it('A test is sent at once, also to an inactive webhook, is in no list, and ten a minute are enough', async () => {
    const receiver = await receive(({ json }) => (json.type === 'webhook.test' ? 204 : 500));
    const hook = await create(receiver.url, { active: false });
    const first = await atrium.as('ann')('POST', `${hook.path}/test`);
    assert.equal(first.status, 200, first.text);
    assert.deepEqual([first.body.ok, first.body.status, first.body.error], [true, 204, null]);
    const [{ json, headers }] = receiver.received as [ReceivedMessage];
    assert.deepEqual([json.type, json.data.organization.name], ['webhook.test', 'acme']);
    assert.match(String(headers['webhook-id']), /^test_/);
    const more = await Promise.all(Array.from({ length: 12 }, () => atrium.as('ann')('POST', `${hook.path}/test`)));
    const limited = more.filter(({ status }) => status === 429);
    assert.ok(limited.length >= 2 && limited.every((one) => one.headers.has('retry-after')));
    assert.deepEqual(await deliveriesOf(hook.path), []);
  });

  it('One delivery, and all since a time, can be sent again with the same IDs', async () => {
    const receiver = await receive();
    const hook = await create(receiver.url, { types: ['role.create'] });
    const first = await createRole('again-1');
    await receiver.find(({ json }) => json.data.object.id === first);
    await atrium.as('ann')('PATCH', hook.path, { active: false });
    const missed = await createRole('again-2');
    await atrium.as('ann')('PATCH', hook.path, { active: true });
    const third = await createRole('again-3');
    await receiver.find(({ json }) => json.data.object.id === third);
    assert.equal(receiver.received.length, 2, 'what happened meanwhile is not sent');
    await until(async () => (await deliveriesOf(hook.path, '&state=pending')).length === 0);
    const [newest] = await deliveriesOf(hook.path);
    const one = await atrium.as('ann')('POST', `${hook.path}/deliveries/${newest.id}/redeliver`);
    assert.deepEqual([one.status, one.body.id, one.body.state], [202, newest.id, 'pending']);
    await until(() => receiver.received.length === 3);
    assert.equal(receiver.received[2]?.headers['webhook-id'], newest.event);
    await until(async () => (await deliveriesOf(hook.path, '&state=pending')).length === 0);
    // Times have whole seconds, so what earlier tests did in the same second is sent, too.
    const since = await atrium.as('ann')('POST', `${hook.path}/redeliver`, { since: hook.created_at });
    assert.equal(since.status, 202, since.text);
    await until(() => receiver.received.length === 3 + since.body.queued);
    const again = receiver.received.slice(3).map(({ json }) => json.data.object.id);
    assert.deepEqual(again.filter((id) => [first, missed, third].includes(id)).sort(), [first, missed, third].sort());
    assert.equal(new Set(again).size, again.length);
    const early = await atrium.as('ann')('POST', `${hook.path}/redeliver`, { since: '2020-01-01T00:00:00Z' });
    assert.deepEqual([early.status, early.body.reason], [422, 'before_events']);
    assert.match(early.body.message, /must not be before \d{4}-/);
    const hourAgo = new Date(Date.parse(hook.created_at) - 3_600_000).toISOString();
    const before = await atrium.as('ann')('POST', `${hook.path}/redeliver`, { since: hourAgo });
    assert.equal(before.status, 202, before.text);
    const unknown = await atrium.as('ann')('POST', `${hook.path}/deliveries/dlv_999999/redeliver`);
    assert.deepEqual([unknown.status, unknown.body.reason], [404, 'delivery_not_found']);
  });

  it('What happened a moment ago is sent again, too, though the sender has not read it yet', async () => {
    const receiver = await receive();
    const hook = await create(receiver.url, { types: ['role.create'], active: false });
    for (let round = 1; round <= 5; round += 1) {
      const missed = await createRole(`a-moment-ago-${round}`);
      await atrium.as('ann')('PATCH', hook.path, { active: true });
      const since = await atrium.as('ann')('POST', `${hook.path}/redeliver`, { since: hook.created_at });
      assert.equal(since.status, 202, since.text);
      await receiver.find(({ json }) => json.data.object.id === missed);
      await atrium.as('ann')('PATCH', hook.path, { active: false });
    }
  });

  it('The list of deliveries is full and counted as the caller may see it', async () => {
    const receiver = await receive();
    const hook = await create(receiver.url, { types: ['role.*', 'robot.*'] });
    for (let one = 1; one <= 3; one += 1) {
      await createRole(`counted-${one}`);
      const { id } = (await atrium.as('ann')('POST', '/orgs/acme/robots', { name: `counted-${one}` })).body;
      await receiver.find(({ json }) => json.type === 'robot.create' && json.data.object.id === id);
    }
    await until(async () => (await deliveriesOf(hook.path, '&state=delivered')).length === 6);
    const token = await tokenCalls(atrium).make('ann', { name: 'sees-robots', scopes: ['read:organization'] });
    const pageOf = async (query: string) => {
      const all = await atrium.as('ann')('GET', `${hook.path}/deliveries?${query}`);
      const some = await callWith(atrium, token.sha1)('GET', `${hook.path}/deliveries?${query}`);
      const typesOf = ({ body }: typeof all) => body.map(({ type }: { type: string }) => type).join();
      const countOf = ({ headers }: typeof all) => Number(headers.get('x-total-count'));
      return { all: typesOf(all), count: countOf(all), some: typesOf(some), someCount: countOf(some) };
    };
    const [robot, role] = ['robot.create', 'role.create'];
    assert.deepEqual(await pageOf('limit=2'), {
      ...{ all: `${robot},${role}`, count: 6 },
      ...{ some: `${robot},${robot}`, someCount: 3 },
    });
    assert.deepEqual(await pageOf('limit=2&page=2&state=delivered'), {
      ...{ all: `${robot},${role}`, count: 6 },
      ...{ some: robot, someCount: 3 },
    });
    assert.deepEqual(await pageOf('page=9'), { all: '', count: 6, some: '', someCount: 3 });
  });

  it('If events had to be dropped, the receiver is told so', async () => {
    const receiver = await receive();
    const hook = await create(receiver.url);
    const text = `update webhook set reset_reason = 'queue', version = version + 1 where id = ${hook.id}`;
    await atrium.instance.db.query(statement(text));
    await atrium.as('ann')('PATCH', hook.path, { types: ['role.*', 'team.*'] });
    const { json } = await receiver.find((message) => message.json.type === 'events.reset');
    const { id, revision, ...data } = json.data;
    assert.equal(id, `${revision}-reset`);
    assert.deepEqual([data.reason, data.organization.name, 'object' in data], ['queue', 'acme', false]);
    const role = await createRole('after-reset');
    await receiver.find((message) => message.json.data.object?.id === role);
  });
});
