import type { EmailMessage } from '../../base/mail/email-message.ts';

/** Who gets the email, and whose account on which server it is about. */
interface About {
  readonly to: string;
  readonly login: string;
  readonly server: string;
}

const IGNORE = 'If it was not you, ignore this email: nothing has changed.';

export function linkEmail(about: About, link: string): EmailMessage {
  return {
    to: about.to,
    subject: 'Set a new password',
    body: [
      `You can set a new password for the account ${about.login}.`,
      { label: 'Set a new password', link },
      'The link works once, within 30 minutes. A new password ends all sessions of the account. Second factors stay.',
    ],
    reason: because(about),
  };
}

/** An account whose user signs in with a provider has no password here. */
export function providerEmail(
  about: About,
  { isProvisioned, providers }: { readonly isProvisioned: boolean; readonly providers: readonly string[] },
): EmailMessage {
  const names = providers.length > 0 ? ` (${providers.join(', ')})` : '';
  return {
    to: about.to,
    subject: 'How to sign in',
    body: [
      isProvisioned
        ? `The account ${about.login} is managed by your organization: sign in with the account that you have there${names}.`
        : `The account ${about.login} has no password: you sign in with your provider${names}.`,
      { label: 'Sign in', link: `${about.server}/signin` },
      'If you cannot sign in there, ask the administrators of your organization.',
    ],
    reason: because(about),
  };
}

export function administratorEmail(about: About): EmailMessage {
  return {
    to: about.to,
    subject: 'How to get back into your account',
    body: [
      `The account ${about.login} is one of a site administrator without a second factor. An email is not enough to set a new password for it.`,
      'An operator can run this on the machine of the server, or another site administrator can create a link:',
      { commands: [`atrium recover ${about.login}`, `atrium user password-link ${about.login}`] },
    ],
    reason: because(about),
  };
}

export function changedEmail({ to, login, server }: About): EmailMessage {
  return {
    to,
    subject: 'Your password was changed',
    body: [
      `The password of the account ${login} was changed with a link. All its sessions have ended. Access tokens still work.`,
      'If it was not you, set another password now, and check your access tokens and your second factors.',
      { label: 'Open the sign-in page', link: `${server}/signin` },
    ],
    reason: `This email was sent because the password of the account ${login} of ${server} was changed.`,
  };
}

function because({ server }: About): string {
  return `This email was sent because a new password was requested for this address on ${server}. ${IGNORE}`;
}
