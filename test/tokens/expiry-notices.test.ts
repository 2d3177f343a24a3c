import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EmailMessage } from '../../src/base/mail/email-message.ts';
import { createExpiryNotices, type ExpiringToken } from '../../src/tokens/expiry-notices.ts';

const at = new Date('2030-01-02T03:04:05Z');

function token(name: string, to: string): ExpiringToken {
  return { id: 1n, robot: undefined, name, lastEight: '89abcdef', expiresAt: at, addresses: [to] };
}

/** Sends notices about these batches of tokens, one after the other, and returns the emails. */
async function send(...batches: readonly (readonly ExpiringToken[])[]) {
  const emails: EmailMessage[] = [];
  let claims = 0;
  const store = { claim: async () => [...(batches[claims++] ?? [])] };
  const mailer = { send: async (email: EmailMessage) => void emails.push(email) };
  const notices = createExpiryNotices(store, mailer as never, [7], () => 'https://atrium.example');
  return { count: await notices.send(), claims, emails };
}

describe('Notices about tokens that expire', () => {
  it('One token is named in the subject', async () => {
    const { count, claims, emails } = await send([token('ci', 'ann@example.com')]);
    assert.deepEqual([count, claims, emails.length], [1, 1, 1]);
    assert.equal(emails[0]?.subject, 'Access token ci expires at 2030-01-02 03:04 UTC');
    assert.deepEqual(emails[0]?.body.slice(0, 2), [
      'An access token expires soon:',
      { items: ['ci (ends with 89abcdef) expires at 2030-01-02 03:04 UTC'] },
    ]);
  });

  it('Two tokens of one person are counted in the subject, and both are listed', async () => {
    const { count, emails } = await send([token('ci', 'ann@example.com'), token('cd', 'ann@example.com')]);
    assert.deepEqual([count, emails.length], [1, 1]);
    assert.equal(emails[0]?.subject, '2 access tokens expire soon');
    assert.deepEqual(emails[0]?.body.slice(0, 2), [
      'Access tokens expire soon:',
      { items: ['ci', 'cd'].map((name) => `${name} (ends with 89abcdef) expires at 2030-01-02 03:04 UTC`) },
    ]);
  });

  it('Nobody gets an email if nothing expires', async () => {
    const { count, claims, emails } = await send([]);
    assert.deepEqual([count, claims, emails], [0, 1, []]);
  });

  it('After a full batch, the next one is claimed', async () => {
    const full = Array.from({ length: 200 }, (_, place) => token(`t${place}`, `user${place}@example.com`));
    const { count, claims } = await send(full, [token('ci', 'ann@example.com')]);
    assert.deepEqual([count, claims], [201, 2]);
  });

  it('A run ends after a bounded number of full batches', async () => {
    const full = Array.from({ length: 200 }, () => token('ci', 'ann@example.com'));
    const { count, claims } = await send(...Array.from({ length: 50 }, () => full));
    assert.ok(claims > 1 && claims < 50, `${claims} batches`);
    assert.equal(count, claims);
  });
});
