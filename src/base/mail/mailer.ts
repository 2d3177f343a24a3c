import type { Logger } from 'pino';
import { within } from '../scheduling/within.ts';
import { type EmailMessage, oneLine } from './email-message.ts';
import { htmlPart } from './html-part.ts';
import { textPart } from './text-part.ts';

export interface Mailer {
  /** Never throws: the caller's own work is done, and an email that was not sent is the operator's concern. */
  send(message: EmailMessage): Promise<void>;
}

/** A caller may wait while the email is handed over, so a server that does not respond is given up on quickly. */
const LIMITS = {
  connectionTimeout: 5000,
  greetingTimeout: 5000,
  socketTimeout: 10_000,
  dnsTimeout: 5000,
  maxResponseSize: 64 * 1024,
};
/** For all of it together: each limit above starts again whenever the server sends something. */
const PATIENCE_MS = 20_000;

interface MailSettings {
  readonly SMTP_URL: string | undefined;
  readonly MAIL_FROM: string;
  readonly RUN_MODE: 'dev' | 'prod';
}

/** Emails are sent by SMTP if it is configured. Without it, a developer finds them in the log. */
export function createMailer(settings: MailSettings, log: Logger, patienceMs = PATIENCE_MS): Mailer {
  const { SMTP_URL: url, MAIL_FROM: from } = settings;
  if (url === undefined) {
    return {
      async send(message) {
        const { to, subject } = message;
        const text = textPart(message);
        if (settings.RUN_MODE === 'dev') log.info({ to, subject, text }, 'email not sent: SMTP_URL is not set');
        else log.error({ to, subject }, 'email not sent: set SMTP_URL');
      },
    };
  }
  return {
    async send(message) {
      try {
        await deliverEmail({ url, from }, message, patienceMs);
      } catch (error) {
        log.error({ err: error, to: message.to }, 'email not sent');
      }
    },
  };
}

/** Hands one email to the SMTP server, with its text part and its HTML part. Throws if the server does not take it. */
export async function deliverEmail(
  { url, from }: { readonly url: string; readonly from: string },
  message: EmailMessage,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ url, ...LIMITS });
  const sent = transport.sendMail({
    from,
    // Without a name: the address alone is shown, as the user wrote it.
    to: { name: '', address: message.to },
    subject: oneLine(message.subject),
    text: textPart(message),
    html: htmlPart(message),
    // Programs that answer emails while their owner is away do not answer these.
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
  try {
    await within(patienceMs, sent, `the mail server took longer than ${patienceMs / 1000} s`);
  } finally {
    transport.close();
  }
}
