import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { basic, lastEntry, newUser, PASSWORD } from '../../support/world/own-account.ts';
import { addApp, addPasskey, createBrowser, firstStep, ok, outcome } from '../../support/world/second-factors.ts';

const MINUTE = 60_000;

for (const driver of API_DRIVERS) {
  describe(`Signing in with a second factor on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, env: { AUTH_FAILURES: '1000' } });
    });
    after(() => atrium.close());

    /** Somebody with an authenticator app, and the browser in which they added it. */
    const withApp = async () => {
      const user = await newUser(atrium);
      const { browser } = await firstStep(atrium, user.login);
      return { ...user, browser, ...(await addApp(browser)) };
    };
    const finish = (login: string, body: object) =>
      firstStep(atrium, login).then(({ browser }) => browser('POST', '/user/signin/factor', body));

    it(`The password alone opens nothing, and the code opens a session on ${driver}`, async () => {
      const { login, id, app } = await withApp();
      const { browser, answer } = await firstStep(atrium, login);
      assert.deepEqual(outcome(answer), [401, 'second_factor_required']);
      assert.deepEqual(answer.body.second_factor, { methods: ['totp', 'recovery_code'] });
      const [cookie = ''] = answer.headers.getSetCookie();
      assert.match(cookie, /^atrium_signin=[^;]+; Path=\/api\/v1\/user; HttpOnly; SameSite=Strict; Expires=/);
      assert.equal(answer.headers.getSetCookie().length, 1);
      assert.equal((await browser('GET', '/user')).status, 401);
      const opened = await browser('POST', '/user/signin/factor', { code: app.code() });
      assert.equal(ok(opened).login, login);
      assert.equal(ok(await browser('GET', '/user')).login, login);
      assert.deepEqual([...browser.cookies.keys()].sort(), ['_csrf', 'atrium_session']);
      assert.equal((await lastEntry(atrium, id)).action, 'factor.create');
    });

    it(`Whoever does not know the password learns nothing about second factors on ${driver}`, async () => {
      const { login } = await withApp();
      const plain = await newUser(atrium);
      for (const name of [login, plain.login, 'nobody-at-all']) {
        const { answer } = await firstStep(atrium, name, createBrowser(atrium), 'wrong password');
        const { message, reason, ...others } = answer.body;
        assert.deepEqual([answer.status, reason, Object.keys(others)], [404, 'user_not_found', ['url']], message);
        assert.deepEqual(answer.headers.getSetCookie(), []);
        const refused = await atrium.as()('GET', '/user', undefined, basic(name, 'wrong password'));
        assert.deepEqual(outcome(refused), [401, 'unauthenticated']);
      }
    });

    it(`Basic authentication with the password is rejected with a reason, and tokens work on on ${driver}`, async () => {
      const { login, token } = await withApp();
      const refused = await atrium.as()('GET', '/user', undefined, basic(login, PASSWORD));
      assert.deepEqual(outcome(refused), [401, 'second_factor_required']);
      const program = await token();
      assert.equal(ok(await program('GET', '/user')).login, login);
      assert.equal(ok(await atrium.as()('GET', '/user', undefined, basic(login, program.text))).login, login);
      assert.equal((await atrium.as()('POST', '/user/signin', { token: program.text })).status, 200);
    });

    it(`A code works once, and the code of the step before or after is accepted on ${driver}`, async (t) => {
      const { login, app } = await withApp();
      const later = Date.now() + 10 * MINUTE;
      t.mock.timers.enable({ apis: ['Date'], now: later });
      for (const steps of [-1, 0, 1]) {
        const code = app.code(steps);
        assert.equal((await finish(login, { code: `${code.slice(0, 3)} ${code.slice(3)}` })).status, 200, `${steps}`);
        assert.deepEqual(outcome(await finish(login, { code })), [401, 'wrong_code'], `${steps} again`);
      }
      t.mock.timers.setTime(later + 5 * MINUTE);
      for (const steps of [-2, 2]) {
        assert.deepEqual(outcome(await finish(login, { code: app.code(steps) })), [401, 'wrong_code'], `${steps}`);
      }
    });

    it(`The code, the recovery code and the ticket of one person are worth nothing to another on ${driver}`, async () => {
      const [ann, eve] = [await withApp(), await withApp()];
      assert.deepEqual(outcome(await finish(ann.login, { code: eve.app.code() })), [401, 'wrong_code']);
      const [code] = eve.codes ?? [];
      assert.deepEqual(outcome(await finish(ann.login, { recovery_code: code })), [401, 'wrong_code']);
      // A ticket that was planted in the browser of somebody else names the one whom it was given to.
      const { browser } = await firstStep(atrium, eve.login);
      const victim = createBrowser(atrium);
      victim.cookies.set('atrium_signin', browser.cookies.get('atrium_signin') ?? '');
      assert.deepEqual(outcome(await victim('POST', '/user/signin/factor', { code: ann.app.code() })), [
        401,
        'wrong_code',
      ]);
    });

    it(`The session is a new one, whatever the browser had before the second step on ${driver}`, async () => {
      const [ann, eve] = [await withApp(), await newUser(atrium)];
      const { browser } = await firstStep(atrium, eve.login);
      const planted = browser.cookies.get('atrium_session');
      await firstStep(atrium, ann.login, browser);
      assert.equal(ok(await browser('GET', '/user')).login, eve.login, 'the first step changes no session');
      assert.equal((await browser('POST', '/user/signin/factor', { code: ann.app.code() })).status, 200);
      assert.notEqual(browser.cookies.get('atrium_session'), planted);
      const attacker = createBrowser(atrium);
      attacker.cookies.set('atrium_session', planted ?? '');
      assert.equal((await attacker('GET', '/user')).status, 401, 'what is replaced has ended');
    });

    it(`A ticket works once, for five minutes, and only as long as the password is the same on ${driver}`, async (t) => {
      const { login, app, codes = [], browser: session } = await withApp();
      const { browser } = await firstStep(atrium, login);
      const ticket = browser.cookies.get('atrium_signin') ?? '';
      assert.equal((await browser('POST', '/user/signin/factor', { code: app.code() })).status, 200);
      const again = createBrowser(atrium);
      again.cookies.set('atrium_signin', ticket);
      const expired = [401, 'sign_in_expired'];
      assert.deepEqual(outcome(await again('POST', '/user/signin/factor', { recovery_code: codes[0] })), expired);
      for (const broken of ['', 'x', `${ticket}x`, ticket.replace(/^./, 'X')]) {
        again.cookies.set('atrium_signin', broken);
        assert.deepEqual(outcome(await again('POST', '/user/signin/factor', { recovery_code: codes[1] })), expired);
      }
      const late = await firstStep(atrium, login);
      const changed = await firstStep(atrium, login);
      const wanted = { current: PASSWORD, new: `${PASSWORD} 2` };
      assert.equal((await session('PUT', '/user/password', wanted)).status, 204);
      assert.deepEqual(
        outcome(await changed.browser('POST', '/user/signin/factor', { recovery_code: codes[2] })),
        expired,
      );
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 5 * MINUTE });
      assert.deepEqual(
        outcome(await late.browser('POST', '/user/signin/factor', { recovery_code: codes[3] })),
        expired,
      );
    });

    it(`A ticket that was used stays used, whatever the clock of another replica says on ${driver}`, async (t) => {
      const [one, other] = [await withApp(), await withApp()];
      const { browser } = await firstStep(atrium, one.login);
      const ticket = browser.cookies.get('atrium_signin') ?? assert.fail('no ticket');
      ok(await browser('POST', '/user/signin/factor', { code: one.app.code() }));
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * MINUTE });
      ok(await finish(other.login, { code: other.app.code() }));
      t.mock.timers.reset();
      browser.cookies.set('atrium_signin', ticket);
      const again = await browser('POST', '/user/signin/factor', { recovery_code: one.codes?.[0] });
      assert.deepEqual(outcome(again), [401, 'sign_in_expired']);
    });

    it(`Each recovery code works once, and new ones replace them all on ${driver}`, async () => {
      const { login, id, codes = [], browser } = await withApp();
      assert.equal(new Set(codes).size, 10);
      for (const code of codes) assert.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
      const [first = '', second = ''] = codes;
      assert.equal((await finish(login, { recovery_code: first.toUpperCase().replaceAll('-', ' ') })).status, 200);
      assert.deepEqual(await lastEntry(atrium, id), {
        action: 'recovery_codes.use',
        actor: login,
        object: `user:${id}`,
        was: null,
        is: { left: 9 },
      });
      assert.deepEqual(outcome(await finish(login, { recovery_code: first })), [401, 'wrong_code']);
      assert.deepEqual((await lastEntry(atrium, id)).is, { kind: 'recovery_code' });
      const left = ok(await browser('GET', '/user/factors')).recovery_codes;
      assert.equal(left.left, 9);
      const renewed = await browser('POST', '/user/factors/recovery_codes');
      assert.equal(renewed.status, 200);
      assert.deepEqual(outcome(await finish(login, { recovery_code: second })), [401, 'wrong_code']);
      assert.equal((await finish(login, { recovery_code: renewed.body.recovery_codes[0] })).status, 200);
    });

    it(`Two requests with one code open one session on ${driver}`, async () => {
      const { login, app, codes = [] } = await withApp();
      const browsers = await Promise.all([1, 2, 3, 4].map(() => firstStep(atrium, login)));
      const at = (index: number, body: object) => browsers[index]?.browser('POST', '/user/signin/factor', body);
      const code = app.code();
      const both = await Promise.all([at(0, { code }), at(1, { code })]);
      assert.deepEqual(both.map((answer) => answer?.status).sort(), [200, 401]);
      const recovery_code = codes[0];
      const pair = await Promise.all([at(2, { recovery_code }), at(3, { recovery_code })]);
      assert.deepEqual(pair.map((answer) => answer?.status).sort(), [200, 401]);
    });

    it(`Wrong codes make the app wait longer each time, while recovery codes work on on ${driver}`, async (t) => {
      const { login, id, app, codes = [] } = await withApp();
      const start = Date.now();
      t.mock.timers.enable({ apis: ['Date'], now: start });
      const guess = async (times: number) => {
        const { browser } = await firstStep(atrium, login);
        const send = (body: object) => browser('POST', '/user/signin/factor', body);
        for (let failure = 1; failure <= times; failure++) {
          assert.deepEqual(outcome(await send({ code: app.wrong() })), [401, 'wrong_code']);
        }
        return await send({ code: app.code() });
      };
      const blocked = await guess(10);
      assert.deepEqual(outcome(blocked), [429, 'rate_limited']);
      assert.equal(blocked.headers.get('retry-after'), '900');
      const rejected = (await auditOf(atrium.instance.db, id)).filter(({ action }) => action === 'factor.reject');
      assert.equal(rejected.length, 10);
      assert.equal((await finish(login, { recovery_code: codes[0] })).status, 200);
      t.mock.timers.setTime(start + 15 * MINUTE + 1000);
      assert.equal((await guess(10)).headers.get('retry-after'), '1800');
      t.mock.timers.setTime(start + 46 * MINUTE);
      assert.equal((await finish(login, { code: app.code() })).status, 200);
      assert.equal((await guess(9)).status, 401, 'a right code starts the count again, and it does not work twice');
    });

    it(`Every replica knows how many codes were wrong, and so does the next process on ${driver}`, async () => {
      const { login, id, app } = await withApp();
      const { browser } = await firstStep(atrium, login);
      const all = Array.from({ length: 12 }, () => browser('POST', '/user/signin/factor', { code: app.wrong() }));
      const statuses = (await Promise.all(all)).map(({ status }) => status);
      assert.deepEqual(statuses.sort(), [...Array(10).fill(401), 429, 429]);
      const [row] = await atrium.instance.db.query(statement('select failures from totp where account_id = $1'), [id]);
      assert.deepEqual(row, { failures: 10 });
    });

    it(`A second step needs exactly one factor in its body on ${driver}`, async () => {
      const { login, app } = await withApp();
      for (const body of [{}, { code: app.code(), recovery_code: 'x' }, { password: PASSWORD }, { code: 7 }]) {
        assert.equal((await finish(login, body)).status, 422, JSON.stringify(body));
      }
      assert.deepEqual(outcome(await createBrowser(atrium)('POST', '/user/signin/factor', { code: '1' })), [
        401,
        'sign_in_expired',
      ]);
    });

    it(`The first factor ends the sessions that a password alone has opened on ${driver}`, async () => {
      const { login } = await newUser(atrium);
      const [here, there] = [await firstStep(atrium, login), await firstStep(atrium, login)];
      const { codes } = await addApp(here.browser);
      assert.equal(codes?.length, 10);
      assert.equal((await there.browser('GET', '/user')).status, 401);
      assert.equal((await here.browser('GET', '/user')).status, 200);
      assert.equal((await addPasskey(atrium, here.browser)).codes, undefined, 'a second one brings no new codes');
      assert.equal((await addApp(here.browser)).codes, undefined, 'nor does another app');
      assert.equal(ok(await here.browser('GET', '/user/factors')).recovery_codes.left, 10);
    });

    it(`A deactivated user cannot finish signing in on ${driver}`, async () => {
      const { login, app } = await withApp();
      const { browser } = await firstStep(atrium, login);
      assert.equal((await atrium.as('root')('PATCH', `/admin/users/${login}`, { active: false })).status, 200);
      assert.deepEqual(outcome(await browser('POST', '/user/signin/factor', { code: app.code() })), [403, 'forbidden']);
    });
  });
}
