import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { basic, lastEntry, newUser, PASSWORD } from '../../support/world/own-account.ts';
import { addApp, addPasskey, firstStep } from '../../support/world/second-factors.ts';

interface Scene {
  readonly atrium: TestServer;
  readonly login: string;
  /** The session that approves, and another one of the same user. */
  readonly browser: Call;
  readonly other: Call;
}

/** Everything after which nothing that was approved before may become a token. */
const ENDS: readonly (readonly [string, (scene: Scene) => Promise<unknown>])[] = [
  ['the session signs out', ({ browser }) => done(browser('POST', '/user/signout'))],
  [
    'the session changes the password',
    ({ browser }) => done(browser('PUT', '/user/password', passwords('another one'))),
  ],
  [
    'another session changes the password',
    ({ other }) => done(other('PUT', '/user/password', passwords('another one'))),
  ],
  ['the session ends all others', ({ browser }) => done(browser('DELETE', '/user/sessions'))],
  ['another session ends all others', ({ other }) => done(other('DELETE', '/user/sessions'))],
  [
    'another session ends the one that approved',
    async ({ browser, other }) => {
      const { body } = await browser('GET', '/user/sessions');
      const current = (body as { id: number; current: boolean }[]).find((one) => one.current)?.id;
      await done(other('DELETE', `/user/sessions/${current}`));
    },
  ],
  ['the session adds an authenticator app', ({ browser }) => addApp(browser)],
  ['another session adds an authenticator app', ({ other }) => addApp(other)],
  ['the session adds a passkey', ({ atrium, browser }) => addPasskey(atrium, browser)],
  [
    'a token of the user is revoked',
    async ({ atrium, login }) => {
      const headers = basic(login, PASSWORD);
      const path = `/users/${login}/tokens`;
      await done(atrium.as()('POST', path, { name: 'old', scopes: ['read:user'] }, headers));
      await done(atrium.as()('DELETE', `${path}/old`, undefined, headers));
    },
  ],
  [
    'an administrator ends all sessions',
    ({ atrium, login }) => admin(atrium, 'DELETE', `/admin/users/${login}/sessions`),
  ],
  [
    'an administrator sets a password',
    ({ atrium, login }) =>
      admin(atrium, 'PATCH', `/admin/users/${login}`, { password: 'a password of an administrator' }),
  ],
  [
    'the account is prohibited for a moment',
    async ({ atrium, login }) => {
      await admin(atrium, 'PATCH', `/admin/users/${login}`, { prohibit_login: true });
      await admin(atrium, 'PATCH', `/admin/users/${login}`, { prohibit_login: false });
    },
  ],
  [
    'the account is inactive for a moment',
    async ({ atrium, login }) => {
      await admin(atrium, 'PATCH', `/admin/users/${login}`, { active: false });
      await admin(atrium, 'PATCH', `/admin/users/${login}`, { active: true });
    },
  ],
  ['the account is deleted', ({ atrium, login }) => admin(atrium, 'DELETE', `/admin/users/${login}`)],
];

const passwords = (wanted: string) => ({ current: PASSWORD, new: wanted });
const done = async (answer: Promise<Answer>) => {
  const { status, text } = await answer;
  assert.ok(status < 300, text);
};
const admin = (atrium: TestServer, ...request: Parameters<Call>) => done(atrium.as('root')(...request));

for (const driver of API_DRIVERS) {
  describe(`Approved programs on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      const rules = { SCIM_DOMAINS: 'acme:example.com' };
      atrium = await openTestServer({ driver, env: rules });
    });
    after(() => atrium.close());

    const begin = async () => {
      const answer = await atrium.as()('POST', '/user/device', { name: 'laptop', scopes: ['read:user'] });
      return answer.body as { device_code: string; user_code: string };
    };
    const poll = (device_code: string) => atrium.as()('POST', '/user/device/token', { device_code });
    const decide = (call: Call, code: string, approve = true) => call('POST', `/user/device/${code}`, { approve });

    for (const [what, end] of ENDS) {
      it(`An approved program gets no token if ${what} before it polls, on ${driver}`, async () => {
        const { login } = await newUser(atrium);
        const [{ browser }, { browser: other }] = [await firstStep(atrium, login), await firstStep(atrium, login)];
        const scene = { atrium, login, browser, other };
        const { device_code, user_code } = await begin();
        assert.equal((await decide(browser, user_code)).status, 200);
        await end(scene);
        const answer = await poll(device_code);
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.body.reason, /^(expired_token|access_denied)$/);
      });
    }

    it(`An approved program gets no token once its user was deprovisioned by SCIM, on ${driver}`, async () => {
      const { login, id, signIn } = await newUser(atrium);
      const ann = atrium.as('ann');
      const robot = await ann('POST', '/orgs/acme/robots', { name: `directory-${login}` });
      const made = await ann('POST', `/robots/${robot.body.id}/tokens`, { name: 'scim', scopes: ['scim'] });
      const headers = { Authorization: `Bearer ${made.body.sha1}` };
      const user = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: `${login}@example.com` };
      const taken = await atrium.call('POST', '/scim/v2/Users', user, headers);
      assert.equal(taken.status, 201, taken.text);
      const { device_code, user_code } = await begin();
      assert.equal((await decide(await signIn(), user_code)).status, 200);
      for (const active of [false, true]) {
        const patch = {
          schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
          Operations: [{ op: 'replace', path: 'active', value: active }],
        };
        assert.equal((await atrium.call('PATCH', `/scim/v2/Users/${id}`, patch, headers)).status, 200);
      }
      assert.equal((await poll(device_code)).status, 400);
    });

    it(`An approved program gets no token once the session has expired, on ${driver}`, async (t) => {
      const { signIn } = await newUser(atrium);
      const browser = await signIn();
      const start = Date.now();
      t.mock.timers.enable({ apis: ['Date'], now: start + 86_400_000 - 60_000 });
      const { device_code, user_code } = await begin();
      assert.equal((await browser('GET', '/user')).status, 200);
      assert.equal((await browser('POST', '/user/reauthenticate', { password: PASSWORD })).status, 204);
      assert.equal((await decide(browser, user_code)).status, 200);
      t.mock.timers.setTime(start + 86_400_000 + 60_000);
      assert.equal((await poll(device_code)).status, 400);
    });

    it(`What ends the sessions of others changes nothing, and neither does a session that goes on, on ${driver}`, async () => {
      const { login, signIn } = await newUser(atrium);
      const stranger = await newUser(atrium);
      const [browser, other] = [await signIn(), await signIn()];
      const { device_code, user_code } = await begin();
      assert.equal((await decide(browser, user_code)).status, 200);
      await done((await stranger.signIn())('DELETE', '/user/sessions'));
      await done(other('POST', '/user/signout'));
      const answer = await poll(device_code);
      assert.equal(answer.status, 200, answer.text);
      const used = await atrium.as()('GET', '/user', undefined, { Authorization: `token ${answer.body.sha1}` });
      assert.equal(used.body.login, login);
    });

    it(`Approving and denying are in the audit log, with what the program asked for and from where, on ${driver}`, async () => {
      const { login, id, signIn } = await newUser(atrium);
      const browser = await signIn();
      for (const [approve, action] of [
        [true, 'device.approve'],
        [false, 'device.deny'],
      ] as const) {
        assert.equal((await decide(browser, (await begin()).user_code, approve)).status, 200);
        const entry = await lastEntry(atrium, id);
        assert.deepEqual([entry.action, entry.actor], [action, login]);
        assert.deepEqual(entry.is, { name: 'laptop', scopes: ['read:user'], address: '127.0.0.1' });
      }
    });
  });
}
