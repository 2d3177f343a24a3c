import { principalOfRobot } from '../changes/principal.ts';
import type { Invitation, InvitationState, Inviter } from './invitation.ts';

/** Of `invitation i`. */
export const INVITATION_STATE = `case when i.accepted_at is not null then 'accepted'
  when i.expires_at <= now() then 'expired' else 'open' end`;
/** Of `INVITATIONS`. */
export const INVITATION = `i.id, i.organization_id, o.name as organization_name, i.email, i.message, i.created_at, i.expires_at,
  i.accepted_at, ${INVITATION_STATE} as state, i.invited_by_id, u.name as inviter_name,
  coalesce(u.active and not u.prohibit_login, i.invited_by_robot_id is not null) as is_inviter_able,
  i.invited_by_robot_id, r.name as robot_name, i.accepted_by_id, b.name as accepted_by_name,
  array(select m.team_id from invitation_team m where m.invitation_id = i.id order by m.team_id) as team_ids,
  array(select t.name from invitation_team m join team t on t.id = m.team_id
         where m.invitation_id = i.id order by m.team_id) as team_names`;
export const INVITATIONS = `invitation i join account o on o.id = i.organization_id
  left join account u on u.id = i.invited_by_id left join robot r on r.id = i.invited_by_robot_id
  left join account b on b.id = i.accepted_by_id`;

export interface InvitationRow {
  id: bigint;
  organization_id: bigint;
  organization_name: string;
  email: string;
  message: string;
  created_at: Date;
  expires_at: Date;
  accepted_at: Date | null;
  state: InvitationState;
  invited_by_id: bigint | null;
  inviter_name: string | null;
  is_inviter_able: boolean;
  invited_by_robot_id: bigint | null;
  robot_name: string | null;
  accepted_by_id: bigint | null;
  accepted_by_name: string | null;
  team_ids: bigint[];
  team_names: string[];
}

export function toInvitation(row: InvitationRow): Invitation {
  const { accepted_by_id: acceptedBy, accepted_by_name: acceptedByName } = row;
  return {
    id: row.id,
    organization: { id: row.organization_id, name: row.organization_name },
    email: row.email,
    message: row.message,
    state: row.state,
    teams: row.team_ids.map((id, place) => ({ id, name: row.team_names[place] ?? '' })),
    invitedBy: toInviter(row),
    acceptedBy: acceptedBy !== null && acceptedByName !== null ? { id: acceptedBy, name: acceptedByName } : null,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    acceptedAt: row.accepted_at,
  };
}

/** The number of the inviter; undefined if the account is gone or cannot be used. */
export function ableInviter(row: InvitationRow): bigint | undefined {
  if (!row.is_inviter_able) return undefined;
  if (row.invited_by_robot_id !== null) return principalOfRobot(row.invited_by_robot_id);
  return row.invited_by_id ?? undefined;
}

function toInviter(row: InvitationRow): Inviter | null {
  const { invited_by_id: id, inviter_name: name, invited_by_robot_id: robotId, robot_name: robotName } = row;
  if (id !== null && name !== null) return { type: 'user', id, name };
  return robotId !== null && robotName !== null ? { type: 'robot_ac', id: robotId, name: robotName } : null;
}
