import type { Config } from '../../base/config/config.ts';
import { type EmailMessage, oneLine } from '../../base/mail/email-message.ts';
import { deliverEmail } from '../../base/mail/mailer.ts';
import { within } from '../../base/scheduling/within.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

const WITHIN_MS = 5000;

/** Email: the SMTP server is reachable and accepts us. Nothing is sent, unless there is an address to send it to. */
export async function examineMailService(config: Config, to?: string): Promise<Finding[]> {
  const { SMTP_URL } = config;
  if (to !== undefined) return [await sendTestEmail(config, to)];
  if (SMTP_URL === undefined) return [ok('mail', 'not configured: no email is sent')];
  const host = new URL(SMTP_URL).host;
  const { createTransport } = await import('nodemailer');
  const patience = {
    connectionTimeout: WITHIN_MS,
    greetingTimeout: WITHIN_MS,
    socketTimeout: WITHIN_MS,
    dnsTimeout: WITHIN_MS,
    maxResponseSize: 64 * 1024,
  };
  const transport = createTransport({ url: SMTP_URL, ...patience });
  try {
    await within(2 * WITHIN_MS, transport.verify(), 'no answer');
    return [ok('mail', `${host} accepts email from us`)];
  } catch (error) {
    return [fault('mail', `${host} does not accept email from us (${codeOf(error)})`, adviceFor(error))];
  } finally {
    transport.close();
  }
}

/** One email as users get them, so that the operator sees how it arrives and looks. */
async function sendTestEmail({ SMTP_URL: url, MAIL_FROM: from, BASE_URL }: Config, to: string): Promise<Finding> {
  if (url === undefined) {
    return fault('mail', `no email was sent to ${to}: there is no mail server`, 'Set SMTP_URL to your mail server.');
  }
  const { host } = new URL(url);
  const server = BASE_URL ?? 'a server without BASE_URL';
  const message: EmailMessage = {
    to,
    subject: 'Test email of Atrium',
    body: [
      'This email shows that Atrium can send email with the settings of this server.',
      ...(BASE_URL === undefined ? [] : [{ label: 'Open Atrium', link: BASE_URL }]),
      'Every email of Atrium has a text part and an HTML part with the same content.',
    ],
    reason: `This email was sent because an operator of ${server} ran "atrium doctor --mail" with this address.`,
  };
  try {
    await deliverEmail({ url, from }, message, 2 * WITHIN_MS);
    return ok('mail', `${host} took an email to ${to}: check that it arrives`);
  } catch (error) {
    const { response } = error as { response?: string };
    const words = response === undefined ? codeOf(error) : oneLine(response).slice(0, 200);
    return fault('mail', `${host} did not take an email from ${from} to ${to} (${words})`, adviceFor(error));
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'no answer';
}

function adviceFor(error: unknown): string {
  const code = codeOf(error);
  if (code === 'EAUTH') return 'Correct the user and the password in SMTP_URL.';
  if (code === 'EENVELOPE') return 'Set MAIL_FROM to an address that the mail server accepts, or check the recipient.';
  return 'Start the mail server, allow connections to it, or correct SMTP_URL.';
}

/** An organization that does not exist; the central server answers 404 for it. */
const NOBODY = 'atrium-doctor';

export async function examineCentralService({
  DEPLOYMENT,
  CENTRAL_MARKETPLACE_URL: url,
  RUN_MODE,
}: Config): Promise<Finding[]> {
  if (DEPLOYMENT !== 'marketplace') return [];
  const check = 'central server';
  if (url === undefined) {
    if (RUN_MODE === 'dev') return [ok(check, 'not configured: the built-in demo answers are used')];
    const advice = 'Set CENTRAL_MARKETPLACE_URL to the central marketplace server.';
    return [warning(check, 'not configured: claims are answered with the built-in demo answers', advice)];
  }
  const advice = 'Start it, allow connections to it, or correct CENTRAL_MARKETPLACE_URL.';
  try {
    const options = { signal: AbortSignal.timeout(WITHIN_MS), redirect: 'error' } as const;
    const { status, body } = await fetch(`${url}/standalone-organizations/${NOBODY}/claim-rules`, options);
    await body?.cancel();
    if (status === 200 || status === 404) return [ok(check, `${new URL(url).host} answers`)];
    return [fault(check, `${new URL(url).host} answers with ${status}`, advice)];
  } catch (error) {
    const { cause, name } = error as Error & { cause?: { code?: string } };
    return [fault(check, `${new URL(url).host} does not answer (${cause?.code ?? name})`, advice)];
  }
}
