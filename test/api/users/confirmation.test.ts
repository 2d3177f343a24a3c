import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { createLog } from '../../../src/base/log.ts';
import { createMailer } from '../../../src/base/mail/mailer.ts';
import { createSignedTexts } from '../../../src/base/signed-text.ts';
import { createConfirmationLinks } from '../../../src/users/emails/confirmation-links.ts';
import { IS_LONG } from '../../counts.ts';
import { ANY_DRIVER } from '../../support/server/db.ts';
import { openQuietly, openTestServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { type SmtpServer, startSmtp } from '../../support/services/smtp.ts';
import { readEmail } from '../../support/world/email.ts';

const HELLO = { to: 'a@x.org', subject: 'hello', body: ['hello'], reason: 'A test sent it.' };
const LINK = /http:\/\/127\.0\.0\.1:\d+(\/api\/v1\/user\/emails\/confirm\?key=[\w.-]+)/;

describe('Email confirmation', () => {
  let smtp: SmtpServer;
  let atrium: TestServer;
  before(async () => {
    smtp = await startSmtp();
    const env = { EMAIL_CONFIRMATION: 'true', SMTP_URL: smtp.url, MAIL_FROM: 'Atrium <atrium@example.com>' };
    atrium = await openTestServer({ env });
  });
  after(async () => {
    await atrium.close();
    await smtp.close();
  });

  const isVerified = async (address: string) =>
    (await atrium.as('bob')('GET', '/user/emails')).body.find(({ email }: { email: string }) => email === address)
      ?.verified;
  /** Adds an address and takes the link from the email. */
  const add = async (address: string) => {
    const answer = await atrium.as('bob')('POST', '/user/emails', { emails: [address] });
    assert.equal(answer.status, 201);
    const letter = smtp.letters.find(({ to }) => to.includes(address)) ?? assert.fail('no letter');
    // The email is quoted-printable, because it has long lines.
    return LINK.exec(letter.text.replaceAll('=\n', '').replaceAll('=3D', '='))?.[1] ?? assert.fail(letter.text);
  };

  it('Each new address is unverified and receives a confirmation email from the configured sender', async () => {
    const addresses = ['bob.one@example.org', "o'bob+two@example.org"];
    const added = await atrium.as('bob')('POST', '/user/emails', { emails: addresses });
    assert.deepEqual(
      added.body.map(({ verified }: { verified: boolean }) => verified),
      [true, false, false],
    );
    assert.deepEqual(
      smtp.letters.map(({ to }) => to).sort(),
      [["o'bob+two@example.org"], ['bob.one@example.org']].sort(),
    );
    for (const letter of smtp.letters) {
      const { from, text } = letter;
      assert.equal(from, 'atrium@example.com');
      assert.match(text, /^Subject: Confirm your email address$/m);
      const email = readEmail(letter);
      for (const part of [email.text, email.html]) {
        assert.match(part, /The user bob has added /);
        assert.match(part, /because the user bob of http:\/\/127\.0\.0\.1:\d+ added this address/);
        assert.match(part, LINK);
      }
    }
  });

  it('A confirmation link verifies the address without a credential and can be opened twice', async () => {
    const path = await add('bob.link@example.org');
    assert.equal(await isVerified('bob.link@example.org'), false);
    for (let time = 0; time < 2; time++) {
      const answer = await atrium.call('GET', path);
      assert.deepEqual([answer.status, answer.body], [200, { message: 'the address is confirmed' }]);
      assert.equal(await isVerified('bob.link@example.org'), true);
    }
  });

  it('A tampered confirmation link does not verify the address', async () => {
    const path = await add('bob.forged@example.org');
    const key = path.slice(path.indexOf('=') + 1);
    const change = (place: number) => `${key.slice(0, place)}${key[place] === 'A' ? 'B' : 'A'}${key.slice(place + 1)}`;
    const forged = [...Array(key.length).keys()].map(change);
    for (const text of [
      ...forged,
      `${key}.x`,
      `${key}=`,
      `${key}!`,
      key.slice(0, -1),
      `.${key}`,
      '',
      '.',
      'x',
      '%00',
    ]) {
      const answer = await atrium.call('GET', `/api/v1/user/emails/confirm?key=${text}`);
      assert.ok(answer.status === 404 || text === '%00', `${text}: ${answer.status}`);
    }
    assert.equal((await atrium.call('GET', '/api/v1/user/emails/confirm')).status, 400);
    assert.equal(await isVerified('bob.forged@example.org'), false);
  });

  it('A confirmation link is invalid after its address is removed, even if another user adds the address', async () => {
    const path = await add('bob.moved@example.org');
    await atrium.as('bob')('DELETE', '/user/emails', { emails: ['bob.moved@example.org'] });
    assert.equal((await atrium.call('GET', path)).status, 404);
    await atrium.instance.db.query(statement('delete from confirmation_email'));
    const added = await atrium.as('eve')('POST', '/user/emails', { emails: ['bob.moved@example.org'] });
    assert.equal(added.status, 201);
    const refused = await atrium.call('GET', path);
    assert.deepEqual([refused.status, refused.body.message], [404, 'the link is invalid or has expired']);
  });

  it('An unconfirmed address cannot be used to sign in', async () => {
    const path = await add('bob.login@example.org');
    const signIn = () =>
      atrium.as()('POST', '/user/signin', {
        username: 'bob.login@example.org',
        password: atrium.world.users.bob?.password,
      });
    assert.equal((await signIn()).status, 404);
    await atrium.call('GET', path);
    assert.equal((await signIn()).status, 200);
  });

  it('A confirmation link is valid for one day', () => {
    const links = createConfirmationLinks(createSignedTexts(Buffer.alloc(32)), () => 'http://x');
    const now = new Date();
    const text = links.make({ id: 7n, address: 'a@x.org' }, now).split('key=')[1] ?? '';
    const later = (ms: number) => links.read(text, new Date(now.getTime() + ms));
    assert.deepEqual(later(86_399_999), { id: 7n, address: 'a@x.org' });
    assert.equal(later(86_400_000), undefined);
    const other = createConfirmationLinks(createSignedTexts(Buffer.alloc(32, 1)), () => 'http://x');
    assert.equal(other.read(text, now), undefined);
  });

  it('An address is kept, and the error logged, when the mail server rejects its confirmation email', async () => {
    const grim = await startSmtp('refuse');
    const home = await openTestServer({ env: { EMAIL_CONFIRMATION: 'true', SMTP_URL: grim.url } });
    const answer = await home.as('bob')('POST', '/user/emails', { emails: ['bob@x.org'] });
    assert.equal(answer.status, 201);
    assert.match(home.logged(), /"level":"error".*550 no such person.*"email not sent"/);
    await home.close();
    await grim.close();
  });
});

describe('The number of confirmation emails', () => {
  const MINUTE = 60_000;
  // Each test is later than the one before: the rate limit expects that time does not run backwards.
  let start = Date.now();
  let smtp: SmtpServer;
  let atrium: TestServer;
  let sentBefore = 0;
  before(async () => {
    smtp = await startSmtp();
    atrium = await openTestServer({ driver: ANY_DRIVER, env: { EMAIL_CONFIRMATION: 'true', SMTP_URL: smtp.url } });
  });
  after(async () => {
    await atrium.close();
    await smtp.close();
  });
  beforeEach(async (context) => {
    start += 120 * MINUTE;
    (context as TestContext).mock.timers.enable({ apis: ['Date'], now: start });
    sentBefore = smtp.letters.length;
    await atrium.instance.db.query(statement('delete from confirmation_email'));
    await atrium.instance.db.query(statement('delete from email where not is_primary'));
  });

  const sent = () => smtp.letters.length - sentBefore;
  const add = (name: string, ...emails: string[]) => atrium.as(name)('POST', '/user/emails', { emails });
  const remove = (name: string, ...emails: string[]) => atrium.as(name)('DELETE', '/user/emails', { emails });
  const numbered = (count: number) => Array.from({ length: count }, (_, place) => `bob${place}@x.org`);

  it('An address gets one confirmation email in ten minutes, whoever adds and removes it', async (context) => {
    const victim = 'Victim@bank.example';
    assert.equal((await add('bob', victim)).status, 201);
    for (const [name, spelling] of [
      ['bob', victim],
      ['eve', 'victim@BANK.example'],
      ['bob', victim.toLowerCase()],
    ] as const) {
      await remove('bob', victim);
      const refused = await add(name, spelling);
      assert.deepEqual([refused.status, refused.body.reason], [429, 'rate_limited']);
      assert.equal(refused.headers.get('retry-after'), '600');
      // Whether somebody else caused the earlier email makes no difference.
      assert.equal(
        refused.body.message,
        'a confirmation email was sent to this address less than ten minutes ago: try again later',
      );
    }
    context.mock.timers.setTime(start + 10 * MINUTE - 1);
    assert.equal((await add('eve', victim)).headers.get('retry-after'), '1');
    context.mock.timers.setTime(start + 10 * MINUTE);
    assert.equal((await add('eve', victim)).status, 201);
    assert.equal(sent(), 2);
  });

  it('A user causes ten confirmation emails in an hour', async (context) => {
    assert.equal((await add('bob', ...numbered(6))).status, 201);
    await remove('bob', ...numbered(6));
    context.mock.timers.setTime(start + 20 * MINUTE);
    assert.equal((await add('bob', ...numbered(4))).status, 201);
    await remove('bob', ...numbered(4));
    context.mock.timers.setTime(start + 40 * MINUTE);
    for (const [count, seconds] of [
      [1, 20 * 60],
      [6, 20 * 60],
      [7, 40 * 60],
    ] as const) {
      const refused = await add('bob', ...numbered(count));
      assert.deepEqual(
        [refused.status, refused.headers.get('retry-after')],
        [429, String(seconds)],
        `${count} addresses`,
      );
      assert.match(refused.body.message, /^at most 10 confirmation emails can be sent for one user in an hour/);
    }
    assert.equal((await add('eve', 'eve2@x.org')).status, 201, 'others have their own allowance');
    assert.equal(sent(), 11);
  });

  it('A request with many addresses is allowed as a whole or rejected as a whole', async () => {
    const tooMany = await add('bob', ...numbered(11));
    assert.deepEqual([tooMany.status, tooMany.body.reason], [422, 'limit_reached']);
    assert.match(tooMany.body.message, /LIMIT_CONFIRMATION_EMAILS_PER_HOUR/);
    assert.equal((await add('bob', 'bob0@x.org')).status, 201);
    await remove('bob', 'bob0@x.org');
    assert.equal((await add('bob', ...numbered(3))).status, 429);
    assert.equal((await atrium.as('bob')('GET', '/user/emails')).body.length, 1);
    assert.equal(sent(), 1);
  });

  it('Concurrent requests do not cause more confirmation emails than allowed', async () => {
    const own = await Promise.all(Array.from({ length: 15 }, (_, place) => add('bob', `at-once${place}@x.org`)));
    assert.deepEqual(statuses(own), [...Array(10).fill(201), ...Array(5).fill(429)]);
    const victim = await Promise.all(
      ['ann', 'cat', 'dan', 'eve'].flatMap((name) => [add(name, 'victim@x.org'), add(name, 'VICTIM@x.org')]),
    );
    assert.equal(victim.filter(({ status }) => status === 201).length, 1);
    assert.equal(sent(), 11);
  });

  it('A second server on the same database, and one that starts later, count the same emails', async (context) => {
    if (atrium.instance.db.driver === 'pglite') return context.skip('one process at a time');
    assert.equal((await add('bob', 'shared@x.org')).status, 201);
    await remove('bob', 'shared@x.org');
    const { DATABASE_URL = '' } = atrium.instance.config;
    const env = { EMAIL_CONFIRMATION: 'true', SMTP_URL: smtp.url, DATABASE_URL, ATRIUM_KEY: TEST_KEY };
    const second = await openQuietly(env, []);
    const url = await second.listen();
    const headers = { Authorization: `token ${atrium.world.users.bob?.token}` };
    const answer = await atrium.call('POST', '/api/v1/user/emails', { emails: ['shared@x.org'] }, headers, url);
    await second.close();
    assert.equal(answer.status, 429);
  });
});

function statuses(answers: readonly { status: number }[]): number[] {
  return answers.map(({ status }) => status).sort();
}

describe('A mail server that does not respond', () => {
  it('Sending email times out within seconds when the mail server does not respond', async () => {
    const mute = await startSmtp('silent');
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const mailer = createMailer({ SMTP_URL: mute.url, MAIL_FROM: 'x@localhost', RUN_MODE: 'prod' }, log);
    const start = performance.now();
    await mailer.send(HELLO);
    assert.ok(performance.now() - start < (IS_LONG ? 9000 : 90_000));
    assert.match(lines.join(''), /email not sent/);
    await mute.close();
  });
});

describe('A mail server that does not stop', () => {
  for (const [mood, words] of [
    ['chatty', /exceeds maximum allowed size/],
    ['slow', /took longer than 0.3 s/],
  ] as const) {
    it(`A mail server whose greeting never ends is given up (${mood})`, async () => {
      const server = await startSmtp(mood);
      const lines: string[] = [];
      const log = createLog('info', { write: (line) => void lines.push(line) });
      const settings = { SMTP_URL: server.url, MAIL_FROM: 'x@localhost', RUN_MODE: 'prod' } as const;
      const mailer = createMailer(settings, log, mood === 'slow' ? 300 : undefined);
      await mailer.send(HELLO);
      assert.match(lines.join(''), /email not sent/);
      assert.match(lines.join(''), words);
      await server.close();
    });
  }
});

describe('Email without a mail server', () => {
  const letter = { ...HELLO, body: ['the link'] };
  const logged = async (mode: 'dev' | 'prod') => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    await createMailer({ SMTP_URL: undefined, MAIL_FROM: 'x@localhost', RUN_MODE: mode }, log).send(letter);
    return lines.join('');
  };

  it('A working confirmation link is logged in dev mode without a mail server', async () => {
    const atrium = await openTestServer({ env: { EMAIL_CONFIRMATION: 'true', RUN_MODE: 'dev' } });
    await atrium.as('bob')('POST', '/user/emails', { emails: ['bob@x.org'] });
    const path = LINK.exec(atrium.logged())?.[1] ?? assert.fail('no link in the log');
    assert.equal((await atrium.call('GET', path)).status, 200);
    await atrium.close();
  });

  it('The log in prod mode without a mail server omits the email text and names SMTP_URL', async () => {
    assert.match(await logged('dev'), /the link/);
    const prod = await logged('prod');
    assert.doesNotMatch(prod, /the link/);
    assert.match(prod, /SMTP_URL/);
  });
});
