import Type from 'typebox';
import { Int64, Int64Input, named, orNull, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { expiryText } from '../organizations/expires-at.view.ts';
import {
  INVITATION_STATES,
  type Invitation,
  type Invited,
  type InvitedTeam,
  type InvitedTo,
  type Inviter,
} from './invitation.ts';
import type { Joined } from './invitation-acceptance.ts';

const says = (description: string) => ({ description });
const Organization = named(
  'InvitedOrganization',
  Type.Object(
    {
      type: Type.String({ enum: ['organization'], ...says('What it is.') }),
      id: Int64,
      name: Type.String(says('Its name.')),
    },
    says('The organization that the invitation is to.'),
  ),
);
const Teams = Type.Array(
  named(
    'InvitedTeam',
    Type.Object(
      {
        type: Type.String({ enum: ['team'], ...says('What it is.') }),
        id: Int64,
        name: Type.String(says('Its name.')),
      },
      says('A team that the user joins.'),
    ),
  ),
  says('The teams that the user joins, without those that were deleted since.'),
);
const By = orNull(
  Type.Object(
    {
      type: Type.String({ enum: ['user', 'robot_ac'], ...says('What it is.') }),
      id: Int64,
      name: Type.String(says('Login name, or name of the robot.')),
    },
    says('The user who invited, or sent the invitation again. Null if the account is gone.'),
  ),
);
const Email = Type.String({ description: 'The address that is invited.' });
const Message = Type.String({ description: 'What the inviter wrote; empty if nothing.' });
const ExpiresAt = Type.Unsafe<string>({ ...Timestamp, description: 'From then on, it cannot be accepted.' });

export const InvitationResponse = named(
  'Invitation',
  Type.Object({
    id: Int64,
    organization: Organization,
    email: Email,
    state: Type.String({ enum: [...INVITATION_STATES], description: 'Only an open invitation can be accepted.' }),
    teams: Teams,
    message: Message,
    invited_by: By,
    created_at: Timestamp,
    expires_at: ExpiresAt,
    accepted_at: Type.Optional(
      Type.Unsafe<string>({ ...Timestamp, description: 'When it was accepted. Absent if it was not.' }),
    ),
    accepted_by: Type.Optional(
      Type.Object(
        {
          type: Type.String({ enum: ['user'], ...says('What it is.') }),
          id: Int64,
          name: Type.String(says('Login name.')),
        },
        says('Who accepted it. Absent if it was not accepted, or the account is gone.'),
      ),
    ),
    link: Type.Optional(
      Type.String({
        description:
          'Where the invitation is accepted. Shown once, and only if no mail server is configured or with show_link. ' +
          'It does not prove the address.',
      }),
    ),
  }),
);

export const NewInvitationBody = named(
  'NewInvitation',
  Type.Object({
    email: Type.String({ description: 'The address to invite.' }),
    team_ids: Type.Array(Int64Input, { description: 'IDs of the teams to join: 1 to 50.' }),
    message: Type.Optional(Type.String({ description: 'Plain text for the email, at most 500 characters.' })),
    expires_at: Type.Optional(
      Type.Unsafe<string>({ ...Timestamp, description: 'At most 30 days from now. By default, in seven days.' }),
    ),
  }),
);

/** What all people who have the link see. */
export const OpenInvitation = named(
  'OpenInvitation',
  Type.Object({
    organization: Organization,
    invited_by: By,
    email: Email,
    message: Message,
    expires_at: ExpiresAt,
  }),
);

export const JoinedResponse = named('JoinedOrganization', Type.Object({ organization: Organization, teams: Teams }));

export function presentInvited({ invitation, link }: Invited) {
  return { ...presentInvitation(invitation), ...(link !== undefined && { link }) };
}

export function presentInvitation(invitation: Invitation) {
  const { id, organization, email, state, teams, message, invitedBy, createdAt, acceptedAt, acceptedBy } = invitation;
  return {
    id,
    organization: presentOrganization(organization),
    email,
    state,
    teams: teams.map(presentTeam),
    message,
    invited_by: presentInviter(invitedBy),
    created_at: timestamp(createdAt),
    expires_at: expiryText(invitation.expiresAt),
    ...(acceptedAt && { accepted_at: timestamp(acceptedAt) }),
    ...(acceptedBy && { accepted_by: { type: 'user', id: acceptedBy.id, name: acceptedBy.name } }),
  };
}

export function presentOpen({ organization, invitedBy, email, message, expiresAt }: Invitation) {
  return {
    organization: presentOrganization(organization),
    invited_by: presentInviter(invitedBy),
    email,
    message,
    expires_at: expiryText(expiresAt),
  };
}

export function presentJoined({ organization, teams }: Joined) {
  return { organization: presentOrganization(organization), teams: teams.map(presentTeam) };
}

function presentOrganization({ id, name }: InvitedTo) {
  return { type: 'organization', id, name };
}

function presentTeam({ id, name }: InvitedTeam) {
  return { type: 'team', id, name };
}

function presentInviter(inviter: Inviter | null) {
  return inviter && { type: inviter.type, id: inviter.id, name: inviter.name };
}
