import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLog } from '../../src/base/log.ts';
import type { EmailMessage } from '../../src/base/mail/email-message.ts';
import { createMailer } from '../../src/base/mail/mailer.ts';
import { type SmtpServer, startSmtp } from '../support/services/smtp.ts';
import { type ReadEmail, readEmail } from '../support/world/email.ts';

const MESSAGE: EmailMessage = {
  to: 'ann@example.com',
  subject: 'Welcome to acme',
  body: [
    'The user bob <b>&"\'</b> says hello.',
    { quote: 'Hi Ann,\nlook at <a href="https://evil.example">this</a> & https://evil.example/x' },
    { label: 'Open it', link: 'https://atrium.example.com/x?a=1&b=2' },
    { items: ['one', 'two\nthree'] },
    { commands: ['atrium whoami'] },
  ],
  reason: 'This email was sent because a test sent it.',
};

describe('An email', () => {
  let smtp: SmtpServer;
  before(async () => {
    smtp = await startSmtp();
  });
  after(() => smtp.close());

  const send = async (change: Partial<EmailMessage> = {}): Promise<ReadEmail> => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const settings = { SMTP_URL: smtp.url, MAIL_FROM: 'Atrium <atrium@example.com>', RUN_MODE: 'prod' } as const;
    await createMailer(settings, log).send({ ...MESSAGE, ...change });
    assert.deepEqual(lines, []);
    return readEmail(smtp.letters.at(-1) ?? assert.fail('no email'));
  };

  it('The text part has every block on lines of its own, and the reason as its footer', async () => {
    const { text, headers } = await send();
    assert.equal(headers.subject, 'Welcome to acme');
    assert.equal(headers['auto-submitted'], 'auto-generated');
    assert.equal(
      text.trim(),
      `The user bob <b>&"'</b> says hello.

> Hi Ann,
> look at <a href="https://evil.example">this</a> & https://evil.example/x

Open it:

https://atrium.example.com/x?a=1&b=2

  one
  two three

  atrium whoami

-- 
This email was sent because a test sent it.`,
    );
  });

  it('The HTML part has the same content, escaped, and its only links are those of the description', async () => {
    const { html } = await send();
    assert.match(html, /The user bob &lt;b&gt;&amp;&quot;&#39;&lt;\/b&gt; says hello\./);
    assert.match(html, /Hi Ann,<br>\nlook at &lt;a href=&quot;/);
    assert.match(html, /<li[^>]*>two three<\/li>/);
    assert.match(html, /<pre[^>]*>atrium whoami<\/pre>/);
    assert.match(html, /This email was sent because a test sent it\./);
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);
    assert.deepEqual(new Set(links), new Set(['https://atrium.example.com/x?a=1&amp;b=2']));
  });

  it('Opening the HTML part loads nothing, and it is readable on light and dark screens', async () => {
    const { html } = await send();
    assert.doesNotMatch(html, /<(?:img|script|link|iframe|object|embed|video|form|base)\b|\bsrc=|url\(|@import/i);
    assert.match(html, /<meta name="color-scheme" content="light dark">/);
    assert.match(html, /prefers-color-scheme: dark/);
  });

  it('Text of users cannot add headers, recipients or lines that look like those of the server', async () => {
    const hostile = 'x\r\nBcc: eve@example.com\r\n\r\nHello\u2028\u202e!';
    const before = smtp.letters.length;
    const email = await send({
      subject: hostile,
      body: [hostile, { items: [hostile] }, { quote: hostile }],
      reason: hostile,
    });
    assert.equal(smtp.letters.length, before + 1);
    assert.deepEqual([email.to, email.headers.bcc], [['ann@example.com'], undefined]);
    assert.equal(email.headers.subject, 'x Bcc: eve@example.com Hello !');
    const [paragraph, ...rest] = email.text.split('\n');
    assert.equal(paragraph, 'x Bcc: eve@example.com Hello !');
    assert.ok(
      rest.every((line) => !line.startsWith('Bcc')),
      email.text,
    );
  });

  it('Names in other scripts arrive as they are', async () => {
    const email = await send({ subject: 'Zoë – 株式会社', body: ['Zoë – 株式会社'] });
    assert.match(email.text, /^Zoë – 株式会社$/m);
    assert.match(email.html, /<p[^>]*>Zoë – 株式会社<\/p>/);
  });
});
