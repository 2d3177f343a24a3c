import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { lastEntry, newUser, status } from '../../support/world/own-account.ts';

const MINUTE = 60_000;

for (const driver of API_DRIVERS) {
  describe(`The sessions of a user on ${driver}`, () => {
    let atrium: TestServer;
    let root: Call;
    before(async () => {
      atrium = await openTestServer({ driver });
      root = atrium.as('root');
    });
    after(() => atrium.close());

    const listed = async (call: Call, path = '/user/sessions') => {
      const answer = await call('GET', path);
      assert.equal(answer.status, 200, answer.text);
      return answer.body as { id: number; user_agent: string; ip: string; current: boolean }[];
    };

    it(`Users see where they are signed in, and which session they use on ${driver}`, async () => {
      const { signIn, token } = await newUser(atrium);
      const [here, there] = [await signIn(undefined, 'Firefox'), await signIn(undefined, `${'Opera'.repeat(100)}`)];
      const answer = await here('GET', '/user/sessions');
      assert.equal(answer.headers.get('x-total-count'), '2');
      const found = answer.body.find((one: { current: boolean }) => one.current);
      assert.deepEqual(Object.keys(found).sort(), [
        'created_at',
        'current',
        'expires_at',
        'id',
        'ip',
        'last_seen_at',
        'user_agent',
      ]);
      assert.deepEqual([found.user_agent, found.ip], ['Firefox', '127.0.0.1']);
      assert.ok(Date.parse(found.expires_at) > Date.parse(found.created_at));
      const other = (await listed(there)).find((one) => one.current);
      assert.notEqual(other?.id, found.id);
      assert.equal(other?.user_agent, 'Opera'.repeat(40));
      assert.ok((await listed(await token(['read:user']))).every((one) => !one.current));
      assert.equal((await here('GET', '/user/sessions?limit=1')).body.length, 1);
      assert.doesNotMatch(answer.text, /hash|csrf/);
    });

    it(`A session that is used later was seen later, to within five minutes on ${driver}`, async (t) => {
      const { signIn } = await newUser(atrium);
      const session = await signIn();
      const now = Math.floor(Date.now() / 1000) * 1000;
      const seen = async () => {
        const [one] = (await session('GET', '/user/sessions')).body;
        return Date.parse(one.last_seen_at);
      };
      const first = await seen();
      t.mock.timers.enable({ apis: ['Date'], now: now + 2 * MINUTE });
      assert.equal(await seen(), first);
      t.mock.timers.setTime(now + 7 * MINUTE);
      assert.equal(await seen(), now + 7 * MINUTE);
      // The clock was set back: the time in the future is corrected.
      t.mock.timers.setTime(now);
      await atrium.instance.identity.sessionUsage.flush();
      assert.equal(await seen(), now);
    });

    it(`An expired session is not listed and cannot be ended on ${driver}`, async (t) => {
      const { signIn, token } = await newUser(atrium);
      const call = await token();
      const [{ id } = assert.fail()] = await listed(await signIn());
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 25 * 60 * MINUTE });
      assert.deepEqual(await listed(call), []);
      assert.equal((await call('DELETE', `/user/sessions/${id}`)).status, 404);
    });

    it(`A session that its user ends elsewhere stops working at once on ${driver}`, async () => {
      const { id, login, signIn } = await newUser(atrium);
      const [here, there] = [await signIn(undefined, 'here'), await signIn(undefined, 'there')];
      const gone = (await listed(here)).find((one) => !one.current) ?? assert.fail();
      const answer = await here('DELETE', `/user/sessions/${gone.id}`);
      assert.deepEqual([answer.status, answer.headers.getSetCookie()], [204, []]);
      assert.deepEqual([await status(here), await status(there)], [200, 401]);
      const { was, ...entry } = await lastEntry(atrium, id);
      assert.deepEqual(entry, { action: 'session.end', actor: login, object: `session:${gone.id}`, is: null });
      assert.equal(was.userAgent, 'there');
      const again = await here('DELETE', `/user/sessions/${gone.id}`);
      assert.deepEqual([again.status, again.body.reason], [404, 'session_not_found']);
    });

    it(`Ending the session that one uses signs out on ${driver}`, async () => {
      const { signIn } = await newUser(atrium);
      const here = await signIn();
      const [{ id } = assert.fail()] = await listed(here);
      const answer = await here('DELETE', `/user/sessions/${id}`);
      assert.equal(answer.status, 204);
      for (const cookie of answer.headers.getSetCookie()) assert.match(cookie, /Max-Age=0/);
      assert.equal(await status(here), 401);
    });

    it(`Users end all their other sessions, with a token all of them on ${driver}`, async () => {
      const { id, login, signIn, token } = await newUser(atrium);
      const [here, one, two, call] = [await signIn(), await signIn(), await signIn(), await token(['write:user'])];
      const bystander = await (await newUser(atrium)).signIn();
      assert.equal((await here('DELETE', '/user/sessions')).status, 204);
      assert.deepEqual([await status(here), await status(one), await status(two)], [200, 401, 401]);
      const all = { action: 'session.end_all', actor: login, object: `user:${id}`, is: null };
      assert.deepEqual(await lastEntry(atrium, id), { ...all, was: { sessions: 2 } });
      assert.equal((await call('DELETE', '/user/sessions')).status, 204);
      assert.equal(await status(here), 401);
      assert.deepEqual(await lastEntry(atrium, id), { ...all, was: { sessions: 1 } });
      assert.equal((await call('DELETE', '/user/sessions')).status, 204);
      const entries = await auditOf(atrium.instance.db, id);
      assert.equal(entries.filter((entry) => entry.action === 'session.end_all').length, 2);
      assert.equal(await status(bystander), 200);
    });

    it(`Nobody ends the session of someone else, or one that does not exist on ${driver}`, async () => {
      const [ann, eve] = [await newUser(atrium), await newUser(atrium)];
      const session = await ann.signIn();
      const [{ id } = assert.fail()] = await listed(session);
      const other = await eve.signIn();
      for (const path of [`/user/sessions/${id}`, '/user/sessions/999999', `/user/sessions/${2n ** 63n - 1n}`]) {
        const answer = await other('DELETE', path);
        assert.deepEqual([answer.status, answer.body.reason], [404, 'session_not_found'], path);
      }
      for (const path of ['/user/sessions/0', '/user/sessions/x', `/user/sessions/${2n ** 63n}`]) {
        assert.equal((await other('DELETE', path)).status, 400, path);
      }
      for (const path of ['/user/sessions/1', '/user/sessions']) {
        assert.equal((await other('DELETE', path, undefined, { 'X-Csrf-Token': 'no' })).status, 403);
        assert.equal((await atrium.as()('DELETE', path)).status, 401);
      }
      assert.equal((await (await eve.token(['read:user']))('DELETE', '/user/sessions')).status, 403);
      assert.equal(await status(session), 200);
    });

    it(`Only site administrators see and end the sessions of others on ${driver}`, async () => {
      const { id, login, signIn } = await newUser(atrium);
      const session = await signIn();
      const path = `/admin/users/${login}/sessions`;
      for (const method of ['GET', 'DELETE']) {
        assert.equal((await session(method, path)).status, 403);
        assert.equal((await atrium.as('ann')(method, path)).status, 403);
        assert.equal((await root(method, '/admin/users/nobody-at-all/sessions')).status, 404);
      }
      const [found] = await listed(root, path);
      assert.deepEqual([found?.user_agent, found?.current], ['test browser', false]);
      assert.equal((await listed(root, `/user/sessions?sudo=${login}`))[0]?.id, found?.id);
      assert.equal((await root('DELETE', path)).status, 204);
      assert.equal(await status(session), 401);
      assert.deepEqual((await lastEntry(atrium, id)).actor, 'root');
    });
  });
}
