import { AppError, invalidField } from '../base/errors.ts';
import { requireAddressField } from '../users/user-fields.ts';
import type { InvitationInput } from './invitation.ts';

const DAY_S = 86_400;
const USUAL_S = 7 * DAY_S;
const MAX_S = 30 * DAY_S;
const MAX_MESSAGE = 500;
/** More would make one transaction of an acceptance too long. */
const MAX_TEAMS = 50;
/** Line breaks are part of a message. Other control characters are not. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029]/;

interface Sent {
  readonly email: string;
  readonly teamIds: readonly bigint[];
  readonly message?: string | undefined;
  readonly expiresAt?: Date | undefined;
}

/** What is wrong with an invitation, whatever there is in the organization. */
export function checkInvitationInput({ email, teamIds, message = '', expiresAt }: Sent, now: Date): InvitationInput {
  requireAddressField(email);
  if (teamIds.length === 0) throw invalidField('team_ids', 'team_ids must name at least one team');
  const teams = [...new Set(teamIds)];
  if (teams.length > MAX_TEAMS) throw invalidField('team_ids', `team_ids must have at most ${MAX_TEAMS} entries`);
  const plain = message.replaceAll('\r\n', '\n');
  if ([...plain].length > MAX_MESSAGE) {
    throw invalidField('message', `message must have at most ${MAX_MESSAGE} characters`);
  }
  if (CONTROL.test(plain)) throw invalidField('message', 'message must be plain text, without control characters');
  const lifetimeSeconds = expiresAt === undefined ? USUAL_S : (expiresAt.getTime() - now.getTime()) / 1000;
  if (lifetimeSeconds <= 0) throw invalidField('expires_at', 'expires_at must be in the future');
  if (lifetimeSeconds > MAX_S) throw invalidField('expires_at', 'expires_at must be within 30 days');
  return {
    email,
    teamIds: teams,
    message: plain,
    expiresAt: expiresAt ?? new Date(now.getTime() + USUAL_S * 1000),
    lifetimeSeconds: Math.max(1, Math.round(lifetimeSeconds)),
  };
}

export function notATeam(id: bigint): AppError {
  return new AppError('invalid', `not a team of the organization: ${id}`);
}
