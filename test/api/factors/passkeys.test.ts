import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { createAuthenticator, type Quirks } from '../../support/services/authenticator.ts';
import { lastEntry, newUser } from '../../support/world/own-account.ts';
import { addPasskey, createBrowser, firstStep, ok, originOf, outcome } from '../../support/world/second-factors.ts';

const MINUTE = 60_000;
const REJECTED = [401, 'wrong_passkey'];

for (const driver of API_DRIVERS) {
  describe(`Passkeys on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, env: { AUTH_FAILURES: '1000', LIMIT_PASSKEYS_PER_USER: '3' } });
    });
    after(() => atrium.close());

    const withPasskey = async () => {
      const user = await newUser(atrium);
      const { browser } = await firstStep(atrium, user.login);
      return { ...user, browser, ...(await addPasskey(atrium, browser)) };
    };
    /** Signs in with nothing but a passkey. */
    const signIn = async (authenticator: ReturnType<typeof createAuthenticator>, quirks?: Quirks, remember = false) => {
      const browser = createBrowser(atrium);
      const { publicKey } = ok(await browser('POST', '/user/signin/passkey/options'));
      const passkey = authenticator.get(publicKey, quirks);
      return { browser, passkey, answer: await browser('POST', '/user/signin/passkey', { passkey, remember }) };
    };

    it(`A passkey signs in without a name and a password on ${driver}`, async () => {
      const { login, id, authenticator, passkey, codes } = await withPasskey();
      assert.equal(codes?.length, 10);
      assert.deepEqual([passkey.name, passkey.synced, passkey.last_used_at], ['laptop', false, null]);
      assert.deepEqual(await lastEntry(atrium, id), {
        action: 'factor.create',
        actor: login,
        object: `factor:${passkey.id}`,
        was: null,
        is: { kind: 'passkey', name: 'laptop' },
      });
      const { browser, answer } = await signIn(authenticator, {}, true);
      assert.equal(ok(answer).login, login);
      assert.match(answer.headers.getSetCookie().join(), /atrium_session=[^,]+Expires=/);
      const [listed] = ok(await browser('GET', '/user/factors')).passkeys;
      assert.ok(Date.parse(listed.last_used_at) > 0);
    });

    it(`A passkey is the second step after a password, also if it cannot verify its user on ${driver}`, async () => {
      const { login, authenticator } = await withPasskey();
      const { browser, answer } = await firstStep(atrium, login);
      assert.deepEqual(answer.body.second_factor, { methods: ['passkey', 'recovery_code'] });
      const { publicKey } = ok(await browser('POST', '/user/signin/passkey/options', { second_step: true }));
      assert.deepEqual(
        publicKey.allowCredentials.map(({ id, transports }: { id: string; transports: string[] }) => [id, transports]),
        [[authenticator.id, ['internal', 'hybrid']]],
      );
      const passkey = authenticator.get(publicKey, { isVerified: false });
      assert.equal(ok(await browser('POST', '/user/signin/factor', { passkey })).login, login);
    });

    for (const algorithm of ['EdDSA', 'RS256'] as const) {
      it(`Passkeys with ${algorithm} keys work on ${driver}`, async () => {
        const { login } = await newUser(atrium);
        const { browser } = await firstStep(atrium, login);
        const { authenticator } = await addPasskey(atrium, browser, 'key', algorithm);
        assert.equal(ok((await signIn(authenticator)).answer).login, login);
      });
    }

    it(`Every answer that is wrong in one way is rejected, and opens nothing on ${driver}`, async () => {
      const { authenticator } = await withPasskey();
      const eve = await withPasskey();
      const { publicKey: other } = ok(await eve.browser('POST', '/user/factors/passkeys/options'));
      const wrong: readonly (readonly [string, Quirks])[] = [
        ['another origin', { origin: 'https://evil.example.com' }],
        ['the address instead of the name', { origin: atrium.url }],
        ['another port', { origin: 'http://localhost:1' }],
        ['another site', { rpId: 'evil.example.com' }],
        ['a frame of another site', { crossOrigin: true }],
        ['a creation', { type: 'webauthn.create' }],
        ['nobody there', { isPresent: false }],
        ['an unverified user', { isVerified: false }],
        ['a challenge of our own making', { challenge: Buffer.alloc(64).toString('base64url') }],
        ['a challenge for a registration', { challenge: other.challenge }],
        ['another signature', { signature: Buffer.alloc(70, 1) }],
        ['no signature', { signature: Buffer.alloc(0) }],
        ['the handle of another user', { userHandle: 'AAAA' }],
        ['more than the authenticator data', { trailing: Buffer.from([1]) }],
      ];
      for (const [what, quirks] of wrong) {
        const { answer } = await signIn(authenticator, quirks);
        assert.deepEqual(outcome(answer), REJECTED, what);
        assert.deepEqual(answer.headers.getSetCookie(), [], what);
      }
      const stranger = createAuthenticator(originOf(atrium));
      assert.deepEqual(outcome((await signIn(stranger)).answer), REJECTED, 'an unknown passkey');
      assert.equal((await signIn(authenticator)).answer.status, 200);
    });

    it(`An answer works once, in the browser that asked, for five minutes on ${driver}`, async (t) => {
      const { login, authenticator } = await withPasskey();
      const { browser, passkey } = await signIn(authenticator);
      assert.deepEqual(outcome(await browser('POST', '/user/signin/passkey', { passkey })), REJECTED, 'replayed');
      const asked = createBrowser(atrium);
      const { publicKey } = ok(await asked('POST', '/user/signin/passkey/options'));
      const stolen = authenticator.get(publicKey);
      const thief = createBrowser(atrium);
      assert.deepEqual(outcome(await thief('POST', '/user/signin/passkey', { passkey: stolen })), REJECTED);
      await thief('POST', '/user/signin/passkey/options');
      assert.deepEqual(outcome(await thief('POST', '/user/signin/passkey', { passkey: stolen })), REJECTED);
      const both = await Promise.all([1, 2].map(() => asked('POST', '/user/signin/passkey', { passkey: stolen })));
      assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401], 'at once');
      const step = await firstStep(atrium, login);
      const { publicKey: second } = ok(
        await step.browser('POST', '/user/signin/passkey/options', { second_step: true }),
      );
      const misused = authenticator.get(second);
      assert.deepEqual(outcome(await step.browser('POST', '/user/signin/passkey', { passkey: misused })), REJECTED);
      const late = createBrowser(atrium);
      const { publicKey: old } = ok(await late('POST', '/user/signin/passkey/options'));
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 5 * MINUTE });
      assert.deepEqual(
        outcome(await late('POST', '/user/signin/passkey', { passkey: authenticator.get(old) })),
        REJECTED,
      );
    });

    it(`The second step accepts no passkey of another person, and no challenge of theirs on ${driver}`, async () => {
      const [ann, eve] = [await withPasskey(), await withPasskey()];
      const step = await firstStep(atrium, ann.login);
      const { publicKey } = ok(await step.browser('POST', '/user/signin/passkey/options', { second_step: true }));
      const passkey = eve.authenticator.get(publicKey);
      assert.deepEqual(outcome(await step.browser('POST', '/user/signin/factor', { passkey })), REJECTED);
      const other = await firstStep(atrium, ann.login);
      const { publicKey: theirs } = ok(
        await other.browser('POST', '/user/signin/passkey/options', { second_step: true }),
      );
      const moved = ann.authenticator.get(theirs);
      step.browser.cookies.set('atrium_passkey', other.browser.cookies.get('atrium_passkey') ?? '');
      assert.deepEqual(outcome(await step.browser('POST', '/user/signin/factor', { passkey: moved })), REJECTED);
      assert.equal((await other.browser('POST', '/user/signin/factor', { passkey: moved })).status, 200);
      const none = await createBrowser(atrium)('POST', '/user/signin/passkey/options', { second_step: true });
      assert.deepEqual(outcome(none), [401, 'sign_in_expired']);
    });

    it(`A counter that does not move on is rejected, and one that is not there is fine on ${driver}`, async () => {
      const { authenticator } = await withPasskey();
      const uses: readonly (readonly [number, number])[] = [
        [0, 200],
        [0, 200],
        [7, 200],
        [7, 401],
        [6, 401],
        [0, 401],
        [8, 200],
      ];
      for (const [counter, status] of uses) {
        assert.equal((await signIn(authenticator, { counter })).answer.status, status, `${counter}`);
      }
    });

    it(`A registration is rejected if it is not the answer of this browser to this user on ${driver}`, async () => {
      const { login } = await newUser(atrium);
      const { browser } = await firstStep(atrium, login);
      const eve = await firstStep(atrium, (await newUser(atrium)).login);
      const rejected = [422, 'wrong_passkey'];
      const add = async (quirks: Quirks, by = browser) => {
        const { publicKey } = ok(await by('POST', '/user/factors/passkeys/options'));
        const response = createAuthenticator(originOf(atrium)).create(publicKey, quirks);
        return await by('POST', '/user/factors/passkeys', { name: 'key', response });
      };
      const wrong: readonly Quirks[] = [
        { origin: 'https://evil.example.com' },
        { rpId: 'evil.example.com' },
        { type: 'webauthn.get' },
        { isPresent: false },
        { challenge: 'AAAA' },
        { trailing: Buffer.from([1]) },
      ];
      for (const quirks of wrong) assert.deepEqual(outcome(await add(quirks)), rejected, JSON.stringify(quirks));
      const { publicKey } = ok(await eve.browser('POST', '/user/factors/passkeys/options'));
      const response = createAuthenticator(originOf(atrium)).create(publicKey);
      browser.cookies.set('atrium_passkey', eve.browser.cookies.get('atrium_passkey') ?? '');
      const body = { name: 'key', response };
      assert.deepEqual(outcome(await browser('POST', '/user/factors/passkeys', body)), rejected, 'of another user');
      assert.equal((await eve.browser('POST', '/user/factors/passkeys', body)).status, 200);
      assert.deepEqual(outcome(await eve.browser('POST', '/user/factors/passkeys', body)), rejected, 'replayed');
      for (const broken of [
        { ...response, attestationObject: 'oA' },
        { ...response, clientDataJSON: 'e30' },
      ]) {
        assert.deepEqual(
          outcome(await browser('POST', '/user/factors/passkeys', { name: 'key', response: broken })),
          rejected,
        );
      }
      assert.equal(ok(await browser('GET', '/user/factors')).passkeys.length, 0);
    });

    it(`Users name, rename and remove their passkeys, up to the limit on ${driver}`, async () => {
      const { login, id, browser, passkey } = await withPasskey();
      const path = `/user/factors/passkeys/${passkey.id}`;
      assert.equal((await browser('PATCH', path, { name: '  Work laptop ' })).status, 204);
      assert.deepEqual((await lastEntry(atrium, id)).is, { name: 'Work laptop' });
      for (const name of ['', ' ', 'x'.repeat(61), 'a\u0000b']) {
        assert.equal((await browser('PATCH', path, { name })).status, 422, JSON.stringify(name));
      }
      const eve = await withPasskey();
      for (const method of ['PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? { name: 'mine' } : undefined;
        assert.deepEqual(outcome(await eve.browser(method, path, body)), [404, 'factor_not_found']);
      }
      await addPasskey(atrium, browser, 'phone');
      await addPasskey(atrium, browser, 'key');
      const { publicKey } = ok(await browser('POST', '/user/factors/passkeys/options'));
      assert.equal(publicKey.excludeCredentials.length, 3);
      const response = createAuthenticator(originOf(atrium)).create(publicKey);
      const full = await browser('POST', '/user/factors/passkeys', { name: 'one more', response });
      assert.deepEqual(outcome(full), [422, 'limit_reached']);
      const names = () =>
        browser('GET', '/user/factors').then((answer) => ok(answer).passkeys.map((one: { name: string }) => one.name));
      assert.deepEqual(await names(), ['Work laptop', 'phone', 'key']);
      assert.equal((await browser('DELETE', path)).status, 204);
      assert.deepEqual(await names(), ['phone', 'key']);
      assert.equal((await lastEntry(atrium, id)).action, 'factor.delete');
      for (const one of ok(await browser('GET', '/user/factors')).passkeys) {
        assert.equal((await browser('DELETE', `/user/factors/passkeys/${one.id}`)).status, 204);
      }
      assert.equal(ok(await browser('GET', '/user/factors')).recovery_codes, undefined);
      assert.equal((await firstStep(atrium, login)).answer.status, 200, 'without a factor, the password is enough');
      assert.equal((await browser('POST', '/user/factors/recovery_codes')).status, 409);
    });

    it(`A removed passkey signs nobody in on ${driver}`, async () => {
      const { browser, authenticator, passkey } = await withPasskey();
      assert.equal((await browser('DELETE', `/user/factors/passkeys/${passkey.id}`)).status, 204);
      assert.deepEqual(outcome((await signIn(authenticator)).answer), REJECTED);
    });
  });
}
