import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { until } from '../../support/checks/until.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import {
  type ReceivedMessage,
  signaturesOf,
  startReceiver,
  type WebhookReceiver,
} from '../../support/services/webhook-receiver.ts';
import { addMember, makePerson, setActive } from '../../support/world/people.ts';
import { callWith, makeRobot } from '../../support/world/robots.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

let atrium: TestServer;
let receiver: WebhookReceiver;

const ORG = '/orgs/acme/webhooks';
const isAbout = (type: string, id?: unknown) => (message: ReceivedMessage) =>
  message.json.type === type && (id === undefined || message.json.data.object?.id === Number(id));

async function create(body: Record<string, unknown> = {}, as = 'ann', path = ORG) {
  const made = await atrium.as(as)('POST', path, { url: receiver.url, ...body });
  assert.equal(made.status, 201, made.status === 500 ? atrium.logged().slice(-3000) : made.text);
  return { ...made.body, etag: made.headers.get('etag') ?? '', path: `${path}/${made.body.id}` };
}

async function createRole(name: string, org = 'acme', as = 'ann'): Promise<number> {
  const body = { name, permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] };
  const { status, body: role, text } = await atrium.as(as)('POST', `/authz/roles?org=${org}`, body);
  assert.equal(status, 201, text);
  return role.id;
}

async function remove({ path }: { path: string }, as = 'ann') {
  assert.equal((await atrium.as(as)('DELETE', path)).status, 204);
}

describe('Webhooks', () => {
  before(async () => {
    atrium = await openTestServer({ env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    receiver = await startReceiver();
  });
  after(async () => {
    await atrium.close();
    await receiver.close();
  });

  it('A change is sent to the webhooks of its organization, signed with the secret and with the key of the server', async () => {
    const made = await create();
    assert.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const { id: annId } = (await atrium.as('ann')('GET', '/user')).body;
    assert.deepEqual(
      [made.types, made.format, made.active, made.disabled_reason, made.created_by],
      [['*'], 'standard', true, null, { type: 'user', id: annId, name: 'ann' }],
    );
    const role = await createRole('announced');
    const message = await receiver.find(isAbout('role.create', role));
    const acme = Number(atrium.world.orgs.acme?.id);
    const { id, revision } = message.json.data;
    assert.deepEqual(message.json, {
      type: 'role.create',
      timestamp: message.json.timestamp,
      data: { id, revision, organization: { id: acme, name: 'acme' }, object: { type: 'role', id: role } },
    });
    assert.equal(id, `${revision}-0`);
    assert.equal(message.headers['webhook-id'], id);
    assert.equal(message.headers['content-type'], 'application/json');
    const { keys } = (await atrium.call('GET', '/.well-known/webhook-keys')).body;
    assert.deepEqual(signaturesOf(message, made.secret, keys[0].public_key), { count: 2, shared: 1, asymmetric: 1 });
    const shown = await atrium.as('ann')('GET', made.path);
    assert.equal('secret' in shown.body, false);
    assert.equal(shown.headers.get('etag'), made.etag);
    assert.doesNotMatch((await atrium.as('ann')('GET', ORG)).text, /secret/);
    await remove(made);
    const later = await createRole('not-announced');
    const other = await create({ types: ['role.*'] });
    const last = await createRole('announced-later');
    await receiver.find(isAbout('role.create', last));
    assert.equal(receiver.received.some(isAbout('role.create', later)), false);
    await remove(other);
  });

  it('The event has the same ID and type as in GET /events, and CloudEvents the members of the standard', async () => {
    const made = await create({ format: 'cloudevents', types: ['team.*'] });
    const team = atrium.world.orgs.acme?.teams.operators ?? 0n;
    const { id: person } = await makePerson(atrium);
    await addMember(atrium.instance, team, person);
    const message = await receiver.find(({ json }) => json.type === 'dev.atrium.team.add_member');
    const { data, time, ...rest } = message.json;
    assert.deepEqual(rest, {
      specversion: '1.0',
      id: data.id,
      source: `${atrium.url}/orgs/acme`,
      type: 'dev.atrium.team.add_member',
      subject: `teams/${team}`,
      datacontenttype: 'application/json',
    });
    assert.match(time, /^\d{4}-/);
    assert.deepEqual(data.object, { type: 'team', id: Number(team) });
    assert.equal(message.headers['content-type'], 'application/cloudevents+json');
    assert.equal(signaturesOf(message, made.secret).shared, 1);
    await remove(made);
  });

  it('A webhook hears of the types that it names, and of nothing else', async () => {
    const made = await create({ types: ['role.delete', 'robot.*'] });
    const from = receiver.received.length;
    const role = await createRole('created-unheard');
    await atrium.as('ann')('DELETE', `/authz/roles/${role}?org=acme`);
    await receiver.find(isAbout('role.delete', role));
    await atrium.as('ann')('POST', '/orgs/acme/robots', { name: 'heard-robot' });
    await receiver.find(isAbout('robot.create'));
    const heard = receiver.received.slice(from).map(({ json }) => json.type);
    assert.deepEqual(heard, ['role.delete', 'robot.create']);
    await remove(made);
  });

  it('What is wrong with a webhook is rejected with the name of the field', async () => {
    const wrong: [Record<string, unknown>, string][] = [
      [{ url: 'http://8.8.8.8/in' }, 'url'],
      [{ url: 'https://10.0.0.7/in' }, 'url'],
      [{ url: 'https://[::1]/in' }, 'url'],
      [{ url: 'https://169.254.169.254/latest' }, 'url'],
      [{ url: 'https://0x0a000007/in' }, 'url'],
      [{ url: 'ftp://example.com/in' }, 'url'],
      [{ url: 'https://user:secret@example.com/in' }, 'url'],
      [{ url: 'https://example.com/in#part' }, 'url'],
      [{ url: `https://example.com/${'a'.repeat(2000)}` }, 'url'],
      [{ url: 'nonsense' }, 'url'],
      [{ types: [] }, 'types'],
      [{ types: ['team.fly'] }, 'types'],
      [{ types: ['webhook.*'] }, 'types'],
      [{ types: ['access.denied'] }, 'types'],
      [{ types: Array.from({ length: 51 }, () => '*') }, 'types'],
      [{ format: 'xml' }, 'format'],
      [{ secret: 'whsec_c2hvcnQ=' }, 'secret'],
      [{ secret: randomBytes(32).toString('base64') }, 'secret'],
      [{ secret: `whsec_${randomBytes(65).toString('base64')}` }, 'secret'],
    ];
    const made = await create({ active: false });
    for (const [body, field] of wrong) {
      const posted = await atrium.as('ann')('POST', ORG, { url: receiver.url, ...body });
      assert.deepEqual([posted.status, posted.body.errors?.[0]?.field], [422, field], JSON.stringify(body));
      const patched = await atrium.as('ann')('PATCH', made.path, body);
      assert.deepEqual([patched.status, patched.body.errors?.[0]?.field], [422, field], JSON.stringify(body));
    }
    await remove(made);
  });

  it('A webhook has a name that is unique in its organization, and its host by default', async () => {
    const named = await create({ name: 'siem', active: false });
    assert.equal(named.name, 'siem');
    const url = 'https://hooks.example.com/in';
    const others = await Promise.all([1, 2, 3].map(() => create({ url, active: false })));
    assert.deepEqual(others.map(({ name }) => name).sort(), [
      'hooks.example.com',
      'hooks.example.com-2',
      'hooks.example.com-3',
    ]);
    for (const name of ['SIEM', 'siem']) {
      const twice = await atrium.as('ann')('POST', ORG, { url, name });
      const { reason, errors } = twice.body;
      assert.deepEqual([twice.status, reason, errors[0].field], [422, 'name_taken', 'name'], twice.text);
    }
    const [other] = others as [{ path: string }];
    const renamed = await atrium.as('ann')('PATCH', other.path, { name: 'siem' });
    assert.deepEqual([renamed.status, renamed.body.reason], [422, 'name_taken']);
    const same = await atrium.as('ann')('PATCH', named.path, { name: 'Siem' });
    assert.deepEqual([same.status, same.body.name], [200, 'Siem']);
    assert.equal((await atrium.as('ann')('GET', named.path)).body.name, 'Siem');
    for (const name of ['', 'two words', '-x', 'x'.repeat(300), 'a/b']) {
      const posted = await atrium.as('ann')('POST', ORG, { url, name });
      assert.deepEqual([posted.status, posted.body.errors?.[0]?.field], [422, 'name'], name);
    }
    const elsewhere = await create({ name: 'siem', active: false }, 'eve', '/orgs/globex/webhooks');
    const [entry] = (await atrium.as('ann')('GET', '/orgs/acme/audit?action=webhook.update')).body.items;
    assert.deepEqual([entry.before.name, entry.after.name], ['siem', 'Siem']);
    for (const one of [named, ...others]) await remove(one);
    await remove(elsewhere, 'eve');
  });

  it('Only members who may edit the organization see or change its webhooks', async () => {
    const made = await create({ active: false });
    const calls = [
      ['GET', ORG],
      ['POST', ORG, { url: receiver.url }],
      ['GET', made.path],
      ['PATCH', made.path, { active: false }],
      ['DELETE', made.path],
      ['POST', `${made.path}/test`],
      ['GET', `${made.path}/deliveries`],
      ['POST', `${made.path}/deliveries/dlv_1/redeliver`],
      ['POST', `${made.path}/redeliver`, { since: new Date().toISOString() }],
    ] as const;
    const robot = await makeRobot(atrium, 'weak');
    const limits = { organizations: ['acme'] };
    const limited = await tokenCalls(atrium).make('ann', { name: 'limited', scopes: ['all'], limits });
    const narrow = await tokenCalls(atrium).make('ann', { name: 'narrow-hooks', scopes: ['write:user'] });
    for (const [method, path, body] of calls) {
      const dan = await atrium.as('dan')(method, path, body);
      assert.deepEqual([dan.status, dan.body.reason], [403, 'missing_relation'], `${method} ${path}`);
      const eve = await atrium.as('eve')(method, path, body);
      assert.equal(eve.status, 404, `${method} ${path}`);
      assert.equal((await atrium.as()(method, path, body)).status, 401);
      assert.equal((await robot.call(method, path, body)).status, 403);
      const { status, body: said } = await callWith(atrium, limited.sha1)(method, path, body);
      assert.deepEqual([status, said.reason], [403, 'token_limited'], `${method} ${path}`);
      assert.equal((await callWith(atrium, narrow.sha1)(method, path, body)).status, 403);
    }
    const elsewhere = await atrium.as('eve')('GET', `/orgs/globex/webhooks/${made.id}`);
    assert.deepEqual([elsewhere.status, elsewhere.body.reason], [404, 'webhook_not_found']);
    assert.equal((await atrium.as('ann')('GET', '/admin/webhooks')).status, 403);
    await remove(made);
  });

  it('A change with another version is rejected, and an omitted field stays', async () => {
    const made = await create({ active: false, types: ['team.*'] });
    const stale = await atrium.as('ann')('PATCH', made.path, { types: ['*'] }, { 'If-Match': '"0-0"' });
    assert.equal(stale.status, 412);
    const { status, body, headers } = await atrium.as('ann')(
      'PATCH',
      made.path,
      { format: 'cloudevents' },
      {
        'If-Match': made.etag,
      },
    );
    assert.equal(status, 200);
    assert.deepEqual(
      [body.types, body.format, body.active, 'secret' in body],
      [['team.*'], 'cloudevents', false, false],
    );
    assert.notEqual(headers.get('etag'), made.etag);
    await remove(made);
  });

  it('An event is what its creator may see, and whoever changes a webhook becomes its creator', async () => {
    const token = await tokenCalls(atrium).make('ann', { name: 'hooks', scopes: ['write:organization'] });
    const call = callWith(atrium, token.sha1);
    const made = (await call('POST', ORG, { url: `${receiver.url}?as=narrow` })).body;
    const path = `${ORG}/${made.id}`;
    const unseen = await createRole('not-of-the-organization-area');
    const { body: robot } = await atrium.as('ann')('POST', '/orgs/acme/robots', { name: 'seen-by-narrow' });
    await receiver.find(isAbout('robot.create', robot.id));
    assert.equal(receiver.received.some(isAbout('role.create', unseen)), false);
    const changed = await atrium.as('root')('PATCH', path, { types: ['role.*'] });
    assert.deepEqual([changed.status, changed.body.created_by.name], [200, 'root']);
    const seen = await createRole('seen-by-root');
    await receiver.find(isAbout('role.create', seen));
    const log = (await atrium.as('root')('GET', '/admin/audit?action=webhook.update')).body.items;
    assert.deepEqual([log[0].after.createdBy.name, log[0].after.url], ['root', receiver.url], 'without the query');
    assert.doesNotMatch(JSON.stringify(log), /as=narrow/);
    await remove({ path });
  });

  it('A webhook whose creator is deactivated is disabled, and sends nothing more', async () => {
    const person = await makePerson(atrium);
    await addMember(atrium.instance, atrium.world.orgs.acme?.teams.Owners ?? 0n, person.id);
    const made = await create({ url: `${receiver.url}?of=leaver` }, person.name);
    const before = await createRole('while-active');
    await receiver.find((one) => one.path.endsWith('leaver') && isAbout('role.create', before)(one));
    await setActive(atrium.instance, person.id, false);
    await createRole('after-deactivation');
    await until(async () => !(await atrium.as('ann')('GET', made.path)).body.active);
    const { body } = await atrium.as('ann')('GET', made.path);
    assert.equal(body.disabled_reason, 'creator');
    const heard = receiver.received.filter(({ path }) => path.endsWith('leaver'));
    assert.equal(heard.at(-1)?.json.data.object.id, before);
    const again = await atrium.as('ann')('PATCH', made.path, { active: true });
    assert.deepEqual([again.body.active, again.body.disabled_reason, again.body.created_by.name], [true, null, 'ann']);
    await remove(made);
  });

  it('A webhook is disabled as soon as its creator leaves, is deactivated, deleted or demoted', async () => {
    const root = atrium.as('root');
    const owners = atrium.world.orgs.acme?.teams.Owners ?? 0n;
    const endings: Record<string, (person: { id: bigint; name: string }) => Promise<unknown>> = {
      leaves: ({ name }) => atrium.as('ann')('DELETE', `/teams/${owners}/members/${name}`),
      'is deactivated': ({ name }) => root('PATCH', `/admin/users/${name}`, { active: false }),
      'is deleted': ({ name }) => root('DELETE', `/admin/users/${name}`),
      'is erased': ({ name }) => root('DELETE', `/admin/users/${name}?erase=true`),
    };
    for (const [what, end] of Object.entries(endings)) {
      const person = await makePerson(atrium);
      await addMember(atrium.instance, owners, person.id);
      const made = await create({ types: ['robot.*'] }, person.name);
      const { updated_at: before } = (await atrium.as('ann')('GET', made.path)).body;
      await until(async () => Date.now() > Date.parse(before) + 1000);
      await end(person);
      await until(async () => !(await atrium.as('ann')('GET', made.path)).body.active);
      const { body } = await atrium.as('ann')('GET', made.path);
      assert.deepEqual([body.disabled_reason, body.updated_at === before], ['creator', false], what);
      await remove(made);
    }
    const person = await makePerson(atrium);
    assert.equal((await root('PATCH', `/admin/users/${person.name}`, { admin: true })).status, 200);
    const made = await create({ types: ['robot.*'] }, person.name, '/admin/webhooks');
    assert.equal((await root('PATCH', `/admin/users/${person.name}`, { admin: false })).status, 200);
    await until(async () => !(await root('GET', made.path)).body.active);
    await remove(made, 'root');
  });

  it('A webhook of the deployment hears of every organization and of every account', async () => {
    const made = await create({}, 'root', '/admin/webhooks');
    const role = await createRole('of-globex', 'globex', 'eve');
    const ofGlobex = await receiver.find(isAbout('role.create', role));
    assert.equal(ofGlobex.json.data.organization.name, 'globex');
    const { id } = await makePerson(atrium);
    const account = await receiver.find(
      ({ json }) => json.data.object?.type === 'account' && json.data.object.id === Number(id),
    );
    assert.equal(account.json.data.organization, null);
    const { body: list } = await atrium.as('root')('GET', '/admin/webhooks');
    assert.deepEqual(
      list.map((one: { id: number }) => one.id),
      [made.id],
    );
    assert.deepEqual((await atrium.as('ann')('GET', ORG)).body, []);
    await remove(made, 'root');
  });

  it('Nothing of another organization is ever sent', async () => {
    const made = await create({ url: `${receiver.url}?of=globex` }, 'eve', '/orgs/globex/webhooks');
    await createRole('canary-of-acme');
    const own = await createRole('own-of-globex', 'globex', 'eve');
    await receiver.find((one) => one.path.endsWith('globex') && isAbout('role.create', own)(one));
    const heard = receiver.received.filter(({ path }) => path.endsWith('globex'));
    assert.deepEqual([...new Set(heard.map(({ json }) => json.data.organization.name))], ['globex']);
    await remove(made, 'eve');
  });

  it('An organization can have 20 webhooks', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () => create({ active: false }, 'eve', '/orgs/globex/webhooks')),
    );
    const more = await atrium.as('eve')('POST', '/orgs/globex/webhooks', { url: receiver.url });
    assert.deepEqual([more.status, more.body.reason], [422, 'limit_reached']);
    for (const one of made) await remove(one, 'eve');
  });
});
