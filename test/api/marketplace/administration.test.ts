import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { sharedServer } from '../../support/server/shared-server.ts';
import { assertRejected, type Rejected } from '../../support/world/authz.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const ROOT = '/admin/marketplace';
const CANARY = 'Canary-key-of-the-customer';

interface Entry {
  readonly id: string | number;
  readonly marketplace: string;
  readonly state: string;
}

for (const driver of API_DRIVERS) {
  describe(`Administration of marketplaces on ${driver}`, () => {
    let market: TestMarketplace;
    let onA = '';
    let onB = '';
    const root = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      await market.as('root')(method, `${ROOT}${path}`, body, headers);
    const read = async (path: string) => {
      const answer = await root('GET', path);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };
    const ids = async (path: string): Promise<unknown[]> => (await read(path)).items.map((one: Entry) => one.id);
    const actions = async (prefix: string) => {
      const { body } = await market.as('root')('GET', `/admin/audit?org=0&action=${prefix}`);
      return body.items.map((one: { action: string; actor: { name: string }; after: unknown }) => [
        one.action,
        one.actor.name,
      ]);
    };
    before(async () => {
      market = await openMarketplace({ driver, env: { CLOUD_B_SECRETS: 'from-the-settings' } });
      onA = await market.installer('A');
      onB = await market.installer('B');
      const bound = await market.notify('A', binding(onA, { options: { apiKey: CANARY }, adminUsername: 'carla' }));
      assert.equal(bound.status, 200, bound.text);
      const about = { applicationId: applicationId('Shop'), eventTime: '2026-03-02T10:20:00Z' };
      const plan = { name: 'gold', product: 'platform', accessKey: CANARY, units: 9007199254740993n };
      const put = JSON.stringify({ ...about, eventType: 'PUT', provisioningState: 'Succeeded', plan }, (_key, value) =>
        typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
      );
      assert.equal((await market.notify('B', put)).status, 200);
      const bind = { ...about, eventType: 'BIND', eventTime: '2026-03-02T10:21:00Z' };
      const info = { bindingInfo: { installerId: onB, clusterId: 'shop-cluster' } };
      const second = await market.notify('B', { ...bind, ...info });
      assert.equal(second.status, 200, second.text);
      await market.notify('C', { eventType: 'BIND' }, '?secret=wrong');
    });
    after(() => market.close());

    it(`Installers are listed newest first, with what they are bound to and without its options, on ${driver}`, async () => {
      const answer = await root('GET', '/installers');
      assert.equal(answer.status, 200, answer.text);
      const [first, second] = answer.body.items;
      assert.deepEqual([first.id, second.id], [onB, onA]);
      assert.deepEqual(Object.keys(second), [
        'id',
        'marketplace',
        'is_test',
        'state',
        'created_at',
        'expires_at',
        'binding',
      ]);
      assert.deepEqual([second.marketplace, second.is_test, second.state], ['CloudA', false, 'bound']);
      assert.deepEqual([second.binding.cluster_id, second.binding.admin_login], ['cluster-1', 'carla']);
      assert.deepEqual([second.binding.contract.revoked, 'subscription_id' in second.binding], [false, false]);
      assert.equal(typeof first.binding.subscription_id, 'number');
      const one = await root('GET', `/installers/${onA}`);
      assert.deepEqual(one.body, second);
      assert.ok(![answer.text, one.text].join().includes(CANARY));
    });

    it(`Installers can be filtered by marketplace, state and text, and paged, on ${driver}`, async () => {
      const expired = await market.installer('C');
      await market.rows(`update installer set expires_at = now() - interval '1 day' where id = $1`, [expired]);
      const { body } = await root('GET', `/installers/${onB}`);
      assert.deepEqual(await ids(`/installers?q=${body.binding.organization.name.toUpperCase()}`), [onB]);
      assert.deepEqual(await ids('/installers?q=CARLA'), [onA]);
      assert.deepEqual(await ids('/installers?q=shop-cl'), [onB]);
      assert.deepEqual(await ids(`/installers?q=${onA.slice(3, 12)}&marketplace=clouda&state=bound`), [onA]);
      assert.deepEqual(await ids(`/installers?q=${onA.slice(3, 12)}&state=unbound`), []);
      assert.deepEqual(await ids('/installers?q=100%25'), [], 'a wildcard stands for itself');
      assert.deepEqual(await ids('/installers?state=expired'), [expired]);
      assert.deepEqual(await ids('/installers?state=spent'), []);
      const whole = await ids('/installers?limit=200');
      const seen: unknown[] = [];
      for (let cursor = ''; ; ) {
        const page = await read(`/installers?limit=2${cursor}`);
        seen.push(...page.items.map((one: Entry) => one.id));
        if (page.next_cursor === null) break;
        cursor = `&cursor=${page.next_cursor}`;
      }
      assert.deepEqual(seen, whole);
      const byState = ['unbound', 'expired', 'bound', 'spent'].map((state) => ids(`/installers?state=${state}`));
      assert.equal((await Promise.all(byState)).flat().length, whole.length, 'each has one state');
    });

    it(`An installer whose organization was deleted is spent, and gets no link, on ${driver}`, async () => {
      const gone = await market.installer('A');
      await market.notify('A', binding(gone));
      const { name } = (await read(`/installers/${gone}`)).binding.organization;
      assert.equal((await market.as('root')('DELETE', `/orgs/${name}`)).status, 204);
      const spent = await read(`/installers/${gone}`);
      assert.deepEqual([spent.state, 'binding' in spent], ['spent', false]);
      assert.deepEqual(await ids('/installers?state=spent'), [gone]);
      const refused = await root('POST', `/installers/${gone}/link`);
      assert.deepEqual(
        [refused.status, refused.body.message],
        [409, 'the organization of the installer has been deleted'],
      );
    });

    it(`An administrator can create an installer once for each key, and it can be bound, on ${driver}`, async () => {
      const body = { marketplace: 'CloudC', days: 7, is_test: true };
      const created = await root('POST', '/installers', body, { 'Idempotency-Key': 'installer-1' });
      assert.equal(created.status, 201, created.text);
      const { id, created_at, expires_at, ...rest } = created.body;
      assert.deepEqual(rest, { marketplace: 'CloudC', is_test: true, state: 'unbound' });
      const days = (Date.parse(expires_at) - Date.parse(created_at)) / 86_400_000;
      assert.ok(Math.abs(days - 7) < 0.01, `${days} days`);
      const again = await root('POST', '/installers', body, { 'Idempotency-Key': 'installer-1' });
      assert.deepEqual([again.status, again.text], [201, created.text]);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
      assert.equal((await ids(`/installers?q=${id}`)).length, 1);
      const plain = await root('POST', '/installers', { marketplace: 'CloudA', days: null });
      assert.deepEqual([plain.status, plain.body.is_test], [201, false]);
      assert.equal((await market.notify('A', binding(plain.body.id))).status, 200);
      assert.deepEqual((await actions('installer.create')).slice(0, 2), [
        ['installer.create', 'root'],
        ['installer.create', 'root'],
      ]);
    });

    it(`A new link opens the archive until all links are revoked, and both are recorded, on ${driver}`, async () => {
      const issued = await root('POST', `/installers/${onA}/link`);
      assert.equal(issued.status, 200, issued.text);
      const { link, expires_at: expiresAt } = issued.body;
      assert.equal(Number(new URL(link).searchParams.get('exp')), Date.parse(expiresAt) / 1000);
      assert.equal((await fetch(link)).status, 200);
      const revoked = await root('POST', `/installers/${onA}/revoke`);
      assert.deepEqual([revoked.status, revoked.text], [204, '']);
      assert.equal((await fetch(link)).status, 404);
      const { binding: bound } = await read(`/installers/${onA}`);
      const { body } = await market.as('root')('GET', `/admin/audit?org=${bound.organization.id}&action=installer.`);
      const found = body.items.map((one: { action: string; actor: { name: string } }) => [one.action, one.actor.name]);
      assert.deepEqual(found.slice(0, 2), [
        ['installer.revoke', 'root'],
        ['installer.link', 'root'],
      ]);
      const text = JSON.stringify(body);
      assert.ok(!text.includes(onA) && !text.includes('sig='), 'neither the ID nor the link is recorded');
    });

    it(`Subscriptions are listed by state and text, with their installers and without secrets, on ${driver}`, async () => {
      const { items } = await read('/subscriptions?q=SHOP&marketplace=CloudB&state=Bound');
      assert.equal(items.length, 1);
      const [{ id, subject, application_id: application, state }] = items;
      assert.deepEqual([application, state], [applicationId('Shop'), 'Bound']);
      assert.equal(subject, `CloudB:${applicationId('Shop').slice(1).toLowerCase()}`);
      assert.deepEqual(await ids('/subscriptions?state=Deleted'), []);
      assert.deepEqual(await ids('/subscriptions?q=nothing-like-it'), []);
      const one = await root('GET', `/subscriptions/${id}`);
      assert.equal(one.status, 200, one.text);
      assert.deepEqual(
        one.body.installers.map((installer: Entry) => installer.id),
        [onB],
      );
      assert.match(one.text, /"units":9007199254740993/);
      assert.ok(!one.text.includes(CANARY), 'a field that sounds secret is left out');
      assert.deepEqual(one.body.plan.name, 'gold');
    });

    const CURSOR = Buffer.from('stranger ["2026-02-31","CloudA","x","y"]').toString('base64url');
    const NUL = Buffer.from('stranger ["2026-02-01","CloudA","x","\\u0000"]').toString('base64url');
    const TABLE: readonly Rejected[] = [
      { send: ['GET', `${ROOT}/installers`], status: 401, message: 'token is required' },
      {
        who: 'ann',
        send: ['GET', `${ROOT}/installers`],
        status: 403,
        message: 'only site administrators can call this route',
      },
      {
        who: 'ann',
        send: ['POST', `${ROOT}/installers`, { marketplace: 'CloudA' }],
        status: 403,
        message: 'only site administrators can call this route',
      },
      {
        who: 'ann',
        send: ['GET', `${ROOT}/secrets`],
        status: 403,
        message: 'only site administrators can call this route',
      },
      {
        who: 'ann',
        send: ['GET', `${ROOT}/summary`],
        status: 403,
        message: 'only site administrators can call this route',
      },
      {
        who: 'root',
        send: ['GET', `${ROOT}/installers?marketplace=CloudZ`],
        status: 400,
        message: 'marketplace must be one of CloudA, CloudB, CloudC',
      },
      {
        who: 'root',
        send: ['GET', `${ROOT}/installers?cursor=abc`],
        status: 400,
        message: 'cursor was not issued by this server',
      },
      {
        who: 'root',
        send: ['GET', `${ROOT}/subscriptions?cursor=${Buffer.from('event 7').toString('base64url')}`],
        status: 400,
        message: 'cursor was not issued by this server',
      },
      {
        who: 'root',
        send: ['GET', `${ROOT}/strangers?cursor=${CURSOR}`],
        status: 400,
        message: 'cursor was not issued by this server',
      },
      {
        who: 'root',
        send: ['GET', `${ROOT}/strangers?cursor=${NUL}`],
        status: 400,
        message: 'cursor was not issued by this server',
      },
      { who: 'root', send: ['GET', `${ROOT}/installers/nothing`], status: 404, message: 'there is no such installer' },
      {
        who: 'root',
        send: ['POST', `${ROOT}/installers/nothing/link`],
        status: 404,
        message: 'there is no such installer',
      },
      {
        who: 'root',
        send: ['POST', `${ROOT}/installers/nothing/revoke`],
        status: 404,
        message: 'there is no such installer',
      },
      {
        who: 'root',
        send: ['GET', `${ROOT}/subscriptions/999999`],
        status: 404,
        message: 'there is no such subscription',
      },
      { who: 'root', send: ['GET', `${ROOT}/subscriptions/x`], status: 400, message: 'invalid subscription ID: "x"' },
      {
        who: 'root',
        send: ['DELETE', `${ROOT}/secrets/0123456789abcdef`],
        status: 404,
        message: 'there is no such secret',
      },
      {
        who: 'root',
        send: ['POST', `${ROOT}/installers`, { marketplace: 'CloudA', days: 0 }],
        status: 422,
        message: 'an installer can be bound for 1 to 3650 days',
      },
      {
        who: 'root',
        send: ['POST', `${ROOT}/installers`, { marketplace: 'CloudA', days: 3651 }],
        status: 422,
        message: 'an installer can be bound for 1 to 3650 days',
      },
      {
        who: 'root',
        send: ['POST', `${ROOT}/installers`, { marketplace: 'CloudA', is_test: true }],
        status: 422,
        message: 'marketplace A cannot have a test installer',
      },
    ];
    it(`Wrong questions about marketplaces, and those of others, are rejected on ${driver}`, async () => {
      for (const line of TABLE) await assertRejected(market, line);
      for (const [method, path, body] of [
        ['GET', '/installers?state=lost'],
        ['GET', '/subscriptions?state=lost'],
        ['GET', '/events?state=lost'],
        ['POST', '/installers', { marketplace: 'CloudZ' }],
        ['POST', '/installers', {}],
        ['POST', '/secrets', { marketplace: 'CloudA' }],
        ['POST', '/secrets', { marketplace: 'CloudB', secret: '' }],
        ['POST', '/secrets', { marketplace: 'CloudB', secret: 'x'.repeat(1025) }],
      ] as const) {
        const { status, text } = await root(method, path, body);
        assert.ok(status === 400 || status === 422, `${method} ${path}: ${text}`);
      }
      const unbound = market.demo.installers.cloudA;
      const early = await root('POST', `/installers/${unbound}/link`);
      assert.deepEqual([early.status, early.body.message], [409, 'the installer is not bound yet']);
      await market.rows(
        `update contract set revoked_at = now() where id = (select contract_id from installer where id = $1)`,
        [onB],
      );
      const revoked = await root('POST', `/installers/${onB}/link`);
      assert.deepEqual([revoked.status, revoked.body.message], [409, 'the contract of the installer is revoked']);
      for (const path of ['/installers?q=%00', '/subscriptions?q=%00', '/events?type=%00']) {
        assert.ok((await root('GET', path)).status < 500, path);
      }
    });
  });
}

describe('Administration of marketplaces elsewhere', () => {
  it('A deployment without a marketplace has none of these routes', async () => {
    const standard = await sharedServer();
    for (const noun of ['installers', 'subscriptions', 'secrets', 'strangers', 'events', 'summary']) {
      const answer = await standard.as('root')('GET', `${ROOT}/${noun}`);
      assert.deepEqual([answer.status, answer.body.reason], [404, 'route_not_found'], noun);
    }
  });
});
