import type { TeamGrant } from '../authz/escalation.ts';
import type { PrincipalType } from '../changes/principal.ts';
import type { NamedTeam } from '../organizations/members.ts';

export const INVITATION_STATES = ['open', 'accepted', 'expired'] as const;
export type InvitationState = (typeof INVITATION_STATES)[number];

/** An invitation of one address to teams of one organization. */
export interface Invitation {
  readonly id: bigint;
  readonly organization: InvitedTo;
  readonly email: string;
  readonly message: string;
  readonly state: InvitationState;
  /** Without teams that were deleted since. */
  readonly teams: readonly InvitedTeam[];
  /** Null if the account or the robot is gone. */
  readonly invitedBy: Inviter | null;
  readonly acceptedBy: { readonly id: bigint; readonly name: string } | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly acceptedAt: Date | null;
}

/** The organization that an invitation is to. */
export interface InvitedTo {
  readonly id: bigint;
  readonly name: string;
}

export interface InvitedTeam {
  readonly id: bigint;
  readonly name: string;
}

export interface Inviter {
  readonly type: PrincipalType;
  readonly id: bigint;
  readonly name: string;
}

/** A team, and what its members get with it. */
export interface GrantingTeam extends NamedTeam {
  readonly name: string;
  readonly grant: TeamGrant;
}

export interface InvitationInput {
  readonly email: string;
  readonly teamIds: readonly bigint[];
  readonly message: string;
  readonly expiresAt: Date;
  readonly lifetimeSeconds: number;
}

/** Hashes of the codes that accept an invitation. */
export interface CodeHashes {
  readonly mailed: Buffer | null;
  readonly shown: Buffer | null;
}

/** What an inviter gets: the link is in it if no email carries it, or if they have asked for it. */
export interface Invited {
  readonly invitation: Invitation;
  readonly link?: string | undefined;
}
