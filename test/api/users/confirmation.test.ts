import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLog } from '../../../src/base/log.ts';
import { createMailer } from '../../../src/base/mail.ts';
import { createSignedTexts } from '../../../src/base/signed-text.ts';
import { createConfirmationLinks } from '../../../src/users/confirmation-links.ts';
import { IS_LONG } from '../../counts.ts';
import { openTestServer, type TestServer } from '../../support/server.ts';
import { type SmtpServer, startSmtp } from '../../support/smtp.ts';

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
    for (const { from, text } of smtp.letters) {
      assert.equal(from, 'atrium@example.com');
      assert.match(text, /^Subject: Confirm your email address$/m);
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
    await atrium.as('eve')('POST', '/user/emails', { emails: ['bob.moved@example.org'] });
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

describe('A mail server that does not respond', () => {
  it('Sending email times out within seconds when the mail server does not respond', async () => {
    const mute = await startSmtp('silent');
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const mailer = createMailer({ SMTP_URL: mute.url, MAIL_FROM: 'x@localhost', RUN_MODE: 'prod' }, log);
    const start = performance.now();
    await mailer.send({ to: 'a@x.org', subject: 'hello', text: 'hello' });
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
      await mailer.send({ to: 'a@x.org', subject: 'hello', text: 'hello' });
      assert.match(lines.join(''), /email not sent/);
      assert.match(lines.join(''), words);
      await server.close();
    });
  }
});

describe('Email without a mail server', () => {
  const letter = { to: 'a@x.org', subject: 'hello', text: 'the link' };
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
