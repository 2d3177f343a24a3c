import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  applicationId,
  binding,
  type Name,
  openMarketplace,
  type TestMarketplace,
} from '../../support/world/marketplace.ts';

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

/** Each row: what is sent to which marketplace, and the rejection as a message and as a reason in the delivery log. */
const rows: Row[] = [
  bad('A', 'a body that is not an object', [1], /JSON object/, 'malformed'),
  bad('A', 'malformed JSON', '{"eventType":', /not valid JSON/, 'malformed'),
  bad('A', 'an empty body', '', /bindingInfo is required/, 'invalid_binding'),
  bad('A', 'a body without binding info', {}, /bindingInfo is required/, 'invalid_binding'),
  bad('A', 'binding info that is a string', { bindingInfo: 'x' }, /bindingInfo is required/, 'invalid_binding'),
  bad(
    'A',
    'an event type that is not a string',
    { eventType: 7, ...binding('x') },
    /eventType must be a string/,
    'malformed',
  ),
  bad('A', 'an unparseable event time', { eventTime: 'yesterday', ...binding('x') }, /eventTime/, 'invalid_event_time'),
  bad('A', 'an event time on 31 February', { eventTime: '2026-02-31T00:00:00Z', ...binding('x') }, /eventTime/),
  bad(
    'A',
    'binding info without a marketplace',
    binding('x', { marketplace: undefined }),
    /must be CloudA/,
    'wrong_marketplace',
  ),
  bad(
    'A',
    'binding info for another marketplace',
    binding('x', { marketplace: 'CloudB' }),
    /must be CloudA/,
    'wrong_marketplace',
  ),
  bad(
    'A',
    'binding info without an installer',
    { bindingInfo: { marketplace: 'CloudA', clusterId: 'c' } },
    /installerId is required/,
  ),
  bad('A', 'an unknown installer', binding('nobody'), /names no installer/, 'installer_unknown'),
  bad(
    'A',
    'an installer of marketplace B',
    (m) => binding(m.demo.installers.cloudB),
    /names no installer/,
    'installer_unknown',
  ),
  bad('A', 'binding info without a cluster', binding('x', { clusterId: undefined }), /clusterId/),
  bad('A', 'an empty cluster ID', binding('x', { clusterId: '' }), /clusterId/),
  bad('A', 'a cluster ID with shell syntax', binding('x', { clusterId: '$(id)' }), /clusterId/),
  bad('A', 'a cluster ID that is too long', binding('x', { clusterId: 'c'.repeat(254) }), /clusterId/),
  bad('A', 'a key given in two spellings', binding('x', { installerID: 'y' }), /more than once/, 'invalid_binding'),
  bad(
    'A',
    'options that are an array',
    binding('x', { options: ['x'] }),
    /options must be an object/,
    'invalid_options',
  ),
  bad('A', 'options nested too deeply', binding('x', { options: { deep } }), /32 levels/, 'invalid_options'),
  bad('A', 'options that are too large', binding('x', { options: { a: 'x'.repeat(65_536) } }), /64 KiB/),
  bad(
    'A',
    'options with 200,000 items',
    binding('x', { options: { list: Array.from({ length: 200_000 }, () => 1) } }),
    /64 KiB/,
    'invalid_options',
  ),
  bad('A', 'DNS provider none without target IPs', dns({ provider: 'none' }), /must not be empty/),
  bad(
    'A',
    'DNS provider none with an empty list of target IPs',
    dns({ provider: 'none', targetIPs: [] }),
    /must not be empty/,
  ),
  bad(
    'A',
    'DNS provider none with an invalid target IP',
    dns({ provider: 'none', targetIPs: ['10.0.0.256'] }),
    /IP addresses/,
  ),
  bad('A', 'target IPs given as a string', dns({ provider: 'none', targetIPs: '10.0.0.1' }), /IP addresses/),
  bad('A', 'an invalid domain', binding('x', { domainWhiteList: ['exa mple'] }), /host names/),
  bad('A', 'a wildcard domain', binding('x', { domainWhiteList: ['*.example.com'] }), /host names/),
  bad('A', 'a domain that is a number', binding('x', { domainWhiteList: [7] }), /host names/),
  bad(
    'A',
    'a password that is not a string',
    binding('x', { adminPassword: { a: 1 } }),
    /adminPassword must be a string/,
  ),
  bad(
    'B',
    'a PATCH event',
    { eventType: 'PATCH', applicationId: applicationId() },
    /unknown event type/,
    'unknown_event_type',
  ),
  bad('B', 'a lowercase event type', { eventType: 'put', applicationId: applicationId() }, /unknown event type/),
  bad(
    'B',
    'a body without an event type',
    { applicationId: applicationId() },
    /unknown event type/,
    'unknown_event_type',
  ),
  bad('B', 'a PUT without an application ID', { eventType: 'PUT' }, /applicationId must be/, 'invalid_subscription'),
  ...[
    [
      'that names no subscription GUID',
      '/subscriptions/not-a-guid/resourceGroups/rg/providers/Microsoft.Solutions/applications/x',
    ],
    ['with .. as its name', applicationId('..')],
    ['with .. as its resource group', applicationId('x').replace('rg-customer', '..')],
    [
      'of another resource type',
      applicationId('x').replace('Microsoft.Solutions/applications', 'Microsoft.Compute/virtualMachines'),
    ],
    ['with an extra segment', `${applicationId('x')}/extra`],
    ['with two leading slashes', `/${applicationId('x')}`],
    ['without a name', applicationId('')],
    ['with a space in its name', applicationId('a b')],
  ].map(([what, id]) =>
    bad(
      'B',
      `an application ID ${what}`,
      { eventType: 'PUT', applicationId: id },
      /applicationId must be/,
      'invalid_subscription',
    ),
  ),
  bad(
    'B',
    'an event time without a time zone',
    put({ eventTime: '2026-03-02T10:00:00' }),
    /eventTime/,
    'invalid_event_time',
  ),
  bad('B', 'an empty event time', put({ eventTime: '' }), /eventTime/),
  bad('B', 'a bind without binding info', put({ eventType: 'BIND' }), /bindingInfo is required/),
  bad(
    'B',
    'a bind for marketplace A',
    put({ eventType: 'BIND', ...binding('x') }),
    /must be CloudB/,
    'wrong_marketplace',
  ),
  bad(
    'B',
    'a bind of an unknown installer',
    put({ eventType: 'BIND', bindingInfo: { installerId: 'x' } }),
    /names no installer/,
  ),
  bad('C', 'an unknown installer', binding('x', { marketplace: 'CloudC' }), /names no installer/, 'installer_unknown'),
  bad('C', 'binding info without a cluster', { bindingInfo: { installerId: 'x' } }, /clusterId/),
  bad('C', 'binding info for another marketplace', binding('x'), /must be CloudC/, 'wrong_marketplace'),
  ...(['B', 'C'] as const).flatMap((to) => [
    denied(to, 'a request without a secret', {}, ''),
    denied(to, 'an empty secret', {}, '?secret='),
    denied(to, 'a wrong secret', {}, '?secret=wrong'),
    denied(to, 'a wrong secret with malformed JSON', '{', '?secret=wrong'),
    denied(to, 'a wrong secret with an oversized body', `"${'x'.repeat(1_100_000)}"`, '?secret=wrong'),
    denied(
      to,
      'the secret of another marketplace',
      {},
      (m) => `?secret=${m.demo.secrets[to === 'B' ? 'cloudC' : 'cloudB']}`,
    ),
    denied(to, 'the secret given twice', {}, (m) => `?secret=${secret(m, to)}&secret=${secret(m, to)}`),
    denied(to, 'the right secret next to a wrong one', {}, (m) => `?secret=${secret(m, to)}&secret=x`),
    denied(to, 'the secret in uppercase', {}, (m) => `?secret=${secret(m, to).toUpperCase()}`),
    denied(to, 'a prefix of the secret', {}, (m) => `?secret=${secret(m, to).slice(0, 20)}`),
  ]),
  denied('C', 'a suffixed test installer ID without a secret', (m) => binding(`${m.demo.installers.cloudCTest}x`), ''),
  denied(
    'C',
    'an uppercase test installer ID without a secret',
    (m) => {
      return binding(m.demo.installers.cloudCTest.toUpperCase());
    },
    '',
  ),
  denied('B', 'the test installer of marketplace C without a secret', (m) => binding(m.demo.installers.cloudCTest), ''),
];

type Made<T> = T | ((market: TestMarketplace) => T);

describe('Rejected deliveries', () => {
  let market: TestMarketplace;
  before(async () => {
    market = await openMarketplace();
  });
  after(() => market.close());

  for (const row of rows) {
    it(`Marketplace ${row.to} rejects ${row.name} with ${row.status}`, async () => {
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

  it('A bind of an expired installer is rejected with 400', async () => {
    const installer = await market.installer('A', { days: 1 }, new Date('2026-01-01T00:00:00Z'));
    const answer = await market.notify('A', binding(installer));
    assert.deepEqual([answer.status, answer.body.message], [400, 'the installer has expired']);
  });

  it('A delivery that is not sent as application/json is rejected with 400', async () => {
    const query = `?secret=${market.demo.secrets.cloudB}`;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await market.notify('B', '{}', query, { 'Content-Type': type });
      assert.deepEqual([answer.status, answer.body], [400, { message: 'body must be sent as application/json' }]);
    }
  });

  it('A rejected deletion succeeds when redelivered after its subscription is created', async () => {
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

  it('A delivery with a wrong secret is counted but not recorded', async () => {
    await market.instance.features.marketplace.deliveryLog.flush();
    const before = await market.rows('select times from delivery');
    for (let time = 0; time < 5; time++) await market.notify('B', { eventType: 'PUT' }, '?secret=guess');
    await market.instance.features.marketplace.deliveryLog.flush();
    assert.equal((await market.rows('select times from delivery')).length, before.length);
    const counted = await market.instance.features.marketplace.deliveryLog.rejections(10);
    const b = counted.find(({ marketplace }) => marketplace === 'CloudB');
    assert.equal(b?.reason, 'secret_mismatch');
    assert.ok((b?.times ?? 0) >= 5);
  });

  it('Marketplace B rejects every delivery with 403 when no secret is active', async () => {
    const bare = await openMarketplace();
    for (const name of ['CloudB', 'CloudC'] as const) {
      await bare.instance.features.marketplace.secrets.retire(
        name,
        bare.demo.secrets[name === 'CloudB' ? 'cloudB' : 'cloudC'],
      );
    }
    for (const query of ['', '?secret=', '?secret=x', `?secret=${bare.demo.secrets.cloudB}`]) {
      assert.equal((await bare.notify('B', put({}), query)).status, 403);
    }
    await bare.close();
  });

  describe('with secrets and a test installer in the settings', () => {
    let named: string;
    let configured: TestMarketplace;
    before(async () => {
      named = await market.installer('C');
      const secrets = { CLOUD_B_SECRETS: 'old-secret, new-secret', CLOUD_C_SECRETS: 'only' };
      configured = await openMarketplace({ env: { ...secrets, CLOUD_C_TEST_INSTALLER: named } });
    });
    after(() => configured.close());

    it('Marketplace B accepts the old and the new secret during a rotation', async () => {
      for (const secretText of ['old-secret', 'new-secret', configured.demo.secrets.cloudB]) {
        assert.equal((await configured.notify('B', put({}), `?secret=${secretText}`)).status, 200);
      }
      assert.equal((await configured.notify('B', put({}), '?secret=only')).status, 403);
    });

    it('A bind of the installer in CLOUD_C_TEST_INSTALLER passes the secret check without a secret', async () => {
      const answer = await configured.notify('C', binding(named, { marketplace: 'CloudC' }), '');
      assert.deepEqual([answer.status, /names no installer/.test(answer.body.message)], [400, true]);
    });
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
