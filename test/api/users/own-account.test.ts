import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { basic, lastEntry, newUser, PASSWORD, status } from '../../support/world/own-account.ts';

const MINUTE = 60_000;

for (const driver of API_DRIVERS) {
  describe(`The caller's own account on ${driver}`, () => {
    let atrium: TestServer;
    let root: Call;
    before(async () => {
      atrium = await openTestServer({ driver, env: { AUTH_FAILURES: '6' } });
      root = atrium.as('root');
    });
    after(() => atrium.close());

    it(`Users change their own profile, and what they leave out stays on ${driver}`, async () => {
      const { login, token } = await newUser(atrium);
      const call = await token(['write:user']);
      const profile = {
        full_name: 'Fay Fisher',
        language: 'de-CH',
        location: 'Bern',
        website: 'https://fay.example',
        description: 'She likes trains.',
      };
      const changed = await call('PATCH', '/user', profile);
      assert.equal(changed.status, 200, changed.text);
      assert.match(changed.headers.get('etag') ?? '', /^"\d+-\d+"$/);
      for (const { body } of [changed, await call('GET', '/user')]) {
        assert.deepEqual({ ...body, ...profile }, body);
        assert.deepEqual([body.login, body.is_admin, body.email], [login, false, `${login}@example.com`]);
      }
      const again = await call('PATCH', '/user', { location: '', website: null, description: '' });
      assert.deepEqual(
        [again.body.full_name, again.body.location, again.body.website, again.body.description],
        ['Fay Fisher', '', 'https://fay.example', ''],
      );
      assert.equal((await call('PATCH', '/user')).body.full_name, 'Fay Fisher');
      const entry = await lastEntry(atrium, 0n);
      assert.deepEqual([entry.action, entry.actor, entry.was.username], ['user.update', login, login]);
    });

    it(`A profile change with a stale ETag is rejected with 412 on ${driver}`, async () => {
      const call = await (await newUser(atrium)).token();
      const etag = (await call('PATCH', '/user', { location: 'here' })).headers.get('etag') ?? '';
      assert.equal((await call('PATCH', '/user', { location: 'there' }, { 'If-Match': etag })).status, 200);
      assert.equal((await call('PATCH', '/user', { location: 'nowhere' }, { 'If-Match': etag })).status, 412);
      assert.equal((await call('GET', '/user')).body.location, 'there');
    });

    it(`A profile change cannot touch what only administrators may change on ${driver}`, async () => {
      const { login, token } = await newUser(atrium);
      const call = await token();
      for (const field of ['admin', 'is_admin', 'active', 'prohibit_login', 'email', 'password', 'login', 'username']) {
        const { status: code } = await call('PATCH', '/user', { [field]: field === 'email' ? 'x@y.example' : true });
        assert.ok([200, 422].includes(code), field);
      }
      const { body } = await root('GET', `/users/${login}`);
      assert.deepEqual(
        [body.login, body.is_admin, body.active, body.email],
        [login, false, true, `${login}@example.com`],
      );
    });

    const badProfiles: readonly [string, object][] = [
      ['a full name that is too long', { full_name: 'x'.repeat(101) }],
      ['a full name that is a number', { full_name: 1 }],
      ['a location that is too long', { location: 'x'.repeat(101) }],
      ['a description that is too long', { description: 'x'.repeat(1001) }],
      ['a website that is a script', { website: 'javascript:alert(1)' }],
      ['a website with a space', { website: 'https://a b' }],
      ['a language that is a sentence', { language: 'plain English' }],
      ['a language with markup', { language: 'en"><script>' }],
      ['a language of one letter', { language: 'e' }],
    ];
    for (const [name, body] of badProfiles) {
      it(`A profile with ${name} is rejected with 422 on ${driver}`, async () => {
        const answer = await atrium.as('cat')('PATCH', '/user', body);
        assert.deepEqual([answer.status, answer.body.errors?.[0]?.field], [422, Object.keys(body)[0]], answer.text);
      });
    }

    it(`A token that may only read, or one of a robot, cannot change a profile on ${driver}`, async () => {
      const { token } = await newUser(atrium);
      const narrow = await token(['read:user', 'write:organization', 'write:credential', 'write:authz']);
      assert.equal((await narrow('PATCH', '/user', { location: 'x' })).status, 403);
      assert.equal((await narrow('PUT', '/user/password', { new: PASSWORD })).status, 403);
      const accountId = atrium.world.orgs.acme?.id ?? 0n;
      const robot = { accountId, robotId: atrium.world.robots.ci ?? 0n, name: crypto.randomUUID(), scopes: ['all'] };
      const { text } = await atrium.instance.identity.tokens.issue(robot);
      const headers = { Authorization: `token ${text}` };
      assert.equal((await atrium.as()('PATCH', '/user', {}, headers)).status, 403);
      assert.equal((await atrium.as()('PUT', '/user/password', { new: PASSWORD }, headers)).status, 403);
      assert.equal((await atrium.as()('PATCH', '/user', {})).status, 401);
    });

    it(`An administrator who changes a profile by sudo is the actor in the audit log on ${driver}`, async () => {
      const { login } = await newUser(atrium);
      const changed = await root('PATCH', `/user?sudo=${login}`, { location: 'by root' });
      assert.deepEqual([changed.body.login, changed.body.location], [login, 'by root']);
      assert.equal((await lastEntry(atrium, 0n)).actor, 'root');
    });

    it(`A new password works at once, the old one does not, and only this session stays on ${driver}`, async () => {
      const { login, id, signIn, token, works } = await newUser(atrium);
      const [here, there, byToken] = [await signIn(), await signIn(), await token()];
      const elsewhere = await signIn({ token: byToken.text });
      const next = `${PASSWORD} 2`;
      const answer = await here('PUT', '/user/password', { current: PASSWORD, new: next });
      assert.deepEqual([answer.status, answer.text], [204, '']);
      assert.deepEqual([await works(next), await works(PASSWORD)], [true, false]);
      assert.deepEqual([await status(here), await status(there), await status(elsewhere)], [200, 401, 401]);
      assert.equal(await status(byToken), 200);
      const { was, is, ...entry } = await lastEntry(atrium, 0n);
      assert.deepEqual(entry, { action: 'user.password', actor: login, object: `user:${id}` });
      assert.deepEqual([was, is], [{ username: login, hasPassword: true }, { hasPassword: true }]);
      assert.doesNotMatch(atrium.logged(), /correct horse/);
    });

    it(`A password that is set with Basic authentication ends all sessions on ${driver}`, async () => {
      const { login, signIn, works } = await newUser(atrium);
      const session = await signIn();
      const next = `${PASSWORD} 2`;
      const answer = await atrium.as()('PUT', '/user/password', { new: next }, basic(login, PASSWORD));
      assert.equal(answer.status, 204, answer.text);
      assert.deepEqual([await works(next), await status(session)], [true, 401]);
    });

    it(`The current password is needed once the session is ten minutes old on ${driver}`, async (t) => {
      const { signIn, works } = await newUser(atrium);
      const [early, late] = [await signIn(), await signIn()];
      const now = Date.now();
      t.mock.timers.enable({ apis: ['Date'], now: now + 9 * MINUTE });
      assert.equal((await early('PUT', '/user/password', { new: `${PASSWORD} 2` })).status, 204);
      assert.equal(await status(late), 401);
      t.mock.timers.setTime(now + 11 * MINUTE);
      for (const current of [{}, { current: null }, { current: '' }]) {
        const refused = await early('PUT', '/user/password', { ...current, new: `${PASSWORD} 3` });
        assert.deepEqual([refused.status, refused.body.reason], [422, 'wrong_password']);
        assert.equal(refused.body.errors[0].field, 'current');
        assert.match(refused.body.message, /you signed in more than 10 minutes ago/);
      }
      assert.equal(await works(`${PASSWORD} 2`), true);
      const done = await early('PUT', '/user/password', { current: `${PASSWORD} 2`, new: `${PASSWORD} 3` });
      assert.equal(done.status, 204);
    });

    it(`A token, and a session opened with one, cannot replace a password that they do not know on ${driver}`, async () => {
      const { login, signIn, token, works } = await newUser(atrium);
      const call = await token();
      const session = await signIn({ token: call.text });
      const asBasic: Call = (method, path, body) => atrium.as()(method, path, body, basic(login, call.text));
      for (const thief of [call, session, asBasic]) {
        const refused = await thief('PUT', '/user/password', { new: `${PASSWORD} 2` });
        assert.deepEqual([refused.status, refused.body.reason], [422, 'wrong_password'], refused.text);
        assert.match(refused.body.message, /a token does not prove that you know it/);
      }
      assert.equal(await works(PASSWORD), true);
      assert.equal((await call('PUT', '/user/password', { current: PASSWORD, new: `${PASSWORD} 2` })).status, 204);
      assert.equal(await works(`${PASSWORD} 2`), true);
    });

    it(`A user without a password sets the first one with a token, and only the first on ${driver}`, async () => {
      const { login, token, signIn, works } = await newUser(atrium, null);
      const call = await token();
      const session = await signIn({ token: call.text });
      assert.equal((await call('PUT', '/user/password', { current: 'a guess', new: PASSWORD })).status, 422);
      assert.equal((await session('PUT', '/user/password', { new: PASSWORD })).status, 204);
      assert.deepEqual([await works(PASSWORD), await status(session)], [true, 200]);
      assert.deepEqual((await lastEntry(atrium, 0n)).was, { username: login, hasPassword: false });
      assert.equal((await session('PUT', '/user/password', { new: `${PASSWORD} 2` })).status, 422);
    });

    const badPasswords: readonly [string, object, string][] = [
      ['a new one that is too short', { new: 'x'.repeat(7) }, 'new'],
      ['a new one that is too long', { new: 'x'.repeat(256) }, 'new'],
      ['no new one', {}, 'new'],
      ['a null', { new: null }, 'new'],
      ['a number', { new: 12_345_678 }, 'new'],
      ['a wrong current one', { current: 'wrong', new: 'x'.repeat(8) }, 'current'],
    ];
    it(`A password change with a bad password is rejected with 422 on ${driver}`, async () => {
      const { signIn, works } = await newUser(atrium);
      const session = await signIn();
      for (const [name, body, field] of badPasswords) {
        const answer = await session('PUT', '/user/password', body);
        assert.deepEqual([answer.status, answer.body.errors?.[0]?.field], [422, field], `${name}: ${answer.text}`);
      }
      assert.equal(await works(PASSWORD), true);
    });

    it(`Wrong guesses of the current password are slowed down like those of a sign-in on ${driver}`, async () => {
      const { signIn, login } = await newUser(atrium);
      const session = await signIn();
      const answers: Answer[] = [];
      for (let guess = 0; guess < 8; guess++) {
        answers.push(await session('PUT', '/user/password', { current: `guess ${guess}`, new: PASSWORD }));
        if (answers.at(-1)?.status === 429) break;
      }
      assert.deepEqual([...new Set(answers.map((one) => one.status))], [422, 429]);
      assert.ok(Number(answers.at(-1)?.headers.get('retry-after')) > 0);
      const right = { username: login, password: PASSWORD };
      assert.equal((await atrium.as()('POST', '/user/signin', right)).status, 429);
    });

    it(`Of two changes at once that know the same password, one wins on ${driver}`, async () => {
      const { signIn, works } = await newUser(atrium);
      const [one, two] = [await signIn(), await signIn()];
      const wanted = [`${PASSWORD} one`, `${PASSWORD} two`];
      const answers = await Promise.all(
        [one, two].map((call, index) => call('PUT', '/user/password', { current: PASSWORD, new: wanted[index] })),
      );
      const winners = answers.flatMap((answer, index) => (answer.status === 204 ? [wanted[index] ?? ''] : []));
      assert.equal(winners.length, 1, answers.map((answer) => answer.text).join());
      // The loser was too late for the password, or for its own session.
      assert.ok(answers.some((answer) => [401, 409, 422].includes(answer.status)));
      assert.equal(await works(winners[0] ?? ''), true);
    });

    it(`An administrator cannot set a password by sudo on ${driver}`, async () => {
      const { login, works } = await newUser(atrium);
      const answer = await root('PUT', `/user/password?sudo=${login}`, { new: `${PASSWORD} 2` });
      assert.deepEqual([answer.status, answer.body.reason], [403, 'sudo_forbidden']);
      assert.equal(await works(PASSWORD), true);
    });
  });
}
