import type { EmailMessage } from '../base/mail/email-message.ts';
import type { Invitation } from './invitation.ts';

/** What mail programs turn into a link: an address of the web or of a person, or a domain. */
const LINK = /\S*(?::\/\/|@|[\w-]\.[a-z]{2,})\S*/gi;

/** The email that invites. The inviter writes its message, so nothing in it becomes a link. */
export function invitationMail(invitation: Invitation, link: string, server: string): EmailMessage {
  const { organization, invitedBy, email, message, expiresAt } = invitation;
  const inviter = invitedBy?.name ?? organization.name;
  const quotation = message === '' ? [] : [`${inviter} writes:`, { quote: withoutLinks(message) }];
  return {
    to: email,
    subject: `Invitation to ${organization.name}`,
    body: [
      `${inviter} has invited ${email} to the organization ${organization.name}.`,
      ...quotation,
      { label: 'Accept the invitation', link },
      `The link works once, until ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
    ],
    reason: `This email was sent because ${inviter} of ${server} has invited this address. If you do not know the organization, ignore this email.`,
  };
}

/** With a space wherever a mail program would see an address: people can still read it, and it leads nowhere. */
export function withoutLinks(message: string): string {
  return message.replace(LINK, (text) =>
    text
      .replaceAll('://', ': // ')
      .replaceAll('@', ' @ ')
      .replace(/\.(?=[\w-])/g, '. '),
  );
}
