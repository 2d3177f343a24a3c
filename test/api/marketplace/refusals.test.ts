import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applicationId, binding, type Name, openMarketplace, type TestMarketplace } from '../../support/marketplace.ts';

interface Row {
  readonly name: string;
  readonly to: Name;
  readonly body: unknown;
  readonly query?: string;
  readonly status: number;
  readonly message: RegExp;
  readonly reason?: string;
}

let deep: unknown = 1;
for (let level = 0; level < 33; level++) deep = { deeper: deep };

/** Every line: what is sent to which marketplace, and the refusal in words and for the record. */
const rows: Row[] = [
  bad('A', 'no object', [1], /JSON object/, 'malformed'),
  bad('A', 'malformed JSON', '{"eventType":', /not valid JSON/, 'malformed'),
  bad('A', 'an empty body', '', /bindingInfo is required/, 'invalid_binding'),
  bad('A', 'no binding info', {}, /bindingInfo is required/, 'invalid_binding'),
  bad('A', 'binding info that is a text', { bindingInfo: 'x' }, /bindingInfo is required/, 'invalid_binding'),
  bad(
    'A',
    'an event type that is no text',
    { eventType: 7, ...binding('x') },
    /eventType must be a string/,
    'malformed',
  ),
  bad(
    'A',
    'a time that cannot be read',
    { eventTime: 'yesterday', ...binding('x') },
    /eventTime/,
    'invalid_event_time',
  ),
  bad('A', 'the 31st of February', { eventTime: '2026-02-31T00:00:00Z', ...binding('x') }, /eventTime/),
  bad('A', 'no marketplace', binding('x', { marketplace: undefined }), /must be CloudA/, 'wrong_marketplace'),
  bad('A', 'another marketplace', binding('x', { marketplace: 'CloudB' }), /must be CloudA/, 'wrong_marketplace'),
  bad('A', 'no installer', { bindingInfo: { marketplace: 'CloudA', clusterId: 'c' } }, /installerId is required/),
  bad('A', 'an unknown installer', binding('nobody'), /names no installer/, 'installer_unknown'),
  bad('A', 'an installer of B', (m) => binding(m.demo.installers.cloudB), /names no installer/, 'installer_unknown'),
  bad('A', 'no cluster', binding('x', { clusterId: undefined }), /clusterId/),
  bad('A', 'an empty cluster', binding('x', { clusterId: '' }), /clusterId/),
  bad('A', 'a cluster that is a command', binding('x', { clusterId: '$(id)' }), /clusterId/),
  bad('A', 'a cluster that is too long', binding('x', { clusterId: 'c'.repeat(254) }), /clusterId/),
  bad('A', 'a key that is there twice', binding('x', { installerID: 'y' }), /more than once/, 'invalid_binding'),
  bad('A', 'options that are a list', binding('x', { options: ['x'] }), /options must be an object/, 'invalid_options'),
  bad('A', 'options that are too deep', binding('x', { options: { deep } }), /32 levels/, 'invalid_options'),
  bad('A', 'options that are too large', binding('x', { options: { a: 'x'.repeat(65_536) } }), /64 KiB/),
  bad(
    'A',
    'options of very many items',
    binding('x', { options: { list: Array.from({ length: 200_000 }, () => 1) } }),
    /64 KiB/,
    'invalid_options',
  ),
  bad('A', 'no DNS and no addresses', dns({ provider: 'none' }), /must not be empty/),
  bad('A', 'no DNS and an empty list', dns({ provider: 'none', targetIPs: [] }), /must not be empty/),
  bad('A', 'no DNS and no real address', dns({ provider: 'none', targetIPs: ['10.0.0.256'] }), /IP addresses/),
  bad('A', 'addresses in a text', dns({ provider: 'none', targetIPs: '10.0.0.1' }), /IP addresses/),
  bad('A', 'a domain that is none', binding('x', { domainWhiteList: ['exa mple'] }), /host names/),
  bad('A', 'a domain with a star', binding('x', { domainWhiteList: ['*.example.com'] }), /host names/),
  bad('A', 'a domain that is a number', binding('x', { domainWhiteList: [7] }), /host names/),
  bad('A', 'a password that is no text', binding('x', { adminPassword: { a: 1 } }), /adminPassword must be a string/),
  bad(
    'B',
    'a PATCH',
    { eventType: 'PATCH', applicationId: applicationId() },
    /unknown event type/,
    'unknown_event_type',
  ),
  bad('B', 'a type in small letters', { eventType: 'put', applicationId: applicationId() }, /unknown event type/),
  bad('B', 'no type', { applicationId: applicationId() }, /unknown event type/, 'unknown_event_type'),
  bad('B', 'no application', { eventType: 'PUT' }, /applicationId must be/, 'invalid_subscription'),
  ...[
    '/subscriptions/not-a-guid/resourceGroups/rg/providers/Microsoft.Solutions/applications/x',
    applicationId('..'),
    applicationId('x').replace('rg-customer', '..'),
    applicationId('x').replace('Microsoft.Solutions/applications', 'Microsoft.Compute/virtualMachines'),
    `${applicationId('x')}/extra`,
    `/${applicationId('x')}`,
    applicationId(''),
    applicationId('a b'),
  ].map((id) => bad('B', id, { eventType: 'PUT', applicationId: id }, /applicationId must be/, 'invalid_subscription')),
  bad('B', 'a time without a zone', put({ eventTime: '2026-03-02T10:00:00' }), /eventTime/, 'invalid_event_time'),
  bad('B', 'an empty time', put({ eventTime: '' }), /eventTime/),
  bad('B', 'a bind without binding info', put({ eventType: 'BIND' }), /bindingInfo is required/),
  bad('B', 'a bind for A', put({ eventType: 'BIND', ...binding('x') }), /must be CloudB/, 'wrong_marketplace'),
  bad('B', 'a bind of nobody', put({ eventType: 'BIND', bindingInfo: { installerId: 'x' } }), /names no installer/),
  bad('C', 'an unknown installer', binding('x', { marketplace: 'CloudC' }), /names no installer/, 'installer_unknown'),
  bad('C', 'no cluster', { bindingInfo: { installerId: 'x' } }, /clusterId/),
  bad('C', 'another marketplace', binding('x'), /must be CloudC/, 'wrong_marketplace'),
  ...(['B', 'C'] as const).flatMap((to) => [
    denied(to, 'no secret', {}, ''),
    denied(to, 'an empty secret', {}, '?secret='),
    denied(to, 'a wrong secret', {}, '?secret=wrong'),
    denied(to, 'a wrong secret and malformed JSON', '{', '?secret=wrong'),
    denied(to, 'a wrong secret and a body that is too large', `"${'x'.repeat(1_100_000)}"`, '?secret=wrong'),
    denied(to, 'the secret of the other', {}, (m) => `?secret=${m.demo.secrets[to === 'B' ? 'cloudC' : 'cloudB']}`),
    denied(to, 'the secret twice', {}, (m) => `?secret=${secret(m, to)}&secret=${secret(m, to)}`),
    denied(to, 'the secret with a wrong one', {}, (m) => `?secret=${secret(m, to)}&secret=x`),
    denied(to, 'the secret in capitals', {}, (m) => `?secret=${secret(m, to).toUpperCase()}`),
    denied(to, 'half of the secret', {}, (m) => `?secret=${secret(m, to).slice(0, 20)}`),
  ]),
  denied('C', 'an installer like that for tests', (m) => binding(`${m.demo.installers.cloudCTest}x`), ''),
  denied(
    'C',
    'the installer for tests in another letter case',
    (m) => {
      return binding(m.demo.installers.cloudCTest.toUpperCase());
    },
    '',
  ),
  denied('B', 'the installer for tests of C', (m) => binding(m.demo.installers.cloudCTest), ''),
];

type Made<T> = T | ((market: TestMarketplace) => T);

describe('a delivery that no repetition can mend', () => {
  let market: TestMarketplace;
  before(async () => {
    market = await openMarketplace();
  });
  after(() => market.close());

  for (const row of rows) {
    it(`${row.to}: ${row.name.slice(0, 80)} → ${row.status}`, async () => {
      const body = typeof row.body === 'function' ? row.body(market) : row.body;
      const query = typeof row.query === 'function' ? (row.query as (m: TestMarketplace) => string)(market) : row.query;
      const answer = await market.notify(row.to, body, query);
      assert.equal(answer.status, row.status, answer.text);
      assert.deepEqual(Object.keys(answer.body), ['message']);
      assert.match(answer.body.message, row.message);
      if (row.reason === undefined) return;
      const [last] = await market.rows(
        'select reason, state, answer_status from delivery order by last_at desc limit 1',
      );
      assert.deepEqual(last, { reason: row.reason, state: 'refused', answer_status: 400 });
    });
  }

  it('is refused as too old when its installer has expired', async () => {
    const installer = await market.installer('A', { days: -1 });
    const answer = await market.notify('A', binding(installer));
    assert.deepEqual([answer.status, answer.body.message], [400, 'the installer has expired']);
  });

  it('is not JSON when it does not say so', async () => {
    const query = `?secret=${market.demo.secrets.cloudB}`;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await market.notify('B', '{}', query, { 'Content-Type': type });
      assert.deepEqual([answer.status, answer.body], [400, { message: 'body must be sent as application/json' }]);
    }
  });

  it('succeeds after all when what it named is made after it', async () => {
    const { id } = { id: applicationId() };
    const gone = {
      eventType: 'DELETE',
      applicationId: id,
      provisioningState: 'Deleted',
      eventTime: '2026-05-01T00:00:00Z',
    };
    assert.equal((await market.notify('B', gone)).status, 403);
    const made = {
      eventType: 'PUT',
      applicationId: id,
      provisioningState: 'Accepted',
      eventTime: '2026-04-01T00:00:00Z',
    };
    assert.equal((await market.notify('B', made)).status, 200);
    assert.equal((await market.notify('B', gone)).status, 200);
  });

  it('from a stranger is counted, not recorded', async () => {
    await market.house.marketplace.journal.flush();
    const before = await market.rows('select times from delivery');
    for (let time = 0; time < 5; time++) await market.notify('B', { eventType: 'PUT' }, '?secret=guess');
    await market.house.marketplace.journal.flush();
    assert.equal((await market.rows('select times from delivery')).length, before.length);
    const counted = await market.house.marketplace.journal.refusals(10);
    const b = counted.find(({ marketplace }) => marketplace === 'CloudB');
    assert.equal(b?.reason, 'secret_mismatch');
    assert.ok((b?.times ?? 0) >= 5);
  });

  it('stands in no list of live secrets: then everybody is refused', async () => {
    const bare = await openMarketplace();
    for (const name of ['CloudB', 'CloudC'] as const) {
      await bare.house.marketplace.secrets.retire(name, bare.demo.secrets[name === 'CloudB' ? 'cloudB' : 'cloudC']);
    }
    for (const query of ['', '?secret=', '?secret=x', `?secret=${bare.demo.secrets.cloudB}`]) {
      assert.equal((await bare.notify('B', put({}), query)).status, 403);
    }
    await bare.close();
  });

  it('has the old secret or the new one while one replaces the other', async () => {
    const env = { CLOUD_B_SECRETS: 'old-secret, new-secret', CLOUD_C_SECRETS: 'only' };
    const two = await openMarketplace({ env });
    for (const secretText of ['old-secret', 'new-secret', two.demo.secrets.cloudB]) {
      assert.equal((await two.notify('B', put({}), `?secret=${secretText}`)).status, 200);
    }
    assert.equal((await two.notify('B', put({}), '?secret=only')).status, 403);
    await two.close();
  });

  it('may be bound without the secret when the settings name its installer', async () => {
    const probe = await openMarketplace();
    const named = await probe.installer('C');
    await probe.close();
    const env = { CLOUD_C_TEST_INSTALLER: named };
    const other = await openMarketplace({ env });
    const answer = await other.notify('C', binding(named, { marketplace: 'CloudC' }), '');
    assert.deepEqual([answer.status, /names no installer/.test(answer.body.message)], [400, true]);
    await other.close();
  });
});

function bad(to: Name, name: string, body: Made<object | string>, message: RegExp, reason?: string): Row {
  return { to, name, body, status: 400, message, ...(reason && { reason }) };
}

function denied(to: Name, name: string, body: Made<object | string>, query: Made<string>): Row {
  return { to, name, body, query: query as string, status: 403, message: /^secret mismatch$/ };
}

function secret(market: TestMarketplace, to: 'B' | 'C'): string {
  return to === 'B' ? market.demo.secrets.cloudB : market.demo.secrets.cloudC;
}

function dns(value: object): object {
  return binding('x', { options: { infra: { dns: value } } });
}

function put(more: object): object {
  return { eventType: 'PUT', applicationId: applicationId(), provisioningState: 'Accepted', ...more };
}
