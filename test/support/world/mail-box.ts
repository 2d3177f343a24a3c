import assert from 'node:assert/strict';
import type { TestServer } from '../server/server.ts';
import { type SmtpServer, startSmtp } from '../services/smtp.ts';
import { type ReadEmail, readEmail } from './email.ts';

/** The emails of a test server that sends them after its answers. */
export interface MailBox {
  readonly smtp: SmtpServer;
  /** Waits for what is sent in the background, and returns the emails since the last call. */
  take(atrium: Pick<TestServer, 'instance'>): Promise<readonly ReadEmail[]>;
}

export async function openMailBox(): Promise<MailBox> {
  const smtp = await startSmtp();
  let seen = 0;
  return {
    smtp,
    async take({ instance }) {
      // The answer may have arrived before the server noticed that it was sent.
      await new Promise((resolve) => setTimeout(resolve, 20));
      await instance.features.background.settled();
      const fresh = smtp.letters.slice(seen);
      seen = smtp.letters.length;
      return fresh.map(readEmail);
    },
  };
}

/** The code in the link of an email, which is the same in both of its parts. */
export function codeIn(email: ReadEmail | undefined, page: string): string {
  assert.ok(email, 'an email was sent');
  const pattern = new RegExp(`http://127\\.0\\.0\\.1:\\d+${page}#code=([\\w-]{32})`);
  const [ofText, ofHtml] = [email.text, email.html].map((part) => pattern.exec(part)?.[1]);
  assert.ok(ofText !== undefined && ofText === ofHtml, email.text);
  return ofText;
}
