import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { itLong } from '../../support/checks/long.ts';
import { until } from '../../support/checks/until.ts';
import { type EventReader, type ReceivedEvent, readEvents } from '../../support/server/event-stream.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { addMember, makePerson, removeMember } from '../../support/world/people.ts';

let atrium: TestServer;
const readers: EventReader[] = [];

async function listen(name: string, query = '', headers: Record<string, string> = {}): Promise<EventReader> {
  const token = atrium.world.users[name]?.token;
  const reader = await readEvents(atrium.url, token, { path: `/api/v1/events${query}`, headers });
  readers.push(reader);
  assert.equal(reader.status, 200, name);
  await reader.find(({ event }) => event === 'ready', 'ready');
  return reader;
}

const isAbout = (kind: string, id?: unknown) => (one: ReceivedEvent) =>
  one.event === 'change' &&
  one.data.changes.some(
    (change: { kind: string; id: string }) => change.kind === kind && (id === undefined || change.id === String(id)),
  );

async function createRole(name: string, org = 'acme', as = 'ann'): Promise<number> {
  const body = { name, permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] };
  const { status, body: role, text } = await atrium.as(as)('POST', `/authz/roles?org=${org}`, body);
  assert.equal(status, 201, text);
  return role.id;
}

describe('GET /events', () => {
  before(async () => {
    atrium = await openTestServer();
  });
  after(async () => {
    for (const reader of readers) reader.close();
    await atrium.close();
  });

  it('A stream begins with the current revision, and then names each change, with its organization', async () => {
    const reader = await listen('ann', '?org=acme');
    const { headers } = reader;
    assert.deepEqual(
      [headers['content-type'], headers['cache-control'], headers['x-accel-buffering'], headers['content-encoding']],
      ['text/event-stream', 'no-store', 'no', undefined],
    );
    const ready = reader.events[0];
    assert.match(ready?.data.revision, /^\d+$/);
    assert.match(ready?.id ?? '', new RegExp(`^${ready?.data.revision}-`));
    const id = await createRole('eventful');
    const { data, id: cursor } = await reader.find(isAbout('role', id));
    const said = { event: `${data.revision}-0`, type: 'role.create' };
    assert.deepEqual(data.changes, [{ kind: 'role', id: String(id), organization: 'acme', ...said }]);
    assert.ok(Math.abs(Date.parse(data.at) - Date.now()) < 60_000, data.at);
    assert.equal(BigInt(data.revision) > BigInt(ready?.data.revision), true);
    assert.match(cursor ?? '', new RegExp(`^${data.revision}-`));
    await atrium.as('ann')('DELETE', `/authz/roles/${id}?org=acme`);
    await reader.find((one) => isAbout('role', id)(one) && one.data.revision !== data.revision, 'the deletion');
    reader.close();
  });

  it('Each change has an ID within its revision, and the type that the audit log has for it, or else an update', async () => {
    const reader = await listen('ann', '?org=acme');
    const { id: person } = await makePerson(atrium);
    const team = atrium.world.orgs.acme?.teams.operators ?? 0n;
    await addMember(atrium.instance, team, person);
    const { data } = await reader.find(isAbout('team', team));
    const shown = data.changes.find(({ kind }: { kind: string }) => kind === 'team');
    assert.deepEqual([shown.type, shown.id], ['team.add_member', String(team)]);
    assert.match(shown.event, new RegExp(`^${data.revision}-\\d+$`));
    const events = reader.events.flatMap((one) => one.data.changes ?? []).map(({ event }) => event);
    assert.equal(new Set(events).size, events.length, 'no ID occurs twice');
    reader.close();
  });

  it('A client that connects again hears exactly what it missed, by header or by query, and can do without the rest', async () => {
    const first = await listen('ann', '?org=acme');
    const before = await createRole('heard');
    await first.find(isAbout('role', before));
    first.close();
    const missed = [await createRole('missed-1'), await createRole('missed-2')];
    const id = first.lastEventId() ?? '';
    const again = await listen('ann', '?org=acme', { 'Last-Event-ID': id });
    assert.equal(again.events[0]?.id, undefined, 'ready does not move the position');
    for (const role of missed) await again.find(isAbout('role', role));
    assert.deepEqual(rolesIn(again), missed);
    again.close();
    const whole = await readEvents(atrium.url, atrium.world.users.ann?.token, {
      path: `/api/v1/events?org=acme&follow=false&last_event_id=${id}`,
    });
    await whole.ended;
    assert.deepEqual(rolesIn(whole), missed);
    const rest = await listen('ann', '?org=acme&follow=false', { 'Last-Event-ID': again.lastEventId() ?? '' });
    await rest.ended;
    assert.deepEqual(
      rest.events.map(({ event }) => event),
      ['ready'],
    );
  });

  it('An ID that is made up, changed, of another caller or of another choice leads to a reset, not to a gap', async () => {
    const [ann, all, bob] = await Promise.all([listen('ann', '?org=acme'), listen('ann'), listen('bob', '?org=acme')]);
    const own = ann.lastEventId() ?? '';
    const [revision = '', signature = ''] = own.split(/-(.*)/s);
    const wrong = [
      all.lastEventId() ?? '',
      bob.lastEventId() ?? '',
      `${BigInt(revision) - 1n}-${signature}`,
      `${BigInt(revision) + 1000n}-${signature}`,
      `${revision}-${'A'.repeat(20)}`,
      `9999999999999999999-${signature}`,
      'nonsense',
    ];
    for (const id of wrong) {
      const reader = await listen('ann', '?org=acme&follow=false', { 'Last-Event-ID': id });
      await reader.ended;
      const [ready, reset, ...more] = reader.events;
      assert.deepEqual([ready?.event, reset?.event, reset?.data.reason, more], ['ready', 'reset', 'position', []], id);
      assert.equal(reset?.data.revision, ready?.data.revision);
    }
    for (const reader of [ann, all, bob]) reader.close();
  });

  it('A position whose changes are pruned leads to a reset', async () => {
    const reader = await listen('ann', '?org=acme');
    const id = reader.lastEventId() ?? '';
    reader.close();
    await createRole('pruned-1');
    await createRole('pruned-2');
    await atrium.instance.revisions.prune(1n);
    const again = await listen('ann', '?org=acme&follow=false', { 'Last-Event-ID': id });
    await again.ended;
    assert.deepEqual([again.events[1]?.event, again.events[1]?.data.reason], ['reset', 'position']);
  });

  it('A change of a guardrail is announced to those who may view roles, also when it is gone', async () => {
    const [ann, dan] = await Promise.all([listen('ann', '?org=acme'), listen('dan', '?org=acme')]);
    const body = { name: 'eventful', at_least: { count: 1, relation: 'can_delete' } };
    const { body: made, text } = await atrium.as('ann')('POST', '/authz/guardrails?org=acme', body);
    const { data } = await ann.find(isAbout('guardrail', made.id), text);
    const said = { event: `${data.revision}-0`, type: 'guardrail.create' };
    assert.deepEqual(data.changes, [{ kind: 'guardrail', id: String(made.id), organization: 'acme', ...said }]);
    const path = `/authz/guardrails/${made.id}?org=acme`;
    await atrium.as('ann')('PUT', path, { name: 'renamed' });
    const isLater = (revision: string) => (one: ReceivedEvent) =>
      isAbout('guardrail', made.id)(one) && BigInt(one.data.revision) > BigInt(revision);
    const second = await ann.find(isLater(data.revision), 'the new name');
    await atrium.as('ann')('DELETE', path);
    await ann.find(isLater(second.data.revision), 'the deletion');
    // A file of guardrails names each that it changes.
    const document = { apiVersion: 'atrium/v1', kind: 'Roles', organization: 'acme', roles: [] };
    const file = { ...document, guardrails: [{ ...body, name: 'from a file' }] };
    const imported = await atrium.as('ann')('PUT', '/authz/roles/import?org=acme', file);
    assert.equal(imported.status, 200, imported.text);
    const [listed] = (await atrium.as('ann')('GET', '/authz/guardrails?org=acme')).body;
    await ann.find(isAbout('guardrail', listed.id), 'the import');
    await atrium.as('ann')('DELETE', `/authz/guardrails/${listed.id}?org=acme`);
    // dan sees something that changed later, and never a guardrail.
    await atrium.as('ann')(
      'PUT',
      `/teams/${atrium.world.orgs.acme?.teams.operators}/roles/${await createRole('last')}`,
    );
    await dan.find(({ event }) => event === 'change' || event === 'reset', 'what dan may see');
    assert.equal(dan.events.some(isAbout('guardrail')), false);
    for (const reader of [ann, dan]) reader.close();
  });

  it('Nobody hears of another organization, and one that exists is rejected like one that does not', async () => {
    const eve = await listen('eve');
    const secret = await createRole('canary');
    const own = await createRole('own', 'globex', 'eve');
    await eve.find(isAbout('role', own));
    assert.equal(eve.events.some(isAbout('role', secret)), false);
    assert.doesNotMatch(eve.text(), /acme/);
    const refusals = await Promise.all(
      ['acme', 'nowhere'].map((org) => atrium.as('eve')('GET', `/events?org=${org}&follow=false`)),
    );
    const said = refusals.map(({ status, body }) => [status, body.message, body.reason]);
    assert.deepEqual(said[0], [403, 'Must be an organization member', 'forbidden']);
    assert.deepEqual(said[1], said[0]);
    eve.close();
  });

  it('A member hears of single objects that they may see, and a changed right means: load everything again', async () => {
    const dan = await listen('dan', '?org=acme');
    const team = atrium.world.orgs.acme?.teams.operators;
    // He sees clusters by his role, that role, and his own team, but no other roles and teams.
    await createRole('unseen');
    const { body: cluster } = await atrium.as('ann')('POST', '/orgs/acme/clusters', {
      name: 'seen',
      uid: crypto.randomUUID(),
    });
    await dan.find(isAbout('cluster', cluster.id));
    await atrium.as('ann')('PATCH', `/clusters/${cluster.id}`, { displayName: 'Seen' });
    await dan.find((one) => isAbout('cluster', cluster.id)(one) && one !== dan.events[1], 'the edit');
    await atrium.as('ann')('PATCH', `/teams/${team}`, { description: 'changed' });
    await dan.find(isAbout('team', team));
    assert.equal(dan.events.some(isAbout('role')), false);
    const id = dan.lastEventId();
    const role = await createRole('sees-contracts-too');
    const { status, text } = await atrium.as('ann')('PUT', `/authz/roles/${role}?org=acme`, {
      name: 'sees-contracts-too',
      permissions: [{ namespace: 'contract_mgmt', action: 'view contracts' }],
      teamIDs: [Number(team)],
    });
    assert.equal(status, 200, text);
    const reset = await dan.find(({ event }) => event === 'reset');
    assert.equal(reset.data.reason, 'rights');
    const late = await listen('dan', '?org=acme&follow=false', { 'Last-Event-ID': id ?? '' });
    await late.ended;
    assert.deepEqual([late.events[1]?.event, late.events[1]?.data.reason], ['reset', 'position']);
    await atrium.as('ann')('DELETE', `/authz/roles/${role}?org=acme`);
    await dan.find((one) => one.event === 'reset' && one.id !== reset.id, 'the loss');
    dan.close();
  });

  it('Accounts are announced to themselves, to members when they show something else, and to administrators', async () => {
    const [bob, cat, dan, root] = await Promise.all([listen('bob'), listen('cat'), listen('dan'), listen('root')]);
    const id = String(atrium.world.users.bob?.id);
    await atrium.as('bob')('PATCH', '/user', { full_name: 'Bob the Builder' });
    const own = await bob.find(isAbout('user', id));
    const eventAt = (place: number) => ({ event: `${own.data.revision}-${place}`, type: 'user.update' });
    assert.deepEqual(own.data.changes, [
      { kind: 'user', id, ...eventAt(0) },
      { kind: 'user', id, organization: 'acme', ...eventAt(1) },
    ]);
    const seen = await cat.find(isAbout('user', id));
    assert.deepEqual(seen.data.changes, [{ kind: 'user', id, organization: 'acme', ...eventAt(1) }]);
    const { data: known } = await root.find(isAbout('account', id));
    assert.deepEqual(
      known.changes.map(({ event }: { event: string }) => event),
      [eventAt(0).event],
      'the same ID for everybody',
    );
    // That somebody signs in or out is nobody else's business.
    const { status } = await atrium.call('POST', '/api/v1/user/signin', {
      username: 'bob',
      password: atrium.world.users.bob?.password,
    });
    assert.equal(status, 200);
    await bob.find((one) => isAbout('user', id)(one) && one.id !== own.id, 'the sign-in');
    const last = await createRole('after-sign-in');
    await cat.find(isAbout('role', last));
    assert.equal(cat.events.filter(isAbout('user', id)).length, 1);
    assert.equal(dan.events.some(isAbout('user', id)), false, 'dan may not view members');
    for (const reader of [bob, cat, dan, root]) reader.close();
  });

  it('A token hears only of what its scopes let it read', async () => {
    const { token } = await narrowToken('ann', ['read:organization']);
    const reader = await readEvents(atrium.url, token, { path: '/api/v1/events?org=acme' });
    await reader.find(({ event }) => event === 'ready');
    await createRole('not-for-this-token');
    const { body: robot } = await atrium.as('ann')('POST', '/orgs/acme/robots', { name: 'heard' });
    await reader.find(isAbout('robot', robot.id));
    await atrium.as('ann')('PATCH', `/robots/${robot.id}`, { description: 'changed' });
    await reader.find((one) => isAbout('robot', robot.id)(one) && one !== reader.events[1], 'the edit');
    assert.equal(reader.events.some(isAbout('role')), false);
    reader.close();
    const { token: other } = await narrowToken('ann', ['read:user']);
    const refused = await readEvents(atrium.url, other);
    assert.equal(refused.status, 403);
    refused.close();
    const nobody = await readEvents(atrium.url, undefined);
    assert.equal(nobody.status, 401);
    nobody.close();
  });

  it('A stream ends when its token, session or membership ends, or its user is deactivated or deleted', async () => {
    const person = await makePerson(atrium);
    const viewers = atrium.world.orgs.acme?.teams.Viewers ?? 0n;
    await addMember(atrium.instance, viewers, person.id);
    const { token } = await narrowToken(person.name, ['all']);
    const byToken = await readEvents(atrium.url, token);
    const inOrganization = await listen(person.name, '?org=acme');
    const everywhere = await listen(person.name);
    await byToken.find(({ event }) => event === 'ready');
    const { tokens } = atrium.instance.identity;
    const { body: list } = await atrium.as('root')('GET', `/users/${person.name}/tokens`);
    assert.equal(list.length, 2);
    await tokens.revoke(BigInt(list.find(({ name }: { name: string }) => name.startsWith('narrow')).id), undefined);
    await endsBecauseOf('access', byToken);
    await removeMember(atrium.instance, viewers, person.id);
    await endsBecauseOf('access', inOrganization);
    const reset = await everywhere.find(({ event }) => event === 'reset');
    assert.equal(reset.data.reason, 'rights', 'whoever is in one organization less loads everything again');
    await atrium.as('root')('PATCH', `/admin/users/${person.name}`, { active: false });
    await endsBecauseOf('access', everywhere);

    const bob = atrium.world.users.bob;
    const { headers } = await atrium.call('POST', '/api/v1/user/signin', { username: 'bob', password: bob?.password });
    const cookie = /atrium_session=[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '';
    const inBrowser = await readEvents(atrium.url, undefined, { headers: { cookie } });
    await inBrowser.find(({ event }) => event === 'ready');
    const { body: sessions } = await atrium.as('bob')('GET', '/user/sessions');
    for (const { id } of sessions) await atrium.as('bob')('DELETE', `/user/sessions/${id}`);
    await endsBecauseOf('access', inBrowser);

    const gone = await makePerson(atrium);
    const reader = await listen(gone.name);
    await atrium.as('root')('DELETE', `/admin/users/${gone.name}`);
    await endsBecauseOf('access', reader);
  });

  it('A stream ends when its token expires', async () => {
    const expiresAt = new Date(Date.now() + 1500);
    const accountId = atrium.world.users.cat?.id ?? 0n;
    const { text } = await atrium.instance.identity.tokens.issue({
      accountId,
      name: 'brief',
      scopes: ['all'],
      expiresAt,
    });
    const reader = await readEvents(atrium.url, text);
    await endsBecauseOf('access', reader);
  });

  it('A user has at most 20 streams, and closing one makes room', async () => {
    const { name, token } = await makePerson(atrium);
    const some = await Promise.all(Array.from({ length: 20 }, () => listen(name)));
    const refused = await atrium.as(name)('GET', '/events');
    assert.deepEqual(
      [refused.status, refused.body.reason, refused.headers.get('retry-after')],
      [429, 'rate_limited', '5'],
    );
    const metrics = await atrium.instance.metrics.registry.metrics();
    assert.match(metrics, /^atrium_event_streams 2\d$/m);
    for (const reader of some) reader.close();
    await until(async () => {
      const reader = await readEvents(atrium.url, token);
      reader.close();
      return reader.status === 200;
    });
  });

  it('HEAD answers with the headers and ends', async () => {
    const { status, headers, text } = await atrium.as('ann')('HEAD', '/events?org=acme');
    assert.deepEqual([status, headers.get('content-type'), text], [200, 'text/event-stream', '']);
  });

  itLong('An idle stream gets a comment every 15 s', async () => {
    const reader = await listen('cat');
    await until(() => reader.comments() >= 2);
    reader.close();
  });
});

async function endsBecauseOf(reason: string, reader: EventReader): Promise<void> {
  await reader.ended;
  const last = reader.events.at(-1);
  assert.deepEqual([last?.event, last?.data.reason], ['reset', reason]);
}

async function narrowToken(name: string, scopes: readonly string[]): Promise<{ readonly token: string }> {
  const accountId = atrium.world.users[name]?.id ?? 0n;
  const { text } = await atrium.instance.identity.tokens.issue({ accountId, name: `narrow ${scopes}`, scopes });
  return { token: text };
}

function rolesIn(reader: EventReader): number[] {
  return reader.events.flatMap(({ event, data }) =>
    event === 'change'
      ? data.changes.filter(({ kind }: { kind: string }) => kind === 'role').map(({ id }: { id: string }) => Number(id))
      : [],
  );
}
