import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';

const FANS = Array.from({ length: 45 }, (_, index) => `fan${String(index + 1).padStart(2, '0')}`);

for (const driver of COUNTED_DRIVERS) {
  describe(`Concurrent follows and deleted accounts on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
      for (const fan of FANS) {
        const id = atrium.world.users[fan]?.id ?? 0n;
        tokens.set(
          fan,
          (await atrium.instance.identity.tokens.issue({ accountId: id, name: 'x', scopes: ['all'] })).text,
        );
      }
    });
    after(() => atrium.close());

    const tokens = new Map<string, string>();
    const call = (name: string, method: string, path: string) =>
      atrium.as()(method, path, undefined, {
        Authorization: `token ${tokens.get(name) ?? atrium.world.users[name]?.token}`,
      });
    const query = <Row extends object>(text: string) => atrium.instance.db.query<Row>(statement(text));
    /** The accounts whose counters differ from an actual count. */
    const wrongCounters = () =>
      query<{ name: string }>(
        `select name from account a
          where followers <> (select count(*) from follow where followed_id = a.id)
             or followings <> (select count(*) from follow where follower_id = a.id)
             or followers <> (select coalesce(sum(count), 0) from follow_block where followed_id = a.id)`,
      );
    const logins = async (name: string, path: string) =>
      (await call(name, 'GET', path)).body.map(({ login }: { login: string }) => login);

    it(`Two users who follow each other concurrently do not deadlock on ${driver}`, async () => {
      for (let round = 0; round < COUNTS.mutualFollowRounds; round++) {
        const answers = await Promise.all(
          ['PUT', 'DELETE', 'PUT'].flatMap((method) => [
            call('cat', method, '/user/following/dan'),
            call('dan', method, '/user/following/cat'),
          ]),
        );
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204]));
      }
      assert.deepEqual(await wrongCounters(), []);
    });

    it(`Concurrent followers of one user are each counted and listed once on ${driver}`, async () => {
      const answers = await Promise.all(
        [...FANS, ...FANS].map((fan) => call(fan, 'PUT', '/user/following/eve').then(({ status }) => status)),
      );
      assert.deepEqual(new Set(answers), new Set([204]));
      const { body, headers } = await call('eve', 'GET', '/user/followers?limit=50');
      assert.equal(headers.get('x-total-count'), '45');
      assert.deepEqual(body.map(({ login }: { login: string }) => login).sort(), FANS);
      assert.deepEqual(await wrongCounters(), []);
    });

    it(`Concurrent follows and unfollows leave the correct follower count on ${driver}`, async () => {
      const answers = await Promise.all(
        FANS.map((fan, index) => call(fan, index % 2 ? 'DELETE' : 'PUT', '/user/following/eve')),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204]));
      assert.equal((await call('eve', 'GET', '/user/followers')).headers.get('x-total-count'), '23');
      assert.deepEqual(await wrongCounters(), []);
    });

    it(`A deleted account disappears from every follow list and count on ${driver}`, async () => {
      await call('fan01', 'PUT', '/user/following/fan02');
      await call('fan02', 'PUT', '/user/following/fan01');
      const before = await logins('root', '/user/followers?limit=50');
      await query(`delete from account where name in ('fan01', 'fan45')`);
      assert.deepEqual(await wrongCounters(), []);
      const { body, headers } = await call('root', 'GET', '/user/followers?limit=20&page=3');
      assert.equal(headers.get('x-total-count'), '43');
      assert.equal(body.length, 3);
      assert.deepEqual(
        await logins('root', '/user/followers?limit=50'),
        before.filter((login: string) => login !== 'fan01' && login !== 'fan45'),
      );
      assert.deepEqual(await logins('fan02', '/user/following'), ['root']);
      assert.equal((await call('ann', 'PUT', '/user/following/fan01')).status, 404);
    });

    it(`A follow by an account that was just deleted fails with notFound on ${driver}`, async () => {
      const { db, features } = atrium.instance;
      const gone = atrium.world.users.fan03?.id ?? 0n;
      await query(`delete from account where name = 'fan03'`);
      await assert.rejects(features.follows.follow(gone, 'ann'), {
        kind: 'notFound',
        message: 'user does not exist: ann',
      });
      assert.equal((await db.query(statement(`select from follow where follower_id = ${gone}`))).length, 0);
    });
  });
}
