import type { Config } from '../../base/config/config.ts';
import { within } from '../../base/within.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

const WITHIN_MS = 5000;

/** Email: the SMTP server is reachable and accepts us. Nothing is sent. */
export async function examineMailService({ SMTP_URL }: Config): Promise<Finding[]> {
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
    const code = (error as NodeJS.ErrnoException).code ?? 'no answer';
    const advice =
      code === 'EAUTH'
        ? 'Correct the user and the password in SMTP_URL.'
        : 'Start the mail server, allow connections to it, or correct SMTP_URL.';
    return [fault('mail', `${host} does not accept email from us (${code})`, advice)];
  } finally {
    transport.close();
  }
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
