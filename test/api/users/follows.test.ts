import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';

for (const driver of API_DRIVERS) {
  describe(`Follows on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const call = async (name: string, method: string, who: string) => {
      const answer = await atrium.as(name)(method, `/user/following/${who}`);
      assert.equal(answer.text === '', answer.status === 204);
      return answer.status;
    };
    const list = async (name: string, which: 'followers' | 'following') => {
      const { body, headers } = await atrium.as(name)('GET', `/user/${which}?limit=50`);
      const logins = body.map(({ login }: { login: string }) => login);
      assert.equal(headers.get('x-total-count'), String(logins.length));
      return logins;
    };

    it(`Following and unfollowing are idempotent, and both lists are newest first, on ${driver}`, async () => {
      for (const who of ['ann', 'bob', 'ANN', 'ann', 'dan']) assert.equal(await call('cat', 'PUT', who), 204, who);
      assert.deepEqual(await list('cat', 'following'), ['dan', 'bob', 'ann']);
      assert.deepEqual(await list('ann', 'followers'), ['cat', 'bob']);
      assert.equal(await call('cat', 'GET', 'Ann'), 204);
      assert.equal(await call('cat', 'DELETE', 'aNN'), 204);
      assert.equal(await call('cat', 'DELETE', 'ann'), 204);
      assert.equal(await call('cat', 'GET', 'ann'), 404);
      assert.equal(await call('cat', 'PUT', 'ann'), 204);
      assert.deepEqual(await list('cat', 'following'), ['ann', 'dan', 'bob']);
      assert.deepEqual(await list('ann', 'followers'), ['cat', 'bob']);
    });

    it(`Follow lists show the public view of users on ${driver}`, async () => {
      await atrium.instance.db.query(
        statement(
          `update account set language = 'en-US', last_login_at = now(), full_name = 'Cat', location = 'Rome' where name = 'cat'`,
        ),
      );
      const [cat] = (await atrium.as('ann')('GET', '/user/followers')).body;
      const { id, created, ...rest } = cat;
      assert.equal(id, Number(atrium.world.users.cat?.id));
      assert.match(created, /Z$/);
      assert.deepEqual(rest, {
        login: 'cat',
        username: 'cat',
        full_name: 'Cat',
        email: 'cat@example.com',
        avatar_url: `${atrium.url}/avatars/cat`,
        language: '',
        is_admin: false,
        last_login: '1970-01-01T00:00:00Z',
        type: 0,
        active: false,
        prohibit_login: false,
        location: 'Rome',
        website: '',
        description: '',
        orgAdmin: false,
      });
      await call('dan', 'PUT', 'root');
      assert.equal((await atrium.as('dan')('GET', '/user/following')).body[0].is_admin, false);
    });

    it(`orgAdmin is true for users who own or administer an organization on ${driver}`, async () => {
      const told = async (name: string, which: string) =>
        (await atrium.as(name)('GET', `/user/${which}`)).body.map(
          (one: { login: string; orgAdmin: boolean }) => `${one.login} ${one.orgAdmin}`,
        );
      assert.deepEqual(await told('cat', 'following'), ['ann true', 'dan false', 'bob false']);
      const team = await atrium.as('ann')('POST', '/orgs/acme/teams', { name: 'keepers', permission: 'admin' });
      assert.equal(team.status, 201, team.text);
      assert.equal((await atrium.as('ann')('PUT', `/teams/${team.body.id}/members/bob`)).status, 204);
      assert.deepEqual(await told('cat', 'following'), ['ann true', 'dan false', 'bob true']);
      assert.deepEqual(await told('bob', 'followers'), ['cat false', 'ann true']);
      assert.equal((await atrium.as('eve')('GET', '/users/bob')).body.orgAdmin, true);
      assert.equal((await atrium.as('eve')('GET', '/users/search?q=ann')).body.data[0].orgAdmin, true);
      for (const path of ['/orgs/acme/members', `/teams/${team.body.id}/members`]) {
        const { body } = await atrium.as('ann')('GET', path);
        assert.equal(body.find((one: { login: string }) => one.login === 'bob').orgAdmin, true, path);
      }
      assert.equal((await atrium.as('ann')('DELETE', `/teams/${team.body.id}`)).status, 204);
      assert.deepEqual(await told('cat', 'following'), ['ann true', 'dan false', 'bob false']);
    });

    it(`Following oneself is accepted but not stored on ${driver}`, async () => {
      const before = await list('eve', 'following');
      for (const who of ['eve', 'EVE']) {
        assert.equal(await call('eve', 'PUT', who), 204);
        assert.equal(await call('eve', 'GET', who), 404);
        assert.equal(await call('eve', 'DELETE', who), 204);
      }
      assert.deepEqual(await list('eve', 'following'), before);
    });

    const unknown = ['nobody', 'ann@example.com', '%20ann', `${'a'.repeat(300)}`, '%E2%84%AAate', 'a%2Fb'];
    for (const who of unknown) {
      it(`/user/following/${who.slice(0, 30)} is answered with 404 and a message on ${driver}`, async () => {
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const answer = await atrium.as('ann')(method, `/user/following/${who}`);
          assert.equal(answer.status, 404, method);
          assert.equal(answer.body.url, `${atrium.url}/api/v1/docs`);
          assert.match(answer.body.message, method === 'GET' ? /^not found$/ : /^user does not exist: /);
        }
      });
    }

    it(`An organization cannot be followed, and is answered like an unknown name, on ${driver}`, async () => {
      const { id } = atrium.world.orgs.acme ?? assert.fail('no acme');
      assert.equal((await atrium.as('ann')('PATCH', '/orgs/acme', { visibility: 'private' })).status, 200);
      for (const name of ['ann', 'eve', 'root']) {
        const before = await list(name, 'following');
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const [acme, nobody] = await Promise.all(
            ['ACME', 'no-such-name'].map((who) => atrium.as(name)(method, `/user/following/${who}`)),
          );
          assert.equal(acme?.status, 404, method);
          assert.equal(acme?.text, nobody?.text.replaceAll('no-such-name', 'ACME'), method);
        }
        assert.deepEqual(await list(name, 'following'), before);
      }
      // Also without the rules of the server.
      const follow = 'insert into follow (follower_id, followed_id, seq) values ($1, $2, 0) returning id';
      assert.deepEqual(await atrium.instance.db.query(statement(follow), [atrium.world.users.eve?.id, id]), []);
    });

    it(`Follow requests accept a JSON content type without a body on ${driver}`, async () => {
      const json = { 'Content-Type': 'application/json' };
      for (const method of ['PUT', 'GET', 'DELETE']) {
        assert.equal((await atrium.as('eve')(method, '/user/following/bob', undefined, json)).status, 204, method);
      }
    });
  });
}
