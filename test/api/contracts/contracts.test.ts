import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, assertRejected } from '../../support/world/authz.ts';
import { applicationId, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const UID = '0F1E2D3C-4B5A-4697-8877-665544332211';

for (const driver of API_DRIVERS) {
  describe(`Contracts on ${driver}`, () => {
    let atrium: TestServer;
    let path: string;
    let etag: string;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    it(`Contracts can be created, read and listed on ${driver}`, async () => {
      const terms = {
        name: 'Gold, 2030',
        product: 'platform',
        features: ['sso', 'audit', 'sso'],
        clusters: [UID],
        start: '2030-01-01T00:00:00Z',
        end: '2031-01-01T01:00:00+01:00',
        quota: { nodes: 100, 'gpu.example.com/cards': 0 },
      };
      const made = await atrium.as('bob')('POST', '/orgs/acme/contracts', terms);
      assert.equal(made.status, 201, made.text);
      const { id, uid, ...rest } = made.body;
      assert.match(uid, /^[0-9a-f-]{36}$/);
      assert.deepEqual(rest, {
        ...terms,
        owner_id: Number(atrium.world.orgs.acme?.id),
        features: ['sso', 'audit'],
        clusters: [UID.toLowerCase()],
        end: '2031-01-01T00:00:00Z',
        revoked: false,
      });
      path = `/contracts/${id}`;
      etag = made.headers.get('etag') ?? assert.fail();
      assert.deepEqual((await atrium.as('cat')('GET', path)).body, made.body);
      assert.ok((await allowedTo(atrium, 'bob', 'contract', id)).includes('can_edit'));
      const list = await atrium.as('cat')('GET', '/orgs/acme/contracts');
      assert.deepEqual([list.body.length, list.headers.get('x-total-count')], [2, '2']);
      assert.deepEqual(list.body[1], made.body);
      const named = await atrium.as('cat')('GET', '/orgs/acme/contracts?name=acme');
      assert.deepEqual([named.body.length, named.body[0].end === null], [1, false]);
    });

    it(`A contract created with only a name starts now and never ends on ${driver}`, async () => {
      const { body } = await atrium.as('ann')('POST', '/orgs/acme/contracts', { name: 'plain' });
      assert.deepEqual(
        [body.product, body.features, body.clusters, body.end, body.revoked, body.quota],
        ['', [], [], null, false, {}],
      );
      assert.ok(Math.abs(Date.parse(body.start) - Date.now()) < 60_000);
    });

    it(`Editing a contract leaves omitted fields unchanged on ${driver}`, async () => {
      const before = (await atrium.as('bob')('GET', path)).body;
      const edited = await atrium.as('bob')('PATCH', path, { end: null, quota: { nodes: 7 } }, { 'If-Match': etag });
      assert.equal(edited.status, 200, edited.text);
      assert.deepEqual(edited.body, { ...before, end: null, quota: { nodes: 7 } });
      assert.equal((await atrium.as('bob')('PATCH', path, { name: 'x' }, { 'If-Match': etag })).status, 412);
      assert.equal((await atrium.as('bob')('DELETE', path, undefined, { 'If-Match': etag })).status, 412);
    });

    it(`A revoked contract cannot be reinstated with PATCH on ${driver}`, async () => {
      const revoked = await atrium.as('bob')('PATCH', path, { revoked: true });
      assert.deepEqual([revoked.status, revoked.body.revoked], [200, true]);
      assert.equal((await atrium.as('bob')('PATCH', path, { revoked: true })).status, 200);
      const back = await atrium.as('ann')('PATCH', path, { revoked: false });
      assert.deepEqual([back.status, back.body.errors[0].field], [422, 'revoked']);
      assert.equal((await atrium.as('cat')('GET', path)).body.revoked, true);
    });

    it(`Deleting a contract on ${driver} removes all permissions on it`, async () => {
      const id = Number(path.split('/').at(-1));
      assert.equal((await atrium.as('bob')('DELETE', path)).status, 204);
      assert.equal((await atrium.as('bob')('GET', path)).status, 404);
      assert.deepEqual(await allowedTo(atrium, 'ann', 'contract', id), []);
      const entries = await auditOf(atrium.instance.db, atrium.world.orgs.acme?.id ?? 0n);
      assert.deepEqual(brokenLinks(entries), []);
      const actions = entries.filter(
        ({ object_id, object_type }) => object_type === 'contract' && object_id === BigInt(id),
      );
      assert.deepEqual(
        actions.map(({ action }) => action),
        ['contract.create', 'contract.update', 'contract.revoke', 'contract.update', 'contract.delete'],
      );
    });

    it(`Invalid or unauthorized contract requests are rejected and change nothing on ${driver}`, async () => {
      const acme = `/contracts/${atrium.world.contracts.acme}`;
      const before = (await atrium.as('ann')('GET', '/orgs/acme/contracts')).text;
      const table: readonly [body: object, message: RegExp][] = [
        [{ name: '' }, /^name must have 1 to 255 characters/],
        [{ name: ' \t ' }, /^name must have 1 to 255 characters/],
        [{ name: 'x'.repeat(256) }, /^name must have/],
        [{ name: 7 }, /^name must be string/],
        [{ name: 'n', start: '2030-01-01T00:00:00Z', end: '2030-01-01T00:00:00Z' }, /^end must be after start/],
        [{ name: 'n', end: '1999-01-01T00:00:00Z' }, /^end must be after start/],
        [{ name: 'n', end: 'tomorrow' }, /^end /],
        [{ name: 'n', start: '0000-01-01T00:00:00Z' }, /^start must be a date-time between the years 1970/],
        [{ name: 'n', start: '9999-12-31T23:59:59-12:00' }, /^start must be a date-time between the years 1970/],
        [{ name: 'n', start: null }, /^start must be string/],
        [{ name: 'n', features: [''] }, /^features must have 1 to 100/],
        [{ name: 'n', features: 'sso' }, /^features must be array/],
        [{ name: 'n', clusters: ['prod'] }, /^clusters must be a UUID/],
        [{ name: 'n', quota: { nodes: -1 } }, /^quota nodes must be a non-negative integer/],
        [{ name: 'n', quota: { nodes: 1.5 } }, /^quota nodes must be a non-negative integer/],
        [{ name: 'n', quota: { nodes: '5' } }, /^quota.nodes must be number/],
        [{ name: 'n', quota: { 'no blanks': 1 } }, /^quota names must consist of/],
        [{ name: 'n', quota: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`k${n}`, 1])) }, /at most 100/],
      ];
      for (const [body, message] of table) {
        await assertRejected(atrium, {
          who: 'ann',
          send: ['POST', '/orgs/acme/contracts', body],
          status: 422,
          message,
        });
        await assertRejected(atrium, { who: 'ann', send: ['PATCH', acme, body], status: 422, message });
      }
      assert.equal((await atrium.as('ann')('GET', '/orgs/acme/contracts')).text, before);
      const none = { who: 'cat', status: 403 };
      const make = ['POST', '/orgs/acme/contracts', { name: 'n' }] as const;
      await assertRejected(atrium, { ...none, send: make, message: 'missing relation create_contracts:org' });
      await assertRejected(atrium, { ...none, send: ['PATCH', acme, {}], message: 'missing relation edit:contract' });
      await assertRejected(atrium, { ...none, send: ['DELETE', acme], message: 'missing relation delete:contract' });
      const dan = await atrium.as('dan')('GET', acme);
      assert.deepEqual([dan.status, dan.body.message], [404, 'contract does not exist']);
      for (const method of ['GET', 'DELETE']) {
        const answer = await atrium.as('eve')(method, acme);
        assert.deepEqual([answer.status, answer.body], [404, dan.body]);
      }
    });
  });
}

describe('Marketplace contracts', () => {
  let atrium: TestMarketplace;
  let path: string;
  let login: string;
  let installer: string;
  const application = applicationId();
  before(async () => {
    atrium = await openMarketplace();
    installer = await atrium.installer('B');
    await bind(application);
    const [row] = await atrium.rows<{ contract_id: bigint; organization_id: bigint; admin_login: string }>(
      'select contract_id, organization_id, admin_login from installer where contract_id is not null order by bound_at desc limit 1',
    );
    path = `/contracts/${row?.contract_id}`;
    login = row?.admin_login ?? '';
    const [admin] = await atrium.rows<{ id: bigint }>('select id from account where name = $1', [login]);
    const token = await atrium.instance.identity.tokens.issue({
      accountId: admin?.id ?? 0n,
      name: 'test',
      scopes: ['all'],
    });
    atrium.world.users[login] = { id: admin?.id ?? 0n, token: token.text };
  });
  after(() => atrium.close());

  async function bind(id: string, installerId = installer, when: { eventTime?: string } = {}) {
    const event = { eventType: 'BIND', applicationId: id, bindingInfo: { installerId }, ...when };
    const bound = await atrium.notify('B', event);
    assert.equal(bound.status, 200, bound.text);
    return bound;
  }

  it('The buyer of a marketplace contract can change only its name', async () => {
    const future = '2099-01-01T00:00:00Z';
    for (const terms of [
      { end: future },
      { quota: { nodes: 9 } },
      { revoked: true },
      { revoked: false },
      { features: [] },
    ]) {
      const answer = await atrium.as(login)('PATCH', path, terms);
      assert.equal(answer.status, 403, JSON.stringify(terms));
      assert.match(answer.body.message, /^only a site administrator/);
    }
    assert.equal((await atrium.as(login)('PATCH', path, { name: 'ours' })).body.name, 'ours');
    assert.deepEqual((await atrium.as('root')('PATCH', path, { quota: { nodes: 9 } })).body.quota, { nodes: 9 });
  });

  it('A marketplace contract cannot be deleted', async () => {
    for (const who of [login, 'root']) {
      const answer = await atrium.as(who)('DELETE', path);
      assert.deepEqual(
        [answer.status, answer.body.message],
        [409, 'the contract belongs to a marketplace: it can only be revoked'],
      );
    }
    assert.equal((await atrium.as(login)('GET', path)).status, 200);
  });

  it('A marketplace can revoke and reinstate its contract, and the ETag changes each time', async () => {
    const before = (await atrium.as(login)('GET', path)).headers.get('etag');
    const about = { applicationId: application, provisioningState: 'Deleting' };
    assert.equal((await atrium.notify('B', { eventType: 'DELETE', ...about })).status, 200);
    const revoked = await atrium.as(login)('GET', path);
    assert.equal(revoked.body.revoked, true);
    assert.notEqual(revoked.headers.get('etag'), before);
    const failed = { eventType: 'DELETE', ...about, provisioningState: 'Failed' };
    assert.equal((await atrium.notify('B', failed)).status, 200);
    await bind(application, installer);
    assert.equal((await atrium.as(login)('GET', path)).body.revoked, true, 'by a bind that is told again');
    await bind(application, installer, { eventTime: new Date().toISOString() });
    const back = await atrium.as(login)('GET', path);
    assert.equal(back.body.revoked, false);
    assert.notEqual(back.headers.get('etag'), revoked.headers.get('etag'));
  });

  it('The archive link of a marketplace contract stops working once a site administrator revokes the contract', async () => {
    const bound = await bind(applicationId(), await atrium.installer('B'));
    const link = new URL(bound.body.link);
    const follow = () => atrium.call('GET', `${link.pathname}${link.search}`);
    assert.equal((await follow()).status, 200);
    const [row] = await atrium.rows<{ contract_id: bigint }>(
      'select contract_id from installer where contract_id is not null order by bound_at desc limit 1',
    );
    const answer = await atrium.as('root')('PATCH', `/contracts/${row?.contract_id}`, { revoked: true });
    assert.deepEqual([answer.status, answer.body.revoked], [200, true]);
    assert.equal((await follow()).status, 404);
  });
});
