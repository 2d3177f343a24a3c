import { AppError, invalidField } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { NameConflict } from '../identity/account-names/account-names.ts';
import { type Person, passwordsOff } from '../identity/callers.ts';
import { hashNewPassword } from '../identity/passwords/new-password.ts';
import { hashSecret } from '../identity/tokens/token-text.ts';
import { isSameAddress } from '../users/emails/email-address.ts';
import { nameUnavailable, requireNameField } from '../users/user-fields.ts';
import type { UserDraft } from '../users/users.ts';
import type { GrantingTeam, Invitation, InvitedTeam, InvitedTo } from './invitation.ts';
import { invitationNotFound, isInvitationCode } from './invitation-code.ts';
import type { InvitationRights, RejectGiving } from './invitation-rights.ts';
import { invitationUsed } from './invitations.ts';

/** An invitation, as its code has found it. */
export interface FoundInvitation {
  readonly invitation: Invitation;
  /** The code was in the email, so the reader of it reads the mail of the address. */
  readonly provesAddress: boolean;
  /** The number of the inviter; undefined if the account is gone or cannot be used. */
  readonly inviterId: bigint | undefined;
  readonly teams: readonly GrantingTeam[];
}

/** Who joins: a user who exists, or one who is created. */
export type Joiner =
  | {
      readonly kind: 'user';
      readonly id: bigint;
      readonly actor: Actor;
      /** The user has said that the invitation is for another address than theirs. */
      readonly knowsOtherAddress: boolean;
    }
  | { readonly kind: 'new'; readonly draft: UserDraft; readonly requestId: string };

export interface Joined {
  readonly organization: InvitedTo;
  readonly teams: readonly InvitedTeam[];
}

export type NotJoined =
  | 'not found'
  | 'expired'
  | 'used'
  | 'inviter may not'
  | 'already a member'
  | 'deprovisioned'
  | 'other address'
  | 'other address forbidden'
  | 'email taken'
  | NameConflict;

export interface InvitationAcceptanceStore {
  find(hash: Buffer): Promise<FoundInvitation | undefined>;
  /** All of it in one transaction, or nothing. `reject` throws if the inviter may not give what a team gives by then. */
  accept(hash: Buffer, invitationId: bigint, joiner: Joiner, reject: RejectGiving): Promise<Joined | NotJoined>;
}

export interface NewAccount {
  readonly username: string;
  readonly password: string;
  readonly fullName: string;
}

interface Parts {
  readonly store: InvitationAcceptanceStore;
  readonly rights: Pick<InvitationRights, 'mayStill' | 'guardOf'>;
  readonly key: Buffer;
  readonly hasPasswords: boolean;
  readonly isDomainAllowed: (address: string) => boolean;
  /** Whether the operator has assigned the domain of an address to another organization. */
  readonly isManagedElsewhere: (address: string, organization: InvitedTo) => boolean;
  /** Names that settings give to organizations. */
  readonly isNameAssigned: (name: string) => boolean;
  /** Asks the owner of a new, unconfirmed address to confirm it. */
  readonly askToConfirm: (username: string) => Promise<void>;
  /** Waits until what is known of rights is exact: a request without a credential has not done that. */
  readonly current: () => Promise<void>;
}

export type InvitationAcceptance = ReturnType<typeof createInvitationAcceptance>;

/**
 * Accepting an invitation.
 *
 * 1. It gives what the inviter could give at that moment, not what they could give when they invited.
 * 2. It works once, and only if all of it works: whatever is rejected leaves the invitation open.
 * 3. It never changes an account that exists, but for its memberships.
 */
export function createInvitationAcceptance(parts: Parts) {
  const {
    store,
    rights,
    key,
    hasPasswords,
    isDomainAllowed,
    isManagedElsewhere,
    isNameAssigned,
    askToConfirm,
    current,
  } = parts;
  return { find, acceptAs, acceptNew, admitsAccount };

  async function find(code: string): Promise<Invitation> {
    return (await open(code)).invitation;
  }

  async function acceptAs(person: Person, code: string, knowsOtherAddress: boolean, actor: Actor): Promise<Joined> {
    const { invitation, ...found } = await open(code);
    const reject = await guardOf({ invitation, ...found });
    const joiner = { kind: 'user', id: person.id, actor, knowsOtherAddress } as const;
    return settled(await store.accept(hashOf(code), invitation.id, joiner, reject), invitation);
  }

  /** The account has the address of the invitation, verified only if the code came by email. */
  async function acceptNew(code: string, account: NewAccount | undefined, requestId: string): Promise<void> {
    const found = await open(code);
    const { invitation, provesAddress: isVerified } = found;
    if (!hasPasswords) throw passwordsOff();
    if (account === undefined) throw accountMissing();
    requireAccountAllowed(invitation);
    const reject = await guardOf(found);
    const { username: name, password, fullName } = account;
    requireNameField(name);
    if (isNameAssigned(name)) throw nameUnavailable(name, 'name reserved');
    const passwordHash = await hashNewPassword(password);
    const flags = { isAdmin: false, active: true, prohibitLogin: false };
    const draft = { name, fullName, email: invitation.email, isVerified, passwordHash, ...flags };
    const outcome = await store.accept(hashOf(code), invitation.id, { kind: 'new', draft, requestId }, reject);
    if (outcome === 'name taken' || outcome === 'name reserved') throw nameUnavailable(name, outcome);
    settled(outcome, invitation);
    if (!isVerified) await askToConfirm(name);
  }

  /** Whether a person who has proven an address at a provider gets an account, although the provider creates none. */
  async function admitsAccount(code: string, address: string): Promise<boolean> {
    if (!isInvitationCode(code)) return false;
    const found = await store.find(hashOf(code));
    if (found?.invitation.state !== 'open' || !isSameAddress(found.invitation.email, address)) return false;
    requireAccountAllowed(found.invitation);
    await guardOf(found);
    return true;
  }

  async function open(code: string): Promise<FoundInvitation> {
    const found = isInvitationCode(code) ? await store.find(hashOf(code)) : undefined;
    if (!found) throw invitationNotFound();
    const { state } = found.invitation;
    if (state === 'accepted') throw invitationUsed();
    if (state === 'expired') throw invitationExpired();
    return found;
  }

  function hashOf(code: string): Buffer {
    return hashSecret(key, code);
  }

  async function guardOf({ invitation, inviterId, teams }: FoundInvitation): Promise<RejectGiving> {
    const { organization } = invitation;
    if (inviterId === undefined || teams.length === 0) throw inviterMayNot(organization);
    await current();
    if (!(await rights.mayStill(inviterId, organization.id, teams))) throw inviterMayNot(organization);
    return await rights.guardOf(
      inviterId,
      organization.id,
      teams.map(({ id }) => id),
    );
  }

  function requireAccountAllowed({ email, organization }: Invitation): void {
    if (!isDomainAllowed(email)) {
      throw invalidField('email', `email addresses such as ${email} cannot be used here`, 'domain_not_allowed');
    }
    if (isManagedElsewhere(email, organization)) {
      const message = `accounts with addresses such as ${email} are managed by another organization: sign in first`;
      throw new AppError('conflict', message, { reason: 'domain_managed' });
    }
  }
}

function settled(outcome: Joined | NotJoined, { email, organization }: Invitation): Joined {
  if (typeof outcome === 'object') return outcome;
  switch (outcome) {
    case 'expired':
      throw invitationExpired();
    case 'used':
      throw invitationUsed();
    case 'inviter may not':
      throw inviterMayNot(organization);
    case 'already a member':
      throw conflict('already_member', `you are a member of ${organization.name} already`);
    case 'deprovisioned':
      throw conflict('deprovisioned', `the identity provider of ${organization.name} has deactivated this user there`);
    case 'other address':
      throw conflict('other_address', `the invitation is for ${email}: send other_address to accept it anyway`);
    case 'other address forbidden':
      throw new AppError('forbidden', `only an account with the verified address ${email} can join these teams`, {
        reason: 'other_address',
      });
    case 'email taken':
      throw conflict('email_taken', `there is an account with the address ${email}: sign in first`);
    default:
      throw invitationNotFound();
  }
}

function invitationExpired(): AppError {
  return new AppError('gone', 'this invitation has expired: ask for another one', { reason: 'invitation_expired' });
}

export function inviterMayNot({ name }: InvitedTo): AppError {
  return conflict(
    'inviter_may_not',
    `the user who invited you to ${name} can no longer do so: ask for another invitation`,
  );
}

function accountMissing(): AppError {
  return new AppError('malformed', 'sign in first, or send username and password to create an account', {
    errors: [
      { field: 'username', message: 'username is required' },
      { field: 'password', message: 'password is required' },
    ],
  });
}

function conflict(
  reason: 'already_member' | 'deprovisioned' | 'other_address' | 'email_taken' | 'inviter_may_not' | 'domain_managed',
  message: string,
): AppError {
  return new AppError('conflict', message, { reason });
}
