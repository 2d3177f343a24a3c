import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { chainFaults } from '../../support/checks/chain.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';

describe('Sudo', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('Administrators can act as another user with ?sudo= or the Sudo header, and ?sudo= takes precedence', async () => {
    const root = atrium.as('root');
    assert.equal((await root('GET', '/user?sudo=ann')).body.login, 'ann');
    assert.equal((await root('GET', '/user?sudo=ANN')).body.login, 'ann');
    assert.equal((await root('GET', '/user', undefined, { Sudo: 'bob' })).body.login, 'bob');
    assert.equal((await root('GET', '/user?sudo=ann', undefined, { Sudo: 'bob' })).body.login, 'ann');
    assert.equal((await root('GET', '/user?sudo=')).body.login, 'root');
    const { body } = await root('GET', '/user/teams?sudo=dan');
    assert.deepEqual(
      body.map(({ name }: { name: string }) => name),
      ['operators'],
    );
    assert.equal((await root('GET', '/user/emails?sudo=ann')).body[0].email, 'ann@example.com');
  });

  const refusals: readonly [who: string, query: string, status: number, message: string][] = [
    ['ann', 'sudo=bob', 403, 'Only administrators allowed to sudo.'],
    ['ann', 'sudo=ann', 403, 'Only administrators allowed to sudo.'],
    ['ann', 'sudo=nobody', 403, 'Only administrators allowed to sudo.'],
    ['root', 'sudo=nobody', 404, 'user does not exist'],
    ['root', 'sudo=acme', 404, 'user does not exist'],
    ['root', 'sudo=ann&sudo=bob', 404, 'user does not exist'],
    ['root', 'sudo=%E2%84%AAat', 404, 'user does not exist'],
  ];
  for (const [who, query, status, message] of refusals) {
    it(`GET /user?${query} as ${who} is answered with ${status}`, async () => {
      const answer = await atrium.as(who)('GET', `/user?${query}`);
      assert.deepEqual([answer.status, answer.body.message], [status, message]);
    });
  }

  it('An administrator who acts as another user has only the rights of that user', async () => {
    const root = atrium.as('root');
    assert.equal((await root('GET', '/authz/roles?org=acme')).status, 200);
    assert.equal((await root('GET', '/authz/roles?org=acme&sudo=eve')).status, 403);
    assert.equal((await root('GET', '/users/ann/tokens?sudo=eve')).status, 403);
  });

  it('Sudo does not extend the scopes of the token', async () => {
    const accountId = atrium.world.users.root?.id ?? 0n;
    const { text } = await atrium.instance.identity.tokens.issue({ accountId, name: 'narrow', scopes: ['read:user'] });
    const headers = { Authorization: `token ${text}` };
    assert.equal((await atrium.as()('GET', '/user?sudo=ann', undefined, headers)).body.login, 'ann');
    const refused = await atrium.as()('PUT', '/user/following/bob?sudo=cat', undefined, headers);
    assert.match(refused.body.message, /required=\[write:user\]/);
  });

  it('The audit log has what an administrator does for another user under the administrator', async () => {
    const role = { name: 'sudo role', permissions: [] };
    const made = await atrium.as('root')('POST', '/authz/roles?org=acme&sudo=ann', role);
    assert.equal(made.status, 201, made.text);
    const [root, ann] = [Number(atrium.world.users.root?.id), Number(atrium.world.users.ann?.id)];
    const about = `object=role:${made.body.id}`;
    const list = async (query: string) =>
      (await atrium.as('ann')('GET', `/orgs/acme/audit?${about}&${query}`)).body.items;
    for (const query of ['', 'actor=root', `actor=${root}`]) {
      const [{ actor, on_behalf_of }] = await list(query);
      assert.deepEqual(
        [actor, on_behalf_of],
        [
          { id: root, name: 'root' },
          { id: ann, name: 'ann' },
        ],
      );
    }
    assert.deepEqual(await list('actor=ann'), [], 'ann did nothing');
    await atrium.as('ann')('DELETE', `/authz/roles/${made.body.id}?org=acme`);
    const [own] = await list('actor=ann');
    assert.deepEqual([own.actor.name, 'on_behalf_of' in own], ['ann', false]);
  });

  it('Beginning to view the deployment as another user is in the audit log, under the administrator', async () => {
    const root = atrium.as('root');
    assert.equal((await root('POST', '/admin/users/DAN/view-as')).status, 204);
    const { body } = await root('GET', '/admin/audit?action=user.view_as');
    const [{ actor, object, after, organization_id }] = body.items;
    const dan = Number(atrium.world.users.dan?.id);
    assert.deepEqual([actor.name, object.type, object.id, after], ['root', 'user', dan, { username: 'dan' }]);
    assert.equal(organization_id, 0);
    assert.equal(body.items.length, 1);
  });

  it('Nobody can be viewed who cannot sign in, and only site administrators can view others', async () => {
    const root = atrium.as('root');
    for (const [username, more] of [
      ['idle', { active: false }],
      ['barred', { prohibit_login: true }],
    ] as const) {
      await root('POST', '/admin/users', { username, email: `${username}@example.com`, ...more });
      const { status, body } = await root('POST', `/admin/users/${username}/view-as`);
      assert.deepEqual([status, body.message], [409, `${username} cannot sign in, so there is nothing that they see`]);
    }
    for (const [who, username, status] of [
      [undefined, 'dan', 401],
      ['ann', 'dan', 403],
      ['root', 'nobody', 404],
      ['root', 'acme', 404],
    ] as const) {
      const answer = await atrium.as(who)('POST', `/admin/users/${username}/view-as`);
      assert.equal(answer.status, status, answer.text);
    }
    assert.equal((await root('POST', '/admin/users/dan/view-as?sudo=ann')).status, 403);
    const { body } = await root('GET', '/admin/audit?action=user.view_as');
    assert.equal(body.items.length, 1, 'only the one that began');
  });

  it('Entries on behalf of another user and older ones verify, and a forged user breaks the chain', async () => {
    const verify = async () => (await atrium.as('ann')('GET', '/orgs/acme/audit/verify')).body;
    const change = (text: string) => atrium.instance.db.query<{ id: bigint }>(statement(text));
    assert.equal((await verify()).ok, true);
    const { text } = await atrium.as('ann')('GET', '/orgs/acme/audit/export');
    assert.deepEqual(chainFaults(text), []);
    assert.match(text, /"on_behalf_of":\{"id":\d+,"name":"ann"\}/);
    const [sudo] = await change(`select id from audit where on_behalf_id is not null order by id limit 1`);
    const [plain] = await change(
      `select id from audit where organization_id = ${atrium.world.orgs.acme?.id} and on_behalf_id is null order by id limit 1`,
    );
    for (const [id, column, forged] of [
      [sudo?.id, 'on_behalf_id', 'on_behalf_id + 1'],
      [sudo?.id, 'on_behalf_name', `'bob'`],
      [sudo?.id, 'on_behalf_name', 'null'],
      [plain?.id, 'on_behalf_id', '1'],
      [plain?.id, 'on_behalf_name', `'bob'`],
    ] as const) {
      await change(`alter table audit add column kept text`);
      await change(`update audit set kept = ${column}::text, ${column} = ${forged} where id = ${id} returning id`);
      assert.deepEqual(
        [(await verify()).ok, (await verify()).first_broken_id],
        [false, Number(id)],
        `${column} ${forged}`,
      );
      await change(
        `update audit set ${column} = kept::${column === 'on_behalf_id' ? 'bigint' : 'text'} where id = ${id}`,
      );
      await change(`alter table audit drop column kept`);
    }
    assert.equal((await verify()).ok, true);
  });
});
