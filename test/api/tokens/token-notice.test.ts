import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { createExpiryNoticeStore } from '../../../src/tokens/expiry-notices.store.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type SmtpServer, startSmtp } from '../../support/services/smtp.ts';
import { readEmail } from '../../support/world/email.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

const DAY_MS = 86_400_000;
const HEADER = 'x-token-expires-at';
const AGE = sql('test.ageToken', `update token set created_at = created_at - interval '90 days' where id = $1`);
const END = sql('test.end', `update token set expires_at = now() + $2::integer * interval '1 hour' where id = $1`);

for (const driver of API_DRIVERS) {
  describe(`Notice before a token expires on ${driver}`, () => {
    let atrium: TestServer;
    let mail: SmtpServer;
    let calls: ReturnType<typeof tokenCalls>;
    before(async () => {
      mail = await startSmtp();
      atrium = await openTestServer({ driver, env: { SMTP_URL: mail.url } });
      calls = tokenCalls(atrium);
    });
    after(async () => {
      await atrium.close();
      await mail.close();
    });

    const issue = (name: string, days: number | null, owner = 'ann') =>
      calls.issue(owner, {
        name,
        scopes: ['read:user'],
        expiresAt: days === null ? null : new Date(Math.floor(Date.now() / 1000) * 1000 + days * DAY_MS),
      });
    const send = () => atrium.instance.features.tokenNotices.send();
    const newLetters = async () => {
      const before = mail.letters.length;
      await send();
      return mail.letters.slice(before);
    };

    it(`Responses to a token that expires within two weeks say when on ${driver}`, async () => {
      const soon = await issue('soon', 13);
      const later = await issue('later', 15);
      const never = await issue('endless', null);
      const end = async (text: string, path = '/user') =>
        (await calls.withToken(text)('GET', path)).headers.get(HEADER);
      // Twice: a remembered token takes another path through admission.
      for (const round of [1, 2]) {
        assert.equal(await end(soon.text), soon.expiresAt?.toISOString().replace('.000Z', 'Z'), `round ${round}`);
        assert.equal(await end(later.text), null);
        assert.equal(await end(never.text), null);
      }
      const rejected = await calls.withToken(soon.text)('GET', '/admin/users');
      assert.deepEqual([rejected.status, rejected.headers.has(HEADER)], [403, true], 'also if it is rejected');
      const shown = new Map((await calls.list('ann')).map(({ name, expires_soon }) => [name, expires_soon]));
      assert.deepEqual([shown.get('soon'), shown.get('later'), shown.get('endless')], [true, false, false]);
    });

    it(`Each token and number of days has one email to its owner on ${driver}`, async () => {
      const token = await issue('nightly job', 13.5, 'bob');
      const { db } = atrium.instance;
      await newLetters();
      await db.query(AGE, [token.id]);
      const [letter, ...more] = await newLetters();
      assert.deepEqual([letter?.to, more], [['bob@example.com'], []]);
      assert.match(letter?.text ?? '', /Subject: Access token nightly job expires at 20\d\d-\d\d-\d\d \d\d:\d\d UTC/);
      assert.match(letter?.text ?? '', /atrium token rotate NAME/);
      assert.match(letter?.text ?? '', /\/me\/tokens/);
      assert.doesNotMatch(letter?.text ?? '', new RegExp(token.text));
      assert.deepEqual(await newLetters(), [], 'not again for the same number of days');
      const counts: number[] = [];
      for (const hours of [100, 70, 60, 20, 10]) {
        await db.query(END, [token.id, hours]);
        counts.push((await newLetters()).length);
      }
      assert.deepEqual(counts, [0, 1, 0, 1, 0], 'at three days, and at one');
    });

    it(`A token that was meant to be short has no email for a longer time on ${driver}`, async () => {
      await issue('for a day', 0.9, 'bob');
      assert.deepEqual(await newLetters(), []);
    });

    it(`The owners of an organization are told about the tokens of its robots on ${driver}`, async () => {
      const token = await atrium.instance.identity.tokens.issue({
        accountId: atrium.world.orgs.acme?.id ?? 0n,
        robotId: atrium.world.robots.ci ?? 0n,
        name: 'line\nfeed',
        scopes: ['write:organization'],
        expiresAt: new Date(Date.now() + 2.5 * DAY_MS),
      });
      await atrium.instance.db.query(AGE, [token.id]);
      const letters = await newLetters();
      assert.deepEqual(
        letters.map(({ to }) => to),
        [['ann@example.com']],
      );
      const email = readEmail(letters[0] ?? assert.fail('no email'));
      for (const part of [email.text, email.html]) {
        assert.match(part, /line feed .*of the robot ci of acme/);
        assert.match(part, /because you own the organization acme, whose robot has one/);
      }
    });

    it(`Of several replicas, one sends the email on ${driver}`, async () => {
      const token = await issue('claimed', 13.5, 'dan');
      await atrium.instance.db.query(AGE, [token.id]);
      const stores = Array.from({ length: 4 }, () => createExpiryNoticeStore(atrium.instance.db));
      const claimed = await Promise.all(stores.map((store) => store.claim([14, 3, 1], 10)));
      assert.deepEqual(
        claimed.flat().map(({ id }) => id),
        [token.id],
      );
    });

    it(`Nobody is told about a token that was replaced, or of somebody who cannot sign in, on ${driver}`, async () => {
      const old = await issue('replaced', 13.5, 'cat');
      await atrium.instance.db.query(AGE, [old.id]);
      const next = (await calls.rotate('cat', 'replaced')).body;
      assert.ok(Date.parse(next.expires_at) > Date.now() + 90 * DAY_MS, 'the lifetime of the old one');
      const blocked = await issue('blocked', 13.5, 'eve');
      await atrium.instance.db.query(AGE, [blocked.id]);
      await atrium.as('root')('PATCH', '/admin/users/eve', { prohibit_login: true });
      assert.deepEqual(await newLetters(), []);
    });
  });
}

describe('Notice before a token expires without a mail server', () => {
  it('Nothing is claimed, so that the emails are sent once there is a mail server', async () => {
    const atrium = await openTestServer({ env: { TOKEN_NOTICE_DAYS: '5' } });
    try {
      const calls = tokenCalls(atrium);
      const token = await calls.issue('ann', {
        name: 'unheard',
        scopes: ['all'],
        expiresAt: new Date(Date.now() + 4 * DAY_MS),
      });
      await atrium.instance.db.query(AGE, [token.id]);
      assert.equal(await atrium.instance.features.tokenNotices.send(), 0);
      const later = await createExpiryNoticeStore(atrium.instance.db).claim([5], 10);
      assert.deepEqual(
        later.map(({ id }) => id),
        [token.id],
      );
      const six = await calls.issue('ann', {
        name: 'six days',
        scopes: ['all'],
        expiresAt: new Date(Date.now() + 6 * DAY_MS),
      });
      const header = async (text: string) => (await calls.withToken(text)('GET', '/user')).headers.has(HEADER);
      assert.deepEqual([await header(token.text), await header(six.text)], [true, false], 'the setting decides');
    } finally {
      await atrium.close();
    }
  });
});
