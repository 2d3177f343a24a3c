import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { newUser, PASSWORD } from '../../support/world/own-account.ts';
import { addApp, addPasskey, firstStep, ok, outcome } from '../../support/world/second-factors.ts';

const MINUTE = 60_000;
const NEEDED = [403, 'reauthentication_required'];

for (const driver of API_DRIVERS) {
  describe(`Proving again who one is on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, env: { REAUTHENTICATION_MINUTES: '20' } });
    });
    after(() => atrium.close());

    const credential = { name: 'cloud', type: 'Aws', aws: { secretAccessKey: 'x' } };
    /** Everything sensitive, each as a request that succeeds in a session that was just opened. */
    const sensitive = (login: string): readonly (readonly [string, string, object?])[] => [
      ['GET', '/user/credentials'],
      ['GET', '/user/credentials/cloud'],
      ['POST', `/users/${login}/tokens`, { name: crypto.randomUUID(), scopes: ['read:user'] }],
      ['POST', '/user/factors/totp'],
      ['DELETE', `/orgs/org-of-${login}`],
    ];
    /** Sensitive as well, even if what they are about does not exist. */
    const refused = (login: string): readonly (readonly [string, string, object?])[] => [
      ['POST', `/users/${login}/tokens/any/rotate`, {}],
      ['POST', '/robots/%/tokens', { name: 'any', scopes: ['read:user'] }],
      ['POST', '/robots/%/tokens/any/rotate', {}],
      ['PUT', `/orgs/org-of-${login}/second_factor`, { required: true }],
      ['POST', '/user/linked_accounts', { request: 'any' }],
      ['DELETE', '/user/linked_accounts/1'],
      ['POST', '/user/link_request', { provider: 'any' }],
      ['POST', '/user/device/any', { approve: true }],
      ['POST', '/user/factors/passkeys/options'],
    ];
    const prepare = async (browser: Call, login: string) => {
      assert.equal((await browser('POST', '/user/credentials', credential)).status, 201);
      assert.equal((await browser('POST', '/orgs', { username: `org-of-${login}` })).status, 201);
      const robot = await browser('POST', `/orgs/org-of-${login}/robots`, { name: 'builder' });
      assert.equal(robot.status, 201, robot.text);
      return String(robot.body.id);
    };

    it(`A session that was just opened may do everything, and later not what is sensitive on ${driver}`, async (t) => {
      const { login, token } = await newUser(atrium);
      const { browser } = await firstStep(atrium, login);
      const robot = await prepare(browser, login);
      const program = await token();
      const start = Date.now();
      t.mock.timers.enable({ apis: ['Date'], now: start + 20 * MINUTE + 1000 });
      for (const [method, path, body] of [...sensitive(login), ...refused(login)]) {
        const answer = await browser(method, path.replace('%', robot), body);
        assert.deepEqual(outcome(answer), NEEDED, `${method} ${path}`);
      }
      assert.equal((await browser('GET', '/user/credentials?summary=true')).status, 200);
      assert.equal((await browser('GET', '/user')).status, 200);
      assert.equal((await program('GET', '/user/credentials/cloud')).status, 200, 'tokens are not concerned');
      assert.equal((await browser('POST', '/user/reauthenticate', { password: PASSWORD })).status, 204);
      t.mock.timers.setTime(start + 40 * MINUTE);
      for (const [method, path, body] of sensitive(login)) {
        const { status, text } = await browser(method, path, body);
        assert.ok(status < 300, `${method} ${path}: ${text}`);
      }
    });

    it(`A code or a passkey is enough, and neither the password nor a factor of another user on ${driver}`, async (t) => {
      const { login } = await newUser(atrium);
      const { browser } = await firstStep(atrium, login);
      const { app } = await addApp(browser);
      const { authenticator } = await addPasskey(atrium, browser);
      const eve = await newUser(atrium);
      const other = await firstStep(atrium, eve.login);
      const { app: theirs } = await addApp(other.browser);
      let now = Date.now();
      const sensitive = async () => (await browser('POST', '/user/factors/totp')).status;
      const prove = (body: object) => browser('POST', '/user/reauthenticate', body);
      const later = async () => {
        t.mock.timers.reset();
        now += 30 * MINUTE;
        t.mock.timers.enable({ apis: ['Date'], now });
        assert.equal(await sensitive(), 403);
      };
      await later();
      assert.deepEqual(outcome(await prove({ code: theirs.code() })), [422, 'wrong_code']);
      for (const password of [PASSWORD, 'wrong password']) {
        assert.deepEqual(outcome(await prove({ password })), [403, 'second_factor_required']);
      }
      assert.equal(await sensitive(), 403);
      assert.equal((await prove({ code: app.code() })).status, 204);
      assert.equal(await sensitive(), 200);
      await later();
      const { publicKey } = ok(await browser('POST', '/user/reauthenticate/options'));
      assert.equal(publicKey.userVerification, 'required');
      const unverified = authenticator.get(publicKey, { isVerified: false });
      assert.deepEqual(outcome(await prove({ passkey: unverified })), [422, 'wrong_passkey']);
      const passkey = authenticator.get(publicKey);
      assert.equal((await prove({ passkey })).status, 204);
      assert.equal(await sensitive(), 200);
      await later();
      assert.deepEqual(outcome(await prove({ passkey })), [422, 'wrong_passkey'], 'replayed');
      for (const body of [{}, { password: PASSWORD, code: app.code() }, { recovery_code: 'x' }]) {
        assert.equal((await prove(body)).status, 422, JSON.stringify(body));
      }
    });

    it(`Guessing the password of an open session is slowed down like any other guess on ${driver}`, async () => {
      const { login } = await newUser(atrium);
      const { browser } = await firstStep(atrium, login);
      const guesses = Array.from({ length: 21 }, () => browser('POST', '/user/reauthenticate', { password: 'guess' }));
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      assert.deepEqual(
        [statuses.filter((one) => one === 422).length, statuses.filter((one) => one === 429).length],
        [20, 1],
      );
    });

    it(`A token changes no second factor, and neither does a session that it has opened on ${driver}`, async () => {
      const { login, token } = await newUser(atrium);
      const program = await token();
      assert.deepEqual(outcome(await program('POST', '/user/factors/totp')), [403, 'forbidden']);
      assert.deepEqual(outcome(await program('POST', '/user/reauthenticate', { password: PASSWORD })), [
        403,
        'forbidden',
      ]);
      const sudo = await atrium.as('root')('POST', `/user/factors/totp?sudo=${login}`);
      assert.deepEqual(outcome(sudo), [403, 'sudo_forbidden']);
      const session = await newUser(atrium).then(({ signIn }) => signIn);
      const opened = await session({ token: program.text });
      assert.deepEqual(outcome(await opened('POST', '/user/factors/totp')), NEEDED);
      assert.deepEqual(outcome(await opened('PUT', '/user/password', { new: `${PASSWORD} 2` })), [
        422,
        'wrong_password',
      ]);
      assert.equal((await opened('POST', '/user/reauthenticate', { password: PASSWORD })).status, 204);
      assert.equal((await opened('POST', '/user/factors/totp')).status, 200);
    });

    it(`A token and the password together do not get past the second factor on ${driver}`, async () => {
      const { login, token, signIn } = await newUser(atrium);
      const { app } = await addApp((await firstStep(atrium, login)).browser);
      const opened = await signIn({ token: (await token()).text });
      assert.deepEqual(outcome(await opened('DELETE', '/user/factors/totp')), NEEDED);
      const refused = await opened('POST', '/user/reauthenticate', { password: PASSWORD });
      assert.deepEqual(outcome(refused), [403, 'second_factor_required']);
      assert.deepEqual(refused.body.second_factor, { methods: ['totp'] });
      assert.deepEqual(outcome(await opened('DELETE', '/user/factors/totp')), NEEDED);
      assert.equal((await opened('POST', '/user/reauthenticate', { code: app.code() })).status, 204);
      assert.equal((await opened('DELETE', '/user/factors/totp')).status, 204);
    });

    it(`With a second factor, the present password alone does not change it on ${driver}`, async (t) => {
      const { login, token } = await newUser(atrium);
      const { browser } = await firstStep(atrium, login);
      const { app } = await addApp(browser);
      const program = await token();
      const wanted = { current: PASSWORD, new: `${PASSWORD} 2` };
      assert.deepEqual(outcome(await program('PUT', '/user/password', wanted)), NEEDED);
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 30 * MINUTE });
      assert.deepEqual(outcome(await browser('PUT', '/user/password', wanted)), NEEDED);
      assert.equal((await browser('POST', '/user/reauthenticate', { code: app.code() })).status, 204);
      assert.equal((await browser('PUT', '/user/password', wanted)).status, 204);
    });
  });
}
