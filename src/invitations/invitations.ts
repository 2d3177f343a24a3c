import { AppError, missingRelation } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { isPrincipal } from '../changes/principal.ts';
import type { Once } from '../changes/write.ts';
import { hashSecret } from '../identity/tokens/token-text.ts';
import type { Sending } from '../users/emails/confirmations.ts';
import type {
  CodeHashes,
  GrantingTeam,
  Invitation,
  InvitationInput,
  InvitationState,
  Invited,
  InvitedTo,
} from './invitation.ts';
import { invitationNotFound, mintInvitationCode } from './invitation-code.ts';
import { notATeam } from './invitation-input.ts';
import type { InvitationRights } from './invitation-rights.ts';

/** The caller, and the organization. */
export interface InvitationSetting {
  readonly organization: InvitedTo;
  readonly actor: Actor;
}

export interface NewInvitation {
  readonly input: InvitationInput;
  readonly hashes: CodeHashes;
  /** Undefined if no email is sent. */
  readonly sending: Sending | undefined;
}

export interface InvitationStore {
  /** The newest first. Only those of the inviter, if one is given. */
  list(
    organizationId: bigint,
    filter: { readonly state?: InvitationState | undefined; readonly inviterId?: bigint | undefined },
    page: PageRequest,
  ): Promise<Page<Invitation>>;
  get(organizationId: bigint, id: bigint): Promise<Invitation | undefined>;
  /** Teams of the organization, in the order of their IDs, with what they give now. */
  teams(organizationId: bigint, ids: readonly bigint[]): Promise<GrantingTeam[]>;
  /** Throws if there is no room, or too many emails would be sent. */
  create(
    setting: InvitationSetting,
    made: NewInvitation,
    once?: Once<Invitation>,
  ): Promise<Invitation | 'already invited'>;
  /** Gives it new codes, a new end and a new inviter. */
  renew(
    setting: InvitationSetting,
    id: bigint,
    codes: Pick<NewInvitation, 'hashes' | 'sending'>,
  ): Promise<Invitation | 'already invited' | 'accepted' | undefined>;
  remove(setting: InvitationSetting, id: bigint): Promise<boolean>;
}

/** Sends the link to the address. */
export type SendInvitation = (invitation: Invitation, link: string) => Promise<void>;

interface Parts {
  readonly store: InvitationStore;
  readonly rights: InvitationRights;
  readonly key: Buffer;
  /** Undefined if no mail server is configured. */
  readonly send: SendInvitation | undefined;
  readonly mailsPerHour: number;
  readonly baseUrl: () => string;
}

/** Rejects a session that was not proven lately: owners are the last ones who could take it back. */
type RequireProof = () => void;

export type Invitations = ReturnType<typeof createInvitations>;

/**
 * Invitations, as those who invite see them.
 *
 * 1. There are two codes. The one in the email proves the address. The one that the inviter is shown does not, or every
 *    inviter could create a verified account for any address.
 * 2. No code can be read again: only keyed hashes are stored, and a new code replaces both.
 * 3. Whether an address has an account, or is a member, makes no difference here.
 */
export function createInvitations({ store, rights, key, send, mailsPerHour, baseUrl }: Parts) {
  return { list, get, create, resend, remove, requireInviter };

  /** Callers who can add members to the organization see all of them, other callers those that they have made. */
  async function list(
    { organization: { id }, actor }: InvitationSetting,
    state: InvitationState | undefined,
    page: PageRequest,
  ): Promise<Page<Invitation>> {
    const seesAll = await rights.mayAddToAll(actor.id, id);
    return await store.list(id, { state, inviterId: seesAll ? undefined : actor.id }, page);
  }

  async function get({ organization, actor }: InvitationSetting, id: bigint): Promise<Invitation> {
    const found = await store.get(organization.id, id);
    if (!found) throw invitationNotFound();
    const isOwn = found.invitedBy !== null && isPrincipal(found.invitedBy, actor.id);
    if (!isOwn && !(await rights.mayAddToAll(actor.id, organization.id))) throw invitationNotFound();
    return found;
  }

  /** Before anything else is looked at: a caller who can invite to no team learns nothing about teams. */
  async function requireInviter({ organization, actor }: InvitationSetting): Promise<void> {
    if (!(await rights.mayAddToSome(actor.id, organization.id))) throw missingRelation('add_member:org');
  }

  async function create(
    setting: InvitationSetting,
    input: InvitationInput,
    options: { readonly showsLink: boolean; readonly requireProof: RequireProof; readonly now: Date },
    once?: Once<Invited>,
  ): Promise<Invited> {
    const found = await store.teams(setting.organization.id, input.teamIds);
    for (const id of input.teamIds) {
      const isKnown = found.some((team) => team.id === id);
      if (!isKnown || !(await rights.sees(setting.actor.id, setting.organization.id, id))) throw notATeam(id);
    }
    await requireGiving(setting, found, options.requireProof);
    const codes = mintCodes(options.showsLink);
    const made = { input, hashes: codes.hashes, sending: sendingAt(options.now) };
    const kept = once && {
      begin: once.begin,
      keep: (query: Parameters<typeof once.keep>[0], invitation: Invitation) =>
        once.keep(query, { invitation, link: codes.link }),
    };
    const outcome = await store.create(setting, made, kept);
    if (outcome === 'already invited') throw alreadyInvited(input.email);
    return await sent(outcome, codes);
  }

  /** The caller becomes the inviter, so they need what inviting needs: they may be shown the link. */
  async function resend(
    setting: InvitationSetting,
    id: bigint,
    options: { readonly showsLink: boolean; readonly requireProof: RequireProof; readonly now: Date },
  ): Promise<Invited> {
    const present = await get(setting, id);
    if (present.state === 'accepted') throw invitationUsed();
    const teams = await store.teams(
      setting.organization.id,
      present.teams.map((team) => team.id),
    );
    if (teams.length === 0) throw new AppError('conflict', 'all teams of the invitation are gone: invite again');
    await requireGiving(setting, teams, options.requireProof);
    const codes = mintCodes(options.showsLink);
    const outcome = await store.renew(setting, id, { hashes: codes.hashes, sending: sendingAt(options.now) });
    if (outcome === undefined) throw invitationNotFound();
    if (outcome === 'accepted') throw invitationUsed();
    if (outcome === 'already invited') throw alreadyInvited(present.email);
    return await sent(outcome, codes);
  }

  async function remove(setting: InvitationSetting, id: bigint): Promise<void> {
    await get(setting, id);
    if (!(await store.remove(setting, id))) throw invitationNotFound();
  }

  async function requireGiving(
    { organization, actor }: InvitationSetting,
    teams: readonly GrantingTeam[],
    requireProof: RequireProof,
  ): Promise<void> {
    await rights.require(actor.id, organization.id, teams);
    const reject = await rights.guardOf(
      actor.id,
      organization.id,
      teams.map(({ id }) => id),
    );
    for (const team of teams) reject(team);
    if (teams.some(({ permission }) => permission === 'owner')) requireProof();
  }

  function sendingAt(now: Date): Sending | undefined {
    return send && { perHour: mailsPerHour, now };
  }

  function mintCodes(showsLink: boolean) {
    const mailed = send && mintInvitationCode();
    const shown = showsLink || !send ? mintInvitationCode() : undefined;
    const hashOf = (code: string | undefined) => (code === undefined ? null : hashSecret(key, code));
    return {
      hashes: { mailed: hashOf(mailed), shown: hashOf(shown) },
      mailedLink: mailed && linkTo(mailed),
      link: shown && linkTo(shown),
    };
  }

  function linkTo(code: string): string {
    return `${baseUrl()}/invitations/${code}`;
  }

  /** An email that cannot be sent does not undo the invitation: it can be sent again. */
  async function sent(invitation: Invitation, { mailedLink, link }: ReturnType<typeof mintCodes>): Promise<Invited> {
    if (send && mailedLink) await send(invitation, mailedLink);
    return { invitation, link };
  }
}

export function invitationUsed(): AppError {
  return new AppError('gone', 'this invitation has been accepted already', { reason: 'invitation_used' });
}

function alreadyInvited(email: string): AppError {
  const message = `there is an open invitation to ${email}: resend it, or revoke it first`;
  return new AppError('conflict', message, { reason: 'already_invited' });
}
