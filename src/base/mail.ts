import type { Logger } from 'pino';
import { within } from './within.ts';

export interface EmailMessage {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  send(message: EmailMessage): Promise<void>;
}

/** A caller waits while the email is handed over, so a server that does not respond is given up on quickly. */
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
  if (settings.SMTP_URL) return smtp(settings.SMTP_URL, settings.MAIL_FROM, log, patienceMs);
  return {
    async send({ to, subject, text }) {
      if (settings.RUN_MODE === 'dev') log.info({ to, subject, text }, 'email not sent: SMTP_URL is not set');
      else log.error({ to, subject }, 'email not sent: set SMTP_URL');
    },
  };
}

function smtp(url: string, from: string, log: Logger, patienceMs: number): Mailer {
  const transport = import('nodemailer').then(({ createTransport }) => createTransport({ url, ...LIMITS }));
  return {
    async send(message) {
      try {
        const sent = (await transport).sendMail({ from, ...message, to: { name: '', address: message.to } });
        await within(patienceMs, sent, `the mail server took longer than ${patienceMs / 1000} s`);
      } catch (error) {
        // The caller's own work is done. An email that was not sent is the operator's concern.
        log.error({ err: error, to: message.to }, 'email not sent');
      }
    },
  };
}
