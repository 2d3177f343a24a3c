import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keepLastBackup } from '../../../src/db/last-backup.store.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';

const DAY_MS = 86_400_000;

for (const driver of API_DRIVERS) {
  describe(`What a page needs at load on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const contextOf = async (name: string, query = '') => {
      const { status, body, text } = await atrium.as(name)('GET', `/user/context${query}`);
      assert.equal(status, 200, text);
      return body;
    };

    it(`The context has what four calls say about the caller, the organization and an object on ${driver}`, async () => {
      const team = Number(atrium.world.orgs.acme?.teams.operators);
      const { user, organization, allowed, revision, ...rest } = await contextOf(
        'bob',
        `?org=ACME&object=team:${team}`,
      );
      assert.deepEqual(user, (await atrium.as('bob')('GET', '/user')).body);
      assert.deepEqual(organization, (await atrium.as('bob')('GET', '/orgs/acme')).body);
      const objects = [
        { objectType: 'organization', objectID: organization.id },
        { objectType: 'team', objectID: team },
      ];
      const asked = await atrium.as('bob')('POST', '/authz/objects/allowed-permissions?org=acme', objects);
      assert.deepEqual(allowed, asked.body);
      assert.ok(allowed.every((one: { allowedPermissions: string[] }) => one.allowedPermissions.length > 0));
      assert.deepEqual(rest, { notices: { tokens: [], unverified_emails: [], memberships: [] } });
      const { text } = await atrium.as('bob')('GET', '/events?org=acme&follow=false');
      assert.match(text, new RegExp(`"revision":"${revision}"`), 'events continue where the page was loaded');
    });

    it(`A lost permission is missing from the next context on ${driver}`, async () => {
      const { name } = await makePerson(atrium);
      const org = await makeOrganization(atrium, 'ann');
      const members = `/teams/${org.team('Viewers')}/members/${name}`;
      await atrium.as('ann')('PUT', members);
      assert.equal((await contextOf(name, `?org=${org.name}`)).organization.name, org.name);
      await atrium.as('ann')('DELETE', members);
      const { organization, allowed } = await contextOf(name, `?org=${org.name}`);
      assert.deepEqual([organization, allowed], [undefined, []]);
    });

    it(`An organization that the caller may not see looks like one that does not exist on ${driver}`, async () => {
      for (const query of ['', '?org=nothing-like-this', '?org=acme', '?org=acme&object=team:1', '?org=%E2%84%AA']) {
        const { user, organization, allowed } = await contextOf('eve', query);
        assert.deepEqual([user.login, organization, allowed], ['eve', undefined, []], query);
      }
      assert.equal((await contextOf('root', '?org=acme')).organization.name, 'acme');
    });

    it(`Of an object of another organization, nothing is allowed on ${driver}`, async () => {
      const { id } = atrium.world.clusters.prod ?? assert.fail('no cluster');
      const { allowed } = await contextOf('eve', `?org=globex&object=cluster:${id}`);
      assert.deepEqual(
        allowed.map((one: { objectType: string; allowedPermissions: string[] }) => [
          one.objectType,
          one.allowedPermissions.length > 0,
        ]),
        [
          ['organization', true],
          ['cluster', false],
        ],
      );
    });

    it(`Notices name tokens that end within 30 days and addresses that are not verified on ${driver}`, async (t) => {
      const now = Date.now();
      t.mock.timers.enable({ apis: ['Date'], now });
      const { name, id } = await makePerson(atrium);
      const ends = { gone: -DAY_MS, soon: DAY_MS, edge: 30 * DAY_MS - 1, later: 30 * DAY_MS };
      for (const [token, ms] of Object.entries(ends)) {
        await atrium.instance.db.query(
          statement(`insert into token (account_id, name, hash, last_eight, scopes, expires_at)
                     values ($1, $2, $3, '', '{}', $4)`),
          [id, token, Buffer.from(`${name} ${token}`), new Date(now + ms)],
        );
      }
      await atrium.instance.db.query(
        statement('insert into email (account_id, address, verified, is_primary) values ($1, $2, false, false)'),
        [id, `second.${name}@example.com`],
      );
      const viewers = atrium.world.orgs.acme?.teams.Viewers;
      const editors = atrium.world.orgs.acme?.teams.Editors;
      const soon = new Date(now + DAY_MS).toISOString();
      for (const [team, expires_at] of [
        [viewers, soon],
        [editors, new Date(now + 31 * DAY_MS).toISOString()],
      ]) {
        const put = await atrium.as('ann')('PUT', `/teams/${team}/members/${name}`, { expires_at });
        assert.equal(put.status, 204, put.text);
      }
      const { notices } = await contextOf(name);
      assert.deepEqual(notices.memberships, [
        {
          team: { id: Number(viewers), name: 'Viewers' },
          organization: 'acme',
          expires_at: soon.replace('.000Z', 'Z'),
        },
      ]);
      assert.deepEqual(
        notices.tokens.map((token: { name: string }) => token.name),
        ['gone', 'soon', 'edge'],
      );
      assert.ok(notices.unverified_emails.includes(`second.${name}@example.com`), JSON.stringify(notices));
    });

    it(`The context rejects wrong objects, other people, and tokens of single areas on ${driver}`, async () => {
      for (const object of ['team', 'team:', 'team:x', 'spoon:1', ':1', 'team:0']) {
        const { status } = await atrium.as('ann')('GET', `/user/context?org=acme&object=${object}`);
        assert.equal(status, 400, object);
      }
      const others = await atrium.as('ann')('GET', `/user/context?org=acme&object=user:${atrium.world.users.bob?.id}`);
      assert.equal(others.status, 403);
      const scopes = ['read:user', 'read:organization', 'read:authz'];
      const accountId = BigInt(atrium.world.users.ann?.id ?? 0);
      const { text } = await atrium.instance.identity.tokens.issue({ accountId, name: 'areas', scopes });
      const headers = { Authorization: `token ${text}` };
      const limited = await atrium.as('ann')('GET', '/user/context?org=acme', undefined, headers);
      assert.equal(limited.status, 403);
    });

    it(`Site administrators, and nobody else, can count what the deployment has on ${driver}`, async () => {
      const root = atrium.as('root');
      const totals = await Promise.all(
        ['/admin/users', '/admin/orgs', '/admin/orgs?ownerless=true'].map(async (path) => {
          const { headers } = await root('GET', path);
          return Number(headers.get('x-total-count'));
        }),
      );
      const { body } = await root('GET', '/admin/overview');
      const { administrators, administrators_without_factor, last_backup_at, ...counts } = body;
      assert.deepEqual(Object.values(counts), totals);
      assert.deepEqual(Object.keys(counts), ['users', 'organizations', 'ownerless_organizations']);
      assert.deepEqual([administrators, administrators_without_factor, last_backup_at], [1, 1, null]);
      assert.equal((await atrium.as('ann')('GET', '/admin/overview')).status, 403);
    });

    it(`The facts about how safe a deployment is follow what is done about it on ${driver}`, async () => {
      const root = atrium.as('root');
      const safety = async () => {
        const { body } = await root('GET', '/admin/overview');
        return [body.administrators, body.administrators_without_factor];
      };
      const second = await makePerson(atrium);
      assert.equal((await root('PATCH', `/admin/users/${second.name}`, { admin: true })).status, 200);
      assert.deepEqual(await safety(), [2, 2]);
      await atrium.instance.db.query(statement('update account set has_factor = true where id = $1'), [second.id]);
      assert.deepEqual(await safety(), [2, 1]);
      assert.equal((await root('PATCH', `/admin/users/${second.name}`, { active: false })).status, 200);
      assert.deepEqual(await safety(), [1, 1]);
      await keepLastBackup(atrium.instance.db.query);
      const { last_backup_at } = (await root('GET', '/admin/overview')).body;
      assert.ok(Math.abs(Date.now() - Date.parse(last_backup_at)) < 60_000, last_backup_at);
    });
  });
}
