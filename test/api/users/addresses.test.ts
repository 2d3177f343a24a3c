import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const ODD_BUT_ALLOWED = [..."!#$%&'*+/=?^`{|}~_"];
const ACCEPTED = [
  ...['abc@gmail.com', '132@hotmail.com', '1-3-2@test.org', '1.3.2@test.org', 'a_123@test.org.cn', 'a@localhost'],
  ...['first.last@iana.org', 'a@xn--bcher-kva.example', `${'a'.repeat(64)}@x.org`, `a@${'b'.repeat(63)}.org`],
  ...ODD_BUT_ALLOWED.flatMap((sign) => [`first${sign}last@iana.org`, `${sign}233@qq.com`]),
];
const REFUSED = [
  ...['', '@', 'a', 'a@', '@x.org', 'a@@x.org', 'a@b@x.org', '.233@qq.com', '233.@qq.com', 'a..b@x.org', '-233@qq.com'],
  ...[
    'first;last@iana.org',
    ';233@qq.com',
    'a,b@x.org',
    'a b@x.org',
    ' a@x.org',
    'a@x.org ',
    'a@x.org\n',
    'a@x.org\r\nBcc: b@x.org',
  ],
  ...['Foo <foo@bar.com>', '<foo@bar.com>', '"a b"@x.org', 'a(b)@x.org', 'a@[127.0.0.1]', 'a:b@x.org', 'a\\b@x.org'],
  ...['a@x..org', 'a@.org', 'a@x.org.', 'a@-x.org', 'a@x-.org', 'a@x_y.org', `a@${'b'.repeat(64)}.org`],
  ...[
    '\u212a',
    '\u212a@x.org',
    'a@\u212a.org',
    'é@x.org',
    'a@bücher.example',
    'a\u200b@x.org',
    '🦊@x.org',
    'a\t@x.org',
  ],
  ...[`${'a'.repeat(65)}@x.org`, `a@${'b.'.repeat(127)}org`],
];

/** The whole table: adding an address and asking whether it can be used follow the same rule. */
describe('Email address validation', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const judge = async (address: string) =>
    (await atrium.as('ann')('POST', `/user/validate/email?email=${encodeURIComponent(address)}`)).body.Status;

  it(`Validation and creation accept all ${ACCEPTED.length} valid sample addresses`, async () => {
    for (const address of ACCEPTED) {
      assert.equal(await judge(address), 'VALID', address);
      const added = await atrium.as('ann')('POST', '/user/emails', { emails: [address] });
      assert.equal(added.status, 201, address);
      assert.equal(added.body.at(-1).email, address);
      assert.equal(await judge(address.toUpperCase()), 'USER_EXISTS', address);
      assert.equal((await atrium.as('ann')('DELETE', '/user/emails', { emails: [address] })).status, 204, address);
    }
  });

  it(`Validation and creation reject all ${REFUSED.length} invalid sample addresses`, async () => {
    for (const address of REFUSED) {
      assert.equal(await judge(address), 'INVALID', JSON.stringify(address));
      const answer = await atrium.as('ann')('POST', '/user/emails', { emails: [address] });
      assert.equal(answer.status, 422, JSON.stringify(address));
      assert.equal(answer.body.message, `Email address ${JSON.stringify(address.slice(0, 260))} invalid`);
    }
    assert.equal((await atrium.as('ann')('GET', '/user/emails')).body.length, 2);
  });

  const lists: readonly [env: Record<string, string>, good: string[], bad: string[]][] = [
    [
      { EMAIL_ALLOWED_DOMAINS: 'example.com, *.Example.org', EMAIL_BLOCKED_DOMAINS: 'example.com' },
      ['a@example.com', 'a@EXAMPLE.com', 'a@x.example.org', 'a@x.y.example.org'],
      ['a@example.org', 'a@evil-example.com', 'a@example.com.evil.net', 'a@examplexcom'],
    ],
    [
      { EMAIL_BLOCKED_DOMAINS: '*.spam.net,trash.com' },
      ['a@example.com', 'a@spam.net', 'a@nottrash.com'],
      ['a@x.spam.net', 'a@TRASH.com'],
    ],
  ];
  for (const [env, good, bad] of lists) {
    it(`The domains of email addresses are restricted by ${Object.keys(env).join(' and ')}`, async () => {
      const strict = await openTestServer({ env });
      const ask = async (email: string) =>
        (await strict.as('ann')('POST', `/user/validate/email?email=${email}`)).body.Status;
      for (const address of good) {
        assert.equal(await ask(address), 'VALID', address);
        const added = await strict.as('ann')('POST', '/user/emails', { emails: [address] });
        assert.equal(added.status, 201, address);
        await strict.as('ann')('DELETE', '/user/emails', { emails: [address] });
      }
      for (const address of bad) {
        assert.equal(await ask(address), 'NOT_ALLOWED', address);
        assert.equal((await strict.as('ann')('POST', '/user/emails', { emails: [address] })).status, 422, address);
      }
      await strict.close();
    });
  }
});
