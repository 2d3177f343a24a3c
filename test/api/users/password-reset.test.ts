import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { codeIn, type MailBox, openMailBox } from '../../support/world/mail-box.ts';

const NEW = 'a new password of bob';

for (const driver of API_DRIVERS) {
  describe(`A forgotten password on ${driver}`, () => {
    let atrium: TestServer;
    let box: MailBox;
    before(async () => {
      box = await openMailBox();
      atrium = await openTestServer({ driver, env: { SMTP_URL: box.smtp.url } });
    });
    after(async () => {
      await atrium.close();
      await box.smtp.close();
    });
    beforeEach(() => sql('delete from email_pause'));

    const sql = (text: string, values: readonly unknown[] = []) =>
      atrium.instance.db.query(statement(text), values) as Promise<Record<string, unknown>[]>;
    const forgot = (email: unknown, headers: Record<string, string> = {}) =>
      atrium.as()('POST', '/user/password/forgot', { email }, headers);
    const reset = (code: string, password = NEW) => atrium.as()('POST', '/user/password/reset', { code, password });
    const signIn = (username: string, password: string) => atrium.as()('POST', '/user/signin', { username, password });
    const reason = ({ status, body }: Answer) => [status, body?.reason];
    const emailFor = async (address: string) => {
      assert.equal((await forgot(address)).status, 202);
      const emails = await box.take(atrium);
      assert.equal(emails.length, 1, address);
      return emails[0];
    };
    const codeFor = async (address: string) => codeIn(await emailFor(address), '/signin/reset');
    const linkFor = (name: string) => atrium.as('root')('POST', `/admin/users/${name}/password_link`);
    const codeOf = (answer: Answer) => answer.body.link.split('#code=')[1] as string;
    const lastEntry = async (action: string) =>
      (await atrium.as('root')('GET', `/admin/audit?action=${action}&limit=1`)).body.items[0];

    it(`A link from an email sets a password once, ends all sessions, opens none, and says so by email on ${driver}`, async () => {
      const old = atrium.world.users.bob?.password ?? '';
      const session = await signIn('bob', old);
      const cookie = session.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ');
      const inSession = () => atrium.as()('GET', '/user', undefined, { cookie });
      assert.equal((await inSession()).status, 200);
      const answer = await forgot('BOB@example.com', { Host: 'evil.example' });
      assert.deepEqual([answer.status, answer.text], [202, '']);
      const [email, ...more] = await box.take(atrium);
      assert.deepEqual([email?.to, more], [['bob@example.com'], []], 'in its stored spelling');
      assert.match(email?.text ?? '', /because a new password was requested for this address/);
      assert.doesNotMatch(`${email?.text}${email?.html}`, /evil/);
      const code = codeIn(email, '/signin/reset');
      const done = await reset(code);
      assert.deepEqual([done.status, done.text, done.headers.getSetCookie()], [204, '', []]);
      assert.equal((await inSession()).status, 401);
      assert.equal((await atrium.as('bob')('GET', '/user')).status, 200, 'tokens stay');
      assert.deepEqual([(await signIn('bob', NEW)).status, (await signIn('bob', old)).status], [200, 404]);
      assert.deepEqual(reason(await reset(code)), [410, 'code_expired']);
      const [notice, ...others] = await box.take(atrium);
      assert.deepEqual(
        [notice?.to, notice?.headers.subject, others],
        [['bob@example.com'], 'Your password was changed', []],
      );
      const entry = await lastEntry('user.password_reset');
      assert.deepEqual([entry.actor.name, entry.object.name], ['bob', 'bob']);
      assert.doesNotMatch(JSON.stringify([entry, await lastEntry('user.password_email')]), new RegExp(code));
      assert.doesNotMatch(atrium.logged(), new RegExp(code));
    });

    it(`A known and an unknown address get the same answer, and only the known one an email on ${driver}`, async () => {
      const [known, unknown] = [await forgot('cat@example.com'), await forgot('nobody@example.com')];
      assert.deepEqual([known.status, known.text], [unknown.status, unknown.text]);
      const names = ({ headers }: Answer) => [...headers.keys()].sort();
      assert.deepEqual(names(known), names(unknown));
      assert.deepEqual(
        (await box.take(atrium)).map(({ to }) => to),
        [['cat@example.com']],
      );
      for (const odd of ['', 'x', 'a@b@c', `${'a'.repeat(300)}@x.org`, 'ın@example.com']) {
        assert.equal((await forgot(odd)).status, 202, odd);
      }
      assert.deepEqual(await box.take(atrium), []);
    });

    it(`A body without a text as its email is rejected on ${driver}`, async () => {
      for (const email of [undefined, null, 5, ['a@x.org'], {}]) assert.equal((await forgot(email)).status, 422);
      const call = (path: string, body: unknown) => atrium.as()('POST', `/user/password/${path}`, body);
      assert.equal((await call('forgot', [])).status, 422);
      for (const body of [{}, { code: 'x' }, { password: NEW }, { code: 5, password: NEW }]) {
        assert.equal((await call('reset', body)).status, 422, JSON.stringify(body));
      }
    });

    it(`An address gets one email in ten minutes, whatever its case, and the answer stays the same on ${driver}`, async () => {
      for (const spelling of ['dan@example.com', 'DAN@example.com', 'dan@EXAMPLE.com']) {
        assert.equal((await forgot(spelling)).status, 202);
      }
      assert.equal((await box.take(atrium)).length, 1);
      await Promise.all(Array.from({ length: 8 }, () => forgot('eve@example.com')));
      assert.equal((await box.take(atrium)).length, 1, 'also at the same moment');
      await sql(`update email_pause set ends_at = now()`);
      await forgot('dan@example.com');
      assert.equal((await box.take(atrium)).length, 1);
    });

    it(`A wrong code is 404, a bad password is 422 and keeps the code, an old code is 410 on ${driver}`, async () => {
      const code = await codeFor('cat@example.com');
      for (const wrong of ['', 'x', code.slice(1), `${code}A`, `A${code.slice(1)}`, 'A'.repeat(32), '../../x']) {
        assert.deepEqual(reason(await reset(wrong)), [404, 'code_not_found'], wrong);
      }
      for (const bad of ['', 'short', 'x'.repeat(256)]) {
        const { status, body } = await reset(code, bad);
        assert.deepEqual([status, body.errors?.[0]?.field], [422, 'password'], bad);
      }
      await sql(`update password_code set expires_at = now() where ended_at is null`);
      assert.deepEqual(reason(await reset(code)), [410, 'code_expired']);
    });

    it(`A code is valid for 30 minutes, and only its hash is stored on ${driver}`, async () => {
      const code = await codeFor('cat@example.com');
      const [row] = await sql(
        `select expires_at - now() between interval '29 minutes' and interval '30 minutes' as fits, encode(hash, 'escape') as hash
           from password_code where ended_at is null and account_id = (select id from account where name = 'cat')`,
      );
      assert.equal(row?.fits, true);
      assert.doesNotMatch(String(row?.hash), new RegExp(code));
    });

    it(`A new email, a new password and another primary address end a code on ${driver}`, async () => {
      const first = await codeFor('cat@example.com');
      await sql('delete from email_pause');
      const second = await codeFor('cat@example.com');
      assert.deepEqual(reason(await reset(first)), [410, 'code_expired']);
      const admin = (fields: object) => atrium.as('root')('PATCH', '/admin/users/cat', fields);
      await admin({ password: 'another one of cat' });
      assert.deepEqual(reason(await reset(second)), [410, 'code_expired']);
      await sql('delete from email_pause');
      const third = await codeFor('cat@example.com');
      await admin({ email: 'cat@example.org' });
      assert.deepEqual(reason(await reset(third)), [410, 'code_expired']);
      await sql('delete from email_pause');
      const fourth = await codeFor('cat@example.org');
      await admin({ email: 'cat@example.com' });
      assert.deepEqual(reason(await reset(fourth)), [410, 'code_expired']);
      const link = codeOf(await linkFor('cat'));
      await sql('delete from email_pause');
      await codeFor('cat@example.com');
      assert.deepEqual(reason(await reset(link)), [410, 'code_expired']);
    });

    it(`Of many requests with one code at the same moment, one sets the password on ${driver}`, async () => {
      const code = codeOf(await linkFor('dan'));
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, place) => reset(code, `password number ${place}`)),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 410, 410, 410, 410, 410]);
      const winner = answers.findIndex(({ status }) => status === 204);
      assert.equal((await signIn('dan', `password number ${winner}`)).status, 200);
      await box.take(atrium);
    });

    it(`A further address resets a password only if its link was opened on ${driver}`, async () => {
      await atrium.as('bob')('POST', '/user/emails', { emails: ['victim@example.org'] });
      await forgot('victim@example.org');
      assert.deepEqual(await box.take(atrium), [], 'typed, not confirmed');
      await sql(`update email set confirmed_at = now() where address = 'victim@example.org'`);
      await sql('delete from email_pause');
      const code = await codeFor('victim@example.org');
      await atrium.as('bob')('DELETE', '/user/emails', { emails: ['victim@example.org'] });
      assert.deepEqual(reason(await reset(code)), [410, 'code_expired'], 'the address is gone');
    });

    it(`Inactive and prohibited users get no email, and no link on ${driver}`, async () => {
      const code = codeOf(await linkFor('eve'));
      for (const [bar, back] of [
        [{ active: false }, { active: true }],
        [{ prohibit_login: true }, { prohibit_login: false }],
      ]) {
        await atrium.as('root')('PATCH', '/admin/users/eve', bar);
        await sql('delete from email_pause');
        await forgot('eve@example.com');
        assert.deepEqual(await box.take(atrium), []);
        assert.deepEqual(reason(await linkFor('eve')), [409, 'conflict']);
        assert.deepEqual(reason(await reset(code)), [410, 'code_expired']);
        await atrium.as('root')('PATCH', '/admin/users/eve', back);
      }
      assert.equal((await reset(code)).status, 204, 'usable again');
      await box.take(atrium);
    });

    it(`Users of a provider are told how they sign in, and get no link on ${driver}`, async () => {
      await sql(`update account set password_hash = null where name = 'eve'`);
      assert.equal((await linkFor('eve')).status, 201, 'without a password and without a provider');
      await sql(
        `insert into linked_account (account_id, provider, issuer, subject, email)
         select id, 'company', 'https://login.example', 'eve', 'eve@example.com' from account where name = 'eve'`,
      );
      const email = await emailFor('eve@example.com');
      assert.match(email?.text ?? '', /sign in with your provider \(company\)/);
      assert.doesNotMatch(`${email?.text}${email?.html}`, /code=/);
      assert.deepEqual(reason(await linkFor('eve')), [409, 'provider_sign_in']);
      await sql(
        `insert into scim_user (organization_id, account_id, user_name, is_owned)
         select o.id, u.id, 'bob', true from account o, account u where o.name = 'acme' and u.name = 'bob'`,
      );
      const managed = await emailFor('bob@example.com');
      assert.match(managed?.text ?? '', /managed by your organization/);
      assert.doesNotMatch(`${managed?.text}${managed?.html}`, /code=/);
      assert.deepEqual(reason(await linkFor('bob')), [409, 'provider_sign_in'], 'although bob has a password');
      await sql('delete from scim_user');
      await sql('delete from linked_account');
    });

    it(`A site administrator needs a second factor to reset a password by email on ${driver}`, async () => {
      const [root] = await sql(
        `select address from email e join account a on a.id = e.account_id where a.name = 'root'`,
      );
      const address = String(root?.address);
      const email = await emailFor(address);
      assert.match(email?.text ?? '', /atrium recover root/);
      assert.doesNotMatch(`${email?.text}${email?.html}`, /code=/);
      await sql(`update account set has_factor = true where name = 'root'`);
      await sql('delete from email_pause');
      const code = await codeFor(address);
      await sql(`update account set has_factor = false where name = 'root'`);
      assert.deepEqual(reason(await reset(code)), [410, 'code_expired'], 'the factor was removed meanwhile');
      const own = codeOf(await linkFor('root'));
      assert.equal((await reset(own)).status, 204, 'another administrator may create a link');
      await box.take(atrium);
    });

    it(`A site administrator creates a link, which is shown once and audited on ${driver}`, async () => {
      const answer = await linkFor('DAN');
      assert.equal(answer.status, 201);
      assert.deepEqual(Object.keys(answer.body).sort(), ['expires_at', 'link']);
      assert.match(answer.body.link, new RegExp(`^${atrium.url}/signin/reset#code=[\\w-]{32}$`));
      const minutes = (Date.parse(answer.body.expires_at) - Date.now()) / 60_000;
      assert.ok(minutes > 28 && minutes <= 30.1, `${minutes}`);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      const entry = await lastEntry('user.password_link');
      assert.deepEqual([entry.actor.name, entry.object.name], ['root', 'dan']);
      assert.doesNotMatch(JSON.stringify(entry), new RegExp(codeOf(answer)));
      assert.deepEqual(await box.take(atrium), [], 'no email');
      const key = { 'Idempotency-Key': 'one-link' };
      const again = () => atrium.as('root')('POST', '/admin/users/dan/password_link', undefined, key);
      const twice = [await again(), await again()];
      assert.equal(twice[0]?.status, 201, twice[0]?.text);
      assert.equal(twice[0]?.body.link ?? 0, twice[1]?.body.link ?? 1);
      assert.equal((await reset(codeOf(twice[0] as Answer))).status, 204);
      await box.take(atrium);
    });

    it(`Only site administrators create links, for users who exist, and not with sudo on ${driver}`, async () => {
      const call = (name: string | undefined, user: string, query = '') =>
        atrium.as(name)('POST', `/admin/users/${user}/password_link${query}`);
      assert.deepEqual(reason(await call(undefined, 'bob')), [401, 'unauthenticated']);
      assert.equal((await call('ann', 'bob')).status, 403);
      assert.deepEqual(reason(await call('root', 'nobody')), [404, 'user_not_found']);
      assert.deepEqual(reason(await call('root', 'acme')), [404, 'user_not_found']);
      await atrium.as('root')('PATCH', '/admin/users/ann', { admin: true });
      assert.deepEqual(reason(await call('root', 'bob', '?sudo=ann')), [403, 'sudo_forbidden']);
      await atrium.as('root')('PATCH', '/admin/users/ann', { admin: false });
    });
  });
}

describe('Limits of a forgotten password', () => {
  it('A network gets 429 after many requests for emails, and after many wrong codes', async () => {
    const box = await openMailBox();
    const atrium = await openTestServer({ env: { SMTP_URL: box.smtp.url, AUTH_FAILURES: '1' } });
    try {
      const forgot = () => atrium.as()('POST', '/user/password/forgot', { email: 'nobody@example.com' });
      const statuses: number[] = [];
      for (let count = 0; count < 61; count++) statuses.push((await forgot()).status);
      assert.deepEqual(new Set(statuses.slice(0, 60)), new Set([202]));
      const rejected = await forgot();
      assert.deepEqual([statuses[60], rejected.body.reason], [429, 'rate_limited']);
      assert.match(rejected.headers.get('retry-after') ?? '', /^\d+$/);
      const reset = (password: string) =>
        atrium.as()('POST', '/user/password/reset', { code: 'A'.repeat(32), password });
      const wrong: number[] = [];
      for (let count = 0; count < 11; count++) wrong.push((await reset('long enough')).status);
      assert.deepEqual([wrong.slice(0, 10).every((status) => status === 404), wrong[10]], [true, 429]);
    } finally {
      await atrium.close();
      await box.smtp.close();
    }
  });

  it('With PASSWORDS=off, every call about passwords is rejected', async () => {
    const provider = { name: 'company', issuer: 'https://login.example.com', client_id: 'x', client_secret: 'y' };
    const env = {
      PASSWORDS: 'off',
      OIDC_PROVIDERS: JSON.stringify([provider]),
      REGISTRATION: 'domains',
      REGISTRATION_DOMAINS: 'example.com',
      SMTP_URL: 'smtp://127.0.0.1:9',
    };
    const atrium = await openTestServer({ env });
    try {
      for (const [path, body, name] of [
        ['/user/password/forgot', { email: 'bob@example.com' }],
        ['/user/password/reset', { code: 'x', password: NEW }],
        ['/admin/users/bob/password_link', undefined, 'root'],
        ['/user/signup', { email: 'new@example.com' }],
        ['/user/signup/confirm', { code: 'x', username: 'new', password: NEW }],
      ] as const) {
        const { status, body: answer } = await atrium.as(name)('POST', path, body);
        assert.deepEqual([status, answer.reason], [403, 'passwords_off'], path);
      }
    } finally {
      await atrium.close();
    }
  });
});
