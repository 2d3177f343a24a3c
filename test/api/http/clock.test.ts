import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';

const SECOND_MS = 1000;
const DAY_MS = 86_400 * SECOND_MS;
const JUMPS: readonly (readonly [string, number])[] = [
  ['back by 65 seconds', -65 * SECOND_MS],
  ['back by an hour', -3600 * SECOND_MS],
  ['back by a day', -DAY_MS],
  ['back by ten years', -3650 * DAY_MS],
  ['forward by an hour', 3600 * SECOND_MS],
];

for (const driver of COUNTED_DRIVERS) {
  describe(`A clock that is set on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, env: { RATE_LIMIT: '1000', AUTH_FAILURES: '6' } });
    });
    after(() => atrium.close());

    const basic = (password = '') => ({ Authorization: `Basic ${Buffer.from(`ann:${password}`).toString('base64')}` });
    const everyone = async () => {
      const right = basic(atrium.world.users.ann?.password);
      const answers = [
        await atrium.as('ann')('GET', '/user'),
        await atrium.as('bob')('GET', '/user'),
        await atrium.as()('GET', '/version'),
        await atrium.as()('GET', '/user', undefined, right),
      ];
      return answers.map(({ status }) => status);
    };

    for (const [jump, ms] of JUMPS) {
      it(`Nobody is kept out after the clock was set ${jump} on ${driver}`, async (t) => {
        const now = Date.now();
        t.mock.timers.enable({ apis: ['Date'], now });
        assert.deepEqual(await everyone(), [200, 200, 200, 200]);
        assert.equal((await atrium.as()('GET', '/user', undefined, basic('wrong'))).status, 401);
        t.mock.timers.setTime(Math.max(0, now + ms));
        assert.deepEqual(await everyone(), [200, 200, 200, 200]);
        t.mock.timers.setTime(now);
        assert.deepEqual(await everyone(), [200, 200, 200, 200]);
      });
    }

    it(`A clock that is set forward does not refill what failed sign-ins have used up on ${driver}`, async (t) => {
      const now = Date.now();
      t.mock.timers.enable({ apis: ['Date'], now });
      const guess = () => atrium.as()('POST', '/user/signin', { username: 'eve', password: 'wrong' });
      for (let time = 0; time < 6; time++) assert.equal((await guess()).status, 404);
      t.mock.timers.setTime(now + DAY_MS);
      assert.equal((await guess()).status, 429);
    });

    it(`The last use of a token is shown even if an earlier one was noted in the future on ${driver}`, async () => {
      await atrium.instance.db.query(statement(`update token set last_used_at = now() + interval '1 day'`));
      const [token] = (await atrium.as('dan')('GET', '/users/dan/tokens')).body;
      assert.ok(Date.parse(token.last_used_at) < Date.now() + 60_000, token.last_used_at);
    });
  });
}
