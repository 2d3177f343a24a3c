import type { EmailMessage } from '../../base/mail/email-message.ts';

interface About {
  readonly to: string;
  readonly server: string;
}

const IGNORE = 'If it was not you, ignore this email: nothing has changed.';

export function signUpEmail({ to, server }: About, link: string): EmailMessage {
  return {
    to,
    subject: 'Create your account',
    body: [
      'Confirm that this address is yours, and choose a username and a password.',
      { label: 'Create the account', link },
      'The link works once, within a day.',
    ],
    reason: `This email was sent because an account was requested for this address on ${server}. ${IGNORE}`,
  };
}

export function takenEmail({ to, server }: About): EmailMessage {
  return {
    to,
    subject: 'You have an account already',
    body: [
      'There is an account with this address already, so no other can be created with it.',
      { label: 'Sign in', link: `${server}/signin` },
      'If you have forgotten your password, the sign-in page can send you a link that sets a new one.',
    ],
    reason: `This email was sent because an account was requested for this address on ${server}. ${IGNORE}`,
  };
}
