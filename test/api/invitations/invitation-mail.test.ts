import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutLinks } from '../../../src/invitations/invitation-mail.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type SmtpServer, startSmtp } from '../../support/services/smtp.ts';
import { readEmail } from '../../support/world/email.ts';
import { codeIn, newAddress, openHost, PASSWORD } from '../../support/world/invitations.ts';
import { makePerson } from '../../support/world/people.ts';

describe('Invitations by email', () => {
  let smtp: SmtpServer;
  let atrium: TestServer;
  before(async () => {
    smtp = await startSmtp();
    atrium = await openTestServer({ env: { SMTP_URL: smtp.url, LIMIT_CONFIRMATION_EMAILS_PER_HOUR: '5' } });
  });
  after(async () => {
    await atrium.close();
    await smtp.close();
  });

  const mailTo = (address: string) =>
    readEmail(smtp.letters.findLast(({ to }) => to.includes(address)) ?? assert.fail(`no email to ${address}`));
  const codeOf = (text: string) => codeIn(/http:\S+\/invitations\/\S+/.exec(text)?.[0] ?? assert.fail(text));
  const accept = async (code: string, username: string) =>
    await atrium.call('POST', `/api/v1/invitations/${code}/accept`, { username, password: PASSWORD });
  const emailsOf = async (username: string) => {
    const basic = `Basic ${Buffer.from(`${username}:${PASSWORD}`).toString('base64')}`;
    return (await atrium.call('GET', '/api/v1/user/emails', undefined, { Authorization: basic })).body;
  };

  it('The email has the link, which proves the address, and the answer has none', async () => {
    const { call, path, org, owner, viewers } = await openHost(atrium);
    const email = newAddress();
    const message = 'Hi <b>you</b>,\nsee https://evil.example/login or mail ann@evil.example';
    const { status, body, text } = await call('POST', path, { email, team_ids: [viewers], message });
    assert.equal(status, 201, text);
    assert.equal(body.link, undefined);
    const mail = mailTo(email);
    assert.equal(mail.headers.subject, `Invitation to ${org.name}`);
    assert.match(mail.text, new RegExp(`^${owner.name} has invited ${email} to the organization ${org.name}\\.`));
    assert.match(mail.text, /^> Hi <b>you<\/b>,$/m);
    assert.match(mail.html, /Hi &lt;b&gt;you&lt;\/b&gt;,<br>/);
    for (const part of [mail.text, mail.html]) assert.ok(!/evil\.example|:\/\/evil/.test(part), part);
    const code = codeOf(mail.text);
    assert.ok(mail.html.includes(code));
    assert.equal((await accept(code, 'bymail')).status, 201);
    assert.deepEqual(await emailsOf('bymail'), [{ email, verified: true, primary: true }]);
  });

  it('The link that the inviter asks for is another one and does not prove the address', async () => {
    const { call, path, viewers } = await openHost(atrium);
    const email = newAddress();
    const { body } = await call('POST', `${path}?show_link=true`, { email, team_ids: [viewers] });
    const [shown, mailed] = [codeIn(body.link), codeOf(mailTo(email).text)];
    assert.notEqual(shown, mailed);
    assert.equal((await accept(shown, 'bylink')).status, 201);
    assert.deepEqual(await emailsOf('bylink'), [{ email, verified: false, primary: true }]);
    assert.equal((await accept(mailed, 'bylinktoo')).status, 410);
    // As with any other address that was not proven, its owner is asked.
    const asked = mailTo(email);
    assert.equal(asked.headers.subject, 'Confirm your email address');
    const key = /http:\/\/[^/]+(\/api\/v1\/user\/emails\/confirm\?key=\S+)/.exec(asked.text)?.[1] ?? assert.fail();
    assert.equal((await atrium.call('GET', key)).status, 200);
    assert.deepEqual(await emailsOf('bylink'), [{ email, verified: true, primary: true }]);
  });

  it('Without the email, a site administrator confirms the address by setting it', async () => {
    const { invite } = await openHost(atrium);
    const { email, code } = await invite(newAddress());
    assert.equal((await accept(code, 'confirmed')).status, 201);
    assert.equal((await atrium.as('root')('PATCH', '/admin/users/confirmed', { full_name: 'C' })).status, 200);
    assert.equal((await emailsOf('confirmed'))[0].verified, false);
    assert.equal((await atrium.as('root')('PATCH', '/admin/users/confirmed', { email })).status, 200);
    assert.equal((await emailsOf('confirmed'))[0].verified, true);
  });

  it('Few emails go out: one in ten minutes to an address, and a few in an hour for one inviter', async () => {
    const { call, path, viewers, owner } = await openHost(atrium);
    const [email, sent] = [newAddress(), smtp.letters.length];
    const first = await call('POST', path, { email, team_ids: [viewers] });
    const soon = await call('POST', `${path}/${first.body.id}/resend`);
    assert.deepEqual([soon.status, soon.body.reason], [429, 'rate_limited']);
    assert.ok(Number(soon.headers.get('retry-after')) > 0);
    for (let more = 0; more < 4; more++) {
      assert.equal((await call('POST', path, { email: newAddress(), team_ids: [viewers] })).status, 201);
    }
    const refused = newAddress();
    assert.equal((await call('POST', path, { email: refused, team_ids: [viewers] })).status, 429);
    // Nothing is left of what was rejected.
    assert.ok(!(await call('GET', path)).text.includes(refused));
    assert.equal(smtp.letters.length, sent + 5, owner.name);
  });

  it('Whether an address has an account or is a member makes no difference to whoever invites', async () => {
    const { call, path, viewers, owner } = await openHost(atrium);
    const person = await makePerson(atrium);
    const answers = [];
    for (const email of [newAddress(), `${person.name}@example.com`, `${owner.name}@example.com`]) {
      const { status, body } = await call('POST', path, { email, team_ids: [viewers] });
      answers.push([status, Object.keys(body)]);
    }
    assert.deepEqual(answers[1], answers[0]);
    assert.deepEqual(answers[2], answers[0]);
  });

  it('What looks like a link loses its form, and everything else stays as it is', () => {
    assert.equal(withoutLinks('See you on Monday. Bring it, e.g. now!'), 'See you on Monday. Bring it, e.g. now!');
    const cases = ['https://a.example/x', 'www.a.example', 'a.example', 'x@a.example', 'HTTP://A.EXAMPLE', 'ftp://h'];
    for (const text of cases) {
      assert.ok(!/\w\.\w|\w@\w|:\/\/\w/.test(withoutLinks(`see ${text} now`)), withoutLinks(text));
    }
  });
});
