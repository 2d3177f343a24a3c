import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server.ts';
import { statement } from '../../support/statement.ts';

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

  it('The audit log names both the administrator and the user acted for', async () => {
    const role = { name: 'sudo role', permissions: [] };
    const made = await atrium.as('root')('POST', '/authz/roles?org=acme&sudo=ann', role);
    assert.equal(made.status, 201, made.text);
    const rows = await atrium.instance.db.query<{ actor_name: string; actor_id: bigint }>(
      statement('select actor_name, actor_id from audit order by id desc limit 1'),
    );
    assert.deepEqual(rows, [{ actor_name: 'root as ann', actor_id: atrium.world.users.ann?.id }]);
  });
});
