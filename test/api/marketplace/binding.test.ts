import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

const LINK =
  /^http:\/\/127\.0\.0\.1:\d+\/links\/installer\/\d+\/standalone-\w{12}\/([^/]+)\/archive\.tar\.gz\?exp=\d+&sig=[\w-]{43}$/;

for (const driver of API_DRIVERS) {
  describe(`Binding an installer on ${driver}`, () => {
    let market: TestMarketplace;
    before(async () => {
      market = await openMarketplace({ driver });
    });
    after(() => market.close());

    it(`A bind is answered with an archive link whose eighth field is the installer on ${driver}`, async () => {
      const { status, body, headers } = await market.notify('A', binding(market.demo.installers.cloudA));
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['link']);
      assert.match(body.link, LINK);
      assert.equal(body.link.split('/')[7], market.demo.installers.cloudA);
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
    });

    it(`A bind creates a standalone organization, an administrator who can sign in and a contract on ${driver}`, async () => {
      const installer = await market.installer('A');
      const admin = { adminUsername: 'wanda', adminPassword: 'a long enough password' };
      assert.equal((await market.notify('A', binding(installer, admin))).status, 200);
      const signIn = { username: 'wanda', password: admin.adminPassword };
      assert.equal((await market.call('POST', '/api/v1/user/signin', signIn)).status, 200);
      const rows = await market.rows<{ line: string }>(
        `select o.name || ' ' || t.name || ' ' || a.name || ' ' || (c.revoked_at is null) as line
           from installer i join account o on o.id = i.organization_id join team t on t.organization_id = o.id
           join team_member m on m.team_id = t.id join account a on a.id = m.account_id
           join contract c on c.id = i.contract_id and c.owner_id = o.id where i.id = $1`,
        [installer],
      );
      assert.equal(rows.length, 1);
      assert.match(rows[0]?.line ?? '', /^standalone-\w{12} Owners wanda true$/);
    });

    it(`A reserved, taken or invalid administrator name is replaced by a similar one on ${driver}`, async () => {
      for (const [wished, expected] of [
        ['admin', /^admin-\w{12}$/],
        ['ann', /^ann-\w{12}$/],
        [`o'neil; rm -rf /`, /^oneilrmrf-\w{12}$/],
        [undefined, /^admin-\w{12}$/],
      ] as const) {
        const installer = await market.installer('A');
        const answer = await market.notify('A', binding(installer, { ...(wished && { adminUsername: wished }) }));
        assert.equal(answer.status, 200);
        const [row] = await market.rows<{ admin_login: string }>('select admin_login from installer where id = $1', [
          installer,
        ]);
        assert.match(row?.admin_login ?? '', expected);
      }
    });

    it(`A repeated bind on marketplace A links to the same archive, whatever its event type, on ${driver}`, async () => {
      const installer = await market.installer('A');
      const first = await market.notify('A', { eventType: 'subscribe-success', ...binding(installer) });
      const again = await market.notify('A', { eventType: 'subscribe-success', ...binding(installer) });
      const other = await market.notify('A', { eventType: 'BIND', ...binding(installer) });
      assert.deepEqual(again.body, first.body);
      assert.equal(other.status, 200);
      assert.equal(other.body.link.split('?')[0], first.body.link.split('?')[0]);
      assert.deepEqual(await organizationsOf(installer), 1n);
      const [row] = await market.rows<{ times: number }>(
        `select times from delivery where notification like $1 and event_type = 'subscribe-success'`,
        [`%${installer}%`],
      );
      assert.equal(row?.times, 2);
    });

    it(`Rebinding an installer to another cluster, account or application is rejected with 400 on ${driver}`, async () => {
      const a = await market.installer('A');
      assert.equal((await market.notify('A', binding(a, { cloudAAccountID: '1' }))).status, 200);
      assert.equal((await market.notify('A', binding(a, { clusterId: 'cluster-2' }))).status, 400);
      assert.equal((await market.notify('A', binding(a, { cloudAAccountID: '2' }))).status, 400);
      const b = await market.installer('B');
      const application = applicationId();
      const bind = (id: string, clusterId?: string) =>
        market.notify('B', { eventType: 'BIND', applicationId: id, bindingInfo: { installerID: b, clusterId } });
      assert.equal((await bind(application, 'one')).status, 200);
      assert.equal((await bind(application)).status, 200);
      assert.equal((await bind(application.toUpperCase().replace(/^\//, ''), 'one')).status, 200);
      assert.equal((await bind(application, 'two')).status, 400);
      assert.equal((await bind(applicationId(), 'one')).status, 400);
      assert.deepEqual(await organizationsOf(b), 1n);
    });

    it(`A marketplace C installer is bound once, and every later bind is rejected with 403 on ${driver}`, async () => {
      const { cloudC, cloudCBound, cloudCTest } = market.demo.installers;
      const bind = (id: string, query?: string) => market.notify('C', binding(id, { marketplace: 'CloudC' }), query);
      assert.equal((await bind(cloudC)).status, 200);
      for (let time = 0; time < 3; time++) {
        const again = await bind(cloudC);
        assert.deepEqual([again.status, again.body], [403, { message: 'the installer is already bound' }]);
      }
      assert.equal((await bind(cloudCBound)).status, 403);
      assert.equal((await bind(cloudCTest, '')).status, 200);
      assert.equal((await bind(cloudCTest, '')).status, 403);
    });

    it(`Exactly one of many concurrent binds of an installer succeeds on ${driver}`, async () => {
      const c = await market.installer('C');
      const wishes = Array.from({ length: 20 }, (_, index) =>
        market.notify('C', binding(c, { marketplace: 'CloudC', clusterId: `cluster-${index}` })),
      );
      const statuses = (await Promise.all(wishes)).map(({ status }) => status).sort();
      assert.deepEqual(statuses, [200, ...Array(19).fill(403)]);
      const b = await market.installer('B');
      const others = Array.from({ length: 20 }, () =>
        market.notify('B', { eventType: 'BIND', applicationId: applicationId(), bindingInfo: { installerId: b } }),
      );
      const answers = (await Promise.all(others)).map(({ status }) => status).sort();
      assert.deepEqual(answers, [200, ...Array(19).fill(400)]);
      assert.deepEqual([await organizationsOf(b), await organizationsOf(c)], [1n, 1n]);
    });

    it(`A bind writes one audit entry with the marketplace as its actor on ${driver}`, async () => {
      const installer = await market.installer('A');
      await market.notify('A', binding(installer), undefined, { 'X-Request-Id': 'bind-audit' });
      const rows = await market.rows<{ action: string; actor_name: string }>(
        `select action, actor_name from audit where request_id = 'bind-audit'`,
      );
      assert.deepEqual(rows, [{ action: 'installer.bind', actor_name: 'CloudA' }]);
    });

    async function organizationsOf(installer: string): Promise<bigint> {
      const [row] = await market.rows<{ count: bigint }>(
        `select count(*) from account o join contract c on c.owner_id = o.id join installer i on i.contract_id = c.id
          where i.id = $1`,
        [installer],
      );
      return row?.count ?? 0n;
    }
  });
}
