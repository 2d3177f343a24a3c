import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SESSION_COOKIE } from '../../../src/http/admission/credential.ts';
import { createSignIn } from '../../../src/users/sign-in.ts';
import { COUNTS } from '../../counts.ts';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected, type Rejected } from '../../support/world/authz.ts';
import { makePerson } from '../../support/world/people.ts';

const PASSWORD = 'correct horse battery';

for (const driver of COUNTED_DRIVERS) {
  describe(`Users on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const basic = (name: string, password: string) => ({
      Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    });
    const signsIn = async (name: string, password: string) =>
      (await atrium.call('GET', '/api/v1/user', undefined, basic(name, password))).status;

    it(`A site administrator can create and edit a user, and the audit log holds no password on ${driver}`, async () => {
      const root = atrium.as('root');
      const body = { username: 'newt', email: 'Newt@example.com', full_name: 'Newt N.', password: PASSWORD };
      const made = await root('POST', '/admin/users', body);
      assert.equal(made.status, 201, made.text);
      assert.deepEqual(
        [made.body.login, made.body.email, made.body.full_name, made.body.is_admin, made.body.active],
        ['newt', 'Newt@example.com', 'Newt N.', false, true],
      );
      assert.equal(await signsIn('newt', PASSWORD), 200);
      assert.equal(await signsIn('newt@example.com', PASSWORD), 200);
      const read = await root('GET', '/users/NEWT');
      assert.equal(read.headers.get('etag'), made.headers.get('etag'));
      const mine = await atrium.call('GET', '/api/v1/users/newt', undefined, basic('newt', PASSWORD));
      assert.deepEqual([mine.status, mine.body.active], [200, true]);
      const theirs = await atrium.as('eve')('GET', '/users/newt');
      assert.deepEqual([theirs.body.login, theirs.body.active, theirs.headers.get('etag')], ['newt', undefined, null]);

      const tag = made.headers.get('etag') ?? '';
      const change = {
        full_name: 'Newt Newman',
        location: 'Here',
        website: 'https://newt.example',
        email: 'n@example.org',
      };
      const changed = await root('PATCH', '/admin/users/newt', { ...change, password: null }, { 'If-Match': tag });
      assert.deepEqual(
        [changed.status, changed.body.full_name, changed.body.email],
        [200, 'Newt Newman', 'n@example.org'],
      );
      assert.deepEqual(
        [changed.body.location, changed.body.website, changed.body.active],
        ['Here', 'https://newt.example', true],
      );
      assert.equal((await root('PATCH', '/admin/users/newt', {}, { 'If-Match': tag })).status, 412);
      assert.equal((await root('DELETE', '/admin/users/newt', undefined, { 'If-Match': tag })).status, 412);
      assert.equal(await signsIn('newt@example.com', PASSWORD), 401);
      assert.equal(await signsIn('n@example.org', PASSWORD), 200);
      assert.equal((await root('POST', '/admin/users', { username: 'newt2', email: 'newt@example.com' })).status, 201);

      const again = `${PASSWORD} staple`;
      const id = BigInt(made.body.id);
      const session = await atrium.instance.identity.sessions.open(id, false, new Date());
      const cookie = { Cookie: `${SESSION_COOKIE}=${session.text}` };
      assert.equal((await atrium.call('GET', '/api/v1/user', undefined, cookie)).status, 200);
      assert.equal((await root('PATCH', '/admin/users/newt', { password: again })).status, 200);
      assert.deepEqual([await signsIn('newt', PASSWORD), await signsIn('newt', again)], [401, 200]);
      assert.equal((await atrium.call('GET', '/api/v1/user', undefined, cookie)).status, 401);

      const entries = (await auditOf(atrium.instance.db, 0n)).filter((entry) => entry.object_id === id);
      assert.deepEqual(
        entries.map((entry) => [entry.action, entry.actor_name, entry.object_type]),
        [
          ['user.create', 'root', 'user'],
          ['user.update', 'root', 'user'],
          ['user.update', 'root', 'user'],
        ],
      );
      const said = entries.map((entry) => `${entry.before}${entry.after}`).join();
      assert.doesNotMatch(said, /horse|argon2|\$v=/);
      assert.doesNotMatch(atrium.logged(), /horse|argon2id\$/);
      assert.deepEqual(brokenLinks(await auditOf(atrium.instance.db, 0n)), []);
    });

    it(`A sign-in with the old password during a password change leaves no valid session on ${driver}`, async () => {
      const { callers, sessions, tickets } = atrium.instance.identity;
      const { users } = atrium.instance.features;
      const root = atrium.as('root');
      await root('POST', '/admin/users', { username: 'slow', email: 'slow@example.com', password: PASSWORD });
      const changedMeanwhile = {
        async byPassword(login: string, password: string) {
          const person = await callers.byPassword(login, password);
          assert.equal((await root('PATCH', '/admin/users/slow', { password: `${PASSWORD} 2` })).status, 200);
          return person;
        },
      };
      const signIn = createSignIn({ ...callers, ...changedMeanwhile }, users, sessions, tickets);
      const browser = { userAgent: '', ip: '192.0.2.1' };
      const request = { username: 'slow', password: PASSWORD, remember: false, browser };
      await assert.rejects(signIn.open(request, new Date()), { kind: 'unauthenticated' });

      for (let round = 0; round < COUNTS.raceRounds; round++) {
        const [old, next] = [`${PASSWORD} ${round + 2}`, `${PASSWORD} ${round + 3}`];
        const opening = createSignIn(callers, users, sessions, tickets).open({ ...request, password: old }, new Date());
        const [opened, changed] = await Promise.allSettled([
          opening,
          root('PATCH', '/admin/users/slow', { password: next }),
        ]);
        assert.equal(changed.status === 'fulfilled' && changed.value.status, 200);
        if (opened.status !== 'fulfilled' || !('session' in opened.value)) continue;
        const cookie = { Cookie: `${SESSION_COOKIE}=${opened.value.session.text}` };
        assert.equal((await atrium.call('GET', '/api/v1/user', undefined, cookie)).status, 401);
      }
    });

    it(`A deactivated or prohibited user is rejected at once with any credential on ${driver}`, async () => {
      const root = atrium.as('root');
      const { body } = await root('POST', '/admin/users', {
        username: 'paul',
        email: 'p@example.com',
        password: PASSWORD,
      });
      const { text } = await atrium.instance.identity.tokens.issue({
        accountId: BigInt(body.id),
        name: 't',
        scopes: ['all'],
      });
      const session = await atrium.instance.identity.sessions.open(BigInt(body.id), true, new Date());
      const ways = [
        { Authorization: `token ${text}` },
        { Cookie: `${SESSION_COOKIE}=${session.text}` },
        basic('paul', PASSWORD),
      ];
      const statuses = async () =>
        Promise.all(ways.map(async (headers) => (await atrium.call('GET', '/api/v1/user', undefined, headers)).status));
      assert.deepEqual(await statuses(), [200, 200, 200]);
      for (const off of [{ active: false }, { prohibit_login: true }]) {
        assert.equal((await root('PATCH', '/admin/users/paul', off)).status, 200);
        assert.deepEqual(await statuses(), [403, 403, 403], JSON.stringify(off));
        assert.equal((await root('PATCH', '/admin/users/paul', { active: true, prohibit_login: false })).status, 200);
        assert.deepEqual(await statuses(), [200, 200, 200]);
      }
    });

    it(`Promoting or demoting a site administrator takes effect at once on ${driver}`, async () => {
      const { name } = await makePerson(atrium);
      const sees = async () => [
        (await atrium.as(name)('GET', '/admin/orgs')).status,
        (await atrium.as(name)('GET', '/orgs/acme')).status,
      ];
      assert.deepEqual(await sees(), [403, 404]);
      assert.equal((await atrium.as('root')('PATCH', `/admin/users/${name}`, { admin: true })).body.is_admin, true);
      assert.deepEqual(await sees(), [200, 200]);
      assert.equal((await atrium.as('root')('PATCH', `/admin/users/${name}`, { admin: false })).status, 200);
      assert.deepEqual(await sees(), [403, 404]);
    });

    it(`Users can be searched by name, and by administrators also by email address, on ${driver}`, async () => {
      const found = await atrium.as('eve')('GET', '/users/search?q=ARCH');
      assert.deepEqual([found.body.ok, found.body.data.length, found.body.data[0].login], [true, 1, 'ann']);
      assert.equal(found.body.data[0].is_admin, false);
      const address = async (who: string) =>
        (await atrium.as(who)('GET', '/users/search?q=ARCH')).body.data.map((user: { email: string }) => user.email);
      for (const [who, email] of [
        ['eve', ''],
        ['ann', 'ann@example.com'],
        ['root', 'ann@example.com'],
      ] as const)
        assert.deepEqual(await address(who), [email], who);
      assert.equal((await atrium.as('eve')('GET', '/users/ann')).body.email, 'ann@example.com');
      const fans = await atrium.as('eve')('GET', '/users/search?q=fan&limit=10&page=2');
      assert.deepEqual([fans.body.data.length, fans.headers.get('x-total-count')], [10, '45']);
      for (const q of ['example.com', '%25', 'acme'])
        assert.deepEqual((await atrium.as('eve')('GET', `/users/search?q=${q}`)).body.data, [], q);
      const known = await atrium.as('root')('GET', '/admin/users?q=ann.archer@');
      assert.deepEqual(
        known.body.map((user: { login: string; orgAdmin: boolean }) => [user.login, user.orgAdmin]),
        [['ann', true]],
      );
      const all = await atrium.as('root')('GET', '/admin/users?limit=3');
      assert.deepEqual(
        all.body.map((user: { login: string; is_admin: boolean }) => [user.login, user.is_admin]),
        [
          ['root', true],
          ['ann', false],
          ['bob', false],
        ],
      );
    });
  });
}

describe('Users', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const admin = { status: 403, message: 'only site administrators can call this route' };
  const make = (body: object, status: number, message: string | RegExp): Rejected => ({
    who: 'root',
    send: ['POST', '/admin/users', { username: 'fresh', email: 'fresh@example.com', ...body }],
    status,
    message,
  });
  const edit = (body: object, status: number, message: string | RegExp, who = 'bob'): Rejected => ({
    who: 'root',
    send: ['PATCH', `/admin/users/${who}`, body],
    status,
    message,
  });
  const REFUSED: readonly Rejected[] = [
    { send: ['GET', '/users/ann'], status: 401, message: 'token is required' },
    { who: 'eve', send: ['GET', '/users/nobody'], status: 404, message: 'user does not exist' },
    { who: 'eve', send: ['GET', '/users/acme'], status: 404, message: 'user does not exist' },
    { who: 'ann', send: ['GET', '/admin/users'], ...admin },
    { who: 'ann', send: ['POST', '/admin/users', { username: 'x', email: 'x@example.com' }], ...admin },
    { who: 'ann', send: ['PATCH', '/admin/users/ann', { admin: true }], ...admin },
    { who: 'ann', send: ['DELETE', '/admin/users/bob'], ...admin },
    make({ username: 'ANN' }, 422, 'name is taken: ANN'),
    make({ username: 'acme' }, 422, 'name is taken: acme'),
    make({ username: 'search' }, 422, 'name is reserved: search'),
    make({ username: 'a b' }, 422, /^name must be 1 to 40/),
    make({ email: 'ANN@example.com' }, 422, 'email address is in use: ANN@example.com'),
    make({ email: 'nonsense' }, 422, 'email address "nonsense" is invalid'),
    make({ email: undefined }, 422, 'email is required'),
    make({ password: 'short12' }, 422, 'password must have 8 to 255 characters'),
    make({ password: 'x'.repeat(256) }, 422, 'password must have 8 to 255 characters'),
    make({ admin: 'yes' }, 422, 'admin must be boolean'),
    edit({ email: 'ann.archer@example.ORG' }, 422, 'email address is in use: ann.archer@example.ORG'),
    edit({ email: 'bob' }, 422, 'email address "bob" is invalid'),
    edit({ password: '1234567' }, 422, 'password must have 8 to 255 characters'),
    edit({ website: 'ftp://x' }, 422, /^website must match/),
    edit({ full_name: 'x'.repeat(101) }, 422, 'full_name must NOT have more than 100 characters'),
    edit({}, 404, 'user does not exist', 'nobody'),
    edit({}, 404, 'user does not exist', 'acme'),
    { who: 'root', send: ['DELETE', '/admin/users/nobody'], status: 404, message: 'user does not exist' },
    { who: 'root', send: ['DELETE', '/admin/users/acme'], status: 404, message: 'user does not exist' },
    {
      who: 'root',
      send: ['DELETE', '/admin/users/ann'],
      status: 409,
      message: /^the last owner of an organization cannot be deleted: acme; make another user an owner first, or /,
    },
    ...[{ admin: false }, { active: false }, { prohibit_login: true }].map((body) =>
      edit(body, 409, 'the last active site administrator cannot be deleted, deactivated or demoted', 'root'),
    ),
    {
      who: 'root',
      send: ['DELETE', '/admin/users/root'],
      status: 409,
      message: 'you cannot delete your own account: ask another administrator',
    },
  ];

  it('Invalid or unauthorized user requests are rejected and change nothing', async () => {
    const before = (await atrium.as('root')('GET', '/admin/users?limit=50')).text;
    for (const refused of REFUSED) await assertRejected(atrium, refused);
    const after = (await atrium.as('root')('GET', '/admin/users?limit=50')).text;
    assert.equal(after, before);
  });

  it('Setting the email of a user to one of their other addresses makes it primary, and errors name the field', async () => {
    await atrium.instance.features.emails.addUnverified(atrium.world.users.cat?.id ?? 0n, 'cat@second.example');
    const answer = await atrium.as('root')('PATCH', '/admin/users/cat', { email: 'Cat@second.example' });
    assert.equal(answer.body.email, 'Cat@second.example');
    const emails = (await atrium.as('cat')('GET', '/user/emails')).body;
    assert.deepEqual(
      emails.map((one: { email: string; primary: boolean; verified: boolean }) => [
        one.email,
        one.primary,
        one.verified,
      ]),
      [['Cat@second.example', true, true]],
    );
    const refused = await atrium.as('root')('POST', '/admin/users', { username: 'ann', email: 'q@example.com' });
    assert.deepEqual(refused.body.errors, [{ field: 'username', message: 'name is taken: ann' }]);
  });

  it('One site administrator remains when two demote or delete each other concurrently', async () => {
    for (let round = 0; round < COUNTS.raceRounds; round++) {
      const [one, two] = [await makePerson(atrium, { isAdmin: true }), await makePerson(atrium, { isAdmin: true })];
      const others = await atrium.as('root')('PATCH', '/admin/users/root', { prohibit_login: true });
      assert.equal(others.status, 200, others.text);
      const against = (who: string, whom: string) =>
        round % 2 === 0
          ? atrium.as(who)('PATCH', `/admin/users/${whom}`, { admin: false })
          : atrium.as(who)('DELETE', `/admin/users/${whom}`);
      const answers = await Promise.all([against(one.name, two.name), against(two.name, one.name)]);
      // Whoever came second is either no longer an administrator or the last one.
      assert.equal(answers.filter((answer) => answer.status < 300).length, 1, answers.map((a) => a.text).join());
      assert.ok(answers.every((answer) => [200, 204, 401, 403, 404, 409].includes(answer.status)));
      const winner = answers[0]?.status === 200 || answers[0]?.status === 204 ? one : two;
      const restored = await atrium.as(winner.name)('PATCH', '/admin/users/root', { prohibit_login: false });
      assert.equal(restored.status, 200, restored.text);
      assert.equal((await atrium.as('root')('PATCH', `/admin/users/${winner.name}`, { admin: false })).status, 200);
    }
  });
});
