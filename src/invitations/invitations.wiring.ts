import type { Authz } from '../authz/authz.wiring.ts';
import { createEscalationGuard } from '../authz/escalation.ts';
import { createMailer } from '../base/mail/mailer.ts';
import { createAllowance } from '../http/limits/allowance.ts';
import type { Scope } from '../http/server.ts';
import { createAssignedNames } from '../identity/account-names/assigned-names.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createDomainRule } from '../users/emails/email-domains.ts';
import type { Emails } from '../users/emails/emails.ts';
import type { Users } from '../users/users.ts';
import type { Invitation, InvitedTo } from './invitation.ts';
import { invitationAcceptanceRoutes } from './invitation-acceptance.routes.ts';
import { createInvitationAcceptanceStore } from './invitation-acceptance.store.ts';
import { createInvitationAcceptance } from './invitation-acceptance.ts';
import { invitationMail } from './invitation-mail.ts';
import { createInvitationRights } from './invitation-rights.ts';
import { invitationRoutes } from './invitations.routes.ts';
import { createInvitationStore } from './invitations.store.ts';
import { createInvitations } from './invitations.ts';

const WINDOW_MS = 5 * 60_000;
/** A code has 192 bits, so this only keeps a scanner from querying the database all day. */
const GUESSES = 50;

interface Neighbors {
  readonly users: Users;
  readonly emails: Pick<Emails, 'askToConfirmPrimary'>;
  readonly isDomainAllowed: (address: string) => boolean;
}

/** Invitations to organizations. */
export function wireInvitations(
  infrastructure: Infrastructure,
  { judge, heldPlaces }: Pick<Authz, 'judge' | 'heldPlaces'>,
  { users, emails, isDomainAllowed }: Neighbors,
) {
  const { config, keys, db, revisions, quotas, log, share, baseUrl } = infrastructure;
  const key = keys.derive('invitation');
  const rights = createInvitationRights(judge, createEscalationGuard(judge, heldPlaces.givingOfTeam));
  const hasMail = config.SMTP_URL !== undefined;
  const mailer = createMailer(config, log);
  const invitations = createInvitations({
    store: createInvitationStore(db, revisions.write, quotas),
    rights,
    key,
    send: hasMail
      ? (invitation: Invitation, link: string) => mailer.send(invitationMail(invitation, link, baseUrl()))
      : undefined,
    mailsPerHour: quotas.limits.confirmationEmailsPerHour,
    baseUrl,
  });
  const acceptance = createInvitationAcceptance({
    store: createInvitationAcceptanceStore(db, revisions.write, quotas),
    rights,
    key,
    hasPasswords: config.PASSWORDS === 'on',
    isDomainAllowed,
    isManagedElsewhere: managedElsewhere(config.SCIM_DOMAINS),
    isNameAssigned: createAssignedNames(config),
    current: revisions.current,
    async askToConfirm(username) {
      if (hasMail) await emails.askToConfirmPrimary((await users.person(username)).person, new Date());
    },
  });
  return { invitations, acceptance, mount };

  function mount(scope: Scope): void {
    const guesses = share('invitation codes', createAllowance(GUESSES, WINDOW_MS));
    invitationRoutes(scope, invitations, baseUrl);
    invitationAcceptanceRoutes(scope, { acceptance, users, baseUrl, guesses });
  }
}

interface AssignedTo {
  readonly organization: string;
  readonly organizationId?: bigint;
  readonly domain: string;
}

/** A domain that several organizations share is managed by each of them. */
function managedElsewhere(pairs: readonly AssignedTo[]) {
  const rules = pairs.map((pair) => ({ ...pair, owns: createDomainRule([pair.domain], []) }));
  return (address: string, { id, name }: InvitedTo): boolean => {
    const owners = rules.filter(({ owns }) => owns(address));
    const isOwn = ({ organization, organizationId }: AssignedTo) =>
      organization === name.toLowerCase() && (organizationId === undefined || organizationId === id);
    return owners.length > 0 && !owners.some(isOwn);
  };
}
