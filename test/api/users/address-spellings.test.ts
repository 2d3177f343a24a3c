import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type MailBox, openMailBox } from '../../support/world/mail-box.ts';

const ADDRESS = 'kiss@example.com';
/** What becomes the address, or looks like it, when its case or its form changes. */
const SPELLINGS: readonly string[] = [
  '\u212Aiss@example.com', // KELVIN SIGN, whose small letter is k
  'ki\u017Fs@example.com', // LATIN SMALL LETTER LONG S, whose capital is S
  'k\u0131ss@example.com', // LATIN SMALL LETTER DOTLESS I, whose capital is I
  'K\u0130SS@EXAMPLE.COM', // LATIN CAPITAL LETTER I WITH DOT ABOVE
  'ki\uFF53s@example.com', // FULLWIDTH LATIN SMALL LETTER S
  'ki\u0441s@example.com', // a letter of another script
  'kiss@example\u3002com', // IDEOGRAPHIC FULL STOP
  'kiss@ex\u00ADample.com', // SOFT HYPHEN
  'kiss\u200B@example.com', // ZERO WIDTH SPACE
  'ki\u00DF@example.com', // LATIN SMALL LETTER SHARP S, whose capital is SS
  'kiss@\uFF45xample.com',
  '<kiss@example.com>',
  'kiss@example.com,eve@example.com',
  'kiss@example.com\r\nBcc: eve@example.com',
  '"kiss"@example.com',
  'kiss@example.com.',
];

describe('An address that is spelled like that of another account', () => {
  let atrium: TestServer;
  let box: MailBox;
  before(async () => {
    box = await openMailBox();
    const registration = { REGISTRATION: 'domains', REGISTRATION_DOMAINS: 'example.com' };
    atrium = await openTestServer({ env: { SMTP_URL: box.smtp.url, ...registration } });
    const made = await atrium.as('root')('POST', '/admin/users', { username: 'kiss', email: ADDRESS });
    assert.equal(made.status, 201, made.text);
    await box.take(atrium);
  });
  after(async () => {
    await atrium.close();
    await box.smtp.close();
  });

  it('gets no link for a new password, and the answer does not say so', async () => {
    for (const email of SPELLINGS) {
      const answer = await atrium.as()('POST', '/user/password/forgot', { email });
      assert.deepEqual([answer.status, answer.text], [202, ''], JSON.stringify(email));
    }
    assert.deepEqual(await box.take(atrium), []);
  });

  it('cannot be used to sign up', async () => {
    for (const email of SPELLINGS) {
      const answer = await atrium.as()('POST', '/user/signup', { email });
      assert.deepEqual([answer.status, answer.body.reason], [422, 'validation_failed'], JSON.stringify(email));
    }
    assert.deepEqual(await box.take(atrium), []);
  });

  it('cannot be invited', async () => {
    const teams = await atrium.as('ann')('GET', '/orgs/acme/teams');
    for (const email of SPELLINGS) {
      const body = { email, team_ids: [teams.body[0].id] };
      const answer = await atrium.as('ann')('POST', '/orgs/acme/invitations', body);
      assert.deepEqual([answer.status, answer.body.reason], [422, 'validation_failed'], JSON.stringify(email));
    }
    assert.deepEqual(await box.take(atrium), []);
  });

  it('is the same one if only the case of ASCII letters differs, and emails go to the stored spelling', async () => {
    const answer = await atrium.as()('POST', '/user/password/forgot', { email: ' KISS@Example.COM ' });
    assert.equal(answer.status, 202);
    const [email, ...more] = await box.take(atrium);
    assert.deepEqual([email?.to, more], [[ADDRESS], []]);
  });
});
