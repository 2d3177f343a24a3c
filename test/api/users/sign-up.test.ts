import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { readConfig } from '../../../src/base/config/config.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { codeIn, type MailBox, openMailBox } from '../../support/world/mail-box.ts';

const PASSWORD = 'the password of a new user';

for (const driver of API_DRIVERS) {
  describe(`Signing up on ${driver}`, () => {
    let atrium: TestServer;
    let box: MailBox;
    before(async () => {
      box = await openMailBox();
      const env = {
        SMTP_URL: box.smtp.url,
        REGISTRATION: 'domains',
        REGISTRATION_DOMAINS: 'Example.com,*.allowed.test',
        EMAIL_BLOCKED_DOMAINS: 'bad.allowed.test',
        SCIM_DOMAINS: 'acme:acme.example',
      };
      atrium = await openTestServer({ driver, env });
    });
    after(async () => {
      await atrium.close();
      await box.smtp.close();
    });
    beforeEach(() => sql('delete from email_pause'));

    const sql = (text: string) => atrium.instance.db.query(statement(text)) as Promise<Record<string, unknown>[]>;
    const begin = (email: unknown) => atrium.as()('POST', '/user/signup', { email });
    const confirm = (code: string, fields: object = {}) =>
      atrium.as()('POST', '/user/signup/confirm', { code, username: 'newcomer', password: PASSWORD, ...fields });
    const reason = ({ status, body }: Answer) => [status, body?.reason];
    const codeFor = async (address: string) => {
      assert.equal((await begin(address)).status, 202);
      const [email, ...more] = await box.take(atrium);
      // Programs that send email write domains in lower case.
      assert.deepEqual([email?.to[0]?.toLowerCase(), more], [address.toLowerCase(), []]);
      return codeIn(email, '/signin/signup');
    };

    it(`A person with a confirmed address of an allowed domain creates an account, without a session on ${driver}`, async () => {
      const code = await codeFor('Newcomer@EXAMPLE.com');
      const created = await confirm(code, { full_name: 'New Comer' });
      assert.equal(created.status, 201, created.text);
      const { login, email, full_name, is_admin } = created.body;
      assert.deepEqual(
        { login, email, full_name, is_admin },
        {
          login: 'newcomer',
          email: 'Newcomer@EXAMPLE.com',
          full_name: 'New Comer',
          is_admin: false,
        },
      );
      assert.deepEqual(created.headers.getSetCookie(), []);
      const signedIn = await atrium.as()('POST', '/user/signin', { username: 'newcomer', password: PASSWORD });
      assert.equal(signedIn.status, 200);
      const [row] = await sql(
        `select verified, is_primary, confirmed_at is not null as confirmed from email where address_key = 'newcomer@example.com'`,
      );
      assert.deepEqual({ ...row }, { verified: true, is_primary: true, confirmed: true });
      assert.deepEqual(reason(await confirm(code, { username: 'second' })), [410, 'code_expired']);
      const entries = (await atrium.as('root')('GET', '/admin/audit?action=user.create&limit=1')).body.items;
      assert.equal(entries[0].object.name, 'newcomer');
      assert.doesNotMatch(JSON.stringify(entries), new RegExp(code));
    });

    it(`Domains are compared as a whole, and those of an organization or that are blocked do not count on ${driver}`, async () => {
      for (const address of [
        'a@evil-example.com',
        'a@x.example.com',
        'a@example.com.evil.test',
        'a@example.co',
        'a@allowed.test',
        'a@bad.allowed.test',
        'a@acme.example',
      ]) {
        assert.deepEqual(reason(await begin(address)), [403, 'domain_not_allowed'], address);
      }
      for (const bad of ['', 'x', 'a@b@example.com', 'a @example.com', undefined, null, 5]) {
        assert.equal((await begin(bad)).status, 422, String(bad));
      }
      assert.deepEqual(await box.take(atrium), []);
      assert.equal((await begin('a@team.ALLOWED.test')).status, 202);
      assert.equal((await box.take(atrium)).length, 1);
    });

    it(`An address that has an account gets the same answer, and an email that says so on ${driver}`, async () => {
      const [known, unknown] = [await begin('ANN@example.com'), await begin('fresh@example.com')];
      assert.deepEqual([known.status, known.text], [unknown.status, unknown.text]);
      const emails = await box.take(atrium);
      const ofAnn = emails.find(({ to }) => to[0]?.toLowerCase() === 'ann@example.com');
      assert.match(ofAnn?.text ?? '', /There is an account with this address already/);
      assert.doesNotMatch(`${ofAnn?.text}${ofAnn?.html}`, /code=/);
      assert.equal(emails.length, 2);
    });

    it(`An address gets one email in ten minutes, and a newer one ends the code of the older on ${driver}`, async () => {
      const first = await codeFor('twice@example.com');
      assert.equal((await begin('TWICE@example.com')).status, 202);
      assert.deepEqual(await box.take(atrium), []);
      await sql('delete from email_pause');
      const second = await codeFor('twice@example.com');
      assert.deepEqual(reason(await confirm(first, { username: 'twice' })), [410, 'code_expired']);
      assert.equal((await confirm(second, { username: 'twice' })).status, 201);
    });

    it(`What is wrong with a new account is said, and the code stays on ${driver}`, async () => {
      const code = await codeFor('careful@example.com');
      for (const [fields, status, why] of [
        [{ password: 'short' }, 422, 'validation_failed'],
        [{ username: 'not a name' }, 422, 'validation_failed'],
        [{ username: 'admin' }, 422, 'validation_failed'],
        [{ username: 'ann' }, 422, 'name_taken'],
        [{ username: 'ACME' }, 422, 'name_taken'],
        [{ username: null }, 422, 'validation_failed'],
        [{ full_name: 'two\nlines' }, 422, 'validation_failed'],
      ] as const) {
        assert.deepEqual(reason(await confirm(code, fields)), [status, why], JSON.stringify(fields));
      }
      for (const wrong of ['', 'x', 'A'.repeat(32)]) {
        assert.deepEqual(reason(await confirm(wrong)), [404, 'code_not_found'], wrong);
      }
      await atrium.as('root')('POST', '/admin/users', { username: 'gone', email: 'gone@example.org' });
      await atrium.as('root')('DELETE', '/admin/users/gone');
      assert.deepEqual(reason(await confirm(code, { username: 'gone' })), [422, 'name_reserved']);
      assert.equal((await confirm(code, { username: 'careful', full_name: null })).status, 201);
    });

    it(`An address that another account has taken meanwhile, and an old code, are rejected on ${driver}`, async () => {
      const code = await codeFor('raced@example.com');
      await atrium.as('bob')('POST', '/user/emails', { emails: ['raced@example.com'] });
      assert.deepEqual(reason(await confirm(code, { username: 'raced' })), [409, 'email_taken']);
      const late = await codeFor('late@example.com');
      await sql('update sign_up_code set expires_at = now()');
      assert.deepEqual(reason(await confirm(late, { username: 'late' })), [410, 'code_expired']);
    });

    it(`Of many confirmations of one code at the same moment, one creates an account on ${driver}`, async () => {
      const code = await codeFor('many@example.com');
      const answers = await Promise.all(
        Array.from({ length: 5 }, (_, place) => confirm(code, { username: `many${place}` })),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 410, 410, 410, 410]);
    });
  });
}

describe('Registration', () => {
  it('Is closed by default', async () => {
    const atrium = await openTestServer();
    try {
      for (const [path, body] of [
        ['/user/signup', { email: 'a@example.com' }],
        ['/user/signup/confirm', { code: 'x', username: 'new', password: PASSWORD }],
      ] as const) {
        const { status, body: answer } = await atrium.as()('POST', path, body);
        assert.deepEqual([status, answer.reason], [403, 'registration_closed'], path);
      }
    } finally {
      await atrium.close();
    }
  });

  it('The server does not start with settings that contradict each other', () => {
    const smtp = { SMTP_URL: 'smtp://127.0.0.1:25' };
    const open = { ...smtp, REGISTRATION: 'domains', REGISTRATION_DOMAINS: 'example.com' };
    assert.equal(readConfig(open).REGISTRATION, 'domains');
    assert.equal(readConfig({}).REGISTRATION, 'invited');
    for (const [env, message] of [
      [{ ...smtp, REGISTRATION: 'domains' }, /needs REGISTRATION_DOMAINS/],
      [{ ...open, SMTP_URL: '' }, /needs SMTP_URL/],
      [{ ...open, REGISTRATION: 'anyone' }, /REGISTRATION/],
      [{ ...open, SCIM_DOMAINS: 'acme:EXAMPLE.com' }, /must not contain example\.com, because SCIM_DOMAINS has acme:/],
      [{ ...open, SCIM_DOMAINS: 'acme:*' }, /must not contain example\.com/],
      [
        { ...open, REGISTRATION_DOMAINS: '*.example', SCIM_DOMAINS: 'acme:acme.example' },
        /must not contain \*\.example/,
      ],
    ] as const) {
      assert.throws(() => readConfig(env), message, JSON.stringify(env));
    }
    readConfig({ ...open, SCIM_DOMAINS: 'acme:x.example.com' });
  });
});
